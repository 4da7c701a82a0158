//! What an instance of a program may use.

use wasmtime::ResourceLimiter;
use wasmtime_wasi::{ResourceTable, WasiCtx, WasiCtxView, WasiView};

use super::{
    super::engine::{INSTANCES_PER_COMPONENT, MEMORIES_PER_COMPONENT, TABLES_PER_COMPONENT},
    outcome::Fatal,
};

/// The most files, directories, streams and timers that an instance has open. Each file is a descriptor of this
/// operating-system process, whose usual limit is 1,024 for everything.
pub(super) const MAX_OPEN: usize = 128;

/// What a store holds for one instance: its WASI, and what it has used.
pub(crate) struct Instance<W> {
    pub(super) wasi: W,
    memory_left: u64,
    table_left: u64,
}

impl<W> Instance<W> {
    pub(super) const fn new(wasi: W, memory_bytes: u64, table_elements: u32) -> Self {
        Self {
            wasi,
            memory_left: memory_bytes,
            table_left: table_elements as u64,
        }
    }
}

/// A component's world.
pub(crate) struct Preview2 {
    pub(super) context: WasiCtx,
    pub(super) table: ResourceTable,
}

impl WasiView for Instance<Preview2> {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView {
            ctx: &mut self.wasi.context,
            table: &mut self.wasi.table,
        }
    }
}

/// All memories and all tables of an instance together. A growth over the limit ends it, as a system's does whose
/// memory runs out.
impl<W: Send> ResourceLimiter for Instance<W> {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        take(&mut self.memory_left, current, desired)
    }

    fn table_growing(
        &mut self,
        current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        take(&mut self.table_left, current, desired)
    }

    fn instances(&self) -> usize {
        INSTANCES_PER_COMPONENT as usize
    }

    fn tables(&self) -> usize {
        TABLES_PER_COMPONENT as usize
    }

    fn memories(&self) -> usize {
        MEMORIES_PER_COMPONENT as usize
    }
}

fn take(left: &mut u64, current: usize, desired: usize) -> wasmtime::Result<bool> {
    match left.checked_sub(desired.saturating_sub(current) as u64) {
        Some(rest) => {
            *left = rest;
            Ok(true)
        }
        None => Err(wasmtime::Error::new(Fatal::OutOfMemory)),
    }
}
