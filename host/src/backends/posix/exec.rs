//! The one thing that a place must be able to do: run a program, with bytes in and bytes out.

use belljar_contract::{Context, async_trait, processes::Execution};

/// A program to be run somewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecCall {
    /// The program and its arguments, each as it is: no shell reads them. There is no NUL in them, and together
    /// they are at most a few kilobytes over the session's `argument_bytes`.
    pub argv: Vec<String>,
    /// Everything on standard input, then its end.
    pub stdin: Vec<u8>,
    /// The user to run as; none: the place's own. Given only where
    /// [`PosixOptions::users`](super::PosixOptions::users) says that there are others.
    pub user: Option<String>,
    /// Bytes kept of each output, as the contract's semantics have it: the first half and the last half.
    pub output_limit: u64,
}

/// Why a program could not be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExecError {
    /// The place is gone, and with it the session.
    #[error("the place where programs run is gone: {message}")]
    Unavailable {
        /// The engine's own words.
        message: String,
    },
    /// There is no room for another process now.
    #[error("there is no room for another process now: {message}")]
    Busy {
        /// The engine's own words.
        message: String,
    },
    /// The arguments are more than the way to the place takes.
    #[error("arguments are more than the way there takes; use standard input: {message}")]
    TooLarge {
        /// The engine's own words.
        message: String,
    },
    /// Anything else.
    #[error("the program could not be run: {message}")]
    Failed {
        /// The engine's own words.
        message: String,
    },
}

/// Runs programs in a place: a container, another machine, this one.
///
/// [`PosixBackend`](super::PosixBackend) makes the whole contract of it.
///
/// # What callers guarantee
/// - The program is `sh`, or another of the place's PATH.
/// - What a call does to files it does whole or not at all, wherever its input ends or it is killed, save for a
///   temporary file that stays behind when it is killed with SIGKILL.
///
/// # What implementers guarantee
/// - Every byte of `argv` and `stdin` arrives as it is, and nothing of `stdin` gets into an argument vector.
/// - All three streams move at once; a program that does not read its input is no error; both outputs are read to
///   their end, and bounded while they are read.
/// - Any number of calls at once, and each on whatever thread polls it: no async runtime is needed to be there.
/// - Within 100 ms of the context's deadline or cancellation the call comes back, with what was printed until then
///   and the outcome `timed-out` or `cancelled`. The input ends then at the latest, and the program is killed where
///   it can be: SIGTERM first, so that it can clean up. What cannot be killed this way is found by the backend's own
///   means: it asks for a second program, which looks for the first one's marker.
/// - The same when the future is dropped.
/// - When the program has ended, a child of it that still holds the outputs delays the call by at most 100 ms.
/// - An exit code is told as the place tells it. That a signal ended the program need not be told apart.
/// - It never panics, prints, or takes a failure of the way for one of the program.
#[async_trait]
pub trait Exec: Send + Sync {
    /// Runs a program to its end.
    ///
    /// # Errors
    /// [`ExecError`] when it did not begin, or when it is not known how it ended.
    async fn exec(&self, context: &Context, call: ExecCall) -> Result<Execution, ExecError>;
}
