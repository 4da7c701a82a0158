//! The export `session`.

use belljar_contract::Request;

use super::{super::Backend, Exported, convert};
use crate::bindings::{
    backend::exports::belljar::sandbox::session as wit, tool::belljar::sandbox::types,
};

impl<T: Backend> wit::Guest for Exported<T> {
    fn describe() -> wit::Description {
        match Self::with(T::describe) {
            Some(description) => convert::description(description),
            // The contract gives this function no error.
            None => panic!("the session was not resumed"),
        }
    }

    fn find_commands(names: Vec<String>) -> Result<Vec<wit::CommandInfo>, types::Error> {
        Self::answer(Request::FindCommands { names }, variant!(Commands))
            .map(|found| found.into_iter().map(convert::command_info).collect())
            .map_err(convert::error)
    }
}
