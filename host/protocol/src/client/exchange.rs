//! One call, from its number to its answer.

use std::sync::Arc;

use belljar_contract::{
    Context, Error, ErrorKind, Operation, Registration, Result, Stop,
    blocking::{CANCEL_GRACE, DEADLINE_GRACE},
};

use super::{Client, state::Ended, wait::Wait};
use crate::{
    budget::decode,
    encoded::Encoded,
    frame::{Header, Kind},
    message::{Answer, Ask},
    output::lock,
    size::{self, NOTHING, Size},
};

impl Client {
    /// Asks, and gives whatever is answered, if it is within this size.
    pub(super) fn ask(
        &self,
        context: &Context,
        operation: Operation,
        ask: Ask,
        size: Size,
    ) -> Result<Answer> {
        context.check().map_err(|stop| stop.during(operation))?;
        let too_large = |message: &str| Error::new(ErrorKind::TooLarge, operation, message);
        let encoded = Encoded::new(&ask).map_err(|error| too_large(&error.to_string()))?;
        if encoded.bytes() > size::request(&self.limits).bytes {
            return Err(too_large(
                "the request is over what the session's limits allow",
            ));
        }
        drop(ask);
        let bytes = self.numbered(operation, size, |call| {
            self.exchange(context, call, encoded)
        })?;
        decode(&bytes, size.memory)
            .map_err(|malformed| self.broke(Ended::from(malformed), operation))
    }

    /// Asks for a pong, and waits for it.
    pub(super) fn ask_for_pong(&self, context: &Context, operation: Operation) -> Result<()> {
        context.check().map_err(|stop| stop.during(operation))?;
        let bytes = self.numbered(operation, NOTHING, |call| self.await_pong(context, call))?;
        match bytes.len() {
            0 => Ok(()),
            _ => Err(self.answered_with_something_else(operation)),
        }
    }

    /// Makes a call with a number of its own.
    fn numbered(
        &self,
        operation: Operation,
        size: Size,
        make: impl FnOnce(u32) -> Result<Vec<u8>, Ended>,
    ) -> Result<Vec<u8>> {
        let entered = lock(&self.state).enter(size.bytes);
        let call = entered.map_err(|ended| ended.during(operation))?;
        let answer = make(call);
        self.leave(call);
        answer.map_err(|ended| ended.during(operation))
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

/// The operation's part of an error is the caller's.
impl Ended {
    pub(super) fn during(self, operation: Operation) -> Error {
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
