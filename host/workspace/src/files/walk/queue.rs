//! What a walk has still to do, shared by its threads.

use std::{
    os::fd::OwnedFd,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
};

use super::ignoring::Rules;
use crate::files::fault::Fault;

/// A piece of work.
pub(super) enum Job<B> {
    Directory {
        path: Vec<u8>,
        below: B,
        rules: Option<Arc<Rules>>,
    },
    /// Files of one directory.
    Files {
        directory: Arc<OwnedFd>,
        path: Arc<[u8]>,
        names: Vec<Vec<u8>>,
    },
}

/// Work that waits. Files come first: as long as they wait, a directory is held open.
pub(super) struct Queue<B> {
    waiting: Mutex<Waiting<B>>,
    changed: Condvar,
}

struct Waiting<B> {
    directories: Vec<Job<B>>,
    files: Vec<Job<B>>,
    /// Jobs that are being done, and may make more.
    running: usize,
    stopped: bool,
    fault: Option<Fault>,
}

/// A job that is being done.
pub(super) struct Running<'a, B> {
    queue: &'a Queue<B>,
    job: Job<B>,
}

impl<B> Queue<B> {
    pub(super) const fn of(waiting: Vec<Job<B>>) -> Self {
        Self {
            waiting: Mutex::new(Waiting {
                directories: waiting,
                files: Vec::new(),
                running: 0,
                stopped: false,
                fault: None,
            }),
            changed: Condvar::new(),
        }
    }

    pub(super) fn new(first: Job<B>) -> Self {
        Self::of(vec![first])
    }

    fn lock(&self) -> MutexGuard<'_, Waiting<B>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next job; none when all is done, or was stopped.
    pub(super) fn next(&self) -> Option<Running<'_, B>> {
        let mut waiting = self.lock();
        loop {
            if waiting.stopped {
                return None;
            }
            let next = waiting.files.pop().or_else(|| waiting.directories.pop());
            if let Some(job) = next {
                waiting.running += 1;
                drop(waiting);
                return Some(Running { queue: self, job });
            }
            if waiting.running == 0 {
                return None;
            }
            waiting = self
                .changed
                .wait(waiting)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Adds jobs, and says how many wait.
    pub(super) fn push(&self, jobs: impl IntoIterator<Item = Job<B>>) -> usize {
        let mut waiting = self.lock();
        for job in jobs {
            match job {
                Job::Directory { .. } => waiting.directories.push(job),
                // A batch of files may take long, and counts for more.
                Job::Files { .. } => waiting.files.push(job),
            }
        }
        let count = waiting.directories.len() + 8 * waiting.files.len();
        drop(waiting);
        if count > 0 {
            self.changed.notify_all();
        }
        count
    }

    /// Ends the walk: the first fault is its answer.
    pub(super) fn stop(&self, fault: Fault) {
        let mut waiting = self.lock();
        waiting.stopped = true;
        waiting.fault.get_or_insert(fault);
    }

    pub(super) fn into_fault(self) -> Option<Fault> {
        let waiting = self.waiting.into_inner();
        waiting.unwrap_or_else(PoisonError::into_inner).fault
    }
}

impl<B> Running<'_, B> {
    pub(super) const fn get(&self) -> &Job<B> {
        &self.job
    }
}

impl<B> Drop for Running<'_, B> {
    fn drop(&mut self) {
        let mut waiting = self.queue.lock();
        waiting.running -= 1;
        // Nobody waits for what a panic has left undone.
        waiting.stopped |= std::thread::panicking();
        let wake = waiting.stopped || waiting.running == 0;
        drop(waiting);
        if wake {
            self.queue.changed.notify_all();
        }
    }
}
