//! Which calls wait, who reads, and why a session is dead.

use std::{
    collections::{HashMap, HashSet},
    thread::Thread,
};

use belljar_contract::Stop;
use rustix::io::Errno;

use super::io::Incoming;
use crate::{
    frame::Malformed,
    message::{MAX_CALLS, OPEN_CALL},
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

/// Who waits for what.
#[derive(Debug)]
pub(super) struct State {
    next: u32,
    pub(super) pending: HashMap<u32, Pending>,
    /// Calls that nobody waits for any more and whose answer is still to come.
    pub(super) given_up: HashSet<u32>,
    /// Those of them that who reads has not been told of.
    pub(super) to_skip: Vec<u32>,
    pub(super) reading: Reading,
    /// Waits until nobody reads.
    pub(super) closer: Option<Thread>,
    /// Why there will be no more answers.
    pub(super) dead: Option<Ended>,
}

/// A call that waits.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) thread: Thread,
    /// Its request is written, or will be by whoever writes next: it may read.
    pub(super) asked: bool,
    /// The most bytes of its answer.
    pub(super) most: u64,
    /// The answer's bytes, once they are there.
    pub(super) answer: Option<Vec<u8>>,
}

/// Who reads.
#[derive(Debug)]
pub(super) enum Reading {
    /// Nobody.
    Free(Box<Incoming>),
    /// A thread that waits for an answer.
    Taken,
    /// Nobody will any more.
    Over,
}

impl State {
    pub(super) fn new(incoming: Incoming) -> Self {
        Self {
            next: OPEN_CALL + 1,
            pending: HashMap::new(),
            given_up: HashSet::new(),
            to_skip: Vec::new(),
            reading: Reading::Free(Box::new(incoming)),
            closer: None,
            dead: None,
        }
    }

    /// Gives a call its number, whose answer may have so many bytes. One whose answer is still to come keeps
    /// its own.
    pub(super) fn enter(&mut self, most: u64) -> Result<u32, Ended> {
        match &self.dead {
            // What broke the protocol is not asked again.
            Some(Ended::Protocol(reason)) => return Err(Ended::Lost(reason.clone())),
            Some(dead) => return Err(dead.clone()),
            None => {}
        }
        if self.pending.len() + self.given_up.len() >= MAX_CALLS {
            return Err(Ended::Busy);
        }
        let call = loop {
            let call = self.next;
            self.next = call.checked_add(1).unwrap_or(OPEN_CALL + 1);
            if !self.pending.contains_key(&call) && !self.given_up.contains(&call) {
                break call;
            }
        };
        let pending = Pending {
            thread: std::thread::current(),
            asked: false,
            most,
            answer: None,
        };
        self.pending.insert(call, pending);
        Ok(call)
    }

    /// Takes the reading end, when nobody has it.
    pub(super) fn take(&mut self) -> Option<Box<Incoming>> {
        match std::mem::replace(&mut self.reading, Reading::Taken) {
            Reading::Free(incoming) => Some(incoming),
            taken => {
                self.reading = taken;
                None
            }
        }
    }

    /// Gives it back, for the next who waits or closes.
    pub(super) fn give_back(&mut self, incoming: Box<Incoming>) {
        self.reading = match &self.dead {
            None | Some(Ended::Closed) => Reading::Free(incoming),
            Some(_) => Reading::Over,
        };
        self.relay();
    }

    /// Wakes a thread that can read, when nobody does.
    pub(super) fn relay(&mut self) {
        let Reading::Free(incoming) = &mut self.reading else {
            return;
        };
        for call in self.to_skip.drain(..) {
            incoming.skip(call);
        }
        let next = self
            .pending
            .values()
            .find(|pending| pending.asked && pending.answer.is_none());
        match (next, &self.closer) {
            (_, Some(thread)) | (Some(Pending { thread, .. }), None) => thread.unpark(),
            (None, None) => {}
        }
    }

    /// Wakes everyone.
    pub(super) fn wake_all(&self) {
        for pending in self.pending.values() {
            pending.thread.unpark();
        }
    }
}
