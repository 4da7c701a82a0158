//! One call into a component, and the kinds of failure it can have.

use std::fmt;

use belljar_contract::{Context, ErrorKind, Sandbox, session::Capability};
use wasmtime::{Store, Trap, UpdateDeadline};

use crate::limits::CallLimits;

use super::{
    bindings::{Tool, ToolPre},
    engine::WasmEngine,
    state::{CallState, Ended, ProgressSink},
};

/// Which limit ended a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LimitKind {
    /// Wall-clock time.
    Time,
    /// Linear memory, all together.
    Memory,
    /// Table elements, all together.
    TableElements,
    /// The guest's stack.
    Stack,
    /// Calls to the host.
    HostCalls,
    /// Bytes copied between guest and host.
    CopiedBytes,
    /// Bytes of the answer.
    AnswerBytes,
}

impl fmt::Display for LimitKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Time => "time limit",
            Self::Memory => "memory limit",
            Self::TableElements => "table limit",
            Self::Stack => "stack limit",
            Self::HostCalls => "limit of host calls",
            Self::CopiedBytes => "limit of copied bytes",
            Self::AnswerBytes => "limit on its answer",
        })
    }
}

/// Why a call gave no answer. Each kind is someone else's to mend.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// There is no such tool: the caller's.
    #[error("there is no tool {name:?}; there is {known}")]
    UnknownTool {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// The arguments are not JSON or do not fit the schema; the tool was not called: the caller's.
    #[error("the arguments do not fit: {reason}")]
    InvalidArguments {
        /// The field, and what is wrong with it.
        reason: String,
    },
    /// The sandbox lacks what the tool needs; it was not called: the operator's.
    #[error("the tool {name:?} needs {}, which the {backend} backend does not give it", .missing.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))]
    NotOffered {
        /// The tool.
        name: String,
        /// The backend.
        backend: String,
        /// What is missing.
        missing: Vec<Capability>,
    },
    /// The tool says that it failed: for the model.
    #[error("{message}")]
    Tool {
        /// The tool's words.
        message: String,
        /// The contract's error behind it, where there is one.
        kind: Option<ErrorKind>,
    },
    /// The tool crashed: its author's. The next call begins anew.
    #[error("the tool crashed: {}", message.as_deref().unwrap_or(trap))]
    Trap {
        /// What the guest said before, where it said something.
        message: Option<String>,
        /// What happened.
        trap: String,
    },
    /// The tool's structured answer is not JSON, or does not fit the schema it promised: its author's.
    #[error("the tool's answer does not fit its own schema: {reason}")]
    BadAnswer {
        /// What is wrong.
        reason: String,
    },
    /// A limit ended the call: the operator's, or the tool's author's.
    #[error("the call was ended by its {0}")]
    Limit(LimitKind),
    /// The caller cancelled the call.
    #[error("the call was cancelled")]
    Cancelled,
    /// The host could not make the call: the operator's.
    #[error("the host could not make the call: {reason}")]
    Host {
        /// Why.
        reason: String,
    },
}

impl From<Ended> for CallError {
    fn from(ended: Ended) -> Self {
        match ended {
            Ended::Limit(kind) => Self::Limit(kind),
            Ended::Cancelled => Self::Cancelled,
        }
    }
}

/// What a call runs with.
pub(super) struct Call {
    pub(super) sandbox: Option<Sandbox>,
    pub(super) context: Context,
    pub(super) limits: CallLimits,
    pub(super) progress: Option<ProgressSink>,
}

/// Makes a store, instantiates, calls, and throws the store away.
pub(super) fn call<T>(
    engine: &WasmEngine,
    component: &ToolPre<CallState>,
    call: Call,
    enter: impl FnOnce(&Tool, &mut Store<CallState>) -> wasmtime::Result<T>,
) -> Result<T, CallError> {
    let context = call.context.with_timeout(call.limits.timeout);
    // An already cancelled call never starts.
    context.check().map_err(Ended::from)?;
    let sandbox = call.sandbox.map(|sandbox| sandbox.within(context.clone()));
    let state = CallState::new(sandbox, context, call.limits, call.progress);
    let mut store = Store::new(&engine.base.engine, state);
    store.limiter(|state| state);
    // One call cannot honestly bring more than the guest's whole memory, and a list whose entries
    // all point at one text could bring a multiple of it.
    store.set_hostcall_fuel(usize::try_from(call.limits.memory_bytes).unwrap_or(usize::MAX));
    store.set_epoch_deadline(1);
    store.epoch_deadline_callback(|store| match store.data().context().check() {
        Ok(()) => Ok(UpdateDeadline::Continue(1)),
        Err(stop) => Err(wasmtime::Error::new(Ended::from(stop))),
    });
    let _running = engine.base.ticker.run();
    let result = component
        .instantiate(&mut store)
        .and_then(|tool| enter(&tool, &mut store));
    result.map_err(|error| classify(&error, store.data_mut()))
}

/// Tells what a failed call was: the one place where wasmtime's errors are judged.
fn classify(error: &wasmtime::Error, state: &mut CallState) -> CallError {
    if let Some(ended) = error.downcast_ref::<Ended>() {
        return (*ended).into();
    }
    if is_fuel_exhausted(error) {
        return CallError::Limit(LimitKind::CopiedBytes);
    }
    match error.downcast_ref::<Trap>() {
        Some(Trap::StackOverflow) => CallError::Limit(LimitKind::Stack),
        Some(Trap::AllocationTooLarge) => CallError::Limit(LimitKind::Memory),
        _ if error.is::<wasmtime::PoolConcurrencyLimitError>() => CallError::Host {
            reason: "more calls at once than there are slots".to_owned(),
        },
        _ => CallError::Trap {
            message: state.take_panic(),
            trap: format!("{error:#}"),
        },
    }
}

/// Whether a guest tried to bring more than it may in one call. Wasmtime keeps the type of
/// this error to itself, so its name is all there is to go by; the guest `list_bomb` pins it.
pub(super) fn is_fuel_exhausted(error: &wasmtime::Error) -> bool {
    format!("{:?}", error.root_cause()).starts_with("HostcallFuelExhausted")
}
