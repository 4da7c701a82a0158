//! The contract's operations as values.
//!
//! A backend answers [`Request`]s with [`Response`]s. That they are values and not methods is
//! what keeps a layer (policy, guard, record), the sandbox protocol and a replay to one function each.
//! Every request is valid when a backend gets it: the [`Sandbox`](crate::Sandbox) handle, or the
//! deserializer of a protocol, has parsed its paths and checked its sizes.

use std::{fmt, time::Duration};

use serde::{Deserialize, Serialize};

use crate::{
    files::{
        Chunk, Content, GlobResult, Info, Listing, ReplaceOptions, Replaced, SearchResult, Syntax,
        WriteOptions,
    },
    path::{GuestPath, Pattern},
    processes::{Command, Ended, Execution, OutputChunk, OutputStream, ProcessId, SignalKind},
    session::CommandInfo,
    version::{Expected, Version},
};

macro_rules! operations {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        /// Which operation of the contract, as `interface.function`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum Operation {
            $($(#[$doc])* #[serde(rename = $text)] $name,)*
        }

        impl Operation {
            /// Every operation.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// The operation's name in the contract: `files.read`.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }
        }
    };
}

operations! {
    /// Opening a session.
    Open = "session.open",
    /// Describing it.
    Describe = "session.describe",
    /// Looking for commands.
    FindCommands = "session.find-commands",
    /// Closing it.
    Close = "session.close",
    /// Reading a file.
    Read = "files.read",
    /// Reading a part of one.
    ReadRange = "files.read-range",
    /// Writing a file.
    Write = "files.write",
    /// Adding to one.
    Append = "files.append",
    /// Replacing text in one.
    Replace = "files.replace",
    /// Listing a directory.
    List = "files.list",
    /// Finding paths.
    Glob = "files.glob",
    /// Finding lines.
    Search = "files.search",
    /// Saying what a path is.
    Stat = "files.stat",
    /// Resolving links.
    Resolve = "files.resolve",
    /// Making a directory.
    MakeDirectory = "files.make-directory",
    /// Removing.
    Remove = "files.remove",
    /// Moving.
    Rename = "files.rename",
    /// Copying a file.
    Copy = "files.copy",
    /// Running a program to its end.
    Run = "processes.run",
    /// Starting one.
    Start = "processes.start",
    /// Reading what it printed.
    ReadOutput = "processes.read-output",
    /// Writing to it.
    WriteInput = "processes.write-input",
    /// Signalling it.
    Signal = "processes.signal",
    /// Waiting for it.
    Wait = "processes.wait",
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Which part of the tree `glob` and `search` look at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Scope {
    /// Where to begin.
    pub base: GuestPath,
    /// Whether entries whose name begins with `.` count.
    pub hidden: bool,
    /// Whether entries that ignore files exclude count.
    pub ignored: bool,
    /// The most results; within the session's limit.
    pub limit: u32,
    /// What layers let be seen, by path from the root: what counts matches a glob of each list, and a
    /// directory also does when something below it may. What does not count is in no number either. No
    /// list: everything.
    #[serde(default)]
    pub within: Vec<Vec<Pattern>>,
}

/// What to search for, and how.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Query {
    /// Not empty.
    pub pattern: String,
    /// How it is read.
    pub syntax: Syntax,
    /// Whether case does not matter.
    pub ignore_case: bool,
    /// Only files that match one of these; all when empty.
    pub include: Vec<Pattern>,
    /// No files that match one of these.
    pub exclude: Vec<Pattern>,
    /// Lines around each match; at most [`MAX_CONTEXT_LINES`](crate::files::MAX_CONTEXT_LINES).
    pub context: u32,
}

/// How to run a program, every default filled in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Launch {
    /// What to run; an argument vector is not empty, and nothing in it has a NUL.
    pub command: Command,
    /// The working directory.
    pub directory: GuestPath,
    /// Names are not empty and have no `=` or NUL; a name stands once.
    pub environment: Vec<(String, String)>,
    /// Everything on standard input.
    #[serde(with = "crate::bytes")]
    pub stdin: Vec<u8>,
    /// The user to run as.
    pub user: Option<String>,
    /// Wall-clock limit; none only for `start`.
    pub timeout: Option<Duration>,
    /// Bytes kept of each output.
    pub output_limit: u64,
}

/// An operation with its arguments. In a text format it has its function's name in the contract.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(
    missing_docs,
    reason = "`files.wit`, `processes.wit` and `session.wit` document each"
)]
pub enum Request {
    #[serde(rename = "files.read")]
    Read { path: GuestPath },
    #[serde(rename = "files.read-range")]
    ReadRange {
        path: GuestPath,
        offset: u64,
        length: u64,
    },
    #[serde(rename = "files.write")]
    Write {
        path: GuestPath,
        #[serde(with = "crate::bytes")]
        bytes: Vec<u8>,
        options: WriteOptions,
    },
    #[serde(rename = "files.append")]
    Append {
        path: GuestPath,
        #[serde(with = "crate::bytes")]
        bytes: Vec<u8>,
        options: WriteOptions,
    },
    #[serde(rename = "files.replace")]
    Replace {
        path: GuestPath,
        #[serde(with = "crate::bytes")]
        old: Vec<u8>,
        #[serde(with = "crate::bytes")]
        new: Vec<u8>,
        options: ReplaceOptions,
    },
    #[serde(rename = "files.list")]
    List { path: GuestPath, limit: u32 },
    #[serde(rename = "files.glob")]
    Glob { pattern: Pattern, scope: Scope },
    #[serde(rename = "files.search")]
    Search { query: Query, scope: Scope },
    #[serde(rename = "files.stat")]
    Stat { path: GuestPath },
    #[serde(rename = "files.resolve")]
    Resolve { path: GuestPath },
    #[serde(rename = "files.make-directory")]
    MakeDirectory { path: GuestPath },
    #[serde(rename = "files.remove")]
    Remove { path: GuestPath, recursive: bool },
    #[serde(rename = "files.rename")]
    Rename {
        source: GuestPath,
        target: GuestPath,
        destination: Expected,
    },
    #[serde(rename = "files.copy")]
    Copy {
        source: GuestPath,
        target: GuestPath,
        destination: Expected,
    },
    #[serde(rename = "processes.run")]
    Run(Launch),
    #[serde(rename = "processes.start")]
    Start(Launch),
    #[serde(rename = "processes.read-output")]
    ReadOutput {
        process: ProcessId,
        output: OutputStream,
        cursor: u64,
        limit: u64,
        wait: Duration,
    },
    #[serde(rename = "processes.write-input")]
    WriteInput {
        process: ProcessId,
        #[serde(with = "crate::bytes")]
        bytes: Vec<u8>,
        close: bool,
    },
    #[serde(rename = "processes.signal")]
    Signal {
        process: ProcessId,
        signal: SignalKind,
    },
    #[serde(rename = "processes.wait")]
    Wait { process: ProcessId, wait: Duration },
    #[serde(rename = "session.find-commands")]
    FindCommands { names: Vec<String> },
}

impl Request {
    /// Which operation this is.
    #[must_use]
    pub const fn operation(&self) -> Operation {
        match self {
            Self::Read { .. } => Operation::Read,
            Self::ReadRange { .. } => Operation::ReadRange,
            Self::Write { .. } => Operation::Write,
            Self::Append { .. } => Operation::Append,
            Self::Replace { .. } => Operation::Replace,
            Self::List { .. } => Operation::List,
            Self::Glob { .. } => Operation::Glob,
            Self::Search { .. } => Operation::Search,
            Self::Stat { .. } => Operation::Stat,
            Self::Resolve { .. } => Operation::Resolve,
            Self::MakeDirectory { .. } => Operation::MakeDirectory,
            Self::Remove { .. } => Operation::Remove,
            Self::Rename { .. } => Operation::Rename,
            Self::Copy { .. } => Operation::Copy,
            Self::Run(_) => Operation::Run,
            Self::Start(_) => Operation::Start,
            Self::ReadOutput { .. } => Operation::ReadOutput,
            Self::WriteInput { .. } => Operation::WriteInput,
            Self::Signal { .. } => Operation::Signal,
            Self::Wait { .. } => Operation::Wait,
            Self::FindCommands { .. } => Operation::FindCommands,
        }
    }
}

/// What a request is answered with; [`Request`] names the variant by its function's result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(
    missing_docs,
    reason = "each holds the result of a function of the contract"
)]
#[serde(rename_all = "kebab-case")]
pub enum Response {
    Content(Content),
    Chunk(Chunk),
    Version(Version),
    Replaced(Replaced),
    Listing(Listing),
    Glob(GlobResult),
    Search(SearchResult),
    Info(Info),
    Path(GuestPath),
    Execution(Execution),
    Process(ProcessId),
    Output(OutputChunk),
    Ended(Option<Ended>),
    Commands(Vec<CommandInfo>),
    Done,
}
