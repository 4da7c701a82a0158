//! The host: one WebAssembly engine, and what is loaded into it.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::{
    limits::CallLimits,
    programs::Program,
    runtime::{
        CacheError, CompilationCache, Component, EngineError, EngineOptions, LoadError,
        LoadedProgram, MAX_COMPONENT_BYTES, ProgramError, WasiMode, WasmEngine, read_ambient,
        read_component_ambient,
    },
    tool::Tool,
};

/// How a host is made.
///
/// ```
/// use belljar::{Host, HostOptions};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let host = Host::new(HostOptions { concurrent_calls: 8, ..HostOptions::default() })?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct HostOptions {
    /// A folder for compiled components, which only its owner can write; made when absent. None:
    /// each load compiles.
    pub cache: Option<PathBuf>,
    /// How many calls may run at once. Each takes a slot of address space, not of memory, and a thread
    /// while it runs.
    pub concurrent_calls: u32,
    /// The largest [`CallLimits::memory_bytes`] that a call of this host may have.
    pub memory_bytes: u64,
    /// The largest [`CallLimits::table_elements`] that a call of this host may have.
    pub table_elements: u32,
}

impl Default for HostOptions {
    fn default() -> Self {
        let limits = CallLimits::default();
        Self {
            cache: None,
            // Two hundred sessions that each call at once fit; 256 slots reserve 2 TiB of the 128 TiB of
            // a 64-bit address space.
            concurrent_calls: 256,
            memory_bytes: limits.memory_bytes,
            table_elements: limits.table_elements,
        }
    }
}

/// Why there is no host.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HostError {
    /// The engine does not start.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The compilation cache cannot be used.
    #[error(transparent)]
    Cache(#[from] CacheError),
}

/// One engine, and the tools loaded into it. Cheap to clone; every clone is the same host.
#[derive(Clone)]
pub struct Host {
    engine: Arc<WasmEngine>,
    most: CallLimits,
}

impl PartialEq for Host {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.engine, &other.engine)
    }
}

impl Eq for Host {}

impl std::fmt::Debug for Host {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Host")
            .field("pooled", &self.is_pooled())
            .finish_non_exhaustive()
    }
}

impl Host {
    /// Starts the engine.
    ///
    /// # Ambient authority
    /// The cache's path is the host's.
    ///
    /// # Errors
    /// [`HostError`] when the engine does not start, or the cache is not private to its owner.
    pub fn new(options: HostOptions) -> Result<Self, HostError> {
        let cache = options
            .cache
            .as_deref()
            .map(CompilationCache::open_ambient)
            .transpose()?;
        let engine = WasmEngine::new(EngineOptions {
            concurrent_calls: options.concurrent_calls,
            memory_bytes: options.memory_bytes,
            table_elements: options.table_elements,
            cache,
        })?;
        let most = CallLimits {
            memory_bytes: options.memory_bytes,
            table_elements: options.table_elements,
            ..CallLimits::default()
        };
        Ok(Self {
            engine: Arc::new(engine),
            most,
        })
    }

    /// Loads the tools of a component file.
    ///
    /// # Ambient authority
    /// The path is the host's.
    ///
    /// # Errors
    /// [`LoadError`] when the file cannot be read, is no tool component, or imports what it is not granted.
    pub fn load_ambient(&self, path: &Path, wasi: WasiMode) -> Result<Tool, LoadError> {
        let bytes = read_component_ambient(path)?;
        self.load(&bytes, wasi)
    }

    /// Loads the tools of a component.
    ///
    /// # Errors
    /// [`LoadError`] when it is no tool component, or imports what it is not granted.
    pub fn load(&self, bytes: &[u8], wasi: WasiMode) -> Result<Tool, LoadError> {
        if bytes.len() as u64 > MAX_COMPONENT_BYTES {
            return Err(LoadError::TooLarge {
                most: MAX_COMPONENT_BYTES,
            });
        }
        let component = Component::load(&self.engine, bytes, wasi)?;
        Ok(Tool::new(component, self.most))
    }

    /// Loads a program of a file: a WASI command, as a component or as a module of the first preview.
    ///
    /// # Ambient authority
    /// The path is the host's.
    ///
    /// # Errors
    /// [`ProgramError`] when the file cannot be read, is no command, or imports more than a command line's WASI.
    pub fn load_program_ambient(&self, path: &Path) -> Result<Program, ProgramError> {
        let bytes = read_ambient(path).map_err(|source| ProgramError::Read {
            path: path.to_owned(),
            source,
        })?;
        self.load_program(&bytes)
    }

    /// Loads a program.
    ///
    /// # Errors
    /// [`ProgramError`] when it is no command, or imports more than a command line's WASI.
    pub fn load_program(&self, bytes: &[u8]) -> Result<Program, ProgramError> {
        LoadedProgram::load(&self.engine, bytes).map(Program::new)
    }

    /// Whether calls take their instance from a pool, which makes them cheaper. Where the
    /// address space is too small for one they map memory at each call.
    #[must_use]
    pub fn is_pooled(&self) -> bool {
        self.engine.is_pooled()
    }
}
