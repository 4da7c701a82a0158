//! The host's end: calls of any thread over one stream.
//!
//! There is no thread of its own. A thread that waits for its answer reads the stream while nobody else
//! does, hands out what belongs to others, and passes the reading on when it has its own: no hop from
//! thread to thread stands between an answer and its caller.

mod exchange;
mod io;
mod open;
mod state;
mod wait;
mod waiting;

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use belljar_contract::{Context, Error, Operation, Request, Response, Result, session::Limits};

pub use self::open::OpenError;
use self::{
    io::Outgoing,
    state::{Ended, State},
};
use crate::{
    facts::Facts,
    message::{Answer, Ask},
    output::lock,
    size::{self, FACTS},
    wake::Waker,
};

/// A session on a resident.
///
/// Every method may be called from any number of threads; each occupies its thread.
#[derive(Debug)]
pub struct Client {
    outgoing: Outgoing,
    waker: Arc<Waker>,
    limits: Limits,
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
    /// Asks, and waits for the answer on this thread.
    ///
    /// # Errors
    /// The contract's, as the resident says; `backend-unavailable` when the stream has ended, for this
    /// call and every later one; `backend-failed` when the resident broke the protocol, which ends the
    /// session too; `busy` when too many calls wait, or were given up and still run there.
    pub fn call(&self, context: &Context, request: Request) -> Result<Response> {
        let operation = request.operation();
        let size = size::answer(&request, &self.limits);
        let ask = Ask::Call {
            remaining: context.remaining(),
            request,
        };
        match self.ask(context, operation, ask, size)? {
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
        match self.ask(context, OPERATION, Ask::Probe, FACTS)? {
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
        self.ask_for_pong(context, Operation::Describe)
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
}

impl Drop for Client {
    fn drop(&mut self) {
        self.outgoing.close();
    }
}
