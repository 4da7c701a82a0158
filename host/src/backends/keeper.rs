//! Keeps a session alive that rests, so that nothing on the way forgets it, and that its end is seen.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, Thread},
    time::Duration,
};

use belljar_contract::Context;

use super::resident::Resident;

/// A thread that asks a resident now and then whether it lives, until this is dropped.
pub(super) struct Keeper {
    over: Arc<AtomicBool>,
    thread: Option<Thread>,
}

impl Keeper {
    /// Begins to keep a session.
    ///
    /// It asks whatever else goes on: the resident ends when it hears nothing from its host, and a host that only
    /// reads a long answer says nothing.
    pub(super) fn start(resident: &Resident, every: Duration) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let ended = Arc::clone(&over);
        // The session's end is not to wait for who keeps it.
        let resident = resident.downgrade();
        let started = thread::Builder::new()
            .name("belljar-keeper".into())
            .spawn(move || {
                let clock = Context::new();
                let mut next = clock.now().saturating_add(every);
                loop {
                    if ended.load(Ordering::Acquire) {
                        return;
                    }
                    let now = clock.now();
                    if now < next {
                        thread::park_timeout(next - now);
                        continue;
                    }
                    next = now.saturating_add(every);
                    let Some(resident) = resident.upgrade() else {
                        return;
                    };
                    // Whether it is dead, and why, whoever calls next is told.
                    let _ = resident.is_alive(&Context::new().with_timeout(every));
                    if resident.death().is_some() {
                        return;
                    }
                }
            });
        Self {
            over,
            // Without a thread the session lives as long as it is used.
            thread: started.ok().map(|handle| handle.thread().clone()),
        }
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Release);
        if let Some(thread) = &self.thread {
            thread.unpark();
        }
    }
}
