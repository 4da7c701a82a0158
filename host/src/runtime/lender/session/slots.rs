//! How many calls a session makes at once.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use belljar_contract::{Context, Operation, Result};

pub(super) struct Slots {
    most: u32,
    taken: Mutex<u32>,
    freed: Condvar,
}

impl Slots {
    pub(super) fn new(most: u32) -> Self {
        Self {
            most: most.max(1),
            taken: Mutex::default(),
            freed: Condvar::new(),
        }
    }

    /// Waits for a free slot, no longer than the context lasts.
    pub(super) fn take(self: &Arc<Self>, context: &Context, operation: Operation) -> Result<Slot> {
        let mut taken = self.wait(context, |taken| taken < self.most);
        // The end of the wait may have been that of the call.
        context.check().map_err(|stop| stop.during(operation))?;
        *taken += 1;
        drop(taken);
        Ok(Slot(Arc::clone(self)))
    }

    /// Waits until none is taken, or the context is over.
    pub(super) fn wait_for_all(self: &Arc<Self>, context: &Context) {
        drop(self.wait(context, |taken| taken == 0));
    }

    fn wait(
        self: &Arc<Self>,
        context: &Context,
        enough: impl Fn(u32) -> bool,
    ) -> MutexGuard<'_, u32> {
        let slots = Arc::clone(self);
        // It holds the lock for a moment, so that a wait that is about to begin is not missed.
        let wake = move || {
            drop(slots.lock());
            slots.freed.notify_all();
        };
        let _wakes = context.cancellation().on_cancel(wake);
        let mut taken = self.lock();
        while !enough(*taken) && context.check().is_ok() {
            taken = match context.remaining() {
                Some(left) => {
                    let waited = self.freed.wait_timeout(taken, left);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
                None => {
                    let waited = self.freed.wait(taken);
                    waited.unwrap_or_else(PoisonError::into_inner)
                }
            };
        }
        taken
    }

    fn lock(&self) -> MutexGuard<'_, u32> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A slot that is taken while this lives.
pub(super) struct Slot(Arc<Slots>);

impl Drop for Slot {
    fn drop(&mut self) {
        *self.0.lock() -= 1;
        self.0.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use belljar_contract::ErrorKind;

    use super::*;

    #[test]
    fn the_next_one_waits_for_a_slot() {
        let slots = Arc::new(Slots::new(1));
        let context = Context::new();
        let first = slots.take(&context, Operation::Read);
        let late = context.with_timeout(Duration::from_millis(5));
        let refused = slots.take(&late, Operation::Read).err();
        assert_eq!(refused.map(|error| error.kind), Some(ErrorKind::TimedOut));
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| slots.take(&context, Operation::Read).is_ok());
            drop(first);
            assert!(waiting.join().expect("no panic"));
        });
    }

    #[test]
    fn a_cancelled_call_waits_no_longer() {
        let slots = Arc::new(Slots::new(1));
        let context = Context::new();
        let _first = slots.take(&context, Operation::Read);
        let cancelled = context.child();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| slots.take(&cancelled, Operation::Read).err());
            cancelled.cancellation().cancel();
            let error = waiting.join().expect("no panic").expect("it has no slot");
            assert_eq!(error.kind, ErrorKind::Cancelled);
        });
    }
}
