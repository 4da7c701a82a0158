//! What to do next, for each kind of error.

use belljar_guest::{Error, ErrorKind, ToolError};

/// The error as a model reads it, with what to try. Kinds whose message already says it, or
/// where nothing can be done, get no advice.
pub(crate) fn advise(error: Error) -> ToolError {
    let advice = match error.kind {
        ErrorKind::NotFound => "find the right path with glob or list",
        ErrorKind::AlreadyExists => "choose another path, or say that it may be replaced",
        ErrorKind::IsADirectory => "a file is needed here; list shows what the directory has",
        ErrorKind::NotADirectory => "a directory is needed here",
        ErrorKind::NotAFile => "only regular files have content",
        ErrorKind::NotEmpty => "remove takes what is in it with recursive",
        ErrorKind::AccessDenied => "do not try another way to the same place",
        ErrorKind::ReadOnly => "nothing can be changed in this sandbox",
        ErrorKind::Unsupported => "this sandbox cannot do it; use another tool",
        ErrorKind::TooLarge => "ask for a part of it",
        ErrorKind::NotUtf8 => "this tool works on text",
        ErrorKind::NoMatch => "read the file and give the text exactly as it is there",
        ErrorKind::SeveralMatches => {
            "give more of the lines around it, so that it occurs once, or set all"
        }
        // The message says to read it, first or again.
        ErrorKind::Stale => "then repeat",
        ErrorKind::ProgramNotFound => {
            "look for the program with shell and `command -v`, or use another one"
        }
        ErrorKind::NotExecutable => "run it through its interpreter, or make it executable",
        ErrorKind::TimedOut => "ask for less, or allow more time",
        ErrorKind::Busy => "wait for what is running, then repeat",
        ErrorKind::NoSpace => "remove what is not needed",
        ErrorKind::InvalidArgument
        | ErrorKind::Cancelled
        | ErrorKind::Closed
        | ErrorKind::BackendUnavailable
        | ErrorKind::BackendFailed => return error.into(),
    };
    ToolError::from(error).hint(advice)
}
