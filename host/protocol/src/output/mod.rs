//! The writing end, and who may write when.
//!
//! Whole frames are written, by the thread whose message it is. The descriptor does not block: who writes
//! waits in a poll, so that it can be woken, and what is short can be posted by whoever must not wait.

#[cfg(test)]
mod tests;
mod turns;

use std::{
    io::IoSlice,
    os::fd::OwnedFd,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use rustix::io::Errno;

use self::turns::{Place, Turns, Who};
use crate::{
    encoded::Encoded,
    frame::{HEADER_BYTES, MAX_PAYLOAD, frames},
};

/// The most bytes that are posted and not written: frames without payload, a few thousand. Whoever lets more
/// come together asks and does not listen.
const MAX_POSTED: usize = 64 << 10;

/// The writing end, which one frame at a time has.
#[derive(Debug)]
pub(crate) struct Output(Mutex<State>);

#[derive(Debug)]
struct State {
    turns: Turns,
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
    owed: Vec<u8>,
    /// Since when the other end takes nothing.
    pub(crate) stuck_since: Option<Duration>,
}

/// How long who writes waits, and what for.
pub(crate) trait Waits {
    /// Why it waits no longer.
    type Ended: From<Errno>;

    /// Whether it still wants to write.
    fn check(&self) -> Result<(), Self::Ended>;

    /// Waits until the other end takes something, or a little.
    fn until_taken(&self, pen: &mut Pen) -> Result<(), Self::Ended>;

    /// The end of a stream that was closed.
    fn closed() -> Self::Ended;

    /// Whether the stream goes on, so that a frame that was begun must be ended by whoever writes next.
    fn goes_on(ended: &Self::Ended) -> bool;
}

impl Output {
    /// Of a descriptor that does not block.
    pub(crate) fn new(descriptor: OwnedFd) -> Self {
        let pen = Pen {
            descriptor,
            owed: Vec::new(),
            stuck_since: None,
        };
        Self(Mutex::new(State {
            turns: Turns::default(),
            pen: Some(pen),
            posted: Vec::new(),
            closed: false,
        }))
    }

    /// Writes a message, as its turns come.
    pub(crate) fn message<W: Waits>(
        &self,
        call: u32,
        mut message: Encoded,
        waits: &W,
    ) -> Result<(), W::Ended> {
        let message = match message.single(call) {
            Ok(frame) => return self.short(frame, waits),
            Err(message) => message,
        };
        let mut turn = self.turn(Who::Long, waits)?;
        for (header, payload) in frames(call, message) {
            turn.write(&header.to_bytes(), payload, waits)?;
            if header.left > 0 {
                turn = turn.again(Who::Long, waits)?;
            }
        }
        Ok(())
    }

    /// Writes something short.
    pub(crate) fn short<W: Waits>(&self, bytes: &[u8], waits: &W) -> Result<(), W::Ended> {
        self.turn(Who::Short, waits)?.write(bytes, &[], waits)
    }

    /// Waits for a turn as long as it is wanted.
    fn turn<W: Waits>(&self, who: Who, waits: &W) -> Result<Turn<'_>, W::Ended> {
        let mine = lock(&self.0).turns.ask(who);
        self.come(mine, waits)
    }

    /// Waits for the turn of a place.
    fn come<W: Waits>(&self, mine: Place, waits: &W) -> Result<Turn<'_>, W::Ended> {
        let mut state = lock(&self.0);
        loop {
            if state.closed {
                state.turns.leave(mine);
                return Err(W::closed());
            }
            if state.turns.is_next(mine)
                && let Some(pen) = state.pen.take()
            {
                state.turns.begin(mine);
                return Ok(Turn {
                    output: self,
                    pen: Some(pen),
                });
            }
            drop(state);
            turns::wait();
            let wanted = waits.check();
            state = lock(&self.0);
            if let Err(unwanted) = wanted {
                state.turns.leave(mine);
                state.relay();
                return Err(unwanted);
            }
        }
    }

    /// Sends something short without ever waiting: now when the other end takes it, else before what is
    /// written next.
    pub(crate) fn post(&self, bytes: &[u8]) -> Result<(), Errno> {
        let mut state = lock(&self.0);
        if state.closed {
            return Err(Errno::PIPE);
        }
        let State { pen, posted, .. } = &mut *state;
        let (unwritten, most) = match pen {
            Some(pen) => (&mut pen.owed, MAX_POSTED + MAX_PAYLOAD + HEADER_BYTES),
            None => (posted, MAX_POSTED),
        };
        if unwritten.len() + bytes.len() > most {
            return Err(Errno::NOBUFS);
        }
        unwritten.extend_from_slice(bytes);
        state.pay().map(drop)
    }

    /// Writes what is owed as far as the other end takes it, unless somebody writes; false when
    /// something is left.
    pub(crate) fn pay(&self) -> Result<bool, Errno> {
        lock(&self.0).pay()
    }

    /// Ends this direction, after the frame that is being written; the other end reads its end.
    pub(crate) fn close(&self) {
        let mut state = lock(&self.0);
        state.closed = true;
        shut(state.pen.take());
        state.turns.wake_all();
    }
}

impl State {
    fn pay(&mut self) -> Result<bool, Errno> {
        match &mut self.pen {
            Some(pen) => pen.pay(),
            None => Ok(self.posted.is_empty()),
        }
    }

    /// Wakes whose turn it is, when nobody writes.
    fn relay(&self) {
        if self.pen.is_some() {
            self.turns.wake_next();
        }
    }
}

impl Pen {
    /// Writes what is owed as far as it is taken; false when something is left.
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

/// Of a socket the other direction stays open; a pipe is closed as it is dropped.
fn shut(pen: Option<Pen>) {
    if let Some(Pen { descriptor, .. }) = pen {
        let _ = rustix::net::shutdown(&descriptor, rustix::net::Shutdown::Write);
    }
}

/// The right to write.
struct Turn<'a> {
    output: &'a Output,
    /// There until this is dropped.
    pen: Option<Pen>,
}

impl<'a> Turn<'a> {
    /// Writes a frame within one turn: nothing of it, or all of it, or the stream is dead. When its call
    /// ends in the middle, the rest is left to whoever writes next.
    fn write<W: Waits>(
        &mut self,
        mut first: &[u8],
        mut second: &[u8],
        waits: &W,
    ) -> Result<(), W::Ended> {
        let pen = self.pen()?;
        let mut begun = false;
        while !(pen.owed.is_empty() && first.is_empty() && second.is_empty()) {
            let pieces = [&*pen.owed, first, second].map(IoSlice::new);
            match rustix::io::writev(&pen.descriptor, &pieces) {
                Ok(count) => {
                    let of_owed = count.min(pen.owed.len());
                    let of_first = (count - of_owed).min(first.len());
                    pen.owed.drain(..of_owed);
                    first = &first[of_first..];
                    second = &second[count - of_owed - of_first..];
                    begun |= count > of_owed;
                    pen.stuck_since = None;
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => match waits.until_taken(pen) {
                    Err(ended) if begun && W::goes_on(&ended) => {
                        pen.owed.extend_from_slice(first);
                        pen.owed.extend_from_slice(second);
                        return Ok(());
                    }
                    waited => waited?,
                },
                Err(errno) => return Err(errno.into()),
            }
        }
        Ok(())
    }

    /// Ends this turn, and waits for another one. It is asked for first: else it would be luck how many short
    /// messages go before the next frame of a long one.
    fn again<W: Waits>(self, who: Who, waits: &W) -> Result<Turn<'a>, W::Ended> {
        let output = self.output;
        let place = lock(&output.0).turns.ask_again(who);
        drop(self);
        output.come(place, waits)
    }

    fn pen(&mut self) -> Result<&mut Pen, Errno> {
        self.pen.as_mut().ok_or(Errno::PIPE)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let mut state = lock(&self.output.0);
        if state.closed {
            shut(self.pen.take());
        } else if let Some(mut pen) = self.pen.take() {
            pen.owed.append(&mut state.posted);
            // Whoever writes next sees what failed.
            let _ = pen.pay();
            state.pen = Some(pen);
        }
        state.relay();
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
