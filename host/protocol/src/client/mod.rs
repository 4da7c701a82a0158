//! The host's end: calls of any thread over one stream.
//!
//! There is no thread of its own. A thread that waits for its answer reads the stream while nobody else
//! does, hands out what belongs to others, and passes the reading on when it has its own: no hop from
//! thread to thread stands between an answer and its caller.

mod io;
mod state;
mod waiting;
mod wake;

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use belljar_contract::{
    Context, Error, ErrorKind, Operation, Registration, Request, Response, Result, Stop,
    blocking::{CANCEL_GRACE, DEADLINE_GRACE},
};

use self::{
    io::Outgoing,
    state::{Ended, State},
    wake::{Wait, Waker},
};
use crate::{
    facts::Facts,
    frame::{Header, Kind, Malformed},
    message::{
        Answer, Ask, Encoded, OPEN_BYTES, OPEN_CALL, Open, Opened, bounds, decode, message_bytes,
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
    /// What the resident is told is too much.
    #[error("the session's variables are over the {OPEN_BYTES} bytes that the opening may have")]
    TooLarge,
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

/// How long a resident that is waited for may say nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// Until it is asked whether it lives.
    pub quiet: Duration,
    /// After that, until the session is dead.
    pub silent: Duration,
}

impl Default for Patience {
    /// 15 seconds in all: a container on a machine that is short of everything still answers.
    fn default() -> Self {
        Self {
            quiet: Duration::from_secs(5),
            silent: Duration::from_secs(10),
        }
    }
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
        Self::open_with(context, stream, open, Patience::default())
    }

    /// The same with another patience.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_with(
        context: &Context,
        stream: Stream,
        open: &Open,
        patience: Patience,
    ) -> Result<(Self, Opened), OpenError> {
        let (outgoing, mut incoming) = io::split(stream, patience)?;
        let waker = Arc::new(Waker::new()?);
        let woken = Arc::clone(&waker);
        let _registration = context.cancellation().on_cancel(move || woken.wake());
        let wait = Wait {
            waker: &waker,
            context,
        };
        let lost = |malformed: Malformed| OpenError::Lost(malformed.to_string());
        let asked = Encoded::new(&Ask::Open(open.clone())).map_err(lost)?;
        if asked.bytes() > OPEN_BYTES {
            return Err(OpenError::TooLarge);
        }
        // What has ended already may have said why.
        let sent = outgoing.preamble(&wait);
        incoming.preamble(&wait)?;
        sent?;
        outgoing.message(OPEN_CALL, asked, &wait)?;
        let bytes = incoming.first_message(&wait)?;
        let opened = match decode(&bytes).map_err(lost)? {
            Answer::Opened(opened) => opened,
            Answer::Refused(reason) => return Err(OpenError::Refused(reason)),
            Answer::Call(_) | Answer::Probed(_) => {
                let reason = "it answered a call that was not made";
                return Err(OpenError::Lost(reason.to_owned()));
            }
        };
        incoming.set_bounds(bounds(&open.limits));
        let client = Self {
            outgoing,
            waker,
            message_bytes: message_bytes(&open.limits),
            state: Mutex::new(State::new(incoming)),
        };
        Ok((client, opened))
    }

    /// Asks, and waits for the answer on this thread.
    ///
    /// # Errors
    /// The contract's, as the resident says; `backend-unavailable` when the stream has ended, for this
    /// call and every later one; `backend-failed` when the resident broke the protocol, which ends the
    /// session too; `busy` when too many calls wait, or were given up and still run there.
    pub fn call(&self, context: &Context, request: Request) -> Result<Response> {
        let operation = request.operation();
        let ask = Ask::Call {
            remaining: context.remaining(),
            request,
        };
        match self.ask(context, operation, ask)? {
            Answer::Call(answer) => answer.map_err(|error| error.during(operation)),
            Answer::Opened(_) | Answer::Refused(_) | Answer::Probed(_) => {
                Err(self.answered_with_something_else(operation))
            }
        }
    }

    /// Asks what the resident sees of its own process and of what it runs in, and waits on this thread.
    ///
    /// None of it is proven: it is what whoever answers wants to say. Ask before anything else ran there.
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub fn probe(&self, context: &Context) -> Result<Facts> {
        const OPERATION: Operation = Operation::Describe;
        match self.ask(context, OPERATION, Ask::Probe)? {
            Answer::Probed(facts) if facts.are_bounded() => Ok(facts),
            Answer::Probed(_) => Err(self.broke(
                Ended::of_protocol("told more of itself than it may"),
                OPERATION,
            )),
            Answer::Call(Err(error)) => Err(error.during(OPERATION)),
            Answer::Call(Ok(_)) | Answer::Opened(_) | Answer::Refused(_) => {
                Err(self.answered_with_something_else(OPERATION))
            }
        }
    }

    /// Asks whether the resident answers: one round trip, of which its engine knows nothing. A session that
    /// rested may have ended unseen; after this, [`death`](Self::death) is right.
    ///
    /// # Errors
    /// As [`call`](Self::call), at once when the context ends: the session may live all the same.
    pub fn ping(&self, context: &Context) -> Result<()> {
        const OPERATION: Operation = Operation::Describe;
        context.check().map_err(|stop| stop.during(OPERATION))?;
        let entered = lock(&self.state).enter();
        let call = entered.map_err(|ended| ended.during(OPERATION))?;
        let answer = self.await_pong(context, call);
        self.leave(call);
        match answer.map_err(|ended| ended.during(OPERATION))?.len() {
            0 => Ok(()),
            _ => Err(self.answered_with_something_else(OPERATION)),
        }
    }

    fn answered_with_something_else(&self, operation: Operation) -> Error {
        self.broke(
            Ended::of_protocol("answered a call with something else"),
            operation,
        )
    }

    /// The resident broke the protocol, which ends the session.
    fn broke(&self, broken: Ended, operation: Operation) -> Error {
        self.end(broken.clone());
        broken.during(operation)
    }

    /// Asks, and gives whatever is answered.
    fn ask(&self, context: &Context, operation: Operation, ask: Ask) -> Result<Answer> {
        context.check().map_err(|stop| stop.during(operation))?;
        let too_large = |message: &str| Error::new(ErrorKind::TooLarge, operation, message);
        let encoded = Encoded::new(&ask).map_err(|error| too_large(&error.to_string()))?;
        if encoded.bytes() > self.message_bytes {
            return Err(too_large(
                "the request is over what the session's limits allow",
            ));
        }
        drop(ask);
        let entered = lock(&self.state).enter();
        let call = entered.map_err(|ended| ended.during(operation))?;
        let answer = self.exchange(context, call, encoded);
        self.leave(call);
        let bytes = answer.map_err(|ended| ended.during(operation))?;
        decode(&bytes).map_err(|malformed| self.broke(Ended::from(malformed), operation))
    }

    /// Why the session is dead; none while it lives, as far as anyone has seen.
    #[must_use]
    pub fn death(&self) -> Option<String> {
        lock(&self.state).dead.as_ref().map(ToString::to_string)
    }

    /// Ends the stream, and waits until the resident has ended what it runs and its own end; at most
    /// for `patience`. Calls that wait are `closed`. A second close does nothing.
    pub fn close(&self, patience: Duration) {
        let context = Context::new().with_timeout(patience);
        {
            let mut state = lock(&self.state);
            if state.dead.is_some() {
                return;
            }
            state.dead = Some(Ended::Closed);
            state.wake_all();
        }
        self.waker.end();
        self.outgoing.close();
        if let Some(mut incoming) = self.take_over(&context) {
            incoming.drain(&context);
        }
    }

    fn await_pong(&self, context: &Context, call: u32) -> Result<Vec<u8>, Ended> {
        let _registration = self.wake_when_cancelled(context);
        let asked = self.outgoing.post(Header::bare(Kind::Ping, call));
        asked.map_err(|ended| self.end(ended))?;
        loop {
            if let Some(bytes) = self.wait(context, call)? {
                return Ok(bytes);
            }
            context.check().map_err(Ended::Stopped)?;
        }
    }

    /// Wakes this thread, whichever way it waits.
    fn wake_when_cancelled(&self, context: &Context) -> Registration {
        let thread = std::thread::current();
        let waker = Arc::clone(&self.waker);
        context.cancellation().on_cancel(move || {
            waker.wake();
            thread.unpark();
        })
    }

    fn exchange(&self, context: &Context, call: u32, message: Encoded) -> Result<Vec<u8>, Ended> {
        let _registration = self.wake_when_cancelled(context);
        let wait = Wait {
            waker: &self.waker,
            context,
        };
        match self.outgoing.message(call, message, &wait) {
            Ok(()) => {}
            Err(Ended::Stopped(stop)) => return Err(Ended::Stopped(stop)),
            Err(ended) => return Err(self.end(ended)),
        }
        let mut last: Option<Context> = None;
        loop {
            let bound = last.as_ref().unwrap_or(context);
            if let Some(bytes) = self.wait(bound, call)? {
                return Ok(bytes);
            }
            let Err(stop) = bound.check() else {
                continue;
            };
            let cancel = || {
                let said = self.outgoing.post(Header::bare(Kind::Cancel, call));
                said.map_err(|ended| self.end(ended))
            };
            if last.is_some() {
                cancel()?;
                return Err(Ended::Stopped(context.check().err().unwrap_or(stop)));
            }
            let grace = match stop {
                Stop::Cancelled => {
                    cancel()?;
                    CANCEL_GRACE
                }
                // The resident knows the deadline. To be cancelled just before it would be another end.
                Stop::TimedOut => DEADLINE_GRACE,
            };
            last = Some(Context::new().with_timeout(grace));
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
