//! A process of the operating system.

use std::{os::fd::OwnedFd, sync::Arc};

use belljar_contract::processes::Outcome;
use rustix::process::{Signal, WaitId, WaitIdOptions, WaitStatus};

use super::{
    body::Body,
    leader::Leader,
    platform::{Frozen, Left, Platform},
};

/// A program in a process group of its own, with all that it starts.
#[derive(Debug)]
pub(super) struct SystemProcess {
    platform: Arc<Platform>,
    leader: Leader,
    /// How many were killed for their memory before it was started.
    kills_before: Option<u64>,
}

impl SystemProcess {
    pub(super) fn new(platform: Arc<Platform>, leader: Leader) -> Self {
        let kills_before = platform.memory_kills();
        Self {
            platform,
            leader,
            kills_before,
        }
    }
}

impl Body for SystemProcess {
    fn watch(&self) -> Option<OwnedFd> {
        self.platform.watch(&self.leader)
    }

    fn has_ended(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        // An error says that it is not there: somebody else has reaped it.
        !matches!(
            rustix::process::waitid(WaitId::Pid(self.leader.pid()), options),
            Ok(None)
        )
    }

    fn signal_group(&self, signal: Signal) {
        self.leader.signal_group(signal);
    }

    fn signal_all(&self, signal: Signal) {
        self.platform.signal_all(&self.leader, signal);
    }

    fn kill_all(&self, frozen: &mut Frozen) -> Left {
        self.platform.kill_all(&self.leader, frozen)
    }

    fn is_alone(&self) -> bool {
        self.platform.is_alone(&self.leader)
    }

    fn sweep(&self) {
        self.platform.sweep();
    }

    fn reap(&self) {
        self.platform.reap(&self.leader);
    }

    fn outcome(&self) -> Outcome {
        outcome(*self.leader.status())
    }

    /// What the end of a leader looks like when the kernel killed it, or what it waited for, for its memory: a
    /// shell exits with 128 and the signal that ended its command.
    fn ran_out_of_memory(&self, outcome: Outcome) -> bool {
        matches!(outcome, Outcome::Signalled(9) | Outcome::Exited(137))
            && self.kills_before < self.platform.memory_kills()
    }
}

/// What a leader's status says.
fn outcome(status: Option<WaitStatus>) -> Outcome {
    let kill = Signal::KILL.as_raw().unsigned_abs();
    match status {
        Some(status) => match (status.exit_status(), status.terminating_signal()) {
            (Some(code), _) => Outcome::Exited(code),
            (None, Some(signal)) => Outcome::Signalled(signal.unsigned_abs()),
            (None, None) => Outcome::Signalled(kill),
        },
        // It does not die, or somebody else has taken its status: the last that was sent is what is known.
        None => Outcome::Signalled(kill),
    }
}
