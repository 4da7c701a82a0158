//! What this sandbox is, and which commands it has.

pub use belljar_contract::session::{Capability, CommandInfo, Description, Limits, PolicySummary};

use crate::{Result, imports};

/// Describes the sandbox: its root, capabilities, limits and policy.
///
/// ```
/// use belljar_guest::{session, session::Capability, testing};
///
/// let memory = testing::MemorySandbox::new();
/// testing::with_sandbox(&memory, || {
///     assert_eq!(session::describe().root, "/workspace");
///     assert!(!session::can(Capability::Run));
/// });
/// ```
#[must_use]
pub fn describe() -> Description {
    imports::describe()
}

/// Whether the sandbox has a capability.
#[must_use]
pub fn can(capability: Capability) -> bool {
    describe().can(capability)
}

/// Looks commands up in the processes' PATH, and asks each for its version. What is not there has
/// no path in the answer.
///
/// # Errors
/// As `session.find-commands`: `unsupported` without processes, `invalid-argument` for a
/// name that is empty or has a `/`.
pub fn find_commands<N: Into<String>>(
    names: impl IntoIterator<Item = N>,
) -> Result<Vec<CommandInfo>> {
    imports::find_commands(names.into_iter().map(Into::into).collect())
}
