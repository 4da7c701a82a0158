//! What stands ready, and the threads that keep it so.

use std::{
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use belljar_contract::Context;

use super::{
    PoolOptions, Stock,
    state::{State, Work},
};

/// How long those that stand ready may take, together, to answer that they live. A session that starts its own waits
/// no longer than that for it.
const ANSWER: Duration = Duration::from_millis(500);

/// What stands ready.
#[derive(Debug)]
pub(in super::super) struct Shelf<S: Stock> {
    options: PoolOptions,
    state: Mutex<State<S::Item>>,
    changed: Condvar,
    /// What the keeper does ends with it.
    filling: Context,
}

impl<S: Stock> Shelf<S> {
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
    pub(in super::super) fn take(&self, stock: &S) -> Option<S::Item> {
        let bound = Context::new().with_timeout(ANSWER);
        loop {
            bound.check().ok()?;
            let item = self.lock().take(self.filling.now());
            self.changed.notify_all();
            let item = item?;
            if stock.hand_out(&bound, &item) {
                return Some(item);
            }
            tracing::warn!(?item, "what stood ready has ended, or does not answer");
            self.lock().dead.push(item);
            self.changed.notify_all();
        }
    }

    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.filling.cancellation().cancel();
        self.changed.notify_all();
    }

    /// Keeps it filled until it is closed; on a thread of its own.
    pub(super) fn keep(&self, stock: &S) {
        loop {
            match self.next() {
                Work::Start => match stock.start(&self.filling) {
                    Ok(item) => self.started(Some(item)),
                    Err(failed) => {
                        // A session that starts its own says so to whom it concerns.
                        tracing::warn!(%failed, "nothing new for the pool");
                        self.started(None);
                    }
                },
                Work::Remove(items) => {
                    for item in items {
                        if let Err(error) = stock.end(&item) {
                            // `prune` finds it.
                            tracing::warn!(%error, ?item, "something of the pool is left behind");
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

    fn started(&self, item: Option<S::Item>) {
        self.lock().started(item);
        // Another keeper may wait for what comes next.
        self.changed.notify_all();
    }

    /// Waits until there is something to do.
    fn next(&self) -> Work<S::Item> {
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

    fn lock(&self) -> MutexGuard<'_, State<S::Item>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
