//! The import `session`.

use belljar_contract::Operation;

use crate::runtime::{
    bindings::belljar::sandbox::{session as wit, types},
    convert,
    state::CallState,
};

impl wit::Host for CallState {
    fn describe(&mut self) -> wasmtime::Result<wit::Description> {
        self.charge(0).map_err(wasmtime::Error::new)?;
        match self.sandbox() {
            Some(sandbox) => Ok(convert::description(&sandbox.describe())),
            // The contract gives this function no error, and there is nothing to describe.
            None => Err(wasmtime::format_err!(
                "a component has no sandbox while it describes its tools"
            )),
        }
    }

    fn find_commands(
        &mut self,
        names: Vec<String>,
    ) -> wasmtime::Result<Result<Vec<wit::CommandInfo>, types::Error>> {
        self.ask(
            Operation::FindCommands,
            names.iter().map(String::len).sum(),
            async |sandbox| sandbox.find_commands(names).await,
            |found| (found.into_iter().map(convert::command_info).collect(), 0),
        )
    }
}
