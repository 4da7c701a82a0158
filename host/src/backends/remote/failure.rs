//! Why there is no session with a place, or none any more.

use std::{path::PathBuf, sync::Arc, time::Duration};

use belljar_contract::{Error, ErrorKind, Operation, Stop};
use belljar_protocol::OpenError;

use super::super::install::InstallError;

/// The program that reaches a place failed, or what it reached did.
///
/// It is displayed with the program's own words, which are somebody else's text.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{program}: {failure}{}", Said(words))]
pub struct RemoteError {
    /// The program's name: `ssh`, `kubectl`.
    pub program: String,
    /// What went wrong.
    pub failure: RemoteFailure,
    /// What was said of it on standard error, by the program or by the place; the end of it where it was much;
    /// empty when nothing was said.
    pub words: String,
}

/// What went wrong on the way to a place.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RemoteFailure {
    /// There is no such program here.
    #[error("there is no program {}; install it, or name another one in [sandbox.remote] command", program.display())]
    ProgramMissing {
        /// The program.
        program: PathBuf,
    },
    /// The program is there and does not start.
    #[error("the program {} does not start", program.display())]
    NotStarted {
        /// The program.
        program: PathBuf,
        /// Why.
        #[source]
        source: Arc<std::io::Error>,
    },
    /// There was no session in time; the program was killed.
    #[error(
        "no session within {} ms; raise connect-timeout, or look whether the program waits for a password or an answer, which it cannot get here",
        after.as_millis()
    )]
    TooLong {
        /// The time that it had.
        after: Duration,
    },
    /// The call that needed it was stopped.
    #[error("stopped")]
    Stopped(#[source] Stop),
    /// The machine's name is not known.
    #[error("the machine's name is not known")]
    NameUnknown,
    /// The machine does not answer.
    #[error("the machine cannot be reached")]
    Unreachable,
    /// Nobody listens there.
    #[error("the machine refuses the connection")]
    ConnectionRefused,
    /// The machine's key is not among those that are known.
    #[error("the machine's key is not known; compare it, and add it to known_hosts")]
    HostKeyUnknown,
    /// The machine has another key than it is known to have: it may be another machine.
    #[error(
        "the machine has another key than is known: it was made anew, or somebody else answers in its place"
    )]
    HostKeyChanged,
    /// The machine does not accept who asks.
    #[error("the machine does not accept this user or key")]
    NotAuthenticated,
    /// What answers does not speak the protocol of this version.
    #[error(
        "what answers is no resident; it began with {began:?}. A login script that prints can be why"
    )]
    NotOurs {
        /// The first bytes, shortened.
        began: String,
    },
    /// A resident of another version of the protocol answers.
    #[error(
        "the resident there speaks version {theirs} of the protocol; copy this installation's there, or set install = true with a command that reaches a shell"
    )]
    OtherVersion {
        /// The resident's version.
        theirs: u8,
    },
    /// There is no such program there.
    #[error(
        "the machine has no such program; copy the resident there, or set install = true with a command that reaches a shell, as [\"ssh\", \"build\", \"sh\"]"
    )]
    ResidentMissing,
    /// The program there cannot be executed.
    #[error(
        "the program there cannot be executed: it is for another architecture, or in a place where nothing may be"
    )]
    NotExecutable,
    /// The resident there does not open the session.
    #[error("the resident there does not open the session: {reason}")]
    Refused {
        /// What it says, which is its text.
        reason: String,
    },
    /// The directory can only be read, and was to be written.
    #[error(
        "the directory there cannot be written; give it the permission, or set writable = false"
    )]
    RootNotWritable,
    /// The session's variables are more than an opening may have.
    #[error("the variables for processes are too large")]
    VariablesTooLarge,
    /// No resident was started there.
    #[error(transparent)]
    Install(InstallError),
    /// Nothing there computes a hash, and nothing is started unchecked.
    #[error("nothing there computes a SHA-256; copy the resident by hand, and set install = false")]
    NoHashThere,
    /// The disk there is full.
    #[error("there is no room for the resident there")]
    NoRoom,
    /// The program ended.
    #[error("it ended with code {}", Code(*code))]
    Ended {
        /// Its exit code; none when a signal ended it.
        code: Option<i32>,
    },
    /// The stream ended, broke or fell silent, and the program did not end.
    #[error("the stream is lost: {how}")]
    Lost {
        /// How.
        how: String,
    },
}

impl RemoteError {
    /// The contract's error for it.
    pub(super) fn during(self, operation: Operation) -> Error {
        if let RemoteFailure::Stopped(stop) = self.failure {
            return stop.during(operation);
        }
        Error::new(self.failure.kind(), operation, self.to_string()).because(self)
    }
}

impl RemoteFailure {
    /// What a caller of the contract can do about it.
    const fn kind(&self) -> ErrorKind {
        match self {
            // There is no way to the place.
            Self::ProgramMissing { .. }
            | Self::NotStarted { .. }
            | Self::TooLong { .. }
            | Self::NameUnknown
            | Self::Unreachable
            | Self::ConnectionRefused
            | Self::HostKeyUnknown
            | Self::HostKeyChanged
            | Self::NotAuthenticated
            | Self::Ended { .. }
            | Self::Lost { .. } => ErrorKind::BackendUnavailable,
            // There is, and what is there cannot do this.
            Self::NotOurs { .. }
            | Self::OtherVersion { .. }
            | Self::ResidentMissing
            | Self::NotExecutable
            | Self::Refused { .. }
            | Self::RootNotWritable
            | Self::VariablesTooLarge
            | Self::Install(_)
            | Self::NoHashThere => ErrorKind::BackendFailed,
            Self::NoRoom => ErrorKind::NoSpace,
            Self::Stopped(Stop::Cancelled) => ErrorKind::Cancelled,
            Self::Stopped(Stop::TimedOut) => ErrorKind::TimedOut,
        }
    }
}

/// What the protocol says of a stream; how the program ended may say more.
impl From<OpenError> for RemoteFailure {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::NotOurs(began) => Self::NotOurs { began },
            OpenError::OtherVersion(theirs) => Self::OtherVersion { theirs },
            OpenError::Refused(reason) => Self::Refused { reason },
            OpenError::TooLarge => Self::VariablesTooLarge,
            OpenError::TimedOut => Self::Stopped(Stop::TimedOut),
            OpenError::Cancelled => Self::Stopped(Stop::Cancelled),
            other => Self::Lost {
                how: other.to_string(),
            },
        }
    }
}

impl From<InstallError> for RemoteFailure {
    fn from(error: InstallError) -> Self {
        match error {
            InstallError::Stopped(stop) => Self::Stopped(stop),
            InstallError::Lost { how } => Self::Lost { how },
            InstallError::NoHashThere => Self::NoHashThere,
            other => Self::Install(other),
        }
    }
}

struct Said<'a>(&'a str);

impl std::fmt::Display for Said<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            "" => Ok(()),
            words => write!(f, "; it said: {words}"),
        }
    }
}

struct Code(Option<i32>);

impl std::fmt::Display for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Some(code) => code.fmt(f),
            None => f.write_str("none, by a signal"),
        }
    }
}
