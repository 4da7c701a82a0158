//! The generated bindings, for guests that need what the wrappers do not give. No part of the
//! crate's stable interface.

use crate::{Tools, bindings::tool::exports::belljar::sandbox::tools, imports::exported};
pub use crate::{
    bindings::{backend, client, tool::*},
    lend::exported::Exported,
    panic::report_panics,
};

/// `tools.describe` of a component.
#[must_use]
pub fn describe(component: Tools) -> Vec<tools::Description> {
    report_panics();
    let described = component.describe();
    described.into_iter().map(exported::description).collect()
}

/// `tools.call` of a component.
///
/// # Errors
/// As the contract says.
pub fn call(
    component: Tools,
    name: &str,
    arguments: &str,
) -> Result<tools::Answer, tools::CallError> {
    report_panics();
    component
        .call(name, arguments)
        .map(exported::answer)
        .map_err(exported::call_error)
}
