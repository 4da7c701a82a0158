//! How threads wait for answers: one reads, the others sleep.
//!
//! Whoever leaves, with an answer or without, lets another thread read when nobody does.

use std::{
    collections::{HashMap, HashSet},
    thread::Thread,
};

use belljar_contract::{Context, Stop};
use rustix::io::Errno;

use super::{
    Client,
    io::{Incoming, Wait},
};
use crate::{
    frame::{Event, Malformed},
    message::{MAX_CALLS, OPEN_CALL},
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
    pending: HashMap<u32, Pending>,
    /// Calls that nobody waits for any more and whose answer is still to come.
    given_up: HashSet<u32>,
    /// Those of them that who reads has not been told of.
    to_skip: Vec<u32>,
    reading: Reading,
    /// Waits until nobody reads.
    closer: Option<Thread>,
    /// Why there will be no more answers.
    pub(super) dead: Option<Ended>,
}

/// A call that waits.
#[derive(Debug)]
struct Pending {
    thread: Thread,
    /// Its request is written, or will be by whoever writes next: it may read.
    asked: bool,
    /// The answer's bytes, once they are there.
    answer: Option<Vec<u8>>,
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

    /// Gives a call its number. One whose answer is still to come keeps its own.
    pub(super) fn enter(&mut self) -> Result<u32, Ended> {
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
    fn give_back(&mut self, incoming: Box<Incoming>) {
        self.reading = match &self.dead {
            None | Some(Ended::Closed) => Reading::Free(incoming),
            Some(_) => Reading::Over,
        };
        self.relay();
    }

    /// Wakes a thread that can read, when nobody does.
    fn relay(&mut self) {
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

impl Client {
    /// Waits for an answer: by reading when nobody does, else asleep. None when it is time to look at
    /// the context, or for no reason.
    pub(super) fn wait(&self, context: &Context, call: u32) -> Result<Option<Vec<u8>>, Ended> {
        let mut state = lock(&self.state);
        if let Some(pending) = state.pending.get_mut(&call) {
            pending.asked = true;
            if pending.answer.is_some() {
                return Ok(state.pending.remove(&call).and_then(|there| there.answer));
            }
        }
        if let Some(dead) = &state.dead {
            return Err(dead.clone());
        }
        let Some(mut incoming) = state.take() else {
            drop(state);
            match context.remaining() {
                Some(remaining) => std::thread::park_timeout(remaining),
                None => std::thread::park(),
            }
            return Ok(None);
        };
        drop(state);
        let read = self.read(&mut incoming, context, call);
        let mut state = lock(&self.state);
        match read {
            Ok(bytes) => {
                state.pending.remove(&call);
                state.give_back(incoming);
                Ok(Some(bytes))
            }
            Err(Ended::Stopped(_)) => {
                state.give_back(incoming);
                Ok(None)
            }
            Err(ended) => {
                state.dead.get_or_insert_with(|| ended.clone());
                state.give_back(incoming);
                drop(state);
                Err(self.end(ended))
            }
        }
    }

    /// Reads until the answer of this call is there, and hands out what belongs to others.
    fn read(
        &self,
        incoming: &mut Incoming,
        context: &Context,
        call: u32,
    ) -> Result<Vec<u8>, Ended> {
        let wait = Wait {
            waker: &self.waker,
            context,
        };
        loop {
            for given_up in lock(&self.state).to_skip.drain(..) {
                incoming.skip(given_up);
            }
            match incoming.event(&self.outgoing, &wait)? {
                Some(Event::Message {
                    call: answered,
                    bytes,
                }) if answered == call => return Ok(bytes),
                Some(Event::Message { call, bytes }) => self.hand_out(call, bytes)?,
                Some(Event::Begun { call }) => self.expect(incoming, call)?,
                Some(Event::Pong) | None => {}
                Some(Event::Ping | Event::Cancel { .. }) => {
                    return Err(Ended::of_protocol("sent what only a host may"));
                }
            }
        }
    }

    /// Gives an answer to the call that waits for it. One that was given up is dropped.
    fn hand_out(&self, call: u32, bytes: Vec<u8>) -> Result<(), Ended> {
        let mut state = lock(&self.state);
        let State {
            pending, given_up, ..
        } = &mut *state;
        match pending.get_mut(&call) {
            Some(Pending { answer, thread, .. }) if answer.is_none() => {
                *answer = Some(bytes);
                thread.unpark();
                Ok(())
            }
            None if given_up.remove(&call) => Ok(()),
            Some(_) | None => Err(Ended::of_protocol("answered a call that does not wait")),
        }
    }

    /// Takes no memory for an answer that nobody waits for.
    fn expect(&self, incoming: &mut Incoming, call: u32) -> Result<(), Ended> {
        let state = lock(&self.state);
        match state.pending.get(&call) {
            Some(pending) if pending.answer.is_none() => Ok(()),
            None if state.given_up.contains(&call) => {
                incoming.skip(call);
                Ok(())
            }
            Some(_) | None => Err(Ended::of_protocol("answers a call that does not wait")),
        }
    }

    /// Forgets a call, whether it has its answer or not.
    pub(super) fn leave(&self, call: u32) {
        let mut state = lock(&self.state);
        if let Some(pending) = state.pending.remove(&call)
            && pending.asked
            && pending.answer.is_none()
        {
            state.given_up.insert(call);
            state.to_skip.push(call);
            if let Reading::Taken = state.reading {
                // What has come of the answer already is not to be held.
                self.waker.wake();
            }
        }
        state.relay();
    }

    /// Ends the session for everyone, and says why: the first reason stands.
    pub(super) fn end(&self, ended: Ended) -> Ended {
        let mut state = lock(&self.state);
        let reason = state.dead.get_or_insert(ended).clone();
        if let (Reading::Free(_), false) = (&state.reading, reason == Ended::Closed) {
            state.reading = Reading::Over;
        }
        state.wake_all();
        drop(state);
        self.waker.end();
        self.outgoing.close();
        reason
    }

    /// Waits until nobody reads, and takes the reading end; none when there is nothing to wait for.
    pub(super) fn take_over(&self, context: &Context) -> Option<Box<Incoming>> {
        loop {
            let mut state = lock(&self.state);
            if let Some(incoming) = state.take() {
                state.reading = Reading::Over;
                return Some(incoming);
            }
            if matches!(state.reading, Reading::Over) || context.check().is_err() {
                return None;
            }
            state.closer = Some(std::thread::current());
            drop(state);
            match context.remaining() {
                Some(remaining) => std::thread::park_timeout(remaining),
                None => std::thread::park(),
            }
        }
    }
}
