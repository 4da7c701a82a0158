//! What goes wrong, and the one place where it becomes the contract's error.

use belljar_contract::{Error, ErrorKind, Operation, Stop};
use belljar_workspace::files::SubstituteError;

use super::exec::ExecError;

macro_rules! words {
    ($($(#[$doc:meta])* $name:ident = $word:literal, $kind:ident, $message:literal;)*) => {
        /// What a script says of a failure: a closed set.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Word {
            $($(#[$doc])* $name,)*
        }

        impl Word {
            pub(super) fn parse(word: &str) -> Option<Self> {
                match word {
                    $($word => Some(Self::$name),)*
                    _ => None,
                }
            }

            const fn kind(self) -> ErrorKind {
                match self { $(Self::$name => ErrorKind::$kind,)* }
            }

            const fn message(self) -> &'static str {
                match self { $(Self::$name => $message,)* }
            }
        }
    };
}

words! {
    Missing = "missing", NotFound, "nothing has this path";
    Dangling = "dangling", NotFound, "a link on the way points to nothing";
    /// The path's own last name is the link.
    DanglingLast = "dangling_last", NotFound, "the link points to nothing";
    Exists = "exists", AlreadyExists, "something has this path already";
    Directory = "directory", IsADirectory, "it is a directory";
    NotDirectory = "not_directory", NotADirectory, "it, or a part of the way to it, is not a directory";
    NotFile = "not_file", NotAFile, "it is a FIFO, a socket or a device, which has no content";
    NotEmpty = "not_empty", NotEmpty, "the directory is not empty";
    Leaves = "leaves", AccessDenied, "a link on the way leaves the workspace";
    Loop = "loop", AccessDenied, "there are more than 40 links on the way";
    Link = "link", AccessDenied, "there is a link where none may be followed";
    Denied = "denied", AccessDenied, "the system does not permit it";
    Unwritable = "unwritable", AccessDenied, "the file is not writable by its owner";
    VersionGone = "version_gone", Stale, "no file is there, and a version was expected; read it again";
    /// It is another file than the one that was looked at.
    Changed = "changed", Stale, "the file has changed since the version that was expected; read it again";
    ChangedKind = "changed_kind", Stale, "no file is there any more, and a version was expected";
    IntoItself = "into_itself", InvalidArgument, "a directory cannot be moved into itself";
    Across = "across", Unsupported, "the two are on different file systems; copy it and remove the old one";
    Unsteady = "unsteady", Busy, "it changed all the time; try again";
    ProgramNotFound = "program_not_found", ProgramNotFound, "no such program; a name without / is looked up in the process's PATH";
    NotExecutable = "not_executable", NotExecutable, "the program cannot be executed";
    /// The input did not arrive whole.
    Cut = "cut", BackendFailed, "the input did not arrive whole, and nothing was done";
    Gone = "gone", BackendUnavailable, "the workspace itself is not there any more";
    /// A utility failed; what it said tells why.
    System = "system", BackendFailed, "a utility failed";
}

/// Why an operation failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum Fault {
    #[error("{}{}{said}", .word.message(), if .said.is_empty() { "" } else { ": " })]
    Told {
        word: Word,
        /// What utilities and the shell said on standard error.
        said: String,
        /// Whether it is of the second of two paths.
        second: bool,
    },
    #[error("{what} is over the session's {limit} bytes{hint}")]
    TooLarge {
        what: &'static str,
        limit: u64,
        hint: &'static str,
    },
    #[error("the tree is too large to be listed at once; begin at a directory below")]
    TreeTooLarge,
    #[error("the content has changed since the version that was expected; read it again")]
    Stale,
    #[error("the workspace's root cannot be moved or removed")]
    IsRoot,
    #[error("{0}")]
    BadPattern(String),
    #[error("a name on the way is not UTF-8")]
    NotUtf8,
    #[error("{0} processes run already, which is the session's limit")]
    TooManyProcesses(u32),
    #[error(
        "{0}: a shell takes no variable of this name; only letters, digits and _ are possible here"
    )]
    VariableName(String),
    #[error("this place runs no processes that outlive a call")]
    NoStart,
    #[error("the session is closed")]
    Closed,
    #[error("the place answered with what is no answer: {0}")]
    Nonsense(String),
    #[error(transparent)]
    Substitute(#[from] SubstituteError),
    #[error(transparent)]
    Stopped(#[from] Stop),
    #[error(transparent)]
    Exec(#[from] ExecError),
    /// An answer of the engine's own parts, as it is.
    #[error(transparent)]
    Contract(#[from] Error),
}

impl Fault {
    pub(super) const fn told(word: Word) -> Self {
        Self::Told {
            word,
            said: String::new(),
            second: false,
        }
    }

    /// Whether it is this word.
    pub(super) fn is(&self, right: Word) -> bool {
        matches!(self, Self::Told { word, .. } if *word == right)
    }

    /// Whether it is of the second of two paths.
    pub(super) const fn is_of_second(&self) -> bool {
        matches!(self, Self::Told { second: true, .. })
    }

    /// Whether it is of a working directory, and not of a program.
    pub(super) const fn names_path(&self) -> bool {
        matches!(
            self,
            Self::Told { word, .. } if !matches!(word, Word::ProgramNotFound | Word::NotExecutable)
        )
    }

    fn kind(&self) -> ErrorKind {
        match self {
            Self::Told {
                word: Word::System,
                said,
                ..
            } => kind_of_words(said),
            Self::Told { word, .. } => word.kind(),
            Self::TooLarge { .. } | Self::TreeTooLarge => ErrorKind::TooLarge,
            Self::Stale => ErrorKind::Stale,
            Self::IsRoot | Self::BadPattern(_) => ErrorKind::InvalidArgument,
            Self::NotUtf8 => ErrorKind::NotUtf8,
            Self::TooManyProcesses(_) => ErrorKind::Busy,
            Self::VariableName(_) | Self::NoStart => ErrorKind::Unsupported,
            Self::Closed => ErrorKind::Closed,
            Self::Nonsense(_) => ErrorKind::BackendFailed,
            Self::Substitute(error) => error.kind(),
            Self::Stopped(Stop::Cancelled) => ErrorKind::Cancelled,
            Self::Stopped(Stop::TimedOut) => ErrorKind::TimedOut,
            Self::Exec(ExecError::Unavailable { .. }) => ErrorKind::BackendUnavailable,
            Self::Exec(ExecError::Busy { .. }) => ErrorKind::Busy,
            Self::Exec(ExecError::TooLarge { .. }) => ErrorKind::TooLarge,
            Self::Exec(ExecError::Failed { .. }) => ErrorKind::BackendFailed,
            Self::Contract(error) => error.kind,
        }
    }

    /// The contract's error for it.
    pub(super) fn during(self, operation: Operation) -> Error {
        if let Self::Contract(error) = self {
            return error;
        }
        Error::new(self.kind(), operation, self.to_string()).because(self)
    }

    /// The same, with the path in question.
    pub(super) fn at(self, operation: Operation, path: impl ToString) -> Error {
        if let Self::Contract(error) = self {
            return error;
        }
        self.during(operation).at(path.to_string())
    }
}

/// What a utility's words mean. It says them in the C locale, where they are those of the C library; what is not
/// known is a failure of the backend.
fn kind_of_words(said: &str) -> ErrorKind {
    const KNOWN: [(&str, ErrorKind); 13] = [
        ("No space left on device", ErrorKind::NoSpace),
        ("Disk quota exceeded", ErrorKind::NoSpace),
        ("Quota exceeded", ErrorKind::NoSpace),
        ("Read-only file system", ErrorKind::ReadOnly),
        ("Permission denied", ErrorKind::AccessDenied),
        ("Operation not permitted", ErrorKind::AccessDenied),
        ("File name too long", ErrorKind::TooLarge),
        ("Filename too long", ErrorKind::TooLarge),
        ("File too large", ErrorKind::TooLarge),
        ("Text file busy", ErrorKind::Busy),
        ("Device or resource busy", ErrorKind::Busy),
        ("Resource busy", ErrorKind::Busy),
        ("No such file or directory", ErrorKind::NotFound),
    ];
    let last = said.trim_end();
    KNOWN
        .into_iter()
        .find(|(words, _)| last.contains(words))
        .map_or(ErrorKind::BackendFailed, |(_, kind)| kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_utility_says_is_told_apart() {
        let kind = |said: &str| {
            let word = Word::System;
            let said = said.to_owned();
            let second = false;
            Fault::Told { word, said, second }.kind()
        };
        assert_eq!(
            kind("cat: write error: No space left on device\n"),
            ErrorKind::NoSpace
        );
        assert_eq!(
            kind("sh: 1: cannot create ./x: Permission denied"),
            ErrorKind::AccessDenied
        );
        assert_eq!(kind("mv: unrecognized option: T"), ErrorKind::BackendFailed);
    }

    #[test]
    fn every_word_of_a_script_is_known() {
        for script in super::super::shell::ALL {
            for line in script.lines() {
                let mut rest = line;
                while let Some((_, after)) = rest.split_once("fault ") {
                    let end = after.find(|c: char| !(c.is_ascii_lowercase() || c == '_'));
                    let word = &after[..end.unwrap_or(after.len())];
                    let is_code = !line.trim_start().starts_with('#') && !word.is_empty();
                    assert!(!is_code || Word::parse(word).is_some(), "{word}: {line}");
                    rest = after;
                }
            }
        }
    }
}
