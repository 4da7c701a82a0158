//! The containers that stand ready, and the thread that keeps them.

use std::{
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use belljar_contract::Context;

use super::{
    super::{running::Running, start::Starter},
    PoolOptions,
    state::{State, Work},
};

/// How long those that stand ready may take, together, to answer that they live. A session that starts its own waits
/// no longer than that for it.
const ANSWER: Duration = Duration::from_millis(500);

/// The containers that stand ready.
#[derive(Debug)]
pub(in super::super) struct Shelf {
    options: PoolOptions,
    state: Mutex<State<Running>>,
    changed: Condvar,
    /// What the keeper does ends with it.
    filling: Context,
}

impl Shelf {
    pub(super) fn new(options: PoolOptions) -> Self {
        let filling = Context::new();
        Self {
            options,
            state: Mutex::new(State::new(filling.now())),
            changed: Condvar::new(),
            filling,
        }
    }

    /// One that lives, the oldest first; none when none is ready, or when the time is over: whoever was not asked may
    /// live.
    pub(in super::super) fn take(&self) -> Option<Running> {
        let bound = Context::new().with_timeout(ANSWER);
        loop {
            bound.check().ok()?;
            let running = self.lock().take(self.filling.now());
            self.changed.notify_all();
            let running = running?;
            // It may have been ended from outside, or stand still.
            if running.resident.is_alive(&bound) {
                return Some(running);
            }
            tracing::warn!(
                container = running.container,
                "a container that stood ready has ended, or does not answer"
            );
            self.lock().dead.push(running);
            self.changed.notify_all();
        }
    }

    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.filling.cancellation().cancel();
        self.changed.notify_all();
    }

    /// Keeps it filled until it is closed; on a thread of its own.
    pub(super) fn keep(&self, starter: &Starter) {
        loop {
            match self.next() {
                Work::Start => match starter.start(&self.filling) {
                    Ok(running) => self.put(running),
                    Err(failed) => {
                        // A session that starts its own says so to whom it concerns.
                        tracing::warn!(%failed, "no container for the pool");
                        self.lock().failed = true;
                    }
                },
                Work::Remove(containers) => {
                    for running in containers {
                        if let Err(error) = running.end(&starter.cli) {
                            // `prune` finds it.
                            tracing::warn!(%error, "a container of the pool is left behind");
                        }
                    }
                }
                Work::Leave => return,
            }
        }
    }

    /// How many there are.
    pub(super) fn ready(&self) -> usize {
        self.lock().ready.len()
    }

    fn put(&self, running: Running) {
        self.lock().ready.push_back(running);
    }

    /// Waits until there is something to do.
    fn next(&self) -> Work<Running> {
        let mut state = self.lock();
        loop {
            let (work, patience) = state.next(&self.options, self.filling.now());
            if let Some(work) = work {
                return work;
            }
            state = match patience {
                Some(patience) => {
                    let waited = self.changed.wait_timeout(state, patience);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
                None => {
                    let waited = self.changed.wait(state);
                    waited.unwrap_or_else(PoisonError::into_inner)
                }
            };
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<Running>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
