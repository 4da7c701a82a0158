//! Runs a tool against a recording.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use belljar_contract::{
    Backend, Context, Error, ErrorKind, Request, Response, Result, async_trait,
    session::Description,
};
use serde::Serialize;

use super::{
    format::{Ending, FailureKind, Recorded, Recording},
    redact::Secrets,
};
use crate::{layers::Policy, sandbox::Sandbox, tool::Tool};

/// The most of a value that a difference shows, in bytes.
const SHOWN_BYTES: usize = 2000;

/// Where a tool did something else than in the recording.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "call {call} ({tool}), line {line} of the recording: {what}\n  recorded: {recorded}\n  now:      {now}"
)]
pub struct Difference {
    /// Which call of the recording, from 1.
    pub call: usize,
    /// The tool that was called.
    pub tool: String,
    /// The line of the recording, from 1.
    pub line: usize,
    /// What differs.
    pub what: String,
    /// What the recording has, as JSON; much is cut.
    pub recorded: String,
    /// What the tool did.
    pub now: String,
}

impl Recording {
    /// Calls the tool as it was called then, and answers it what it was answered, with no backend. Occupies this
    /// thread.
    ///
    /// A call that something outside the tool ended (a limit, a cancellation, the host) is compared as far as the
    /// recording goes.
    ///
    /// # Errors
    /// The first [`Difference`].
    pub fn replay(&self, tool: &Tool) -> Result<(), Box<Difference>> {
        // What is recorded was let through by both already.
        let tool = tool
            .clone()
            .with_policy(Policy::everything())
            .with_guard(false);
        for (number, call) in self.calls.iter().enumerate() {
            let stage = Arc::new(Stage::new(call, number + 1));
            let sandbox = Sandbox::new(Arc::clone(&stage) as Arc<dyn Backend>);
            let result = tool.call_blocking(&sandbox, &call.begun.tool, &call.begun.arguments);
            stage.compare(&Ending::from(&result))?;
        }
        Ok(())
    }
}

/// A backend that knows what it will be asked.
struct Stage {
    recorded: Recorded,
    number: usize,
    description: Arc<Description>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// How many exchanges there were.
    done: usize,
    difference: Option<Box<Difference>>,
    /// The tool asks for more than was recorded of a call that something outside ended.
    beyond: bool,
}

impl Stage {
    fn new(recorded: &Recorded, number: usize) -> Self {
        Self {
            description: Arc::new(recorded.begun.sandbox.clone()),
            recorded: recorded.clone(),
            number,
            state: Mutex::default(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the end was not the tool's own.
    fn was_cut(&self) -> bool {
        match &self.recorded.end {
            None => true,
            Some(Ending::Failed { kind, .. }) => kind.is_from_outside(),
            Some(Ending::Answer(_)) => false,
        }
    }

    fn difference(
        &self,
        done: usize,
        what: &str,
        recorded: &dyn Shown,
        now: &dyn Shown,
    ) -> Box<Difference> {
        Box::new(Difference {
            call: self.number,
            tool: self.recorded.begun.tool.clone(),
            line: self.recorded.line + 1 + done,
            what: what.to_owned(),
            recorded: recorded.shown(),
            now: now.shown(),
        })
    }

    /// Compares the end.
    fn compare(&self, now: &Ending) -> Result<(), Box<Difference>> {
        let state = self.state();
        if let Some(difference) = &state.difference {
            return Err(difference.clone());
        }
        if state.beyond {
            return Ok(());
        }
        if let Some(next) = self.recorded.exchanges.get(state.done) {
            return Err(self.difference(
                state.done,
                "the tool ended, and asked once more then",
                &next.request,
                now,
            ));
        }
        match &self.recorded.end {
            Some(then) if !self.was_cut() && !same(then, now) => {
                Err(self.difference(state.done, "the call ended otherwise", then, now))
            }
            _ => Ok(()),
        }
    }

    fn next(&self, request: &Request) -> Result<Response> {
        let mut state = self.state();
        let over = |kind| Error::new(kind, request.operation(), "the recording is over");
        if state.difference.is_some() {
            return Err(over(ErrorKind::BackendUnavailable));
        }
        let mut asked = request.clone();
        // The values of variables are in no recording.
        Secrets::default().request(&mut asked);
        let done = state.done;
        match self.recorded.exchanges.get(done) {
            Some(exchange) if exchange.request == asked => {
                state.done += 1;
                exchange.answer.clone().into()
            }
            Some(exchange) => {
                let what = "the tool asks for something else";
                state.difference = Some(self.difference(done, what, &exchange.request, &asked));
                Err(over(ErrorKind::BackendUnavailable))
            }
            None if self.was_cut() => {
                state.beyond = true;
                Err(over(ErrorKind::Cancelled))
            }
            None => {
                let what = "the tool asks, and ended then";
                let then = &self.recorded.end;
                state.difference = Some(self.difference(done, what, then, &asked));
                Err(over(ErrorKind::BackendUnavailable))
            }
        }
    }
}

#[async_trait]
impl Backend for Stage {
    fn describe(&self) -> Arc<Description> {
        Arc::clone(&self.description)
    }

    async fn call(&self, _: &Context, request: Request) -> Result<Response> {
        self.next(&request)
    }

    async fn close(&self) -> Result<()> {
        Ok(())
    }
}

/// Whether two ends are the same; the words of the host and of a crash may change.
fn same(then: &Ending, now: &Ending) -> bool {
    match (then, now) {
        (Ending::Failed { kind: then, .. }, Ending::Failed { kind: now, .. })
            if *then != FailureKind::Tool =>
        {
            then == now
        }
        _ => then == now,
    }
}

/// Something that a difference shows.
trait Shown {
    fn shown(&self) -> String;
}

impl<T: Serialize + fmt::Debug> Shown for T {
    fn shown(&self) -> String {
        let text = serde_json::to_string(self).unwrap_or_else(|_| format!("{self:?}"));
        match text.char_indices().nth(SHOWN_BYTES) {
            Some((at, _)) => format!("{}… ({} bytes)", &text[..at], text.len()),
            None => text,
        }
    }
}
