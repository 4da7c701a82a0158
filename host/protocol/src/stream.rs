//! What carries the bytes, and who may write to it when.

use std::{
    collections::VecDeque,
    io,
    os::{fd::OwnedFd, unix::net::UnixStream},
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use rustix::io::Errno;

/// Both directions of a stream.
#[derive(Debug)]
pub struct Stream {
    pub(crate) input: OwnedFd,
    pub(crate) output: OwnedFd,
}

impl Stream {
    /// A stream from two pipes, or whatever two descriptors carry bytes.
    #[must_use]
    pub const fn new(input: OwnedFd, output: OwnedFd) -> Self {
        Self { input, output }
    }
}

impl TryFrom<UnixStream> for Stream {
    type Error = io::Error;

    fn try_from(socket: UnixStream) -> io::Result<Self> {
        Ok(Self {
            input: socket.try_clone()?.into(),
            output: socket.into(),
        })
    }
}

/// The writing end, which one frame at a time has, in the order in which they asked: a long message
/// takes its turns between the others'.
#[derive(Debug)]
pub(crate) struct Output {
    turns: Mutex<Turns>,
    next: Condvar,
}

#[derive(Debug)]
struct Turns {
    asked: u64,
    /// Who waits, and at the front who writes.
    queue: VecDeque<u64>,
    /// None while somebody writes, and once it is closed.
    descriptor: Option<OwnedFd>,
    closed: bool,
}

/// How often who waits for a turn looks whether it still wants one.
const LOOK: Duration = Duration::from_millis(20);

impl Output {
    pub(crate) fn new(descriptor: OwnedFd) -> Self {
        let turns = Turns {
            asked: 0,
            queue: VecDeque::new(),
            descriptor: Some(descriptor),
            closed: false,
        };
        Self {
            turns: Mutex::new(turns),
            next: Condvar::new(),
        }
    }

    /// Waits for a turn as long as `wanted` says nothing against it; none when the stream is closed.
    pub(crate) fn turn<E>(
        &self,
        wanted: impl Fn() -> Result<(), E>,
    ) -> Result<Option<Turn<'_>>, E> {
        let mut turns = lock(&self.turns);
        let mine = turns.asked;
        turns.asked += 1;
        turns.queue.push_back(mine);
        loop {
            if turns.closed {
                turns.queue.retain(|turn| *turn != mine);
                return Ok(None);
            }
            if turns.queue.front() == Some(&mine)
                && let Some(descriptor) = turns.descriptor.take()
            {
                return Ok(Some(Turn {
                    output: self,
                    descriptor: Some(descriptor),
                }));
            }
            let waited = self.next.wait_timeout(turns, LOOK);
            turns = waited.unwrap_or_else(PoisonError::into_inner).0;
            if let Err(unwanted) = wanted() {
                turns.queue.retain(|turn| *turn != mine);
                drop(turns);
                self.next.notify_all();
                return Err(unwanted);
            }
        }
    }

    /// Ends this direction, after the frame that is being written; the other end reads its end.
    pub(crate) fn close(&self) {
        let mut turns = lock(&self.turns);
        turns.closed = true;
        shut(turns.descriptor.take());
        drop(turns);
        self.next.notify_all();
    }
}

/// Of a socket the other direction stays open; a pipe is closed as it is dropped.
fn shut(descriptor: Option<OwnedFd>) {
    if let Some(descriptor) = descriptor {
        let _ = rustix::net::shutdown(&descriptor, rustix::net::Shutdown::Write);
    }
}

/// The right to write.
pub(crate) struct Turn<'a> {
    output: &'a Output,
    /// There until this is dropped.
    descriptor: Option<OwnedFd>,
}

impl Turn<'_> {
    /// Where to write.
    pub(crate) fn descriptor(&self) -> Result<&OwnedFd, Errno> {
        self.descriptor.as_ref().ok_or(Errno::PIPE)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut turns = lock(&self.output.turns);
        turns.queue.pop_front();
        match turns.closed {
            true => shut(self.descriptor.take()),
            false => turns.descriptor = self.descriptor.take(),
        }
        if !turns.queue.is_empty() {
            drop(turns);
            self.output.next.notify_all();
        }
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
