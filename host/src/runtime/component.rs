//! A loaded component: audited, compiled, linked, and asked what tools it has.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use belljar_contract::{Context, Sandbox, session::Capability};
use wasmtime::component::Component as Compiled;

use crate::limits::CallLimits;

use super::{
    audit::{Import, WasiMode, audit},
    bindings::{ToolPre, exports::belljar::sandbox::tools as wit},
    call::{Call, CallError, LimitKind, call},
    convert,
    engine::WasmEngine,
    load_error::LoadError,
    schema::{Schema, Unfit},
    state::{CallState, Ended, ProgressSink},
};

/// The longest name of a tool, in bytes: what the model providers' interfaces allow.
const MAX_NAME_BYTES: usize = 64;
/// The most tools in a component, and the longest description or schema: bounds on what a component can
/// make the host keep.
const MAX_TOOLS: usize = 1000;
const MAX_TEXT_BYTES: usize = 1 << 20;
/// How long a component may take to describe its tools: milliseconds even for an interpreter, and time
/// enough on a machine that is busy.
const DESCRIBE_TIMEOUT: Duration = Duration::from_secs(5);

/// A tool of a component, as the component describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolDescription {
    /// Unique in the component.
    pub name: String,
    /// What it does, for a model.
    pub description: String,
    /// JSON Schema of the arguments.
    pub input_schema: serde_json::Value,
    /// JSON Schema of the structured answer, where there is one.
    pub output_schema: Option<serde_json::Value>,
    /// It changes nothing.
    pub read_only: bool,
    /// It may change or remove what is there.
    pub destructive: bool,
    /// A second call with the same arguments changes nothing more.
    pub idempotent: bool,
    /// What a sandbox must have.
    pub needs: Vec<Capability>,
}

/// A part of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ContentPart {
    /// Text for the model.
    Text(String),
    /// Something else.
    Data {
        /// `image/png`, …
        media_type: String,
        /// The bytes.
        bytes: Vec<u8>,
    },
}

/// A tool's answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The answer for the model.
    pub content: Vec<ContentPart>,
    /// The answer as a value, where the tool gives one.
    pub structured: Option<serde_json::Value>,
}

impl Answer {
    /// The text parts, joined by newlines.
    #[must_use]
    pub fn text(&self) -> String {
        let texts = self.content.iter().filter_map(|part| match part {
            ContentPart::Text(text) => Some(text.as_str()),
            ContentPart::Data { .. } => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }
}

pub(crate) struct Component {
    engine: Arc<WasmEngine>,
    instance: ToolPre<CallState>,
    imports: Vec<Import>,
    tools: Vec<LoadedTool>,
}

struct LoadedTool {
    description: ToolDescription,
    arguments: Schema,
    answer: Option<Schema>,
}

impl Component {
    pub(crate) fn load(
        engine: &Arc<WasmEngine>,
        bytes: &[u8],
        wasi: WasiMode,
    ) -> Result<Self, LoadError> {
        let imports = audit(bytes, wasi)?;
        let compiled = compile(engine, bytes)?;
        let mismatch = |error: wasmtime::Error| LoadError::Mismatch {
            reason: format!("{error:#}"),
        };
        let linked = engine
            .linker(wasi)
            .instantiate_pre(&compiled)
            .map_err(mismatch)?;
        let instance = ToolPre::new(linked).map_err(mismatch)?;
        let described =
            describe(engine, &instance).map_err(|error| LoadError::Describe(Box::new(error)))?;
        let tools = check_tools(described)?;
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
        check_arguments(tool, arguments, &context)?;
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

fn compile(engine: &WasmEngine, bytes: &[u8]) -> Result<Compiled, LoadError> {
    if let Some(cached) = engine
        .cache
        .as_ref()
        .and_then(|cache| cache.load(&engine.engine, bytes))
    {
        return Ok(cached);
    }
    let compiled =
        Compiled::from_binary(&engine.engine, bytes).map_err(|error| LoadError::Compile {
            reason: format!("{error:#}"),
        })?;
    if let Some(cache) = &engine.cache {
        cache.store(&engine.engine, bytes, &compiled);
    }
    Ok(compiled)
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

fn check_tools(described: Vec<wit::Description>) -> Result<Vec<LoadedTool>, LoadError> {
    let bad = |tool: &str, reason: &str| LoadError::BadDescription {
        tool: tool.chars().take(MAX_NAME_BYTES).collect(),
        reason: reason.to_owned(),
    };
    if described.is_empty() {
        return Err(bad("", "the component has no tools"));
    }
    if described.len() > MAX_TOOLS {
        return Err(bad("", "the component has more than 1,000 tools"));
    }
    let mut names = BTreeSet::new();
    let mut tools = Vec::new();
    for tool in described {
        let fits = (1..=MAX_NAME_BYTES).contains(&tool.name.len())
            && tool
                .name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
        if !fits {
            return Err(bad(&tool.name, "a name is 1 to 64 of a-z A-Z 0-9 _ -"));
        }
        if !names.insert(tool.name.clone()) {
            return Err(bad(&tool.name, "the component has two tools of this name"));
        }
        let schema_bytes =
            tool.input_schema.len() + tool.output_schema.as_ref().map_or(0, String::len);
        if tool.description.len() + schema_bytes > MAX_TEXT_BYTES {
            return Err(bad(
                &tool.name,
                "the description and schemas are over 1 MiB",
            ));
        }
        let schema = |text: &str| {
            serde_json::from_str::<serde_json::Value>(text)
                .map_err(|error| bad(&tool.name, &format!("a schema is not JSON: {error}")))
        };
        let input_schema = schema(&tool.input_schema)?;
        if input_schema.get("type").and_then(serde_json::Value::as_str) != Some("object") {
            return Err(bad(&tool.name, "the input schema is not of type object"));
        }
        let validator = |schema: &serde_json::Value| {
            Schema::new(schema)
                .map_err(|error| bad(&tool.name, &format!("a schema is not JSON Schema: {error}")))
        };
        let arguments = validator(&input_schema)?;
        let output_schema = tool.output_schema.as_deref().map(schema).transpose()?;
        let answer = output_schema.as_ref().map(validator).transpose()?;
        let description = ToolDescription {
            input_schema,
            output_schema,
            description: tool.description,
            read_only: tool.read_only,
            destructive: tool.destructive,
            idempotent: tool.idempotent,
            needs: tool
                .needs
                .into_iter()
                .map(convert::capability_from)
                .collect(),
            name: tool.name,
        };
        tools.push(LoadedTool {
            description,
            arguments,
            answer,
        });
    }
    Ok(tools)
}

fn check_arguments(tool: &LoadedTool, arguments: &str, context: &Context) -> Result<(), CallError> {
    let invalid = |reason: String| CallError::InvalidArguments { reason };
    let value: serde_json::Value = serde_json::from_str(arguments)
        .map_err(|error| invalid(format!("they are not JSON: {error}")))?;
    let checked = tool.arguments.check(value, arguments.len(), context);
    checked
        .map(drop)
        .map_err(|unfit| unfit_error(unfit, invalid))
}

/// A value that is not taken, as what it means for the call.
fn unfit_error(unfit: Unfit, problems: impl FnOnce(String) -> CallError) -> CallError {
    match unfit {
        Unfit::Problems(reason) => problems(reason),
        Unfit::Stopped(stop) => Ended::from(stop).into(),
        Unfit::Host(reason) => CallError::Host { reason },
    }
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

fn convert_answer(
    tool: &LoadedTool,
    answer: wit::Answer,
    limit: u64,
    context: &Context,
) -> Result<Answer, CallError> {
    let parts = answer.content.iter().map(|content| match content {
        wit::Content::Text(text) => text.len(),
        wit::Content::Data(data) => data.media_type.len() + data.bytes.len(),
    });
    let bytes = parts.sum::<usize>() + answer.structured.as_ref().map_or(0, String::len);
    if bytes as u64 > limit {
        return Err(CallError::Limit(LimitKind::AnswerBytes));
    }

    let part = |content| match content {
        wit::Content::Text(text) => ContentPart::Text(text),
        wit::Content::Data(data) => ContentPart::Data {
            media_type: data.media_type,
            bytes: data.bytes,
        },
    };
    let bad = |reason| CallError::BadAnswer { reason };
    let structured: Option<serde_json::Value> = answer
        .structured
        .as_deref()
        .map(serde_json::from_str)
        .transpose()
        .map_err(|error| bad(format!("it is not JSON: {error}")))?;
    let length = answer.structured.as_ref().map_or(0, String::len);
    let structured = match (&tool.answer, structured) {
        (Some(schema), Some(value)) => {
            let checked = schema.check(value, length, context);
            Some(checked.map_err(|unfit| unfit_error(unfit, bad))?)
        }
        (Some(_), None) => return Err(bad("it is missing".to_owned())),
        (None, structured) => structured,
    };
    Ok(Answer {
        content: answer.content.into_iter().map(part).collect(),
        structured,
    })
}
