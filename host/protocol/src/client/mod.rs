//! The host's end: calls of any thread over one stream.
//!
//! There is no thread of its own. A thread that waits for its answer reads the stream while nobody else
//! does, hands out what belongs to others, and passes the reading on when it has its own: no hop from
//! thread to thread stands between an answer and its caller.

mod io;
mod waiting;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    thread::Thread,
    time::Duration,
};

use belljar_contract::{
    Context, Error, ErrorKind, Operation, Request, Response, Result, Stop,
    blocking::{CANCEL_GRACE, DEADLINE_GRACE},
};

use self::{
    io::{Incoming, Outgoing, Wait, Waker},
    waiting::Ended,
};
use crate::{
    frame::{Header, Kind, Malformed},
    message::{
        Answer, Ask, Encoded, MAX_CALLS, OPEN_CALL, Open, Opened, bounds, decode, message_bytes,
    },
    stream::{Stream, lock},
};

/// Why a stream is no session.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// What answers is no resident, or one of another version.
    #[error("what answers does not speak version 1 of the sandbox protocol; it began with {0:?}")]
    NotOurs(String),
    /// The resident says why.
    #[error("the resident cannot open the session: {0}")]
    Refused(String),
    /// Nothing came in time.
    #[error("the resident did not answer in time")]
    TimedOut,
    /// The call that opens was cancelled.
    #[error("cancelled")]
    Cancelled,
    /// The stream ended or broke.
    #[error("the stream to the resident ended: {0}")]
    Lost(String),
}

/// A session on a resident.
///
/// Every method may be called from any number of threads; each occupies its thread.
#[derive(Debug)]
pub struct Client {
    outgoing: Outgoing,
    waker: Arc<Waker>,
    message_bytes: u64,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    next: u32,
    pending: HashMap<u32, Pending>,
    /// None while a thread reads.
    incoming: Option<Incoming>,
    /// Why there will be no more answers.
    dead: Option<Ended>,
}

/// A call that waits.
#[derive(Debug)]
struct Pending {
    thread: Thread,
    /// The answer's bytes, once they are there.
    answer: Option<Vec<u8>>,
}

impl Client {
    /// Opens a session over a stream.
    ///
    /// # Errors
    /// [`OpenError`], at the latest at the context's deadline.
    pub fn open(
        context: &Context,
        stream: Stream,
        open: &Open,
    ) -> Result<(Self, Opened), OpenError> {
        let (outgoing, mut incoming) = io::split(stream)?;
        let waker = Arc::new(Waker::new()?);
        let wait = Wait {
            waker: &waker,
            context,
        };
        outgoing.preamble(&wait)?;
        incoming.preamble(&wait)?;
        let lost = |malformed: Malformed| OpenError::Lost(malformed.to_string());
        let asked = Encoded::new(&Ask::Open(open.clone())).map_err(lost)?;
        outgoing.message(OPEN_CALL, asked, &wait)?;
        let bytes = incoming.first_message(&wait)?;
        let opened = match decode(&bytes).map_err(lost)? {
            Answer::Opened(opened) => opened,
            Answer::Refused(reason) => return Err(OpenError::Refused(reason)),
            Answer::Call(_) => {
                let reason = "it answered a call that was not made";
                return Err(OpenError::Lost(reason.to_owned()));
            }
        };
        incoming.set_bounds(bounds(&open.limits));
        let state = State {
            next: OPEN_CALL + 1,
            pending: HashMap::new(),
            incoming: Some(incoming),
            dead: None,
        };
        let client = Self {
            outgoing,
            waker,
            message_bytes: message_bytes(&open.limits),
            state: Mutex::new(state),
        };
        Ok((client, opened))
    }

    /// Asks, and waits for the answer on this thread.
    ///
    /// # Errors
    /// The contract's, as the resident says; `backend-unavailable` when the stream has ended, for this
    /// call and every later one; `backend-failed` when the resident broke the protocol.
    pub fn call(&self, context: &Context, request: Request) -> Result<Response> {
        let operation = request.operation();
        context.check().map_err(|stop| stop.during(operation))?;
        let ask = Ask::Call {
            remaining: context.remaining(),
            request,
        };
        let too_large = |message: &str| Error::new(ErrorKind::TooLarge, operation, message);
        let encoded = Encoded::new(&ask).map_err(|error| too_large(&error.to_string()))?;
        if encoded.bytes() > self.message_bytes {
            return Err(too_large(
                "the request is over what the session's limits allow",
            ));
        }
        drop(ask);
        let call = self.enter().map_err(|ended| ended.during(operation))?;
        let answer = self.exchange(context, call, encoded);
        lock(&self.state).pending.remove(&call);
        let bytes = answer.map_err(|ended| ended.during(operation))?;
        match decode(&bytes) {
            Ok(Answer::Call(answer)) => answer.map_err(|error| error.during(operation)),
            Ok(Answer::Opened(_) | Answer::Refused(_)) => {
                Err(Ended::of_protocol("answered a call with something else").during(operation))
            }
            Err(malformed) => Err(Ended::from(malformed).during(operation)),
        }
    }

    /// Why the session is dead; none while it lives, as far as anyone has seen.
    #[must_use]
    pub fn death(&self) -> Option<String> {
        lock(&self.state).dead.as_ref().map(ToString::to_string)
    }

    /// Ends the stream, and waits until the resident has ended what it runs and its own end; at most
    /// for `patience`. A second close does nothing.
    pub fn close(&self, patience: Duration) {
        let incoming = {
            let mut state = lock(&self.state);
            state.dead.get_or_insert(Ended::Closed);
            for pending in state.pending.values() {
                pending.thread.unpark();
            }
            state.incoming.take()
        };
        self.outgoing.close();
        match incoming {
            Some(mut incoming) => incoming.drain(&Context::new().with_timeout(patience)),
            // Who reads now is told, and nobody waits for the resident's end.
            None => self.waker.end(),
        }
    }

    /// Gives a call its number.
    fn enter(&self) -> Result<u32, Ended> {
        let mut state = lock(&self.state);
        if let Some(dead) = &state.dead {
            return Err(dead.clone());
        }
        if state.pending.len() >= MAX_CALLS {
            return Err(Ended::Busy);
        }
        let call = loop {
            let call = state.next;
            state.next = call.checked_add(1).unwrap_or(OPEN_CALL + 1);
            if !state.pending.contains_key(&call) {
                break call;
            }
        };
        let pending = Pending {
            thread: std::thread::current(),
            answer: None,
        };
        state.pending.insert(call, pending);
        Ok(call)
    }

    fn exchange(&self, context: &Context, call: u32, message: Encoded) -> Result<Vec<u8>, Ended> {
        let thread = std::thread::current();
        let waker = Arc::clone(&self.waker);
        let _registration = context.cancellation().on_cancel(move || {
            // Whichever way the call waits.
            waker.wake();
            thread.unpark();
        });
        let wait = Wait {
            waker: &self.waker,
            context,
        };
        match self.outgoing.message(call, message, &wait) {
            Ok(()) => {}
            Err(Ended::Stopped(stop)) => return Err(Ended::Stopped(stop)),
            Err(ended) => return Err(self.end(ended)),
        }
        let mut given_up: Option<Context> = None;
        loop {
            let bound = given_up.as_ref().unwrap_or(context);
            match self.wait(bound, call) {
                Ok(Some(bytes)) => return Ok(bytes),
                Ok(None) => {}
                Err(ended) => return Err(ended),
            }
            let Err(stop) = bound.check() else {
                continue;
            };
            if given_up.is_some() {
                return Err(Ended::Stopped(context.check().err().unwrap_or(stop)));
            }
            let grace = match stop {
                Stop::Cancelled => CANCEL_GRACE,
                Stop::TimedOut => DEADLINE_GRACE,
            };
            let last = Context::new().with_timeout(grace);
            let wait = Wait {
                waker: &self.waker,
                context: &last,
            };
            let cancel = Header::bare(Kind::Cancel, call);
            if let Err(ended) = self.outgoing.bare(cancel, &wait) {
                return Err(self.end(ended.into_dead()));
            }
            given_up = Some(last);
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.outgoing.close();
    }
}

impl From<Ended> for OpenError {
    fn from(ended: Ended) -> Self {
        match ended {
            Ended::Stopped(Stop::TimedOut) => Self::TimedOut,
            Ended::Stopped(Stop::Cancelled) => Self::Cancelled,
            other => Self::Lost(other.to_string()),
        }
    }
}

impl From<std::io::Error> for OpenError {
    fn from(error: std::io::Error) -> Self {
        Self::Lost(error.to_string())
    }
}

/// The operation's part of an error is the caller's.
impl Ended {
    fn during(self, operation: Operation) -> Error {
        let kind = match &self {
            Self::Stopped(stop) => return stop.during(operation),
            Self::Busy => ErrorKind::Busy,
            Self::Closed => ErrorKind::Closed,
            Self::Lost(_) | Self::Silent => ErrorKind::BackendUnavailable,
            Self::Protocol(_) => ErrorKind::BackendFailed,
        };
        Error::new(kind, operation, self.to_string())
    }
}
