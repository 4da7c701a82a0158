//! Why the command failed: an exit code, an error with its chain, and a hint what to do.

use std::{error::Error as StdError, fmt, io};

use belljar::{
    CallError, ErrorKind, HostError, LoadError,
    backends::{CliError, OpenError},
    config::ConfigError,
};
use serde_json::json;

use crate::exit_code::Exit;

type BoxedError = Box<dyn StdError + Send + Sync>;

/// A failed command.
#[derive(Debug)]
pub(crate) struct Failure {
    /// What the process says.
    pub(crate) exit: Exit,
    error: BoxedError,
    hint: Option<String>,
    /// The contract's kind, where an operation failed.
    kind: Option<ErrorKind>,
}

impl Failure {
    pub(crate) fn new(exit: Exit, error: impl Into<BoxedError>) -> Self {
        Self {
            exit,
            error: error.into(),
            hint: None,
            kind: None,
        }
    }

    /// The command line is wrong in a way that only the command knows.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, message.into())
    }

    /// A signal came.
    pub(crate) fn interrupted() -> Self {
        Self::new(Exit::Failed, "interrupted")
    }

    /// The same failure with another exit code.
    pub(crate) fn with_exit(self, exit: Exit) -> Self {
        Self { exit, ..self }
    }

    /// Says what to do.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Says what was to be done.
    pub(crate) fn during(self, what: impl Into<String>) -> Self {
        let error = Wrapped {
            message: what.into(),
            source: self.error,
        };
        Self {
            error: error.into(),
            ..self
        }
    }

    /// The contract's kind, where an operation failed.
    pub(crate) const fn kind(&self) -> Option<ErrorKind> {
        self.kind
    }

    /// The same failure as JSON.
    pub(crate) fn to_json(&self) -> serde_json::Value {
        let messages = self.messages();
        let (message, causes) = messages.split_first().unzip();
        json!({
            "error": {
                "kind": self.exit.name(),
                "contract-kind": self.kind,
                "message": message,
                "caused-by": causes.unwrap_or_default(),
                "hint": self.hint,
            }
        })
    }

    /// The error and what caused it, without what was said already.
    pub(crate) fn messages(&self) -> Vec<String> {
        messages(self.error.as_ref())
    }
}

/// An error's message and those of its causes; one that the message before it ends with is left out.
pub(crate) fn messages(error: &(dyn StdError + 'static)) -> Vec<String> {
    let mut messages: Vec<String> = Vec::new();
    let mut next = Some(error);
    while let Some(error) = next {
        let message = error.to_string();
        if !messages
            .last()
            .is_some_and(|before| before.ends_with(&message))
        {
            messages.push(message);
        }
        next = error.source();
    }
    messages
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, message) in self.messages().iter().enumerate() {
            match index {
                0 => write!(f, "error: {message}")?,
                _ => write!(f, "\ncaused by: {message}")?,
            }
        }
        match &self.hint {
            Some(hint) => write!(f, "\nhint: {hint}"),
            None => Ok(()),
        }
    }
}

#[derive(Debug, thiserror::Error)]
#[error("{message}")]
struct Wrapped {
    message: String,
    source: BoxedError,
}

impl From<belljar::Error> for Failure {
    fn from(error: belljar::Error) -> Self {
        let kind = error.kind;
        Self {
            kind: Some(kind),
            hint: hint_for(kind).map(str::to_owned),
            ..Self::new(exit_for(kind), error)
        }
    }
}

const fn exit_for(kind: ErrorKind) -> Exit {
    match kind {
        ErrorKind::InvalidArgument => Exit::Usage,
        ErrorKind::Unsupported => Exit::NotOffered,
        ErrorKind::TimedOut => Exit::Limit,
        ErrorKind::BackendUnavailable | ErrorKind::BackendFailed => Exit::Host,
        _ => Exit::Failed,
    }
}

const fn hint_for(kind: ErrorKind) -> Option<&'static str> {
    match kind {
        ErrorKind::ReadOnly => Some("pass --writable, or set writable = true in [sandbox]"),
        ErrorKind::Stale => Some("read the file again, and use the version that this gives"),
        ErrorKind::Unsupported => Some("another backend in [sandbox] may have it"),
        ErrorKind::NotEmpty => Some("pass --recursive to remove what is in it too"),
        _ => None,
    }
}

impl From<CallError> for Failure {
    fn from(error: CallError) -> Self {
        let exit = match &error {
            CallError::UnknownTool { .. } | CallError::InvalidArguments { .. } => Exit::Usage,
            CallError::NotOffered { .. } => Exit::NotOffered,
            CallError::Trap { .. } => Exit::Crashed,
            CallError::Limit(_) => Exit::Limit,
            CallError::Host { .. } => Exit::Host,
            _ => Exit::Failed,
        };
        let (kind, hint) = match &error {
            CallError::Tool { kind, .. } => (*kind, kind.and_then(tool_hint)),
            CallError::InvalidArguments { .. } => (
                None,
                Some("`belljar inspect COMPONENT` shows what each tool takes"),
            ),
            CallError::NotOffered { missing, .. }
                if missing.contains(&belljar::Capability::Write) =>
            {
                (
                    None,
                    Some(
                        "pass --writable, or set writable = true in [sandbox], and let [tools.NAME] allow it",
                    ),
                )
            }
            CallError::NotOffered { .. } => (
                None,
                Some("choose a backend that has it in [sandbox], and let [tools.NAME] allow it"),
            ),
            CallError::Limit(_) => (None, Some("a higher limit is set in [limits]")),
            _ => (None, None),
        };
        Self {
            kind,
            hint: hint.map(str::to_owned),
            ..Self::new(exit, error)
        }
    }
}

const fn tool_hint(kind: ErrorKind) -> Option<&'static str> {
    match kind {
        ErrorKind::Stale => Some(
            "a file is changed only in the version that was read in the same run: name a call that reads it first, or pass --no-guard",
        ),
        ErrorKind::ReadOnly => hint_for(kind),
        _ => None,
    }
}

impl From<LoadError> for Failure {
    fn from(error: LoadError) -> Self {
        Self::new(Exit::Component, error)
    }
}

impl From<OpenError> for Failure {
    fn from(error: OpenError) -> Self {
        Self::new(Exit::NotOpened, error)
    }
}

impl From<CliError> for Failure {
    fn from(error: CliError) -> Self {
        Self::new(Exit::Host, error)
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        let unreadable = matches!(error, ConfigError::Unreadable { .. });
        let failure = Self::new(Exit::Configuration, error);
        match unreadable {
            true => failure.hint("`belljar init` writes one to begin with"),
            false => failure,
        }
    }
}

impl From<HostError> for Failure {
    fn from(error: HostError) -> Self {
        Self::new(Exit::Host, error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        let exit = match error.kind() {
            io::ErrorKind::BrokenPipe => Exit::OUTPUT_CLOSED,
            _ => Exit::Host,
        };
        Self::new(exit, error)
    }
}
