//! The `[sandbox]` table: a backend and its workspace.

use std::{collections::BTreeMap, path::PathBuf};

#[cfg(feature = "kubernetes")]
use super::kubernetes_table;
use super::{
    component_table, container_table, error::Problem, local_table, programs_table, remote_table,
};
#[cfg(feature = "kubernetes")]
use crate::backends::KubernetesOptions;
use crate::backends::{
    ComponentOptions, ContainerOptions, LocalOptions, PoolOptions, RemoteOptions,
};

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
    /// A Pod in a cluster.
    #[cfg(feature = "kubernetes")]
    Kubernetes {
        /// What it is.
        options: Box<KubernetesOptions>,
        /// How many of them run before a session needs one.
        pool: PoolOptions,
    },
    /// What a command reaches.
    Remote(RemoteOptions),
    /// What a component lends.
    Component(ComponentOptions),
}

impl SandboxConfig {
    /// The variables that every process of the sandbox gets, with their values: of a kind that is left out of
    /// [recordings](crate::recording).
    pub fn variables(&self) -> impl Iterator<Item = (&str, &str)> {
        let variables = match &self.backend {
            // What a component is told reaches no process by itself.
            Backend::Virtual { .. } | Backend::Component(_) => None,
            Backend::Local(options) => Some(&options.environment),
            Backend::Container { options, .. } => Some(&options.environment),
            Backend::Remote(options) => Some(&options.environment),
            #[cfg(feature = "kubernetes")]
            Backend::Kubernetes { options, .. } => Some(&options.environment),
        };
        let each = variables.into_iter().flatten();
        each.map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// What is wrong, whoever made it.
    pub(super) fn problems(&self) -> Vec<Problem> {
        match &self.backend {
            Backend::Virtual { programs } => programs_table::problems(programs),
            Backend::Local(options) => local_table::problems(options),
            Backend::Container { options, .. } => container_table::problems(options),
            #[cfg(feature = "kubernetes")]
            Backend::Kubernetes { options, .. } => kubernetes_table::problems(options),
            Backend::Remote(options) => remote_table::problems(options),
            Backend::Component(options) => component_table::problems(options),
        }
    }
}
