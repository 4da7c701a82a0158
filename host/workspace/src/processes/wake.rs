//! How another thread asks the one that supervises a process to do something.

use std::{
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    sync::atomic::{AtomicU8, Ordering},
};

use super::platform;

/// What can be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ask {
    /// Look at the standard input again: there is more to write.
    Write = 0,
    /// End the process: its caller cancelled.
    Cancel = 1,
    /// End the process: the session ends.
    Close = 2,
    /// Kill the process, without a word.
    Kill = 4,
}

/// A descriptor to poll on, and what was asked.
#[derive(Debug)]
pub(super) struct Wake {
    readable: OwnedFd,
    /// The other end, where one descriptor cannot be both.
    writable: Option<OwnedFd>,
    asked: AtomicU8,
}

impl Wake {
    pub(super) fn new() -> io::Result<Self> {
        let (readable, writable) = platform::wake_descriptors()?;
        Ok(Self {
            readable,
            writable,
            asked: AtomicU8::new(0),
        })
    }

    /// Asks, and wakes who polls.
    pub(super) fn ask(&self, ask: Ask) {
        self.asked.fetch_or(ask as u8, Ordering::AcqRel);
        let writable = self.writable.as_ref().unwrap_or(&self.readable);
        // It is full only when it is readable already, which is all that is wanted.
        let _ = rustix::io::write(writable, &1u64.to_ne_bytes());
    }

    pub(super) fn is_asked(&self, ask: Ask) -> bool {
        self.asked.load(Ordering::Acquire) & ask as u8 != 0
    }

    /// Makes it unreadable again.
    pub(super) fn clear(&self) {
        let mut buffer = [0; 64];
        let _ = rustix::io::read(&self.readable, &mut buffer);
    }
}

impl AsFd for Wake {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.readable.as_fd()
    }
}
