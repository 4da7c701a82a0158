//! The program that a launch began with. Everything that it starts is found from it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::process::{Pid, Signal, WaitStatus};

/// A program that was started in a process group of its own.
///
/// It is a child of this operating-system process, and stays one, as a zombie, until all that it started is
/// gone: as long as it does, no other process or group has its number.
#[derive(Debug)]
pub(super) struct Leader {
    pid: Pid,
    /// What it ended with, once it was reaped.
    status: Mutex<Option<WaitStatus>>,
}

impl Leader {
    pub(super) const fn new(pid: Pid) -> Self {
        Self {
            pid,
            status: Mutex::new(None),
        }
    }

    pub(super) const fn pid(&self) -> Pid {
        self.pid
    }

    /// What it ended with, for whoever reaps it.
    pub(super) fn status(&self) -> MutexGuard<'_, Option<WaitStatus>> {
        self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Signals its process group; nothing when it was reaped.
    pub(super) fn signal_group(&self, signal: Signal) {
        let status = self.status();
        if status.is_none() {
            // The group may be empty but for a zombie, and members may have become another user's.
            let _ = rustix::process::kill_process_group(self.pid, signal);
        }
    }
}
