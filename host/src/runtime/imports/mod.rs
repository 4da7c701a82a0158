//! What a guest's imports do: one file an interface, each function a line to the sandbox handle.
//!
//! What the contract calls an error goes back to the guest. What ends the call (a limit, a
//! cancellation) is a trap, and the guest never sees it.

mod files;
mod processes;
mod progress;
mod session;

use belljar_contract::{Error, ErrorKind, Operation, Sandbox};

use super::{bindings::belljar::sandbox::types, convert, state::CallState};

impl types::Host for CallState {}

impl CallState {
    /// Counts a call that brings `sent` bytes, asks the sandbox, and converts the answer.
    fn ask<T, W>(
        &mut self,
        operation: Operation,
        sent: usize,
        ask: impl AsyncFnOnce(Sandbox) -> belljar_contract::Result<T>,
        answer: impl FnOnce(T) -> (W, usize),
    ) -> wasmtime::Result<Result<W, types::Error>> {
        self.charge(sent).map_err(wasmtime::Error::new)?;
        let result = match self.sandbox().cloned() {
            Some(sandbox) => self.wait(ask(sandbox)).map_err(wasmtime::Error::new)?,
            None => {
                let message = "a component has no sandbox while it describes its tools";
                Err(Error::new(ErrorKind::Closed, operation, message))
            }
        };
        Ok(match result {
            Ok(value) => {
                let (value, bytes) = answer(value);
                self.charge_result(bytes).map_err(wasmtime::Error::new)?;
                Ok(value)
            }
            Err(error) => Err(convert::error(error)),
        })
    }
}
