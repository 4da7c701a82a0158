//! A process that is a thread of this one.

use std::{
    io,
    os::fd::OwnedFd,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use belljar_contract::{Cancellation, processes::Outcome};
use rustix::process::Signal;

use super::{
    super::{
        body::Body,
        platform::{Frozen, Left},
    },
    Prepared, Surroundings,
};

/// A command on a thread of its own. No signal has another effect there than to end it.
#[derive(Debug)]
pub(super) struct ProgramThread {
    stop: Cancellation,
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
struct State {
    /// Readable when the command has ended; whoever watches takes it.
    watch: Option<OwnedFd>,
    /// The first signal that was sent.
    signal: Option<Signal>,
    outcome: Option<Outcome>,
}

impl ProgramThread {
    pub(super) fn start(
        command: Box<dyn Prepared>,
        surroundings: Surroundings,
    ) -> io::Result<Self> {
        let (watch, ended) = super::launch::pipe()?;
        let this = Self {
            stop: Cancellation::default(),
            state: Arc::new(Mutex::new(State {
                watch: Some(watch),
                signal: None,
                outcome: None,
            })),
        };
        let (stop, state) = (this.stop.clone(), Arc::clone(&this.state));
        std::thread::Builder::new()
            .name("belljar-program".into())
            .spawn(move || {
                let mut end = End {
                    state,
                    outcome: Outcome::Signalled(number(Signal::ABORT)),
                    ended: Some(ended),
                };
                end.outcome = command.run(surroundings, &stop);
            })?;
        Ok(this)
    }

    fn send(&self, signal: Signal) {
        {
            let mut state = lock(&self.state);
            if state.outcome.is_some() {
                return;
            }
            state.signal.get_or_insert(signal);
        }
        self.stop.cancel();
    }
}

/// Tells that a command has ended, also when its thread panics.
struct End {
    state: Arc<Mutex<State>>,
    outcome: Outcome,
    ended: Option<OwnedFd>,
}

impl Drop for End {
    fn drop(&mut self) {
        lock(&self.state).outcome = Some(self.outcome);
        drop(self.ended.take());
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

const fn number(signal: Signal) -> u32 {
    signal.as_raw().unsigned_abs()
}

impl Body for ProgramThread {
    fn watch(&self) -> Option<OwnedFd> {
        lock(&self.state).watch.take()
    }

    fn has_ended(&self) -> bool {
        lock(&self.state).outcome.is_some()
    }

    fn signal_group(&self, signal: Signal) {
        if signal != Signal::CONT {
            self.send(signal);
        }
    }

    fn signal_all(&self, signal: Signal) {
        self.signal_group(signal);
    }

    fn kill_all(&self, _: &mut Frozen) -> Left {
        self.send(Signal::KILL);
        match self.has_ended() {
            true => Left::Nothing,
            false => Left::Some(1),
        }
    }

    fn is_alone(&self) -> bool {
        self.has_ended()
    }

    /// Nothing is left of a thread that has ended, and one that does not is not waited for.
    fn reap(&self) {}

    fn outcome(&self) -> Outcome {
        let state = lock(&self.state);
        match (state.signal, state.outcome) {
            (Some(signal), _) => Outcome::Signalled(number(signal)),
            (None, Some(outcome)) => outcome,
            (None, None) => Outcome::Signalled(number(Signal::KILL)),
        }
    }
}
