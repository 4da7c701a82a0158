//! How threads wait for answers: one reads, the others sleep.

use belljar_contract::{Context, Stop};
use rustix::io::Errno;

use super::{Client, Pending, io::Wait};
use crate::{
    frame::{Event, Malformed},
    stream::lock,
};

/// Why a call has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Ended {
    /// The call is over; the session lives.
    #[error("the call was ended")]
    Stopped(Stop),
    /// Too many calls wait.
    #[error("too many calls are waiting; let some end first")]
    Busy,
    /// It was closed here.
    #[error("the session is closed")]
    Closed,
    /// The stream ended or broke.
    #[error("the connection to the sandbox is lost ({0}); open a new session")]
    Lost(String),
    /// Nothing came although something was asked.
    #[error("the sandbox does not answer any more; open a new session")]
    Silent,
    /// The resident does not keep to the protocol.
    #[error("the sandbox broke the protocol ({0}); open a new session")]
    Protocol(String),
}

impl Ended {
    pub(super) fn of_protocol(what: &str) -> Self {
        Self::Protocol(format!("it {what}"))
    }

    /// The same as an end of the session.
    pub(super) fn into_dead(self) -> Self {
        match self {
            Self::Stopped(_) => Self::Silent,
            other => other,
        }
    }
}

impl From<Errno> for Ended {
    fn from(errno: Errno) -> Self {
        Self::Lost(std::io::Error::from(errno).to_string())
    }
}

impl From<Malformed> for Ended {
    fn from(malformed: Malformed) -> Self {
        Self::Protocol(format!("it sent {malformed}"))
    }
}

impl Client {
    /// Waits for an answer: by reading when nobody does, else asleep. None when it is time to look at
    /// the context, or for no reason.
    pub(super) fn wait(&self, context: &Context, call: u32) -> Result<Option<Vec<u8>>, Ended> {
        let mut state = lock(&self.state);
        let answer = state.pending.get_mut(&call).and_then(|p| p.answer.take());
        if answer.is_some() {
            return Ok(answer);
        }
        if let Some(dead) = &state.dead {
            return Err(dead.clone());
        }
        let Some(mut incoming) = state.incoming.take() else {
            drop(state);
            match context.remaining() {
                Some(remaining) => std::thread::park_timeout(remaining),
                None => std::thread::park(),
            }
            return Ok(None);
        };
        drop(state);
        let wait = Wait {
            waker: &self.waker,
            context,
        };
        let mut read = || loop {
            match incoming.event(&self.outgoing, &wait)? {
                Event::Message {
                    call: answered,
                    bytes,
                } if answered == call => return Ok(bytes),
                Event::Message { call, bytes } => self.hand_out(call, bytes)?,
                Event::Pong => {}
                Event::Ping | Event::Cancel { .. } => {
                    return Err(Ended::of_protocol("sent what only a host may"));
                }
            }
        };
        match read() {
            Ok(bytes) => {
                self.pass_on(incoming, call);
                Ok(Some(bytes))
            }
            Err(Ended::Stopped(_)) => {
                self.pass_on(incoming, call);
                Ok(None)
            }
            Err(ended) => Err(self.end(ended)),
        }
    }

    /// Gives an answer to the call that waits for it. One that was given up is dropped.
    fn hand_out(&self, call: u32, bytes: Vec<u8>) -> Result<(), Ended> {
        let mut state = lock(&self.state);
        let next = state.next;
        match state.pending.get_mut(&call) {
            Some(Pending { answer, thread }) if answer.is_none() => {
                *answer = Some(bytes);
                thread.unpark();
                Ok(())
            }
            Some(_) => Err(Ended::of_protocol("answered a call twice")),
            None if call < next => Ok(()),
            None => Err(Ended::of_protocol("answered a call that was not made")),
        }
    }

    /// Lets another thread read.
    fn pass_on(&self, incoming: super::Incoming, but: u32) {
        let mut state = lock(&self.state);
        state.incoming = Some(incoming);
        let next = state
            .pending
            .iter()
            .find(|(call, pending)| **call != but && pending.answer.is_none());
        if let Some((_, pending)) = next {
            pending.thread.unpark();
        }
    }

    /// Ends the session for everyone, and says why: the first reason stands.
    pub(super) fn end(&self, ended: Ended) -> Ended {
        let mut state = lock(&self.state);
        let reason = state.dead.get_or_insert(ended).clone();
        for pending in state.pending.values() {
            pending.thread.unpark();
        }
        drop(state);
        self.waker.end();
        self.outgoing.close();
        reason
    }
}
