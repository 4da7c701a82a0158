//! Tools, and the set of them that a component has.

use belljar_contract::session::Capability;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{Answer, Reply, ToolError, arguments, schema};

/// A tool: what `#[tool]` makes of a function, to be named in [`component!`](crate::component!).
#[derive(Clone, Copy, Debug)]
pub struct Tool {
    /// Unique in the component: 1 to 64 of `a-z A-Z 0-9 _ -`.
    pub name: &'static str,
    /// What it does, for a model.
    pub description: &'static str,
    /// It changes nothing.
    pub read_only: bool,
    /// It may change or remove what is there.
    pub destructive: bool,
    /// A second call with the same arguments changes nothing more.
    pub idempotent: bool,
    /// What a sandbox must have for this tool to be offered.
    pub needs: &'static [Capability],
    /// JSON Schema of the arguments.
    #[doc(hidden)]
    pub input_schema: fn() -> Value,
    /// JSON Schema of the structured answer.
    #[doc(hidden)]
    pub output_schema: fn() -> Option<Value>,
    /// Calls it with a JSON object.
    #[doc(hidden)]
    pub call: fn(&str) -> Result<Answer, CallError>,
}

/// A type that stands for a tool; `#[tool]` declares one beside each function, with its name.
pub trait IsTool {
    /// The tool.
    const TOOL: Tool;
}

/// A tool as a host sees it.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the fields of `Tool`, with the schemas made")]
pub struct ToolDescription {
    pub name: String,
    pub description: String,
    pub input_schema: Value,
    pub output_schema: Option<Value>,
    pub read_only: bool,
    pub destructive: bool,
    pub idempotent: bool,
    pub needs: Vec<Capability>,
}

/// What a call returns when there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallError {
    /// The component has no such tool.
    UnknownTool(String),
    /// The arguments are not JSON, or do not fit; the text names the field.
    InvalidArguments(String),
    /// The tool failed.
    Failed(ToolError),
}

impl std::fmt::Display for CallError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::UnknownTool(name) => write!(f, "there is no tool {name}"),
            Self::InvalidArguments(message) => write!(f, "the arguments do not fit: {message}"),
            Self::Failed(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for CallError {}

/// The tools of a component; [`component!`](crate::component!) makes one, which tests call as a
/// host would.
#[derive(Clone, Copy, Debug)]
pub struct Tools(&'static [Tool]);

impl Tools {
    /// Makes a set of tools.
    ///
    /// # Panics
    /// Two have one name; at compile time, where [`component!`](crate::component!) calls it.
    #[must_use]
    pub const fn new(tools: &'static [Tool]) -> Self {
        let mut first = 0;
        while first < tools.len() {
            let mut second = first + 1;
            while second < tools.len() {
                assert!(
                    !same(tools[first].name, tools[second].name),
                    "two tools of the component have one name"
                );
                second += 1;
            }
            first += 1;
        }
        Self(tools)
    }

    /// Describes the tools.
    #[must_use]
    pub fn describe(&self) -> Vec<ToolDescription> {
        let describe = |tool: &Tool| ToolDescription {
            name: tool.name.to_owned(),
            description: tool.description.to_owned(),
            input_schema: (tool.input_schema)(),
            output_schema: (tool.output_schema)(),
            read_only: tool.read_only,
            destructive: tool.destructive,
            idempotent: tool.idempotent,
            needs: tool.needs.to_vec(),
        };
        self.0.iter().map(describe).collect()
    }

    /// Calls a tool with a JSON object.
    ///
    /// # Errors
    /// [`CallError`]; a tool that fails says so by [`CallError::Failed`].
    pub fn call(&self, name: &str, arguments: &str) -> Result<Answer, CallError> {
        match self.0.iter().find(|tool| tool.name == name) {
            Some(tool) => (tool.call)(arguments),
            None => Err(CallError::UnknownTool(name.to_owned())),
        }
    }
}

const fn same(one: &str, two: &str) -> bool {
    let (one, two) = (one.as_bytes(), two.as_bytes());
    if one.len() != two.len() {
        return false;
    }
    let mut index = 0;
    while index < one.len() {
        if one[index] != two[index] {
            return false;
        }
        index += 1;
    }
    true
}

/// What the attribute macro expands to: the three functions of a [`Tool`].
#[doc(hidden)]
pub mod glue {
    use super::{Answer, CallError, DeserializeOwned, Reply, Value, arguments, schema};

    pub use crate::arguments::NoArguments;

    #[must_use]
    pub fn input_schema<A: schemars::JsonSchema>() -> Value {
        schema::of_input::<A>()
    }

    /// Calls `tool` with the arguments, and makes an answer of what it returns.
    ///
    /// # Errors
    /// As [`super::Tools::call`].
    pub fn call<A: DeserializeOwned, R: Reply>(
        json: &str,
        tool: impl FnOnce(A) -> R,
    ) -> Result<Answer, CallError> {
        let arguments = arguments::parse(json).map_err(CallError::InvalidArguments)?;
        tool(arguments).reply().map_err(CallError::Failed)
    }
}
