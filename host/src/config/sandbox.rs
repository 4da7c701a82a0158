//! The `[sandbox]` table: a backend and its workspace.

use std::{collections::BTreeMap, path::PathBuf};

use super::{container_table, error::Problem, local_table, programs_table, remote_table};
use crate::backends::{ContainerOptions, LocalOptions, PoolOptions, RemoteOptions};

/// A backend and its workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SandboxConfig {
    /// The mechanism.
    pub backend: Backend,
    /// The directory that tools work in, a path of the host; none for a temporary one, which is not
    /// durable.
    pub workspace: Option<PathBuf>,
    /// Whether anything in it may be changed.
    pub writable: bool,
}

/// A mechanism, with the options that open it.
///
/// What the rest of a configuration says (the workspace, whether it is writable, the limits), and what the application
/// says in [`OpenOptions`](crate::OpenOptions), takes the place of the same in these options.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[expect(
    clippy::large_enum_variant,
    reason = "a program has one or two, and a box would be in everybody's way"
)]
pub enum Backend {
    /// Files, confined to the workspace, and programs that need no operating system.
    Virtual {
        /// The programs by their names: files of the host.
        programs: BTreeMap<String, PathBuf>,
    },
    /// Files, and processes of this machine with the host's own rights.
    Local(LocalOptions),
    /// A container.
    Container {
        /// What it is.
        options: ContainerOptions,
        /// How many of them run before a session needs one.
        pool: PoolOptions,
    },
    /// What a command reaches.
    Remote(RemoteOptions),
}

impl SandboxConfig {
    /// What is wrong, whoever made it.
    pub(super) fn problems(&self) -> Vec<Problem> {
        match &self.backend {
            Backend::Virtual { programs } => programs_table::problems(programs),
            Backend::Local(options) => local_table::problems(options),
            Backend::Container { options, .. } => container_table::problems(options),
            Backend::Remote(options) => remote_table::problems(options),
        }
    }
}
