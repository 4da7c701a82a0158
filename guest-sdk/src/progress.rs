//! What a tool tells its caller while it works. Nothing here fails.

use crate::imports;

/// How much a line matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the usual four")]
pub enum Level {
    Debug,
    Info,
    Warn,
    Error,
}

/// What a tool told, as [`testing::take_progress`](crate::testing::take_progress) gives it.
#[cfg(not(target_family = "wasm"))]
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the parameters of the functions")]
pub enum Event {
    /// From [`report`].
    Report {
        done: u64,
        total: Option<u64>,
        message: String,
    },
    /// From [`log`].
    Log { level: Level, message: String },
}

/// Says how far the call has come: `done` of `total` steps, where the total is known.
///
/// ```
/// use belljar_guest::{progress, testing};
///
/// progress::report(3, Some(10), "compiling");
/// assert_eq!(testing::take_progress().len(), 1);
/// ```
pub fn report(done: u64, total: impl Into<Option<u64>>, message: &str) {
    imports::report(done, total.into(), message);
}

/// Writes a line for whoever runs the tool; it is not part of the answer.
pub fn log(level: Level, message: &str) {
    imports::log(level, message);
}
