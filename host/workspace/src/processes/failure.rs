//! Why an operation on processes fails, and the one place where that becomes the contract's error.

use std::io;

use belljar_contract::{Error, ErrorKind, Operation, Stop, processes::ProcessId};

use super::programs::NotPrepared;

/// Why an operation on processes fails.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    #[error("no program {0:?}; a name without / is looked up in the process's PATH")]
    ProgramNotFound(String),
    #[error("{program:?} cannot be executed: {reason}")]
    NotExecutable {
        program: String,
        reason: &'static str,
    },
    #[error("arguments and environment are more than the system takes; use standard input")]
    ArgumentsTooLarge(#[source] io::Error),
    #[error("the working directory may not be entered")]
    DirectoryDenied(#[source] io::Error),
    #[error("{0} processes run already, which is the session's limit")]
    TooManyProcesses(u32),
    #[error("the system has no room for another process now")]
    SystemBusy(#[source] io::Error),
    #[error("the program's file is being written")]
    BeingWritten(#[source] io::Error),
    #[error("no process {}", .0.0)]
    NoSuchProcess(ProcessId),
    #[error("the cursor {cursor} is past what was printed, {printed} bytes")]
    CursorPast { cursor: u64, printed: u64 },
    #[error("{waiting} bytes of what was written before are not read yet")]
    InputBusy { waiting: usize },
    #[error("the process's standard input has ended")]
    InputEnded,
    #[error("the session is closed")]
    Closed,
    #[error("the operation is none of processes")]
    NotOfProcesses,
    #[error(transparent)]
    NotPrepared(#[from] NotPrepared),
    #[error(transparent)]
    Stopped(#[from] Stop),
    /// An answer that the files of the workspace gave, as it is.
    #[error(transparent)]
    Files(Box<Error>),
    #[error("{what} failed")]
    System {
        what: &'static str,
        #[source]
        source: io::Error,
    },
}

impl Failure {
    /// The contract's error for it.
    pub(super) fn during(self, operation: Operation) -> Error {
        let kind = match &self {
            Self::ProgramNotFound(_) => ErrorKind::ProgramNotFound,
            Self::NotExecutable { .. } => ErrorKind::NotExecutable,
            Self::ArgumentsTooLarge(_) => ErrorKind::TooLarge,
            Self::DirectoryDenied(_) => ErrorKind::AccessDenied,
            Self::TooManyProcesses(_)
            | Self::SystemBusy(_)
            | Self::BeingWritten(_)
            | Self::InputBusy { .. } => ErrorKind::Busy,
            Self::NoSuchProcess(_) => ErrorKind::NotFound,
            Self::CursorPast { .. } => ErrorKind::InvalidArgument,
            Self::InputEnded | Self::Closed => ErrorKind::Closed,
            Self::NotPrepared(NotPrepared::NotFound { .. }) => ErrorKind::ProgramNotFound,
            Self::NotPrepared(NotPrepared::Malformed(_)) => ErrorKind::InvalidArgument,
            Self::NotOfProcesses | Self::NotPrepared(NotPrepared::Unsupported(_)) => {
                ErrorKind::Unsupported
            }
            Self::Stopped(stop) => return stop.during(operation),
            Self::Files(error) => return Error::clone(error),
            Self::System { .. } => ErrorKind::BackendFailed,
        };
        Error::new(kind, operation, self.to_string()).because(self)
    }

    /// A failure of the system that no other variant describes.
    pub(super) fn system(what: &'static str, source: impl Into<io::Error>) -> Self {
        let source = source.into();
        Self::System { what, source }
    }
}
