//! The resident's end: requests from a stream, answered by the workspace engine or whatever is given.
//!
//! One of a few threads reads. When it has a request it lets another read on and answers the request
//! itself: no hop from thread to thread stands between a request and its answer. There is always a thread
//! that reads, so that pings are answered and cancellations reach their calls: a call for which there is
//! no thread is `busy`.

mod session;

use std::{convert::Infallible, io::IoSlice, os::fd::OwnedFd};

use belljar_contract::{Context, Error, Request, Response};
use rustix::io::Errno;

use self::session::Session;
use crate::{
    facts::Facts,
    frame::{Decoder, Event, Malformed, frames},
    message::{
        Answer, Ask, Encoded, OPEN_CALL, Open, Opened, PREAMBLE, bounds, decode, opening_bounds,
    },
    stream::{Output, Stream},
};

/// Why serving ended before the stream did.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The other end does not speak this protocol.
    #[error("the other end does not speak version 1 of the sandbox protocol")]
    NotOurs,
    /// What it sent means nothing.
    #[error("the other end sent {0}")]
    Malformed(#[from] Malformed),
    /// It did something out of order.
    #[error("the other end {0}")]
    OutOfOrder(&'static str),
    /// The session cannot be opened; the host was told.
    #[error("the session cannot be opened: {0}")]
    Refused(String),
    /// The stream broke.
    #[error("the stream broke")]
    Stream(#[from] std::io::Error),
}

impl From<Errno> for ServeError {
    fn from(errno: Errno) -> Self {
        Self::Stream(errno.into())
    }
}

/// Who answers requests.
pub trait Engine: Sync {
    /// Answers a request on this thread.
    ///
    /// # Errors
    /// As the contract says of the operation.
    fn call(&self, context: &Context, request: Request) -> Result<Response, Error>;

    /// What it sees of its own process and of what it runs in; nothing, unless it says so.
    fn probe(&self) -> Facts {
        Facts::default()
    }
}

/// Serves one session until the stream ends.
///
/// `open` makes the engine from what the host asks for, or says why it cannot. Calls that are still
/// running when the stream ends are cancelled, and this returns when they have ended.
///
/// # Errors
/// [`ServeError`] when the session ends for another reason than the stream's end.
pub fn serve<E: Engine>(
    stream: Stream,
    open: impl FnOnce(&Open) -> Result<(E, Opened), String>,
) -> Result<(), ServeError> {
    let Stream { input, output } = stream;
    let mut reader = Reader {
        input,
        decoder: Decoder::new(opening_bounds()),
    };
    let output = Output::new(output);
    write_all(&output, &PREAMBLE)?;
    let mut preamble = [0; PREAMBLE.len()];
    if !read_exact(&reader.input, &mut preamble)? {
        return Ok(());
    }
    if preamble != PREAMBLE {
        return Err(ServeError::NotOurs);
    }
    let asked = loop {
        match reader.next()? {
            Some(Event::Begun { call: OPEN_CALL }) => {}
            Some(Event::Message {
                call: OPEN_CALL,
                bytes,
            }) => match decode(&bytes)? {
                Ask::Open(asked) => break asked,
                Ask::Call { .. } | Ask::Probe => {
                    return Err(ServeError::OutOfOrder("called before it opened"));
                }
            },
            Some(_) => return Err(ServeError::OutOfOrder("did not open the session first")),
            None => return Ok(()),
        }
    };
    let (engine, opened) = match open(&asked) {
        Ok(opened) => opened,
        Err(reason) => {
            let refused = Encoded::new(&Answer::Refused(reason.clone()))?;
            write_message(&output, OPEN_CALL, refused)?;
            return Err(ServeError::Refused(reason));
        }
    };
    write_message(&output, OPEN_CALL, Encoded::new(&Answer::Opened(opened))?)?;
    reader.decoder.set_bounds(bounds(&asked.limits));
    Session::new(&engine, &output, reader, &asked.limits).serve()
}

struct Reader {
    input: OwnedFd,
    decoder: Decoder,
}

impl Reader {
    /// The next event; none at the stream's end.
    fn next(&mut self) -> Result<Option<Event>, ServeError> {
        loop {
            if let Some(event) = self.decoder.next()? {
                return Ok(Some(event));
            }
            match rustix::io::read(&self.input, self.decoder.spare()) {
                // Even in the middle of a frame: the host is gone, however.
                Ok(0) | Err(Errno::CONNRESET) => return Ok(None),
                Ok(count) => self.decoder.filled(count),
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
    }
}

/// Fills the buffer; false when the stream ends first.
fn read_exact(input: &OwnedFd, mut buffer: &mut [u8]) -> Result<bool, Errno> {
    while !buffer.is_empty() {
        match rustix::io::read(input, &mut *buffer) {
            Ok(0) => return Ok(false),
            Ok(count) => buffer = &mut buffer[count..],
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(true)
}

fn write_message(output: &Output, call: u32, mut message: Encoded) -> Result<(), Errno> {
    match message.single(call) {
        Ok(frame) => write_all(output, frame),
        Err(message) => {
            for (header, payload) in frames(call, message) {
                write_both(output, &header.to_bytes(), payload)?;
            }
            Ok(())
        }
    }
}

/// Writes within one turn.
fn write_all(output: &Output, bytes: &[u8]) -> Result<(), Errno> {
    write_both(output, bytes, &[])
}

fn write_both(output: &Output, mut first: &[u8], mut second: &[u8]) -> Result<(), Errno> {
    let Ok(turn) = output.turn(|| Ok::<_, Infallible>(()));
    let mut turn = turn.ok_or(Errno::PIPE)?;
    let descriptor = &turn.pen()?.descriptor;
    while !first.is_empty() || !second.is_empty() {
        match rustix::io::writev(descriptor, &[IoSlice::new(first), IoSlice::new(second)]) {
            Ok(count) => {
                let of_first = count.min(first.len());
                first = &first[of_first..];
                second = &second[count - of_first..];
            }
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}
