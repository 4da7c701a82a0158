//! The clobber guard: an existing file is changed only in the version that the session has read.
//!
//! A [`GuardState`] is what a session has read, shared by all of its tools; a [`Guard`] holds them to it.
//! Check and write are one step, since the guard says to the backend which version it expects.
//!
//! | change | what must have been read of the file, in its version |
//! |---|---|
//! | `write`, `copy` and `rename` (what is at the target) | all of it, by `read` or by ranges that cover it |
//! | `append`, `replace` | any part of it; a line found by `search` is one |
//!
//! What the session wrote counts as read. What a program wrote does not. A file by another name, through
//! a link or not, is the same file. `remove`, `rename` of what is at the source, and making what is
//! not there need no reading.

mod backend;
mod leave;
mod ranges;
mod rename;
mod state;
#[cfg(test)]
mod tests;

pub use self::{backend::Guard, state::GuardState};
