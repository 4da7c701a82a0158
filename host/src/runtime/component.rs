//! A loaded component: audited, compiled, linked, and asked what tools it has.

use std::{sync::Arc, time::Duration};

use belljar_contract::{Context, Sandbox, session::Capability};
use wasmtime::component::Component as Compiled;

use crate::limits::CallLimits;

use super::{
    answer::{Answer, convert_answer},
    audit::{Import, WasiMode, World, audit},
    bindings::{ToolPre, exports::belljar::sandbox::tools as wit},
    cache::{Code, EntryName},
    call::{Call, CallError, call},
    convert,
    description::{LoadedTool, ToolDescription, check_tools},
    engine::WasmEngine,
    load_error::LoadError,
    state::{CallState, ProgressSink},
};

/// How long a component may take to describe its tools: milliseconds even for an interpreter, and time
/// enough on a machine that is busy.
const DESCRIBE_TIMEOUT: Duration = Duration::from_secs(5);

pub(crate) struct Component {
    engine: Arc<WasmEngine>,
    instance: ToolPre<CallState>,
    imports: Vec<Import>,
    tools: Vec<LoadedTool>,
}

impl Component {
    pub(crate) fn load(
        engine: &Arc<WasmEngine>,
        bytes: &[u8],
        wasi: WasiMode,
    ) -> Result<Self, LoadError> {
        let (world, imports) = audit(bytes, wasi, &[World::Tool])?;
        let base = &engine.base;
        let cache = base.cache.as_ref();
        let cache = cache.map(|cache| (cache, EntryName::new(&base.compatibility, world, bytes)));
        let cached = cache
            .as_ref()
            .and_then(|(cache, name)| cache.load(&base.engine, name));
        let (instance, tools) = match cached {
            Some(cached) => {
                let tools = cached.tools.into_iter().map(LoadedTool::checked_before);
                (link(engine, &cached.component, wasi)?, tools.collect())
            }
            None => {
                let compiled = base.compile(bytes)?;
                let instance = link(engine, &compiled, wasi)?;
                let described = describe(engine, &instance)
                    .map_err(|error| LoadError::Describe(Box::new(error)))?;
                let tools = check_tools(described)?;
                if let Some((cache, name)) = &cache {
                    cache.store(
                        name,
                        &Code::Component(compiled),
                        tools.iter().map(|tool| &tool.description),
                    );
                }
                (instance, tools)
            }
        };
        Ok(Self {
            engine: Arc::clone(engine),
            instance,
            imports,
            tools,
        })
    }

    pub(crate) fn imports(&self) -> &[Import] {
        &self.imports
    }

    pub(crate) fn tools(&self) -> impl Iterator<Item = &ToolDescription> {
        self.tools.iter().map(|tool| &tool.description)
    }

    /// Checks the name, the arguments and the needs, then calls.
    pub(crate) fn call(
        &self,
        sandbox: Sandbox,
        name: &str,
        arguments: &str,
        limits: CallLimits,
        progress: Option<ProgressSink>,
    ) -> Result<Answer, CallError> {
        let tool = self
            .tools
            .iter()
            .find(|tool| tool.description.name == name)
            .ok_or_else(|| {
                let known: Vec<_> = self.tools().map(|tool| tool.name.as_str()).collect();
                CallError::UnknownTool {
                    name: name.to_owned(),
                    known: known.join(", "),
                }
            })?;
        let context = sandbox.context().with_timeout(limits.timeout);
        tool.check_arguments(arguments, &context)?;
        let missing = missing(&tool.description, &sandbox);
        if !missing.is_empty() {
            let backend = sandbox.describe().backend.clone();
            return Err(CallError::NotOffered {
                name: name.to_owned(),
                backend,
                missing,
            });
        }
        let with = Call {
            sandbox: Some(sandbox),
            context: context.clone(),
            limits,
            progress,
        };
        let answer = call(&self.engine, &self.instance, with, |tool, store| {
            tool.belljar_sandbox_tools()
                .call_call(store, name, arguments)
        })?;
        answer
            .map_err(call_error)
            .and_then(|answer| convert_answer(tool, answer, limits.answer_bytes, &context))
    }
}

/// What a tool needs and the sandbox does not have.
pub(crate) fn missing(tool: &ToolDescription, sandbox: &Sandbox) -> Vec<Capability> {
    let description = sandbox.describe();
    tool.needs
        .iter()
        .copied()
        .filter(|need| !description.can(*need))
        .collect()
}

fn link(
    engine: &WasmEngine,
    compiled: &Compiled,
    wasi: WasiMode,
) -> Result<ToolPre<CallState>, LoadError> {
    engine
        .linker(wasi)
        .instantiate_pre(compiled)
        .and_then(ToolPre::new)
        .map_err(|error| LoadError::Mismatch {
            reason: format!("{error:#}"),
        })
}

fn describe(
    engine: &WasmEngine,
    instance: &ToolPre<CallState>,
) -> Result<Vec<wit::Description>, CallError> {
    let limits = CallLimits {
        timeout: DESCRIBE_TIMEOUT,
        ..CallLimits::default()
    };
    let with = Call {
        sandbox: None,
        context: Context::new(),
        limits,
        progress: None,
    };
    call(engine, instance, with, |tool, store| {
        tool.belljar_sandbox_tools().call_describe(store)
    })
}

fn call_error(error: wit::CallError) -> CallError {
    match error {
        wit::CallError::UnknownTool(name) => CallError::UnknownTool {
            name,
            known: String::new(),
        },
        wit::CallError::InvalidArguments(reason) => CallError::InvalidArguments { reason },
        wit::CallError::Failed(failure) => CallError::Tool {
            message: failure.message,
            kind: failure.kind.map(convert::error_kind_from),
        },
    }
}
