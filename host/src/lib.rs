//! Runs an AI agent's tools as WebAssembly components, against a sandbox whose backend is exchangeable.
//!
//! A tool is a component that imports the *contract* (files, processes, session, progress) and nothing else.
//! A [`Host`] loads components, a [`Sandbox`] is an open session on a backend, and a [`Tool`] is called with
//! a sandbox. Which backend serves the contract, the tool cannot tell and need not know.
//!
//! - [`Host`], [`Tool`]: load, list, call; every call has a fresh store and [`CallLimits`].
//! - [`Sandbox`], [`backends`]: open a workspace; [`Backend`] is public, so bring your own.
//! - [`layers`]: a policy narrows what a tool may do; the guard refuses to overwrite what was not read.
//! - [`programs`]: WASI commands that a session runs without an operating system.
//! - [`recording`]: what a tool asked and was answered, and the tool run again against that.
//! - [`config`]: the same from a `belljar.toml`.
//!
//! No type of the WebAssembly runtime is in this interface.

pub mod backends;
pub mod config;
mod host;
pub mod layers;
mod limits;
mod open;
pub mod programs;
pub mod recording;
#[cfg(feature = "registry")]
pub mod registry;
mod runtime;
mod sandbox;
mod tool;

pub use belljar_contract::{
    Backend, Cancellation, Context, Error, ErrorKind, Expected, GuestPath, Operation, Pattern,
    QueryOptions, Request, Response, RunOptions, ScopeOptions, Version, async_trait, bytes,
    files::{self, ReplaceOptions, WriteOptions},
    processes::{self, Command},
    session::{self, Capability, Description, Limits},
};

pub use self::{
    host::{Host, HostError, HostOptions},
    limits::CallLimits,
    open::{OpenOptions, Sandboxes, ToolsError, examine_ambient},
    runtime::{
        Answer, CONTRACT_VERSION, CacheError, CallError, CompilationCache, ContentPart,
        EngineError, Import, LimitKind, LoadError, LogLevel, MAX_COMPONENT_BYTES, ProgramError,
        Progress, ProgressSink, ToolDescription, WasiMode, World,
    },
    sandbox::Sandbox,
    tool::{Offer, Tool},
};
