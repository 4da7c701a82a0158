//! A process from its start to the end of all of it.

use std::time::Duration;

use belljar_contract::{
    Context, KILL_GRACE,
    processes::{Ended, Outcome},
};
use rustix::process::Signal;

use super::{
    custody::Custody,
    exchange::Exchange,
    launch::Launched,
    platform::{Frozen, Left},
    pump::Pump,
    wake::{Ask, Wake},
};

/// How long the pipes are read after the leader's end, when something in the background holds them. With the
/// grace below it is the contract's "short drain" of 100 ms.
const DRAIN: Duration = Duration::from_millis(60);
/// How long what the leader left has between SIGTERM and SIGKILL.
const LEFT_GRACE: Duration = Duration::from_millis(30);
/// How long a process has between SIGTERM and SIGKILL at its time limit.
pub(super) const LIMIT_GRACE: Duration = Duration::from_millis(50);
/// How long it is tried to kill what does not die: a process in an uninterruptible wait of the kernel.
const KILL_PATIENCE: Duration = Duration::from_secs(1);
/// How long it is tried while it gets somewhere: enough for all the processes that a system has.
const KILL_MOST: Duration = Duration::from_secs(20);
/// How often what was left to us is reaped while something runs.
const SWEEP: Duration = Duration::from_millis(500);
/// How often it is looked whether something that has no pipe of ours has ended.
const LOOK: Duration = Duration::from_millis(2);

/// What bounds a process.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// When its time is up, on the context's clock.
    pub(super) deadline: Option<Duration>,
    /// Between SIGTERM and SIGKILL after a cancellation.
    pub(super) cancel_grace: Duration,
}

impl Bounds {
    /// The nearer of the process's own limit and its call's deadline.
    pub(super) fn new(context: &Context, started: Duration, timeout: Option<Duration>) -> Self {
        let own = timeout.map(|timeout| started.saturating_add(timeout));
        let calls = context
            .remaining()
            .map(|remaining| context.now().saturating_add(remaining));
        let deadline = own.into_iter().chain(calls).min();
        let cancel_grace = KILL_GRACE;
        Self {
            deadline,
            cancel_grace,
        }
    }
}

/// Why a process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason {
    /// Its leader has ended.
    Itself,
    TimedOut,
    Cancelled,
    /// It was asked to be killed, which is a signal like others.
    Killed,
}

/// Moves a process's bytes until its leader ends or must end, and then ends all of it.
pub(super) fn supervise(
    launched: Launched,
    exchange: &Exchange,
    wake: &Wake,
    context: &Context,
    bounds: Bounds,
) -> Ended {
    let Launched {
        custody,
        stdout,
        stderr,
        started,
    } = launched;
    let body = custody.body().clone();
    let pump = Pump::new(exchange, &*body, wake, body.watch(), stdout, stderr);
    let mut process = Process {
        custody,
        pump,
        wake,
        context,
    };
    let reason = process.run(bounds.deadline);
    match reason {
        Reason::Itself => process.end_the_rest(),
        Reason::TimedOut => process.end(LIMIT_GRACE),
        Reason::Cancelled => process.end(bounds.cancel_grace),
        Reason::Killed => process.kill(),
    }
    process.pump.finish();
    process.custody.reap();
    let outcome = match reason {
        Reason::TimedOut => Outcome::TimedOut,
        Reason::Cancelled => Outcome::Cancelled,
        Reason::Killed => body.outcome(),
        Reason::Itself => match body.outcome() {
            killed if body.ran_out_of_memory(killed) => Outcome::OutOfMemory,
            other => other,
        },
    };
    let duration = context.now().saturating_sub(started);
    Ended { outcome, duration }
}

struct Process<'a> {
    custody: Custody,
    pump: Pump<'a>,
    wake: &'a Wake,
    context: &'a Context,
}

impl Process<'_> {
    /// Pumps until the leader ends or must end.
    fn run(&mut self, deadline: Option<Duration>) -> Reason {
        let mut swept = self.context.now();
        loop {
            let now = self.context.now();
            if self.pump.leader_has_ended() {
                return Reason::Itself;
            }
            if self.wake.is_asked(Ask::Kill) {
                return Reason::Killed;
            }
            if self.must_end() {
                return Reason::Cancelled;
            }
            let left = match deadline {
                Some(deadline) if deadline <= now => return Reason::TimedOut,
                Some(deadline) => deadline - now,
                None => SWEEP,
            };
            if now.saturating_sub(swept) >= SWEEP {
                self.custody.body().sweep();
                swept = now;
            }
            self.pump.turn(Some(left.min(SWEEP)));
        }
    }

    fn must_end(&self) -> bool {
        self.wake.is_asked(Ask::Cancel) || self.wake.is_asked(Ask::Close)
    }

    /// After the leader's end: reads what still comes, for a moment, and ends what is left.
    fn end_the_rest(&mut self) {
        let until = self.context.now() + DRAIN;
        loop {
            let now = self.context.now();
            if !self.pump.is_open() || now >= until || self.must_end() {
                break;
            }
            self.pump.turn(Some(until - now));
        }
        if !self.is_alone() {
            self.end(LEFT_GRACE);
        }
    }

    /// SIGTERM to all of it, then SIGKILL.
    fn end(&mut self, grace: Duration) {
        let until = self.context.now() + grace;
        let body = self.custody.body().clone();
        body.signal_all(Signal::TERM);
        // What is stopped cannot heed it.
        body.signal_all(Signal::CONT);
        loop {
            let now = self.context.now();
            if now >= until || self.wake.is_asked(Ask::Kill) {
                break;
            }
            if !self.pump.leader_has_ended() {
                self.pump.turn(Some(until - now));
            } else if self.is_alone() {
                return;
            } else {
                self.pause(until - now);
            }
        }
        self.kill();
    }

    /// SIGKILL to all of it, until nothing is left.
    fn kill(&mut self) {
        let body = self.custody.body().clone();
        let begun = self.context.now();
        let mut frozen = Frozen::default();
        let mut last = None;
        let mut changed = begun;
        while let Left::Some(count) = body.kill_all(&mut frozen) {
            let now = self.context.now();
            if last.replace(count) != Some(count) {
                changed = now;
            }
            if now >= changed + KILL_PATIENCE || now >= begun + KILL_MOST {
                break;
            }
            self.pause(LOOK);
        }
    }

    /// Pumps for a moment in which nothing else can be waited for.
    fn pause(&mut self, most: Duration) {
        let until = self.context.now() + most.min(LOOK);
        loop {
            let now = self.context.now();
            if now >= until {
                break;
            }
            self.pump.turn(Some(until - now));
        }
    }

    fn is_alone(&self) -> bool {
        self.custody.body().is_alone()
    }
}
