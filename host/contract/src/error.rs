//! Errors: what an operation says when it fails.
//!
//! [`ErrorKind`] is closed and names what a caller can do about a failure. [`Error`] adds
//! the operation, the path and a message, and keeps its source for the log; only the first three
//! cross a process or guest boundary.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::request::Operation;

/// The result of an operation of the contract.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an operation failed. `types.wit` says of each kind when it occurs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(
    missing_docs,
    reason = "the contract's `types.wit` documents each kind"
)]
pub enum ErrorKind {
    NotFound,
    AlreadyExists,
    IsADirectory,
    NotADirectory,
    NotAFile,
    NotEmpty,
    AccessDenied,
    ReadOnly,
    Unsupported,
    InvalidArgument,
    TooLarge,
    NotUtf8,
    NoMatch,
    SeveralMatches,
    Stale,
    ProgramNotFound,
    NotExecutable,
    TimedOut,
    Cancelled,
    Closed,
    Busy,
    NoSpace,
    BackendUnavailable,
    BackendFailed,
}

impl ErrorKind {
    /// Every kind, in the contract's order.
    pub const ALL: [Self; 24] = [
        Self::NotFound,
        Self::AlreadyExists,
        Self::IsADirectory,
        Self::NotADirectory,
        Self::NotAFile,
        Self::NotEmpty,
        Self::AccessDenied,
        Self::ReadOnly,
        Self::Unsupported,
        Self::InvalidArgument,
        Self::TooLarge,
        Self::NotUtf8,
        Self::NoMatch,
        Self::SeveralMatches,
        Self::Stale,
        Self::ProgramNotFound,
        Self::NotExecutable,
        Self::TimedOut,
        Self::Cancelled,
        Self::Closed,
        Self::Busy,
        Self::NoSpace,
        Self::BackendUnavailable,
        Self::BackendFailed,
    ];

    /// The kind's name in the contract: `not-found`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotFound => "not-found",
            Self::AlreadyExists => "already-exists",
            Self::IsADirectory => "is-a-directory",
            Self::NotADirectory => "not-a-directory",
            Self::NotAFile => "not-a-file",
            Self::NotEmpty => "not-empty",
            Self::AccessDenied => "access-denied",
            Self::ReadOnly => "read-only",
            Self::Unsupported => "unsupported",
            Self::InvalidArgument => "invalid-argument",
            Self::TooLarge => "too-large",
            Self::NotUtf8 => "not-utf8",
            Self::NoMatch => "no-match",
            Self::SeveralMatches => "several-matches",
            Self::Stale => "stale",
            Self::ProgramNotFound => "program-not-found",
            Self::NotExecutable => "not-executable",
            Self::TimedOut => "timed-out",
            Self::Cancelled => "cancelled",
            Self::Closed => "closed",
            Self::Busy => "busy",
            Self::NoSpace => "no-space",
            Self::BackendUnavailable => "backend-unavailable",
            Self::BackendFailed => "backend-failed",
        }
    }
}

impl std::fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A failed operation.
///
/// ```
/// use belljar_contract::{Error, ErrorKind, Operation};
///
/// let error = Error::new(ErrorKind::NotFound, Operation::Read, "no such file").at("src/lib.rs");
/// assert_eq!(error.kind, ErrorKind::NotFound);
/// assert_eq!(error.to_string(), "files.read src/lib.rs: no such file");
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Error {
    /// What went wrong.
    pub kind: ErrorKind,
    /// What was to be done.
    pub operation: Operation,
    /// The path in question, as the caller gave it.
    pub path: Option<String>,
    /// A lower-case fragment for people.
    pub message: String,
    #[serde(skip)]
    source: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    /// Makes an error without path and source.
    #[must_use]
    pub fn new(kind: ErrorKind, operation: Operation, message: impl Into<String>) -> Self {
        Self {
            kind,
            operation,
            path: None,
            message: message.into(),
            source: None,
        }
    }

    /// Names the path in question.
    #[must_use]
    pub fn at(mut self, path: impl Into<String>) -> Self {
        self.path = Some(path.into());
        self
    }

    /// The same failure, of the operation that it was a step of.
    #[must_use]
    pub const fn during(mut self, operation: Operation) -> Self {
        self.operation = operation;
        self
    }

    /// Keeps what caused this error.
    #[must_use]
    pub fn because(mut self, source: impl std::error::Error + Send + Sync + 'static) -> Self {
        self.source = Some(Arc::new(source));
        self
    }
}

impl PartialEq for Error {
    /// Compares what crosses a boundary; a source is for the log only.
    fn eq(&self, other: &Self) -> bool {
        (self.kind, self.operation, &self.path, &self.message)
            == (other.kind, other.operation, &other.path, &other.message)
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.path {
            Some(path) => write!(f, "{} {path}: {}", self.operation, self.message),
            None => write!(f, "{}: {}", self.operation, self.message),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source
            .as_deref()
            .map(|source| source as &(dyn std::error::Error + 'static))
    }
}
