//! Layers: backends that wrap a backend, and only ever take away.
//!
//! | layer | what it takes away |
//! |---|---|
//! | [`PolicyBackend`] | what an operator did not allow a tool: reading, changing, running, by path and program |
//! | [`Guard`] | changing a file that the session has not read |
//!
//! The policy is outermost, so that what the guard asks on its own behalf is not judged by it:
//! tool → policy → guard → backend. A layer asks the backend below by the same trait, and any
//! number of them can be stacked; each stack is as narrow as all of its layers together.

mod derived;
#[cfg(test)]
mod fake;
mod guard;
mod policy;

pub use self::{
    guard::{Guard, GuardState},
    policy::{Policy, PolicyBackend, PolicyError, Rules, StartedPrograms},
};
