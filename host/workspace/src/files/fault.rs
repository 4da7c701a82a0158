//! What goes wrong in the files engine, and the one place where it becomes the contract's error.

use belljar_contract::{Error, ErrorKind, Operation, Stop};
use rustix::io::Errno;

use super::{resolution::MAX_LINKS, substitution::SubstituteError};

/// Why an operation on files failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum Fault {
    #[error("nothing has this path")]
    Missing,
    #[error("a link on the way points to nothing")]
    DanglingLink,
    #[error("something has this path already")]
    Exists,
    #[error("it is a directory")]
    Directory,
    #[error("it, or a part of the way to it, is not a directory")]
    NotDirectory,
    #[error("it is a FIFO, a socket or a device, which has no content")]
    NotFile,
    #[error("the directory is not empty")]
    NotEmpty,
    #[error("a link on the way leaves the workspace")]
    Leaves,
    #[error("there are more than {MAX_LINKS} links on the way")]
    TooManyLinks,
    #[error("there is a link where none may be followed")]
    Link,
    #[error("the file is not writable by its owner")]
    Unwritable,
    #[error("the content has changed since the version that was expected; read it again")]
    Stale,
    #[error("no file is there, and a version was expected; read it again")]
    Gone,
    #[error("{what} is over the session's {limit} bytes{hint}")]
    TooLarge {
        what: &'static str,
        limit: u64,
        hint: &'static str,
    },
    #[error("the workspace's root cannot be moved or removed")]
    IsRoot,
    #[error("a directory cannot be moved into itself")]
    IntoItself,
    #[error("{0}")]
    BadPattern(String),
    #[error("a name on the way is not UTF-8")]
    NotUtf8,
    #[error("the two are on different file systems; copy it and remove the old one")]
    AcrossFileSystems,
    #[error("it changed all the time; try again")]
    Unsteady,
    #[error(transparent)]
    Substitute(#[from] SubstituteError),
    #[error(transparent)]
    Stopped(#[from] Stop),
    #[error("the system says: {0}")]
    System(#[from] Errno),
}

impl Fault {
    /// The contract's kind. Every fault has one, and none of them means success.
    const fn kind(&self) -> ErrorKind {
        match self {
            Self::Missing | Self::DanglingLink => ErrorKind::NotFound,
            Self::Exists => ErrorKind::AlreadyExists,
            Self::Directory => ErrorKind::IsADirectory,
            Self::NotDirectory => ErrorKind::NotADirectory,
            Self::NotFile => ErrorKind::NotAFile,
            Self::NotEmpty => ErrorKind::NotEmpty,
            Self::Leaves | Self::TooManyLinks | Self::Link | Self::Unwritable => {
                ErrorKind::AccessDenied
            }
            Self::Stale | Self::Gone => ErrorKind::Stale,
            Self::TooLarge { .. } => ErrorKind::TooLarge,
            Self::IsRoot | Self::IntoItself | Self::BadPattern(_) => ErrorKind::InvalidArgument,
            Self::NotUtf8 => ErrorKind::NotUtf8,
            Self::AcrossFileSystems => ErrorKind::Unsupported,
            Self::Unsteady => ErrorKind::Busy,
            Self::Substitute(error) => error.kind(),
            Self::Stopped(Stop::Cancelled) => ErrorKind::Cancelled,
            Self::Stopped(Stop::TimedOut) => ErrorKind::TimedOut,
            Self::System(errno) => kind_of(*errno),
        }
    }

    /// The contract's error for it.
    pub(super) fn at(self, operation: Operation, path: impl ToString) -> Error {
        Error::new(self.kind(), operation, self.to_string())
            .at(path.to_string())
            .because(self)
    }
}

/// What the system's refusals mean in the contract. Where one has another meaning in some
/// place (EXDEV of a resolution is a link that leaves), that place says so before it gets here.
const fn kind_of(errno: Errno) -> ErrorKind {
    match errno {
        Errno::NOENT => ErrorKind::NotFound,
        Errno::EXIST => ErrorKind::AlreadyExists,
        Errno::ISDIR => ErrorKind::IsADirectory,
        Errno::NOTDIR => ErrorKind::NotADirectory,
        Errno::NXIO | Errno::NODEV => ErrorKind::NotAFile,
        Errno::NOTEMPTY => ErrorKind::NotEmpty,
        Errno::ACCESS | Errno::PERM | Errno::LOOP => ErrorKind::AccessDenied,
        Errno::ROFS => ErrorKind::ReadOnly,
        Errno::NOSPC | Errno::DQUOT => ErrorKind::NoSpace,
        Errno::NAMETOOLONG | Errno::FBIG | Errno::OVERFLOW | Errno::MLINK => ErrorKind::TooLarge,
        // The file system does not take this name.
        Errno::INVAL | Errno::ILSEQ => ErrorKind::InvalidArgument,
        Errno::XDEV | Errno::OPNOTSUPP | Errno::NOSYS => ErrorKind::Unsupported,
        Errno::MFILE | Errno::NFILE | Errno::NOMEM | Errno::BUSY | Errno::TXTBSY | Errno::AGAIN => {
            ErrorKind::Busy
        }
        Errno::STALE | Errno::NOTCONN | Errno::TIMEDOUT | Errno::HOSTDOWN => {
            ErrorKind::BackendUnavailable
        }
        _ => ErrorKind::BackendFailed,
    }
}
