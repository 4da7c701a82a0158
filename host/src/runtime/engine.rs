//! The engines: that of a host's tools with its linkers, and those of backends.

use wasmtime::{
    Config, Enabled, Engine, InstanceAllocationStrategy, PoolingAllocationConfig,
    component::{Component as Compiled, Linker},
};
use wasmtime_wasi::p2::bindings::sync::io::poll;

use super::{
    audit::WasiMode,
    bindings::Tool,
    cache::{Compatibility, CompilationCache},
    load_error::LoadError,
    programs::Linkers,
    state::CallState,
    ticker::Ticker,
};

/// Why there is no engine.
#[derive(Debug, thiserror::Error)]
#[error("cannot start the WebAssembly engine: {reason}")]
pub struct EngineError {
    reason: String,
}

impl EngineError {
    pub(super) fn new(error: impl std::fmt::Display) -> Self {
        Self {
            reason: format!("{error:#}"),
        }
    }
}

/// How the engine is made.
#[derive(Debug)]
pub(crate) struct EngineOptions {
    /// How many calls may run at once; the pool has a slot for each.
    pub(crate) concurrent_calls: u32,
    /// The most memory that any call may be allowed.
    pub(crate) memory_bytes: u64,
    /// The most table elements that any call may be allowed.
    pub(crate) table_elements: u32,
    /// Where compiled components are kept; none: they are compiled at each load.
    pub(crate) cache: Option<CompilationCache>,
}

/// An engine with what lives as long as it does.
pub(super) struct Base {
    pub(super) engine: Engine,
    pub(super) cache: Option<CompilationCache>,
    pub(super) compatibility: Compatibility,
    pub(super) ticker: Ticker,
}

impl Base {
    fn new(engine: Engine, cache: Option<CompilationCache>) -> Result<Self, EngineError> {
        Ok(Self {
            ticker: Ticker::start(&engine).map_err(EngineError::new)?,
            compatibility: Compatibility::of(&engine),
            cache,
            engine,
        })
    }

    /// Makes an engine whose instances map their memory when they are made: for instances that are kept, which
    /// would occupy the places of a pool.
    pub(super) fn on_demand(cache: Option<CompilationCache>) -> Result<Self, EngineError> {
        let engine = Engine::new(&config(None)).map_err(EngineError::new)?;
        Self::new(engine, cache)
    }

    pub(super) fn compile(&self, bytes: &[u8]) -> Result<Compiled, LoadError> {
        Compiled::from_binary(&self.engine, bytes).map_err(|error| LoadError::Compile {
            reason: format!("{error:#}"),
        })
    }
}

/// The engine of tools.
pub(crate) struct WasmEngine {
    pub(super) base: Base,
    pub(super) programs: Linkers,
    strict: Linker<CallState>,
    inert: Linker<CallState>,
    pooled: bool,
}

/// Memories, tables and core instances of one component. A tool of ours has one, two and three;
/// a component that carries an interpreter and an adapter has a few more.
pub(super) const MEMORIES_PER_COMPONENT: u32 = 4;
pub(super) const TABLES_PER_COMPONENT: u32 = 8;
pub(super) const INSTANCES_PER_COMPONENT: u32 = 32;
/// Bytes of a slot's memory that stay resident between calls: what a small tool touches. With
/// the page map scan only dirty pages are reset, so the figure costs nothing to a smaller one.
const KEEP_RESIDENT: usize = 1 << 20;
/// A guest's stack: the deepest recursion of a parser over the longest allowed path or JSON fits.
const WASM_STACK_BYTES: usize = 1 << 20;

impl WasmEngine {
    pub(crate) fn new(options: EngineOptions) -> Result<Self, EngineError> {
        // The pool needs a large address space; where that is not to be had (a limit on virtual
        // memory, a small machine), memory is mapped at each call.
        let (engine, pooled) = match Engine::new(&config(Some(&options))) {
            Ok(engine) => (engine, true),
            Err(error) => {
                tracing::info!(error = %error, "no pool of instances; calls map their memory on demand");
                (Engine::new(&config(None)).map_err(EngineError::new)?, false)
            }
        };
        let linker = |wasi| -> wasmtime::Result<Linker<CallState>> {
            let mut linker = Linker::new(&engine);
            Tool::add_to_linker::<_, CallState>(&mut linker, |state| state)?;
            if wasi {
                wasmtime_wasi::p2::add_to_linker_sync(&mut linker)?;
                // Its waiting knows nothing of the call's end; `waiting` has one that does.
                linker.allow_shadowing(true);
                poll::add_to_linker::<_, CallState>(&mut linker, |state| state)?;
                linker.allow_shadowing(false);
            }
            Ok(linker)
        };
        Ok(Self {
            strict: linker(false).map_err(EngineError::new)?,
            inert: linker(true).map_err(EngineError::new)?,
            programs: Linkers::new(&engine).map_err(EngineError::new)?,
            base: Base::new(engine, options.cache)?,
            pooled,
        })
    }

    pub(super) const fn linker(&self, wasi: WasiMode) -> &Linker<CallState> {
        match wasi {
            WasiMode::Deny => &self.strict,
            WasiMode::Inert => &self.inert,
        }
    }

    /// Whether instances come from a pool.
    pub(crate) const fn is_pooled(&self) -> bool {
        self.pooled
    }
}

fn config(pool: Option<&EngineOptions>) -> Config {
    let mut config = Config::new();
    config.epoch_interruption(true);
    config.max_wasm_stack(WASM_STACK_BYTES);
    // A trap's frames help a tool's author; they cost only when there is a trap.
    config.wasm_backtrace_max_frames(std::num::NonZeroUsize::new(32));
    if let Some(options) = pool {
        config.allocation_strategy(InstanceAllocationStrategy::Pooling(pooling(options)));
    }
    config
}

fn pooling(options: &EngineOptions) -> PoolingAllocationConfig {
    let calls = options.concurrent_calls;
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(calls);
    pool.total_core_instances(calls.saturating_mul(INSTANCES_PER_COMPONENT));
    // Nearly every component has one memory; a few more than one for each call serve the others.
    pool.total_memories(calls.saturating_mul(2));
    pool.total_tables(calls.saturating_mul(TABLES_PER_COMPONENT));
    pool.max_memories_per_component(MEMORIES_PER_COMPONENT);
    pool.max_tables_per_component(TABLES_PER_COMPONENT);
    pool.max_core_instances_per_component(INSTANCES_PER_COMPONENT);
    pool.max_memory_size(usize::try_from(options.memory_bytes).unwrap_or(usize::MAX));
    pool.table_elements(options.table_elements as usize);
    pool.max_component_instance_size(4 << 20);
    pool.max_core_instance_size(4 << 20);
    pool.linear_memory_keep_resident(KEEP_RESIDENT);
    pool.table_keep_resident(64 << 10);
    pool.pagemap_scan(Enabled::Auto);
    pool
}
