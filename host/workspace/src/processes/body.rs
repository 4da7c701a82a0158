//! What a supervisor can do to a process, whatever the process is made of: programs of the operating system
//! (`system`), or programs that need none (`programs`).

use std::{fmt, os::fd::OwnedFd};

use belljar_contract::processes::Outcome;
use rustix::process::Signal;

use super::platform::{Frozen, Left};

/// The program that a launch began with, its leader, and all that it started.
pub(super) trait Body: fmt::Debug + Send + Sync {
    /// A descriptor that is readable when the leader has ended; none where that cannot be polled for.
    fn watch(&self) -> Option<OwnedFd>;

    /// Whether the leader has ended, where that cannot be polled for.
    fn has_ended(&self) -> bool;

    /// Sends a signal to the leader's group.
    fn signal_group(&self, signal: Signal);

    /// Sends a signal to all of it.
    fn signal_all(&self, signal: Signal);

    /// Kills all of it, and says what is left.
    fn kill_all(&self, frozen: &mut Frozen) -> Left;

    /// Whether nothing is left, now that the leader has ended.
    fn is_alone(&self) -> bool;

    /// Tidies up while something runs.
    fn sweep(&self) {}

    /// Lets go of the leader, which has ended.
    fn reap(&self);

    /// How the leader ended, once it was let go.
    fn outcome(&self) -> Outcome;

    /// Whether it ended so because memory ran out, where only something else tells.
    fn ran_out_of_memory(&self, outcome: Outcome) -> bool {
        let _ = outcome;
        false
    }
}
