//! What goes wrong in the sandbox in memory, and the one place where it becomes the contract's error.

use belljar_contract::{Error, ErrorKind, GuestPath, Operation, Stop};
use belljar_workspace::files::SubstituteError;

/// Why an operation on files failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum Fault {
    #[error("nothing has this path")]
    Missing,
    #[error("something has this path already")]
    Exists,
    #[error("it is a directory")]
    Directory,
    #[error("it, or a part of the way to it, is not a directory")]
    NotDirectory,
    #[error("the directory is not empty")]
    NotEmpty,
    #[error("the file is not readable by its owner")]
    Unreadable,
    #[error("the file is not writable by its owner")]
    Unwritable,
    #[error("the content has changed since the version that was expected; read it again")]
    Stale,
    #[error("no file is there, and a version was expected; read it again")]
    Gone,
    #[error("the file is over the session's {0} bytes; read it in ranges")]
    TooLarge(u64),
    #[error("the workspace's root cannot be moved or removed")]
    IsRoot,
    #[error("a directory cannot be moved into itself")]
    IntoItself,
    #[error(transparent)]
    Substitute(#[from] SubstituteError),
    #[error(transparent)]
    Stopped(#[from] Stop),
}

impl Fault {
    const fn kind(&self) -> ErrorKind {
        match self {
            Self::Missing => ErrorKind::NotFound,
            Self::Exists => ErrorKind::AlreadyExists,
            Self::Directory => ErrorKind::IsADirectory,
            Self::NotDirectory => ErrorKind::NotADirectory,
            Self::NotEmpty => ErrorKind::NotEmpty,
            Self::Unreadable | Self::Unwritable => ErrorKind::AccessDenied,
            Self::Stale | Self::Gone => ErrorKind::Stale,
            Self::TooLarge(_) => ErrorKind::TooLarge,
            Self::IsRoot | Self::IntoItself => ErrorKind::InvalidArgument,
            Self::Substitute(error) => error.kind(),
            Self::Stopped(Stop::Cancelled) => ErrorKind::Cancelled,
            Self::Stopped(Stop::TimedOut) => ErrorKind::TimedOut,
        }
    }

    /// The contract's error for it.
    pub(super) fn at(self, operation: Operation, path: &GuestPath) -> Error {
        Error::new(self.kind(), operation, self.to_string())
            .at(path.to_string())
            .because(self)
    }
}
