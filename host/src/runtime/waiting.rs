//! WASI's waiting, which ends with the call.
//!
//! Wasmtime's own waits inside the host, where neither epochs nor the call's deadline reach it. This one looks
//! again and again, and between two looks asks whether the call must stop.

use std::time::Duration;

use wasmtime::component::Resource;
use wasmtime_wasi::{
    WasiView,
    p2::{
        DynPollable,
        bindings::sync::io::poll::{Host, HostPollable},
    },
};

use super::state::CallState;

/// The first pause between two looks, and the longest: a short wait is short, and a long one costs nothing.
const FIRST_PAUSE: Duration = Duration::from_micros(100);
const LONGEST_PAUSE: Duration = Duration::from_millis(5);

impl Host for CallState {
    fn poll(&mut self, pollables: Vec<Resource<DynPollable>>) -> wasmtime::Result<Vec<u32>> {
        if pollables.is_empty() {
            return Err(wasmtime::Error::msg("a poll of nothing never ends"));
        }
        let mut pause = FIRST_PAUSE;
        loop {
            let mut ready = Vec::new();
            for (index, pollable) in (0..).zip(&pollables) {
                if HostPollable::ready(self, Resource::new_borrow(pollable.rep()))? {
                    ready.push(index);
                }
            }
            if !ready.is_empty() {
                return Ok(ready);
            }
            self.rest(&mut pause)?;
        }
    }
}

impl HostPollable for CallState {
    fn ready(&mut self, pollable: Resource<DynPollable>) -> wasmtime::Result<bool> {
        self.ctx().table.ready(pollable)
    }

    fn block(&mut self, pollable: Resource<DynPollable>) -> wasmtime::Result<()> {
        let mut pause = FIRST_PAUSE;
        while !HostPollable::ready(self, Resource::new_borrow(pollable.rep()))? {
            self.rest(&mut pause)?;
        }
        Ok(())
    }

    fn drop(&mut self, pollable: Resource<DynPollable>) -> wasmtime::Result<()> {
        HostPollable::drop(self.ctx().table, pollable)
    }
}

impl CallState {
    /// Pauses before another look; ends the call when it must stop.
    fn rest(&self, pause: &mut Duration) -> wasmtime::Result<()> {
        self.context()
            .check()
            .map_err(|stop| wasmtime::Error::new(super::state::Ended::from(stop)))?;
        std::thread::sleep(*pause);
        *pause = (*pause * 2).min(LONGEST_PAUSE);
        Ok(())
    }
}
