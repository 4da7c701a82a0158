//! The exit codes: a stable table. A code is never given another meaning.

/// How the command ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// It did what it was asked to.
    Done,
    /// The operation or the tool says that it failed.
    Failed,
    /// The command line, or a tool's arguments, are wrong.
    Usage,
    /// The configuration is wrong.
    Configuration,
    /// The component is refused.
    Component,
    /// A limit ended the call.
    Limit,
    /// The tool crashed.
    Crashed,
    /// The sandbox cannot be opened.
    NotOpened,
    /// The sandbox lacks what was asked for, or the policy forbids it.
    NotOffered,
    /// The host or the backend failed.
    Host,
    /// A signal ended the command, or whoever read its output went away.
    Signalled(u8),
    /// `exec`: the code of the program, or one of [`EXEC_TABLE`]'s.
    Program(u8),
}

/// `exec`: the program ran into its time limit.
pub(crate) const EXEC_TIMED_OUT: u8 = 124;
/// `exec`: there is no result of the program, because the command itself failed.
pub(crate) const EXEC_FAILED: u8 = 125;
/// `exec`: the program is there and cannot be executed.
pub(crate) const EXEC_NOT_EXECUTABLE: u8 = 126;
/// `exec`: there is no such program.
pub(crate) const EXEC_NOT_FOUND: u8 = 127;
/// `exec`: memory ran out.
pub(crate) const EXEC_OUT_OF_MEMORY: u8 = 137;

/// The signal that a writer to a closed pipe gets.
const SIGPIPE: u8 = 13;

/// The table, for people.
pub(crate) const TABLE: &str = "\
Exit codes:
    0  done
    1  the operation, the tool or a conformance case failed
    2  the command line is wrong, or the tool's arguments do not fit
    3  the configuration is wrong
    4  the component is refused
    5  a limit ended the call
    6  the tool crashed
    7  the sandbox cannot be opened
    8  the sandbox lacks what was asked for, or the policy forbids it
    9  the host or the backend failed
  128+n  signal n ended it: 130 after Ctrl-C, 141 when its output was closed";

/// The table of `exec`, for people.
pub(crate) const EXEC_TABLE: &str = "\
Exit codes:
  the program's own code, or
  124  the program ran into --timeout
  125  belljar itself failed; the reason is on standard error
  126  the program cannot be executed
  127  there is no such program
  137  memory ran out
  128+n  signal n ended the program; 130 after Ctrl-C
With --json the outcome is told apart from a code that looks like one of these.";

impl Exit {
    /// A signal that ended the command.
    pub(crate) const OUTPUT_CLOSED: Self = Self::Signalled(SIGPIPE);

    /// The process's exit code.
    pub(crate) fn code(self) -> i32 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Configuration => 3,
            Self::Component => 4,
            Self::Limit => 5,
            Self::Crashed => 6,
            Self::NotOpened => 7,
            Self::NotOffered => 8,
            Self::Host => 9,
            Self::Signalled(signal) => 128 + i32::from(signal),
            Self::Program(code) => code.into(),
        }
    }

    /// Its name in JSON output.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Usage => "usage",
            Self::Configuration => "configuration",
            Self::Component => "component",
            Self::Limit => "limit",
            Self::Crashed => "crashed",
            Self::NotOpened => "not-opened",
            Self::NotOffered => "not-offered",
            Self::Host => "host",
            Self::Signalled(_) => "signalled",
            Self::Program(_) => "program",
        }
    }
}
