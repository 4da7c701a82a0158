//! What a component says of its tools, checked before anyone sees it.

use std::{collections::BTreeSet, sync::OnceLock};

use belljar_contract::{Context, session::Capability};
use serde::{Deserialize, Serialize};

use super::{
    bindings::exports::belljar::sandbox::tools as wit,
    call::CallError,
    convert,
    load_error::LoadError,
    schema::{Schema, Unfit},
    state::Ended,
};

/// The longest name of a tool, in bytes: what the model providers' interfaces allow.
const MAX_NAME_BYTES: usize = 64;
/// The most tools in a component, and the longest description or schema: bounds on what a component can
/// make the host keep.
const MAX_TOOLS: usize = 1000;
const MAX_TEXT_BYTES: usize = 1 << 20;
/// A tool of a component, as the component describes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
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

/// A tool with what its values are held to.
pub(super) struct LoadedTool {
    pub(super) description: ToolDescription,
    /// Empty until the first call when the description comes from the cache: compiling a schema takes
    /// longer than a call.
    arguments: OnceLock<Schema>,
    answer: OnceLock<Schema>,
}

impl LoadedTool {
    /// A tool whose description was checked when it was kept.
    pub(super) fn checked_before(description: ToolDescription) -> Self {
        Self {
            description,
            arguments: OnceLock::new(),
            answer: OnceLock::new(),
        }
    }

    pub(super) fn check_arguments(
        &self,
        arguments: &str,
        context: &Context,
    ) -> Result<(), CallError> {
        let invalid = |reason: String| CallError::InvalidArguments { reason };
        let value: serde_json::Value = serde_json::from_str(arguments)
            .map_err(|error| invalid(format!("they are not JSON: {error}")))?;
        compiled(&self.arguments, &self.description.input_schema)?
            .check(value, arguments.len(), context)
            .map(drop)
            .map_err(|unfit| unfit_error(unfit, invalid))
    }

    /// Holds the structured part of an answer, which takes this many bytes as JSON, to its schema.
    pub(super) fn check_answer(
        &self,
        structured: Option<serde_json::Value>,
        bytes: usize,
        context: &Context,
    ) -> Result<Option<serde_json::Value>, CallError> {
        let bad = |reason| CallError::BadAnswer { reason };
        match (&self.description.output_schema, structured) {
            (Some(schema), Some(value)) => compiled(&self.answer, schema)?
                .check(value, bytes, context)
                .map(Some)
                .map_err(|unfit| unfit_error(unfit, bad)),
            (Some(_), None) => Err(bad("it is missing".to_owned())),
            (None, structured) => Ok(structured),
        }
    }
}

fn compiled<'a>(
    slot: &'a OnceLock<Schema>,
    schema: &serde_json::Value,
) -> Result<&'a Schema, CallError> {
    if let Some(schema) = slot.get() {
        return Ok(schema);
    }
    // It was compiled when the component was first loaded.
    let schema = Schema::new(schema).map_err(|reason| CallError::Host { reason })?;
    Ok(slot.get_or_init(|| schema))
}

/// Takes what a component describes, or says what is wrong with it.
pub(super) fn check_tools(described: Vec<wit::Description>) -> Result<Vec<LoadedTool>, LoadError> {
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
            arguments: arguments.into(),
            answer: answer.map(OnceLock::from).unwrap_or_default(),
        });
    }
    Ok(tools)
}

/// A value that is not taken, as what it means for the call.
fn unfit_error(unfit: Unfit, problems: impl FnOnce(String) -> CallError) -> CallError {
    match unfit {
        Unfit::Problems(reason) => problems(reason),
        Unfit::Stopped(stop) => Ended::from(stop).into(),
        Unfit::Host(reason) => CallError::Host { reason },
    }
}
