//! Wakes whoever waits in a poll.

use std::{
    os::fd::OwnedFd,
    sync::atomic::{AtomicBool, Ordering},
};

use rustix::event::{PollFd, PollFlags};

/// Wakes a thread that polls for this too.
#[derive(Debug)]
pub(crate) struct Waker {
    readable: OwnedFd,
    writable: OwnedFd,
    /// Nobody is to wait any more.
    over: AtomicBool,
}

impl Waker {
    pub(crate) fn new() -> std::io::Result<Self> {
        let (readable, writable) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
        for end in [&readable, &writable] {
            rustix::io::ioctl_fionbio(end, true)?;
        }
        Ok(Self {
            readable,
            writable,
            over: AtomicBool::new(false),
        })
    }

    /// What is ready when it woke.
    pub(crate) fn awaited(&self) -> PollFd<'_> {
        PollFd::new(&self.readable, PollFlags::IN)
    }

    pub(crate) fn wake(&self) {
        // A full pipe wakes just as well.
        let _ = rustix::io::write(&self.writable, &[0]);
    }

    /// Wakes every thread, now and for ever.
    pub(crate) fn end(&self) {
        self.over.store(true, Ordering::Release);
        self.wake();
    }

    pub(crate) fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }

    /// Takes every wake that has come. Never once it is over.
    pub(crate) fn sleep_again(&self) {
        let mut bytes = [0; 64];
        while rustix::io::read(&self.readable, &mut bytes).is_ok_and(|count| count == bytes.len()) {
        }
    }
}
