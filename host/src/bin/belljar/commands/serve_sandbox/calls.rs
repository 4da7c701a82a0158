//! A session's calls: how they are told apart, cancelled and answered.
//!
//! A call runs on a task of its own, so that it ends in order when its client goes away: cancelled, down to its
//! processes, with its answer kept a while for the one who asks what came of it.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use belljar::{Context, Operation};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::{runtime::Handle, sync::watch, time::sleep};

use super::{
    answer::{Answer, Refusal},
    body::Whole,
    narrowed::Narrowed,
    session::{InUse, Session},
};
use crate::{
    methods::{self, MethodError},
    turns::Turns,
};

/// How long the answer of a call is kept whose client has gone away.
const KEPT: Duration = Duration::from_secs(5);
/// Named calls of a session that run, or whose answers are kept.
const MAX_NAMED: usize = 1024;
/// Names of calls that were cancelled before they came; the oldest is forgotten.
const MAX_FOREGONE: usize = 256;
/// The longest name.
const MAX_NAME_BYTES: usize = 64;

/// A call, as its client sends it.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Sent {
    method: String,
    #[serde(default)]
    params: Option<Box<RawValue>>,
    /// Its name.
    #[serde(default)]
    call: Option<String>,
    /// In milliseconds.
    #[serde(default)]
    timeout: Option<u64>,
    #[serde(default)]
    no_links: bool,
    #[serde(default)]
    within: Vec<Vec<String>>,
}

/// A call that was understood.
pub(super) struct Request {
    operation: Operation,
    params: Box<RawValue>,
    name: Option<String>,
    timeout: Option<Duration>,
    narrowed: Narrowed,
}

impl Request {
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, Answer> {
        let malformed = |message: String| Answer::from(Refusal::Malformed(message));
        let sent: Sent =
            serde_json::from_slice(bytes).map_err(|error| malformed(error.to_string()))?;
        let operation = methods::operation(&sent.method)?;
        if operation == Operation::Close {
            // A session ends by its address, which is then free of it.
            return Err(MethodError::Unknown(sent.method).into());
        }
        if let Some(name) = &sent.call
            && !is_name(name)
        {
            let message = format!("call: not 1 to {MAX_NAME_BYTES} of a-z, A-Z, 0-9, - and _");
            return Err(malformed(message));
        }
        let params = match sent.params {
            Some(params) => params,
            None => {
                RawValue::from_string("{}".into()).map_err(|error| malformed(error.to_string()))?
            }
        };
        Ok(Self {
            operation,
            params,
            name: sent.call,
            timeout: sent.timeout.map(Duration::from_millis),
            narrowed: Narrowed {
                no_links: sent.no_links,
                within: sent.within,
            },
        })
    }
}

fn is_name(text: &str) -> bool {
    (1..=MAX_NAME_BYTES).contains(&text.len())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
}

/// The calls of a session.
pub(super) struct Calls {
    /// The parent of every call.
    context: Context,
    named: Mutex<Named>,
}

#[derive(Default)]
struct Named {
    calls: HashMap<String, Call>,
    foregone: VecDeque<String>,
}

/// A call that runs, or has ended.
#[derive(Clone)]
struct Call {
    context: Context,
    answer: watch::Receiver<Option<Answer>>,
}

impl Call {
    async fn answer(&self) -> Answer {
        let mut answer = self.answer.clone();
        match answer.wait_for(Option::is_some).await.as_deref() {
            Ok(Some(answer)) => answer.clone(),
            Ok(None) | Err(_) => Refusal::Internal("the call broke off".into()).into(),
        }
    }
}

impl Calls {
    pub(super) fn new(context: Context) -> Self {
        Self {
            context,
            named: Mutex::default(),
        }
    }

    /// The parent of every call: cancelled when the session ends.
    pub(super) const fn context(&self) -> &Context {
        &self.context
    }

    /// Cancels a call, and gives what it came to. One that has not come yet will not begin.
    pub(super) async fn cancel(&self, name: &str) -> Answer {
        let found = {
            let mut named = self.named();
            let found = named.calls.get(name).cloned();
            if found.is_none() && is_name(name) && !named.foregone.iter().any(|one| one == name) {
                if named.foregone.len() >= MAX_FOREGONE {
                    named.foregone.pop_front();
                }
                named.foregone.push_back(name.to_owned());
            }
            found
        };
        let Some(call) = found else {
            return Refusal::NoSuchCall.into();
        };
        call.context.cancellation().cancel();
        let answer = call.answer().await;
        self.forget(name);
        answer
    }

    fn begin(
        &self,
        name: Option<&String>,
        timeout: Option<Duration>,
    ) -> Result<(Call, watch::Sender<Option<Answer>>), Refusal> {
        let mut context = self.context.child();
        if let Some(timeout) = timeout {
            context = context.with_timeout(timeout);
        }
        let (send, answer) = watch::channel(None);
        let call = Call { context, answer };
        if let Some(name) = name {
            let mut named = self.named();
            if named.calls.contains_key(name) {
                return Err(Refusal::CallExists);
            }
            if named.calls.len() >= MAX_NAMED {
                return Err(Refusal::Busy);
            }
            if named.foregone.iter().any(|one| one == name) {
                call.context.cancellation().cancel();
            }
            named.calls.insert(name.clone(), call.clone());
        }
        Ok((call, send))
    }

    fn forget(&self, name: &str) {
        self.named().calls.remove(name);
    }

    fn named(&self) -> MutexGuard<'_, Named> {
        self.named.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Makes a call and waits for its answer; dropped before that, it cancels the call.
pub(super) async fn call(
    session: Arc<Session>,
    turns: Arc<Turns>,
    in_use: InUse,
    whole: Whole,
) -> Result<Answer, Answer> {
    let Whole { bytes, held } = whole;
    let Request {
        operation,
        params,
        name,
        timeout,
        narrowed,
    } = Request::parse(&bytes)?;
    drop(bytes);
    let (call, send) = session.calls.begin(name.as_ref(), timeout)?;
    let waiting = Waiting {
        session: Arc::clone(&session),
        call: Some(call.clone()),
        name,
        runtime: Handle::current(),
    };
    tokio::spawn(async move {
        let began = call.context.now();
        let cancellation = call.context.cancellation();
        let turn = turns.turn(operation, cancellation).await;
        let sandbox = session.sandbox.within(call.context.clone());
        let called = match narrowed.apply(&sandbox, operation) {
            Ok(sandbox) => methods::call(&sandbox, operation, params.get()).await,
            Err(error) => Err(error.into()),
        };
        let answer = match called {
            Ok(result) => match turns.room(result.get().len()).await {
                Ok(room) => Answer::result(&result, room),
                Err(_) => Refusal::Busy.into(),
            },
            Err(error) => error.into(),
        };
        drop((turn, params, held));
        let took = call.context.now().saturating_sub(began);
        tracing::debug!("session {}: {operation} took {took:?}", session.number);
        // Whoever waited may have gone.
        let _ = send.send(Some(answer));
        drop(in_use);
    });
    Ok(waiting.answer().await)
}

/// A client that waits for a call.
struct Waiting {
    session: Arc<Session>,
    /// Until it is answered.
    call: Option<Call>,
    name: Option<String>,
    runtime: Handle,
}

impl Waiting {
    async fn answer(mut self) -> Answer {
        let Some(call) = &self.call else {
            return Refusal::NoSuchCall.into();
        };
        let answer = call.answer().await;
        self.call = None;
        if let Some(name) = &self.name {
            self.session.calls.forget(name);
        }
        answer
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let Some(call) = self.call.take() else {
            return;
        };
        call.context.cancellation().cancel();
        let Some(name) = self.name.take() else {
            return;
        };
        let session = Arc::clone(&self.session);
        self.runtime.spawn(async move {
            drop(call.answer().await);
            sleep(KEPT).await;
            session.calls.forget(&name);
        });
    }
}
