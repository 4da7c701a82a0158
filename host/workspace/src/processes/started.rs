//! A process that outlives the call that started it.

use std::{
    sync::{Arc, MutexGuard, PoisonError},
    time::Duration,
};

use belljar_contract::{
    Context,
    processes::{Ended, OutputChunk, OutputStream, SignalKind},
};
use rustix::process::Signal;

use super::{
    body::Body,
    exchange::{Exchange, Sink, State},
    failure::Failure,
    wake::{Ask, Wake},
};

/// What remains to be asked of a process while a thread of its own supervises it, and when it has ended.
#[derive(Debug)]
pub(super) struct Started {
    pub(super) exchange: Arc<Exchange>,
    pub(super) body: Arc<dyn Body>,
    pub(super) wake: Arc<Wake>,
}

impl Started {
    /// What it printed, from a cursor on; waits while there is nothing.
    pub(super) fn read(
        &self,
        context: &Context,
        stream: OutputStream,
        cursor: u64,
        limit: u64,
        wait: Duration,
    ) -> Result<OutputChunk, Failure> {
        let mut last = None;
        self.wait_for(context, wait, |state| {
            let chunk = match state.sink(stream) {
                Sink::Last(kept) => kept.read(cursor, limit)?,
                Sink::HeadAndTail(_) => return Err(Failure::InputEnded),
            };
            let found = !chunk.bytes.is_empty() || chunk.ended || chunk.dropped > 0 || limit == 0;
            last = Some(chunk);
            Ok(found)
        })?;
        last.ok_or(Failure::InputEnded)
    }

    /// Its end, if it comes in time.
    pub(super) fn wait(&self, context: &Context, wait: Duration) -> Result<Option<Ended>, Failure> {
        let mut ended = None;
        self.wait_for(context, wait, |state| {
            ended = state.ended;
            Ok(ended.is_some())
        })?;
        Ok(ended)
    }

    /// Writes to its standard input.
    pub(super) fn write(&self, bytes: Vec<u8>, close: bool) -> Result<(), Failure> {
        let mut state = self.exchange.lock();
        state.input.push(bytes, close)?;
        if state.input.wanted().is_some() {
            self.wake.ask(Ask::Write);
        }
        Ok(())
    }

    /// Signals its process group, or kills all of it.
    pub(super) fn signal(&self, signal: SignalKind) {
        let signal = match signal {
            SignalKind::Interrupt => Signal::INT,
            SignalKind::Terminate => Signal::TERM,
            SignalKind::Hangup => Signal::HUP,
            SignalKind::User1 => Signal::USR1,
            SignalKind::User2 => Signal::USR2,
            SignalKind::Kill => {
                // Its thread knows what belongs to it.
                self.wake.ask(Ask::Kill);
                return;
            }
        };
        self.body.signal_group(signal);
    }

    /// Waits until `found`, or for as long as asked, or until the call must stop.
    fn wait_for(
        &self,
        context: &Context,
        wait: Duration,
        mut found: impl FnMut(&mut State) -> Result<bool, Failure>,
    ) -> Result<(), Failure> {
        let until = context.now().saturating_add(wait);
        let exchange = Arc::clone(&self.exchange);
        // Registered before the lock is taken, because it may be called at once.
        let _registration = context.cancellation().on_cancel(move || {
            let _state = exchange.lock();
            exchange.changed.notify_all();
        });
        let mut state = self.exchange.lock();
        loop {
            if found(&mut state)? {
                return Ok(());
            }
            context.check()?;
            let now = context.now();
            if now >= until {
                return Ok(());
            }
            let left = until - now;
            let left = context.remaining().map_or(left, |most| left.min(most));
            state = self.sleep(state, left);
        }
    }

    fn sleep<'a>(&'a self, state: MutexGuard<'a, State>, most: Duration) -> MutexGuard<'a, State> {
        // A longer sleep is several.
        let most = most.min(Duration::from_secs(3600));
        let (state, _) = self
            .exchange
            .changed
            .wait_timeout(state, most)
            .unwrap_or_else(PoisonError::into_inner);
        state
    }
}
