//! How threads wait for answers: one reads, the others sleep.
//!
//! Whoever leaves, with an answer or without, lets another thread read when nobody does.

use belljar_contract::Context;

use super::{
    Client,
    io::Incoming,
    state::{Ended, Pending, Reading, State},
    wait::Wait,
};
use crate::{
    frame::{Event, NO_CALL},
    output::lock,
};

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
                Some(Event::Begun { call, bytes }) => self.expect(incoming, call, bytes)?,
                Some(Event::Pong { call: NO_CALL }) | None => {}
                // Nobody waits for anything in it.
                Some(Event::Pong { call: ponged }) if ponged == call => return Ok(Vec::new()),
                Some(Event::Pong { call }) => self.hand_out(call, Vec::new())?,
                Some(Event::Ping { .. } | Event::Cancel { .. }) => {
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

    /// Takes no memory for an answer that nobody waits for, or that is larger than any to what was asked.
    fn expect(&self, incoming: &mut Incoming, call: u32, bytes: u64) -> Result<(), Ended> {
        let state = lock(&self.state);
        match state.pending.get(&call) {
            Some(pending) if pending.answer.is_none() => match bytes <= pending.most {
                true => Ok(()),
                false => Err(Ended::of_protocol("answers with more than was asked for")),
            },
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
