//! The WebAssembly side: one engine, audited components, and one store for each call.
//!
//! Nothing here knows of a backend or of the configuration file: a call gets a
//! [`Sandbox`](belljar_contract::Sandbox) handle, its limits, and where its progress goes.

mod answer;
mod audit;
mod bindings;
mod cache;
mod call;
mod component;
mod convert;
mod description;
mod engine;
mod imports;
#[cfg(feature = "component-backend")]
pub(crate) mod lender;
mod load_error;
mod programs;
mod read;
mod schema;
mod state;
mod ticker;
mod waiting;

pub use answer::{Answer, ContentPart};
pub use audit::{Import, WasiMode, World};
pub use cache::{CacheError, CompilationCache};
pub use call::{CallError, LimitKind};
pub(crate) use component::{Component, missing};
pub use description::ToolDescription;
pub use engine::EngineError;
pub(crate) use engine::{EngineOptions, WasmEngine};
pub use load_error::LoadError;
pub use programs::ProgramError;
pub(crate) use programs::{LoadedProgram, Start as ProgramStart};
pub(crate) use read::{read_ambient, read_component_ambient};
pub use state::{LogLevel, Progress, ProgressSink};

/// The largest component, in bytes: three times one that carries a Python interpreter. What is
/// read, and compiled into many times its size, is bounded by it.
pub const MAX_COMPONENT_BYTES: u64 = 64 << 20;

/// The contract's version that this host implements.
pub const CONTRACT_VERSION: &str = "0.1.0";
