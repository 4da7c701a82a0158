//! The started processes of a session, by id.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread::JoinHandle,
};

use belljar_contract::processes::ProcessId;

use super::{
    exchange::{Sink, State},
    failure::Failure,
    started::Started,
};

/// What is kept of the outputs of processes that have ended, all together. The oldest go first; those who
/// read them later are told how much is gone. It is four times the most that one process may keep.
const KEPT_OF_ENDED: usize = 128 << 20;

/// Started processes. Entries stay until the session's end; ids are never used again.
#[derive(Debug, Default)]
pub(super) struct Table(Mutex<Entries>);

#[derive(Debug, Default)]
struct Entries {
    last: u64,
    started: BTreeMap<ProcessId, Arc<Started>>,
    threads: Vec<JoinHandle<()>>,
}

impl Table {
    /// Enters a process, and gives it an id.
    pub(super) fn enter(&self, started: Started, thread: JoinHandle<()>) -> ProcessId {
        let mut entries = self.lock();
        entries.last += 1;
        let id = ProcessId(entries.last);
        entries.started.insert(id, Arc::new(started));
        entries.threads.retain(|thread| !thread.is_finished());
        entries.threads.push(thread);
        entries.forget_old_outputs();
        id
    }

    pub(super) fn get(&self, id: ProcessId) -> Result<Arc<Started>, Failure> {
        self.lock()
            .started
            .get(&id)
            .cloned()
            .ok_or(Failure::NoSuchProcess(id))
    }

    /// Waits until the threads of all processes have ended.
    pub(super) fn join(&self) {
        let threads = std::mem::take(&mut self.lock().threads);
        for thread in threads {
            // A thread that panicked has ended its process by unwinding.
            let _ = thread.join();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entries {
    fn forget_old_outputs(&self) {
        let mut room = KEPT_OF_ENDED;
        for started in self.started.values().rev() {
            let mut state = started.exchange.lock();
            if state.ended.is_none() {
                continue;
            }
            let State { stdout, stderr, .. } = &mut *state;
            for sink in [stdout, stderr] {
                if let Sink::Last(kept) = sink {
                    match room.checked_sub(kept.held()) {
                        Some(rest) => room = rest,
                        None => kept.forget(),
                    }
                }
            }
        }
    }
}
