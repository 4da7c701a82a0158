//! The Belljar sandbox contract as Rust types.
//!
//! `wit/*.wit` define the contract and `wit/semantics.md` is its normative text; this crate is the
//! same for Rust: [`Request`] and [`Response`] are the operations as values, [`Backend`] is what a
//! mechanism implements, [`Sandbox`] is the handle that validates and asks, [`Error`] is what comes back when
//! it fails, [`Context`] is what bounds a call. It does no input or output of its own.
//!
//! It leaves to others: how files and processes behave (`belljar-workspace`), and which backend is
//! used for what (`belljar`).

mod backend;
pub mod blocking;
pub mod bytes;
mod context;
mod error;
pub mod files;
mod path;
pub mod processes;
mod request;
mod sandbox;
pub mod session;
mod version;

pub use async_trait::async_trait;

pub use self::{
    backend::Backend,
    context::{Cancellation, Context, KILL_GRACE, Registration, Stop},
    error::{Error, ErrorKind, Result},
    path::{GuestPath, MAX_NAME_BYTES, MAX_PATH_BYTES, PathError, Pattern},
    request::{Launch, Operation, Query, Request, Response, Scope},
    sandbox::{
        MAX_COMMAND_NAMES, MAX_FILTERS, MAX_SEARCH_PATTERN_BYTES, QueryOptions, RunOptions,
        Sandbox, ScopeOptions,
    },
    version::{Expected, MAX_VERSION_BYTES, Version, VersionError},
};
