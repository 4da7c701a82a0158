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
    pen: Option<Pen>,
    /// What was posted while somebody wrote.
    posted: Vec<u8>,
    closed: bool,
}

/// What who writes has.
#[derive(Debug)]
pub(crate) struct Pen {
    pub(crate) descriptor: OwnedFd,
    /// What goes out before anything else: the rest of a frame that was begun, and what was posted.
    pub(crate) owed: Vec<u8>,
    /// Since when the other end takes nothing.
    pub(crate) stuck_since: Option<Duration>,
}

impl Pen {
    /// Writes what is owed, of a descriptor that does not block as much as it takes; false when
    /// something is left.
    fn pay(&mut self) -> Result<bool, Errno> {
        while !self.owed.is_empty() {
            match rustix::io::write(&self.descriptor, &self.owed) {
                Ok(count) => drop(self.owed.drain(..count)),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Ok(false),
                Err(errno) => return Err(errno),
            }
        }
        Ok(true)
    }
}

/// How often who waits for a turn looks whether it still wants one.
const LOOK: Duration = Duration::from_millis(20);

impl Output {
    pub(crate) fn new(descriptor: OwnedFd) -> Self {
        let pen = Pen {
            descriptor,
            owed: Vec::new(),
            stuck_since: None,
        };
        let turns = Turns {
            asked: 0,
            queue: VecDeque::new(),
            pen: Some(pen),
            posted: Vec::new(),
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
                && let Some(pen) = turns.pen.take()
            {
                return Ok(Some(Turn {
                    output: self,
                    pen: Some(pen),
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

    /// Sends a short frame without ever waiting: now when the other end takes it, else before what is
    /// written next. Only for a descriptor that does not block.
    pub(crate) fn post(&self, frame: &[u8]) -> Result<(), Errno> {
        let mut turns = lock(&self.turns);
        if turns.closed {
            return Err(Errno::PIPE);
        }
        match &mut turns.pen {
            Some(pen) => {
                pen.owed.extend_from_slice(frame);
                pen.pay().map(drop)
            }
            None => {
                turns.posted.extend_from_slice(frame);
                Ok(())
            }
        }
    }

    /// Writes what is owed as far as the other end takes it, unless somebody writes; false when
    /// something is left. Only for a descriptor that does not block.
    pub(crate) fn pay(&self) -> Result<bool, Errno> {
        match &mut lock(&self.turns).pen {
            Some(pen) => pen.pay(),
            None => Ok(true),
        }
    }

    /// Ends this direction, after the frame that is being written; the other end reads its end.
    pub(crate) fn close(&self) {
        let mut turns = lock(&self.turns);
        turns.closed = true;
        shut(turns.pen.take());
        drop(turns);
        self.next.notify_all();
    }
}

/// Of a socket the other direction stays open; a pipe is closed as it is dropped.
fn shut(pen: Option<Pen>) {
    if let Some(Pen { descriptor, .. }) = pen {
        let _ = rustix::net::shutdown(&descriptor, rustix::net::Shutdown::Write);
    }
}

/// The right to write.
pub(crate) struct Turn<'a> {
    output: &'a Output,
    /// There until this is dropped.
    pen: Option<Pen>,
}

impl Turn<'_> {
    /// What to write with.
    pub(crate) fn pen(&mut self) -> Result<&mut Pen, Errno> {
        self.pen.as_mut().ok_or(Errno::PIPE)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut turns = lock(&self.output.turns);
        turns.queue.pop_front();
        if turns.closed {
            shut(self.pen.take());
        } else if let Some(mut pen) = self.pen.take() {
            pen.owed.append(&mut turns.posted);
            // Whoever writes next sees what failed.
            let _ = pen.pay();
            turns.pen = Some(pen);
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
