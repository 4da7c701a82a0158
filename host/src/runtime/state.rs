//! What a store holds for one call, and what it counts.

use std::{fmt, sync::Arc};

use belljar_contract::{Context, Sandbox, Stop, blocking};
use wasmtime::{ResourceLimiter, component::HasData};
use wasmtime_wasi::{ResourceTable, WasiCtx, WasiCtxView, WasiView};

use crate::limits::CallLimits;

use super::{
    call::LimitKind,
    engine::{INSTANCES_PER_COMPONENT, MEMORIES_PER_COMPONENT, TABLES_PER_COMPONENT},
};

/// How much a line of a tool's log matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum LogLevel {
    Debug,
    Info,
    Warn,
    Error,
}

/// What a tool tells while it works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// How far it has come.
    Report {
        /// Units done.
        done: u64,
        /// Units in all, where that is known.
        total: Option<u64>,
        /// What it does now.
        message: String,
    },
    /// A line for whoever runs the tool.
    Log {
        /// How much it matters.
        level: LogLevel,
        /// The line.
        message: String,
    },
}

/// Where a call's progress goes. It is called on the guest's thread and must not block.
pub type ProgressSink = Arc<dyn Fn(Progress) + Send + Sync>;

/// The most bytes of a progress report or log line.
const PROGRESS_LINE_BYTES: usize = 4096;

/// Why a call was ended from the host's side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Ended {
    #[error("{0}")]
    Limit(LimitKind),
    #[error("cancelled")]
    Cancelled,
}

impl From<Stop> for Ended {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Cancelled => Self::Cancelled,
            Stop::TimedOut => Self::Limit(LimitKind::Time),
        }
    }
}

/// The state of one call.
pub(crate) struct CallState {
    /// None while a component describes itself: then it has no sandbox.
    sandbox: Option<Sandbox>,
    context: Context,
    limits: CallLimits,
    progress: Option<ProgressSink>,
    progress_lines: u32,
    host_calls: u64,
    copied_bytes: u64,
    memory_bytes: u64,
    table_elements: u64,
    panic: Option<String>,
    wasi: Option<Box<InertWasi>>,
}

/// A world in which there is nothing: for components that import WASI without needing it.
struct InertWasi {
    context: WasiCtx,
    table: ResourceTable,
}

impl CallState {
    pub(super) fn new(
        sandbox: Option<Sandbox>,
        context: Context,
        limits: CallLimits,
        progress: Option<ProgressSink>,
    ) -> Self {
        Self {
            sandbox,
            context,
            limits,
            progress,
            progress_lines: 0,
            host_calls: 0,
            copied_bytes: 0,
            memory_bytes: 0,
            table_elements: 0,
            panic: None,
            wasi: None,
        }
    }

    pub(super) const fn context(&self) -> &Context {
        &self.context
    }

    /// The guest's own words on why it is about to trap.
    pub(super) fn take_panic(&mut self) -> Option<String> {
        self.panic.take()
    }

    pub(super) fn set_panic(&mut self, message: String) {
        self.panic = Some(shortened(message));
    }

    /// Counts a host call that brings `bytes` with it. A call that may not go on is seen by who
    /// does the work, and by the epoch when the guest runs on.
    pub(super) fn charge(&mut self, bytes: usize) -> Result<(), Ended> {
        self.host_calls += 1;
        self.copied_bytes = self.copied_bytes.saturating_add(bytes as u64);
        if self.host_calls > self.limits.host_calls {
            return Err(Ended::Limit(LimitKind::HostCalls));
        }
        if self.copied_bytes > self.limits.copied_bytes {
            return Err(Ended::Limit(LimitKind::CopiedBytes));
        }
        Ok(())
    }

    /// Counts what goes back to the guest.
    pub(super) fn charge_result(&mut self, bytes: usize) -> Result<(), Ended> {
        self.copied_bytes = self.copied_bytes.saturating_add(bytes as u64);
        if self.copied_bytes > self.limits.copied_bytes {
            return Err(Ended::Limit(LimitKind::CopiedBytes));
        }
        Ok(())
    }

    /// The sandbox; none while the component describes itself.
    pub(super) const fn sandbox(&self) -> Option<&Sandbox> {
        self.sandbox.as_ref()
    }

    /// Waits for a backend on this thread. A call that must stop is ended here, and what the
    /// backend said is dropped: its caller is gone.
    pub(super) fn wait<T>(&self, future: impl Future<Output = T>) -> Result<T, Ended> {
        let output = blocking::block_on(&self.context, future)?;
        self.context.check()?;
        Ok(output)
    }

    pub(super) fn tell(&mut self, progress: impl FnOnce() -> Progress) {
        self.progress_lines = self.progress_lines.saturating_add(1);
        if let Some(sink) = &self.progress
            && self.progress_lines <= self.limits.progress_lines
        {
            sink(progress());
        }
    }
}

impl fmt::Debug for CallState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallState")
            .field("host_calls", &self.host_calls)
            .finish_non_exhaustive()
    }
}

/// Cuts a line at a character's edge.
pub(super) fn shortened(mut message: String) -> String {
    if message.len() > PROGRESS_LINE_BYTES {
        message.truncate(message.floor_char_boundary(PROGRESS_LINE_BYTES));
        message.push('…');
    }
    message
}

impl HasData for CallState {
    type Data<'a> = &'a mut CallState;
}

/// All memories and all tables of a call together; a growth over the limit ends it.
impl ResourceLimiter for CallState {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let limit = self.limits.memory_bytes;
        grow(
            &mut self.memory_bytes,
            current,
            desired,
            limit,
            LimitKind::Memory,
        )
    }

    fn table_growing(
        &mut self,
        current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let limit = self.limits.table_elements.into();
        grow(
            &mut self.table_elements,
            current,
            desired,
            limit,
            LimitKind::TableElements,
        )
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

pub(super) fn grow(
    used: &mut u64,
    current: usize,
    desired: usize,
    limit: u64,
    kind: LimitKind,
) -> wasmtime::Result<bool> {
    let total = used.saturating_add(desired.saturating_sub(current) as u64);
    if total > limit {
        return Err(wasmtime::Error::new(Ended::Limit(kind)));
    }
    *used = total;
    Ok(true)
}

impl WasiView for CallState {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        let wasi = self.wasi.get_or_insert_with(|| {
            // The builder's defaults: no directories, environment, arguments or sockets; output is dropped.
            let context = WasiCtx::builder().allow_tcp(false).allow_udp(false).build();
            Box::new(InertWasi {
                context,
                table: ResourceTable::new(),
            })
        });
        WasiCtxView {
            ctx: &mut wasi.context,
            table: &mut wasi.table,
        }
    }
}
