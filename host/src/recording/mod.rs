//! Recordings: what a tool asked of its sandbox and what it was answered, and the tool run again against that.
//!
//! | file | what |
//! |---|---|
//! | `format` | the lines of a recording |
//! | `redact` | what is left out of it |
//! | `recorder` | writes one, as the outermost layer of a tool's sandbox |
//! | `replay` | answers from one, with no backend, up to the first difference |
//!
//! What is recorded is what the tool itself saw: policy, guard and backend are below it, and none of them is needed
//! to run the tool again. Sandboxes differ in times, process ids and versions; a recording has them as they were.
//!
//! # The format
//! UTF-8, a JSON value a line. The first line is `{"recording": {"version": 1, "contract": "0.1.0"}}`. Then, for
//! each call of a tool:
//!
//! ```json
//! {"call": {"tool": "read", "arguments": "{\"path\": \"a.txt\"}", "sandbox": {"backend": "virtual", …}}}
//! {"exchange": {"request": {"files.read": {"path": "a.txt"}}, "answer": {"ok": {"content": {"bytes": "aGk=", "version": "…"}}}}}
//! {"end": {"answer": {"content": [{"text": "hi"}], "structured": null}}}
//! ```
//!
//! A request is named by its function in the contract, and its fields are those of [`Request`](crate::Request); bytes are base64. An
//! answer that is an error is `{"error": {"kind": …, "operation": …, "path": …, "message": …}}`, and a call that failed
//! ends with `{"failed": {"kind": …, "message": …}}`. A reader refuses a version that it does not know.
//!
//! # What is left out
//! - The values of the variables that a tool gives to a process: the names stay.
//! - The secrets that [`Recorder::new`] is told, wherever they stand in a text or in bytes: `[secret NAME]` is in their
//!   place. One that a tool encoded or cut is not recognised.

mod format;
mod recorder;
mod redact;
mod replay;
#[cfg(test)]
mod tests;

pub use self::{
    format::{Ending, FORMAT_VERSION, FailureKind, Recording, RecordingError},
    recorder::Recorder,
    redact::{MIN_SECRET_BYTES, Secrets},
    replay::Difference,
};
