//! What a tool answers.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::{ToolError, schema};

/// A part of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Text for the model.
    Text(String),
    /// Data that is not text.
    Data {
        /// `image/png`, …
        media_type: String,
        /// The data.
        bytes: Vec<u8>,
    },
}

/// A tool's answer: parts for the model, and a value for programs where the tool has an output schema.
///
/// ```
/// use belljar_guest::{Answer, Part};
///
/// let answer = Answer::from("2 files").with_data("image/png", b"\x89PNG");
/// assert_eq!(answer.content[0], Part::Text("2 files".into()));
/// assert_eq!(answer.text(), "2 files");
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// The parts, in order.
    pub content: Vec<Part>,
    /// A value that fits the tool's output schema.
    pub structured: Option<Value>,
}

impl Answer {
    /// Adds text.
    #[must_use]
    pub fn with_text(mut self, text: impl Into<String>) -> Self {
        self.content.push(Part::Text(text.into()));
        self
    }

    /// Adds data.
    #[must_use]
    pub fn with_data(mut self, media_type: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        self.content.push(Part::Data {
            media_type: media_type.into(),
            bytes: bytes.into(),
        });
        self
    }

    /// The text parts, one after the other.
    #[must_use]
    pub fn text(&self) -> String {
        self.content
            .iter()
            .filter_map(|part| match part {
                Part::Text(text) => Some(text.as_str()),
                Part::Data { .. } => None,
            })
            .collect()
    }
}

impl From<String> for Answer {
    fn from(text: String) -> Self {
        Self::default().with_text(text)
    }
}

impl From<&str> for Answer {
    fn from(text: &str) -> Self {
        Self::default().with_text(text)
    }
}

/// A value with a schema, and text that says the same to a model.
///
/// ```
/// use belljar_guest::{Reply, Structured};
///
/// #[derive(serde::Serialize, schemars::JsonSchema)]
/// struct Count {
///     lines: u64,
/// }
///
/// let answer = Structured::new(Count { lines: 3 }).with_text("3 lines").reply().unwrap();
/// assert_eq!(answer.text(), "3 lines");
/// assert_eq!(answer.structured, Some(serde_json::json!({ "lines": 3 })));
/// ```
#[derive(Clone, Debug)]
pub struct Structured<T> {
    value: T,
    text: Option<String>,
}

impl<T> Structured<T> {
    /// Answers with a value, and with its JSON as the text.
    pub const fn new(value: T) -> Self {
        Self { value, text: None }
    }

    /// Answers with this text instead of JSON.
    #[must_use]
    pub fn with_text(mut self, text: impl Into<String>) -> Self {
        self.text = Some(text.into());
        self
    }
}

/// What a tool's function may return.
#[diagnostic::on_unimplemented(
    message = "a tool cannot return `{Self}`",
    label = "not an answer",
    note = "return `Result<T, E>`, where `T` is `String`, `&'static str`, `Answer`, `Structured<_>` or `()` and `E` becomes a `ToolError`"
)]
pub trait Reply {
    /// The JSON Schema of the structured value, where there is one.
    #[must_use]
    fn output_schema() -> Option<Value> {
        None
    }

    /// The answer.
    ///
    /// # Errors
    /// What the tool failed with.
    fn reply(self) -> Result<Answer, ToolError>;
}

impl Reply for Answer {
    fn reply(self) -> Result<Answer, ToolError> {
        Ok(self)
    }
}

impl Reply for String {
    fn reply(self) -> Result<Answer, ToolError> {
        Ok(self.into())
    }
}

impl Reply for &'static str {
    fn reply(self) -> Result<Answer, ToolError> {
        Ok(self.into())
    }
}

impl Reply for () {
    fn reply(self) -> Result<Answer, ToolError> {
        Ok(Answer::default())
    }
}

impl<T: Serialize + JsonSchema> Reply for Structured<T> {
    fn output_schema() -> Option<Value> {
        Some(schema::of_output::<T>())
    }

    fn reply(self) -> Result<Answer, ToolError> {
        let value = serde_json::to_value(&self.value).map_err(|error| {
            ToolError::new(format!(
                "the tool's answer cannot be written as JSON: {error}"
            ))
        })?;
        let text = self.text.unwrap_or_else(|| value.to_string());
        Ok(Answer {
            structured: Some(value),
            ..Answer::from(text)
        })
    }
}

impl<T: Reply, E: Into<ToolError>> Reply for Result<T, E> {
    fn output_schema() -> Option<Value> {
        T::output_schema()
    }

    fn reply(self) -> Result<Answer, ToolError> {
        self.map_err(Into::into)?.reply()
    }
}
