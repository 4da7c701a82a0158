//! Input and output that waits no longer than its call may.
//!
//! Both descriptors are non-blocking. Only messages are waited for to be written; what is said about
//! them is posted, so that who reads goes on reading.

use std::{os::fd::OwnedFd, time::Duration};

use belljar_contract::Context;
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
};

use super::{
    OpenError, Patience,
    state::Ended,
    wait::{STEP, Wait},
};
use crate::{
    encoded::Encoded,
    frame::{Bounds, Decoder, Event, Header, Kind, NO_CALL},
    message::{OPEN_CALL, PREAMBLE, VERSION, version},
    output::{Output, Pen, Waits},
    size::opening_bounds,
    stream::Stream,
};

/// The most bytes shown of what does not speak the protocol.
const SHOWN: usize = 200;

/// Takes a stream apart.
pub(super) fn split(stream: Stream, patience: Patience) -> Result<(Outgoing, Incoming), OpenError> {
    stream.never_block()?;
    let incoming = Incoming {
        descriptor: stream.input,
        decoder: Decoder::new(opening_bounds()),
        patience,
        quiet_since: None,
        asked: None,
    };
    let outgoing = Outgoing {
        output: Output::new(stream.output),
        patience,
    };
    Ok((outgoing, incoming))
}

/// The way to the resident.
#[derive(Debug)]
pub(super) struct Outgoing {
    output: Output,
    patience: Patience,
}

impl Outgoing {
    pub(super) fn preamble(&self, wait: &Wait<'_>) -> Result<(), Ended> {
        self.output.short(&PREAMBLE, &self.patient(wait))
    }

    /// Writes a message. When its call ends before the last frame is begun, the other end is told to
    /// forget it, and there will be no answer.
    pub(super) fn message(
        &self,
        call: u32,
        message: Encoded,
        wait: &Wait<'_>,
    ) -> Result<(), Ended> {
        let long = message.is_long();
        let written = self.output.message(call, message, &self.patient(wait));
        if let (true, Err(Ended::Stopped(_))) = (long, &written) {
            self.post(Header::bare(Kind::Cancel, call))?;
        }
        written
    }

    /// Says something short without waiting: when the other end takes nothing now, before what is
    /// written next.
    pub(super) fn post(&self, header: Header) -> Result<(), Ended> {
        Ok(self.output.post(&header.to_bytes())?)
    }

    pub(super) fn close(&self) {
        self.output.close();
    }

    const fn patient<'a>(&self, wait: &'a Wait<'a>) -> Patient<'a> {
        Patient {
            wait,
            patience: self.patience,
        }
    }
}

/// Waits as long as its call may, and a resident that takes nothing is dead.
struct Patient<'a> {
    wait: &'a Wait<'a>,
    patience: Patience,
}

impl Waits for Patient<'_> {
    type Ended = Ended;

    fn check(&self) -> Result<(), Ended> {
        self.wait.check()
    }

    fn until_taken(&self, pen: &mut Pen) -> Result<(), Ended> {
        let now = self.wait.context.now();
        let since = *pen.stuck_since.get_or_insert(now);
        let taken = self.wait.writable(&pen.descriptor)?;
        let patience = self.patience.quiet + self.patience.silent;
        if !taken && self.wait.context.now() - since >= patience {
            return Err(Ended::Silent);
        }
        Ok(())
    }

    fn closed() -> Ended {
        Ended::Closed
    }

    fn goes_on(ended: &Ended) -> bool {
        matches!(ended, Ended::Stopped(_))
    }
}

/// The way from the resident.
#[derive(Debug)]
pub(super) struct Incoming {
    descriptor: OwnedFd,
    decoder: Decoder,
    patience: Patience,
    /// Since when nothing has come although it was waited for.
    quiet_since: Option<Duration>,
    /// When the resident was asked whether it lives; nothing has come since.
    asked: Option<Duration>,
}

impl Incoming {
    pub(super) const fn set_bounds(&mut self, bounds: Bounds) {
        self.decoder.set_bounds(bounds);
    }

    /// Holds nothing of what comes for this call.
    pub(super) fn skip(&mut self, call: u32) {
        self.decoder.skip(call);
    }

    /// Reads the other end's first bytes.
    pub(super) fn preamble(&mut self, wait: &Wait<'_>) -> Result<(), OpenError> {
        let mut came = Vec::new();
        while came.len() < PREAMBLE.len() && PREAMBLE.starts_with(&came) {
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
                    wait.readable(&self.descriptor, None)?;
                }
                Err(errno) => return Err(Ended::from(errno).into()),
            }
        }
        match version(&came) {
            Some(VERSION) => return Ok(()),
            Some(theirs) => return Err(OpenError::OtherVersion(theirs)),
            None => {}
        }
        // Whatever else is there: often it is an error, in words.
        let mut more = [0; SHOWN];
        let count = rustix::io::read(&self.descriptor, &mut more).unwrap_or(0);
        came.extend_from_slice(&more[..count]);
        let shown = String::from_utf8_lossy(&came).into_owned();
        Err(OpenError::NotOurs(shown))
    }

    /// Reads the answer to the opening.
    pub(super) fn first_message(&mut self, wait: &Wait<'_>) -> Result<Vec<u8>, OpenError> {
        loop {
            match self.decoder.next().map_err(Ended::from)? {
                Some(Event::Message {
                    call: OPEN_CALL,
                    bytes,
                }) => return Ok(bytes),
                None
                | Some(Event::Begun {
                    call: OPEN_CALL, ..
                }) => {}
                Some(_) => return Err(Ended::of_protocol("did not answer the opening").into()),
            }
            self.read(wait, None)?;
        }
    }

    /// Waits once for what comes next, and asks whether the resident lives when nothing has come for
    /// long. None when there is nothing yet.
    pub(super) fn event(
        &mut self,
        outgoing: &Outgoing,
        wait: &Wait<'_>,
    ) -> Result<Option<Event>, Ended> {
        if let Some(event) = self.decoder.next()? {
            return Ok(Some(event));
        }
        let now = wait.context.now();
        let (since, patience) = match self.asked {
            Some(asked) => (asked, self.patience.silent),
            None => (*self.quiet_since.get_or_insert(now), self.patience.quiet),
        };
        let at = since.saturating_add(patience);
        let left = at.saturating_sub(now);
        let left = if outgoing.output.pay()? {
            left
        } else {
            left.min(STEP)
        };
        if self.read(wait, Some(left))? {
            (self.quiet_since, self.asked) = (None, None);
            return Ok(self.decoder.next()?);
        }
        let now = wait.context.now();
        if now >= at {
            if self.asked.is_some() {
                return Err(Ended::Silent);
            }
            outgoing.post(Header::bare(Kind::Ping, NO_CALL))?;
            self.asked = Some(now);
        }
        Ok(None)
    }

    /// Reads once; false when nothing came in `patience`.
    fn read(&mut self, wait: &Wait<'_>, patience: Option<Duration>) -> Result<bool, Ended> {
        if !wait.readable(&self.descriptor, patience)? {
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
        while context.check().is_ok() {
            match rustix::io::read(&self.descriptor, &mut dropped) {
                Ok(0) => return,
                Ok(_) | Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
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
