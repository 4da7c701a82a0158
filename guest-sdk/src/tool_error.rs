//! Why a tool did not do what it was asked to.

use belljar_contract::{Error, ErrorKind};

/// What a model reads when a tool fails: what went wrong and what to try.
///
/// An error of the contract becomes one with `?`, and keeps its kind.
///
/// ```
/// use belljar_guest::{ErrorKind, ToolError, files, testing};
///
/// fn first_line(path: &str) -> Result<String, ToolError> {
///     let text = files::read_text(path)?;
///     text.lines().next().map(str::to_owned).ok_or_else(|| ToolError::new("the file is empty"))
/// }
///
/// let memory = testing::MemorySandbox::new();
/// let error = testing::with_sandbox(&memory, || first_line("gone")).unwrap_err();
/// assert_eq!(error.kind, Some(ErrorKind::NotFound));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolError {
    /// For the model.
    pub message: String,
    /// The kind of the contract's error behind it, where there is one.
    pub kind: Option<ErrorKind>,
}

impl ToolError {
    /// Makes an error that has no error of the contract behind it.
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            kind: None,
        }
    }

    /// Makes an error of this kind.
    #[must_use]
    pub fn of(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            kind: Some(kind),
        }
    }

    /// Adds what to try.
    #[must_use]
    pub fn hint(mut self, hint: &str) -> Self {
        self.message.push_str("; ");
        self.message.push_str(hint);
        self
    }
}

impl From<Error> for ToolError {
    fn from(error: Error) -> Self {
        let message = match &error.path {
            Some(path) => format!("{path}: {}", error.message),
            None => error.message,
        };
        Self {
            message,
            kind: Some(error.kind),
        }
    }
}

impl std::fmt::Display for ToolError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ToolError {}
