//! Programs that need no operating system: WASI commands, each instance a process.
//!
//! A program is a component with `wasi:cli/run`, or a module of WASI's first preview with `_start`. It gets three
//! streams, its arguments, its variables, the workspace as its only directory, clocks and randomness, and nothing
//! else. Unlike a tool it runs asynchronously, on a fiber: a program waits in WASI's own functions, for input or for
//! a clock, and dropping a fiber ends every wait.
//!
//! This is about one instance. What a command line means, with several of them, is `crate::programs`'s.

mod audit;
mod budget;
mod error;
mod instance;
mod load;
mod outcome;
mod stream;

pub use error::ProgramError;
pub(crate) use instance::Start;
pub(super) use load::Linkers;
pub(crate) use load::LoadedProgram;
