//! Input and output that waits no longer than its call may.
//!
//! Both descriptors are non-blocking. What waits, waits in one poll for the descriptor, for the waker and
//! for the deadline.

use std::{
    io::IoSlice,
    os::fd::OwnedFd,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use belljar_contract::Context;
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
};

use super::waiting::Ended;
use crate::{
    frame::{Bounds, Decoder, Event, Header, Kind, frames},
    message::{Encoded, OPEN_CALL, PREAMBLE, opening_bounds},
    stream::{Output, Stream},
};

use super::OpenError;

/// How long a session may say nothing while it is waited for before it is asked whether it lives.
const QUIET: Duration = Duration::from_secs(5);
/// How long it may say nothing after that before it is dead.
const SILENT: Duration = Duration::from_secs(10);
/// How long what was begun to be written may take after its call has ended.
const GRACE: Duration = Duration::from_millis(100);
/// How often who cannot write looks whether it still should.
const STEP: Duration = Duration::from_millis(20);

/// Wakes the thread that reads.
#[derive(Debug)]
pub(super) struct Waker {
    readable: OwnedFd,
    writable: OwnedFd,
    /// Nobody is to wait any more, whatever its context says.
    over: AtomicBool,
}

impl Waker {
    pub(super) fn new() -> std::io::Result<Self> {
        let (readable, writable) = rustix::pipe::pipe()?;
        for end in [&readable, &writable] {
            rustix::io::fcntl_setfd(end, rustix::io::FdFlags::CLOEXEC)?;
            rustix::io::ioctl_fionbio(end, true)?;
        }
        Ok(Self {
            readable,
            writable,
            over: AtomicBool::new(false),
        })
    }

    pub(super) fn wake(&self) {
        // A full pipe wakes just as well.
        let _ = rustix::io::write(&self.writable, &[0]);
    }

    /// Wakes every thread, now and for ever.
    pub(super) fn end(&self) {
        self.over.store(true, Ordering::Release);
        self.wake();
    }

    fn sleep_again(&self) {
        let mut bytes = [0; 64];
        while rustix::io::read(&self.readable, &mut bytes).is_ok_and(|count| count == bytes.len()) {
        }
    }
}

/// What bounds a wait.
pub(super) struct Wait<'a> {
    pub(super) waker: &'a Waker,
    pub(super) context: &'a Context,
}

impl Wait<'_> {
    fn check(&self) -> Result<(), Ended> {
        if self.waker.over.load(Ordering::Acquire) {
            return Err(Ended::Closed);
        }
        self.context.check().map_err(Ended::Stopped)
    }

    /// Waits until the descriptor is ready, at most for `patience`; false when it is not.
    fn until(
        &self,
        descriptor: &OwnedFd,
        flags: PollFlags,
        patience: Option<Duration>,
    ) -> Result<bool, Ended> {
        self.check()?;
        let bound = match (self.context.remaining(), patience) {
            (Some(remaining), Some(patience)) => Some(remaining.min(patience)),
            (remaining, patience) => remaining.or(patience),
        };
        let bound = bound.and_then(|bound| Timespec::try_from(bound).ok());
        let mut waited = [
            PollFd::new(descriptor, flags),
            PollFd::new(&self.waker.readable, PollFlags::IN),
        ];
        match poll(&mut waited, bound.as_ref()) {
            Ok(0) | Err(Errno::INTR) => Ok(false),
            Ok(_) => {
                let ready = !waited[0].revents().is_empty();
                if !waited[1].revents().is_empty() {
                    self.check()?;
                    self.waker.sleep_again();
                    self.check()?;
                }
                Ok(ready)
            }
            Err(errno) => Err(errno.into()),
        }
    }
}

/// A context of its own, for what must still be said when the call is over.
fn context_for(time: Duration) -> Context {
    Context::new().with_timeout(time)
}

/// Takes a stream apart.
pub(super) fn split(stream: Stream) -> Result<(Outgoing, Incoming), OpenError> {
    for end in [&stream.input, &stream.output] {
        rustix::io::ioctl_fionbio(end, true).map_err(std::io::Error::from)?;
    }
    let incoming = Incoming {
        descriptor: stream.input,
        decoder: Decoder::new(opening_bounds()),
    };
    Ok((Outgoing(Output::new(stream.output)), incoming))
}

/// The way to the resident.
#[derive(Debug)]
pub(super) struct Outgoing(Output);

impl Outgoing {
    pub(super) fn preamble(&self, wait: &Wait<'_>) -> Result<(), Ended> {
        self.write(&PREAMBLE, &[], wait)
    }

    /// Writes a message; when its call ends first, the other end is told to forget it.
    pub(super) fn message(
        &self,
        call: u32,
        mut message: Encoded,
        wait: &Wait<'_>,
    ) -> Result<(), Ended> {
        match message.single(call) {
            Ok(frame) => self.write(frame, &[], wait),
            Err(message) => {
                for (header, payload) in frames(call, message) {
                    let written = self.write(&header.to_bytes(), payload, wait);
                    if let Err(Ended::Stopped(_)) = written {
                        let last = context_for(GRACE);
                        let wait = Wait {
                            context: &last,
                            ..*wait
                        };
                        let forget = self.bare(Header::bare(Kind::Cancel, call), &wait);
                        forget.map_err(Ended::into_dead)?;
                    }
                    written?;
                }
                Ok(())
            }
        }
    }

    pub(super) fn bare(&self, header: Header, wait: &Wait<'_>) -> Result<(), Ended> {
        self.write(&header.to_bytes(), &[], wait)
    }

    pub(super) fn close(&self) {
        self.0.close();
    }

    /// Writes a frame within one turn: all of it, or nothing, or the session is dead. What has been
    /// begun has a little longer than its call.
    fn write(&self, mut first: &[u8], mut second: &[u8], wait: &Wait<'_>) -> Result<(), Ended> {
        let turn = self.0.turn(|| wait.check())?.ok_or(Ended::Closed)?;
        let descriptor = turn.descriptor()?;
        let mut stopped: Option<Context> = None;
        let mut stuck_since = None;
        let mut begun = false;
        while !first.is_empty() || !second.is_empty() {
            match rustix::io::writev(descriptor, &[IoSlice::new(first), IoSlice::new(second)]) {
                Ok(count) => {
                    let of_first = count.min(first.len());
                    first = &first[of_first..];
                    second = &second[count - of_first..];
                    (begun, stuck_since) = (true, None);
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    let bound = Wait {
                        context: stopped.as_ref().unwrap_or(wait.context),
                        ..*wait
                    };
                    // In short steps: the thread that reads may take the wake that was meant for us.
                    match bound.until(descriptor, PollFlags::OUT, Some(STEP)) {
                        Ok(true) => {}
                        Ok(false) => {
                            let now = wait.context.now();
                            let since = *stuck_since.get_or_insert(now);
                            if now - since >= QUIET + SILENT {
                                return Err(Ended::Silent);
                            }
                        }
                        Err(Ended::Stopped(_)) if begun && stopped.is_none() => {
                            stopped = Some(context_for(GRACE));
                        }
                        Err(Ended::Stopped(_)) if begun => return Err(Ended::Silent),
                        Err(ended) => return Err(ended),
                    }
                }
                Err(errno) => return Err(errno.into()),
            }
        }
        Ok(())
    }
}

/// The way from the resident.
#[derive(Debug)]
pub(super) struct Incoming {
    descriptor: OwnedFd,
    decoder: Decoder,
}

impl Incoming {
    pub(super) const fn set_bounds(&mut self, bounds: Bounds) {
        self.decoder.set_bounds(bounds);
    }

    /// Reads the other end's first bytes.
    pub(super) fn preamble(&mut self, wait: &Wait<'_>) -> Result<(), OpenError> {
        let mut came = Vec::new();
        while came.len() < PREAMBLE.len() {
            let mut rest = [0; PREAMBLE.len()];
            let rest = &mut rest[..PREAMBLE.len() - came.len()];
            match rustix::io::read(&self.descriptor, &mut *rest) {
                Ok(0) if came.is_empty() => {
                    return Err(OpenError::Lost("it ended before it began".to_owned()));
                }
                Ok(0) => break,
                Ok(count) => came.extend_from_slice(&rest[..count]),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    wait.until(&self.descriptor, PollFlags::IN, None)?;
                }
                Err(errno) => return Err(Ended::from(errno).into()),
            }
        }
        if came != PREAMBLE {
            let shown = String::from_utf8_lossy(&came).into_owned();
            return Err(OpenError::NotOurs(shown));
        }
        Ok(())
    }

    /// Reads the answer to the opening.
    pub(super) fn first_message(&mut self, wait: &Wait<'_>) -> Result<Vec<u8>, OpenError> {
        loop {
            match self.decoder.next().map_err(Ended::from)? {
                Some(Event::Message {
                    call: OPEN_CALL,
                    bytes,
                }) => return Ok(bytes),
                Some(_) => return Err(Ended::of_protocol("did not answer the opening").into()),
                None => {}
            }
            self.read(wait, None)?;
        }
    }

    /// Waits for what comes next, and asks whether the resident lives when nothing does.
    pub(super) fn event(&mut self, outgoing: &Outgoing, wait: &Wait<'_>) -> Result<Event, Ended> {
        let mut patience = QUIET;
        let mut quiet_since = wait.context.now();
        loop {
            if let Some(event) = self.decoder.next()? {
                return Ok(event);
            }
            if self.read(wait, Some(patience))? {
                (patience, quiet_since) = (QUIET, wait.context.now());
            } else if wait.context.now() - quiet_since >= QUIET + SILENT {
                return Err(Ended::Silent);
            } else if wait.context.now() - quiet_since >= patience {
                let short = wait.context.with_timeout(SILENT);
                let wait = Wait {
                    context: &short,
                    ..*wait
                };
                outgoing.bare(Header::bare(Kind::Ping, 0), &wait)?;
                patience = QUIET + SILENT;
            }
        }
    }

    /// Reads once; false when nothing came in `patience`.
    fn read(&mut self, wait: &Wait<'_>, patience: Option<Duration>) -> Result<bool, Ended> {
        if !wait.until(&self.descriptor, PollFlags::IN, patience)? {
            return Ok(false);
        }
        match rustix::io::read(&self.descriptor, self.decoder.spare()) {
            Ok(0) => Err(Ended::Lost("it ended".to_owned())),
            Ok(count) => {
                self.decoder.filled(count);
                Ok(true)
            }
            Err(Errno::INTR | Errno::AGAIN) => Ok(false),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Reads and drops everything until the end, as long as the context allows.
    pub(super) fn drain(&mut self, context: &Context) {
        let mut dropped = [0; 4096];
        loop {
            match rustix::io::read(&self.descriptor, &mut dropped) {
                Ok(0) => return,
                Ok(_) | Err(Errno::INTR) => {}
                Err(Errno::AGAIN) if context.check().is_ok() => {
                    let left = context.remaining();
                    let left = left.and_then(|left| Timespec::try_from(left).ok());
                    let mut waited = [PollFd::new(&self.descriptor, PollFlags::IN)];
                    // Whatever comes of it, the next read says.
                    let _ = poll(&mut waited, left.as_ref());
                }
                Err(_) => return,
            }
        }
    }
}
