//! A `[tools.NAME]` table: a component, and what is granted to it.

use std::path::PathBuf;

use crate::layers::Policy;

use super::error::{Problem, ProblemKind};

/// What a tool's component is, and what it may do.
///
/// ```
/// use belljar::{config::{Config, ToolConfig}, layers::Policy};
///
/// let tool = ToolConfig::new(Policy::nothing().and_read().and_write_only(["out/**"])?);
/// let config = Config::virtual_at("/srv/work").writable().tool("report", tool);
/// assert!(config.check().is_ok());
/// # Ok::<(), belljar::layers::PolicyError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ToolConfig {
    /// The component's file, a path of the host; none when the application brings it.
    pub component: Option<PathBuf>,
    /// The component in a registry, in the place of a file.
    #[cfg(feature = "registry")]
    pub reference: Option<crate::registry::Reference>,
    /// What it may do in a session.
    pub policy: Policy,
    /// What becomes of its imports from WASI.
    pub wasi: Wasi,
    /// Whether a file that exists must have been read before it is changed.
    pub guard: bool,
}

/// What becomes of a component's imports from WASI.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Wasi {
    /// A component that has some is refused.
    #[default]
    Deny,
    /// They are there and lead nowhere: no files, no environment, no sockets.
    Inert,
}

impl ToolConfig {
    /// Grants what the policy says, with the clobber guard, and without WASI.
    #[must_use]
    pub const fn new(policy: Policy) -> Self {
        Self {
            component: None,
            #[cfg(feature = "registry")]
            reference: None,
            policy,
            wasi: Wasi::Deny,
            guard: true,
        }
    }

    /// What is wrong, whoever made it.
    pub(super) fn problems(&self, name: &str) -> Option<Problem> {
        name_problem(name).map(|message| Problem {
            key: format!("tools.{name}"),
            position: None,
            kind: ProblemKind::BadValue(message.into()),
        })
    }
}

impl Default for ToolConfig {
    /// What an empty table grants: reading, which is the least that a tool is configured for.
    fn default() -> Self {
        Self::new(Policy::nothing().and_read())
    }
}

/// The longest name: what a model's interface takes for a tool's name.
const MAX_NAME_BYTES: usize = 64;

pub(super) fn name_problem(name: &str) -> Option<&'static str> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    let fits = (1..=MAX_NAME_BYTES).contains(&name.len()) && name.bytes().all(allowed);
    (!fits).then_some("not a tool's name: 1 to 64 of a-z, A-Z, 0-9, _ and -")
}
