//! The Belljar workspace engine: the one implementation of the contract's file and process
//! semantics, which runs wherever the workspace is.
//!
//! [`Engine`] answers requests over a directory handle ([`files`]) and, where it is given one, a
//! process supervisor ([`processes`]). It is synchronous: a call occupies its thread, honours
//! its context, and returns. `wit/semantics.md` is what it implements.

mod engine;
pub mod files;
pub mod processes;

pub use engine::Engine;
