//! The resident's end: requests of one stream, each answered on a thread of its own.
//!
//! One of a few threads reads. When it has a request it lets another read on and answers the request
//! itself: no hop from thread to thread stands between a request and its answer ([`crew`]). There is always a
//! thread that reads, and it waits for nothing else, so that pings are answered, cancellations reach their
//! calls, and the end of the stream ends everything, whatever the host does not read.

mod crew;
mod reader;
mod session;

use std::time::Duration;

use belljar_contract::{Context, Error, Request, Response};
use rustix::io::Errno;

use self::{
    reader::{Reader, post, say},
    session::Session,
};
use crate::{
    budget::decode,
    facts::Facts,
    frame::{Event, Malformed},
    message::{Answer, Ask, OPEN_CALL, Open, Opened, PREAMBLE, VERSION, version},
    size::{OPENING, bounds},
    stream::Stream,
    wake::Waker,
};

/// Why serving ended before the stream did.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The other end does not speak this protocol.
    #[error("the other end does not speak the sandbox protocol")]
    NotOurs,
    /// It speaks another version.
    #[error(
        "the host speaks version {0} of the sandbox protocol, and this resident version {VERSION}; \
         use the resident that belongs to the host"
    )]
    OtherVersion(u8),
    /// What it sent means nothing.
    #[error("the other end sent {0}")]
    Malformed(#[from] Malformed),
    /// It did something out of order.
    #[error("the other end {0}")]
    OutOfOrder(&'static str),
    /// The session cannot be opened; the host was told.
    #[error("the session cannot be opened: {0}")]
    Refused(String),
    /// It said nothing for as long as it may.
    #[error("the other end said nothing for {} ms", .0.as_millis())]
    Silent(Duration),
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
/// running when the stream ends are cancelled, and this returns when they have ended; an answer that the host
/// does not read then is dropped. That the host takes no more answers is the stream's end too.
///
/// # Errors
/// [`ServeError`] when the session ends for another reason than the stream's end.
pub fn serve<E: Engine>(
    stream: Stream,
    open: impl FnOnce(&Open) -> Result<(E, Opened), String>,
) -> Result<(), ServeError> {
    let over = Waker::new()?;
    let (mut reader, output) = Reader::of(stream)?;
    post(&output, &PREAMBLE)?;
    match reader.first::<{ PREAMBLE.len() }>(&output, &over)? {
        Some(PREAMBLE) => {}
        Some(other) => {
            return Err(match version(&other) {
                Some(theirs) => ServeError::OtherVersion(theirs),
                None => ServeError::NotOurs,
            });
        }
        None => return Ok(()),
    }
    let asked = loop {
        match reader.next(&output, &over)? {
            Some(Event::Begun {
                call: OPEN_CALL, ..
            }) => {}
            Some(Event::Message {
                call: OPEN_CALL,
                bytes,
            }) => match decode(&bytes, OPENING.memory)? {
                Ask::Open(asked) => break asked,
                Ask::Call { .. } | Ask::Probe => {
                    return Err(ServeError::OutOfOrder("called before it opened"));
                }
            },
            Some(_) => return Err(ServeError::OutOfOrder("did not open the session first")),
            None => return Ok(()),
        }
    };
    let refuse = |reason: String| {
        say(&output, OPEN_CALL, &Answer::Refused(reason.clone()))?;
        Err(ServeError::Refused(reason))
    };
    let (engine, opened) = match open(&asked) {
        Ok(opened) => opened,
        Err(reason) => return refuse(reason),
    };
    reader.set_bounds(bounds(&asked.limits));
    if let Some(silence) = asked.silence {
        reader.listen(silence);
    }
    let session = Session::new(&engine, &output, &over, reader, asked.limits);
    match session.serve(opened)? {
        Served::ToTheEnd => Ok(()),
        Served::NoThreads => refuse("it has no threads to serve with".to_owned()),
    }
}

/// How serving ended that did not fail.
enum Served {
    ToTheEnd,
    /// It did not begin.
    NoThreads,
}
