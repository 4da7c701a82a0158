//! How many processes run at once, and the session's end for each of them.

use std::{
    collections::BTreeMap,
    io,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
};

use super::{
    failure::Failure,
    wake::{Ask, Wake},
};

/// The places for running processes of a session.
#[derive(Debug)]
pub(super) struct Slots {
    most: u32,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    closed: bool,
    next: u64,
    counted: u32,
    wakes: BTreeMap<u64, Arc<Wake>>,
}

/// Whether a process counts against the session's limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Counted {
    Yes,
    /// The supervisor's own question to a program, which is bounded elsewhere.
    No,
}

/// A place that is taken until this is dropped.
#[derive(Debug)]
pub(super) struct Slot {
    slots: Arc<Slots>,
    id: u64,
    counted: Counted,
    wake: Arc<Wake>,
}

impl Slots {
    pub(super) fn new(most: u32) -> Arc<Self> {
        Arc::new(Self {
            most,
            state: Mutex::default(),
            changed: Condvar::new(),
        })
    }

    /// Takes a place.
    pub(super) fn enter(self: &Arc<Self>, counted: Counted) -> Result<Slot, Failure> {
        self.check()?;
        let wake = Wake::new().map_err(|error: io::Error| Failure::SystemBusy(error))?;
        let wake = Arc::new(wake);
        let mut state = self.lock();
        if state.closed {
            return Err(Failure::Closed);
        }
        if counted == Counted::Yes {
            if state.counted >= self.most {
                return Err(Failure::TooManyProcesses(self.most));
            }
            state.counted += 1;
        }
        let id = state.next;
        state.next += 1;
        state.wakes.insert(id, Arc::clone(&wake));
        Ok(Slot {
            slots: Arc::clone(self),
            id,
            counted,
            wake,
        })
    }

    /// Says whether the session is open.
    pub(super) fn check(&self) -> Result<(), Failure> {
        if self.lock().closed {
            return Err(Failure::Closed);
        }
        Ok(())
    }

    /// Lets nobody in any more, asks everybody to end, and waits until all have.
    pub(super) fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        for wake in state.wakes.values() {
            wake.ask(Ask::Close);
        }
        while !state.wakes.is_empty() {
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Slot {
    pub(super) const fn wake(&self) -> &Arc<Wake> {
        &self.wake
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut state = self.slots.lock();
        state.wakes.remove(&self.id);
        if self.counted == Counted::Yes {
            state.counted -= 1;
        }
        self.slots.changed.notify_all();
    }
}
