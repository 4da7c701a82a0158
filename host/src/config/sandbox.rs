//! The `[sandbox]` table: a backend and its workspace.

use std::{collections::BTreeMap, fmt, path::PathBuf};

use super::{
    container::ContainerConfig,
    error::{Problem, ProblemKind},
    remote::RemoteConfig,
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

/// A mechanism, with what it needs to know.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[expect(
    clippy::large_enum_variant,
    reason = "a program has one or two, and a box would be in everybody's way"
)]
pub enum Backend {
    /// Files only, confined to the workspace.
    Virtual,
    /// Files, and processes of this machine with the host's own rights.
    Local(LocalConfig),
    /// A container.
    Container(ContainerConfig),
    /// What a command reaches.
    Remote(RemoteConfig),
}

/// What the `local` backend needs to know.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct LocalConfig {
    /// Says that processes may run with the host's own rights; nothing opens without it.
    pub allow_host_processes: bool,
    /// The PATH of processes, instead of the documented default.
    pub path: Option<String>,
    /// More variables for processes.
    pub environment: BTreeMap<String, String>,
}

impl fmt::Debug for LocalConfig {
    /// Leaves out the variables' values: they may be secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&String> = self.environment.keys().collect();
        f.debug_struct("LocalConfig")
            .field("allow_host_processes", &self.allow_host_processes)
            .field("path", &self.path)
            .field("environment", &names)
            .finish()
    }
}

impl SandboxConfig {
    /// What is wrong, whoever made it.
    pub(super) fn problems(&self) -> Vec<Problem> {
        let local = match &self.backend {
            Backend::Virtual => return Vec::new(),
            Backend::Local(local) => local,
            Backend::Container(container) => return container.problems(),
            Backend::Remote(remote) => return remote.problems(),
        };
        let mut problems = Vec::new();
        if !local.allow_host_processes {
            problems.push(Problem {
                key: ALLOW_HOST_PROCESSES.into(),
                position: None,
                kind: ProblemKind::Missing(
                    "the local backend runs processes with the rights of this one; say true to allow it",
                ),
            });
        }
        for (name, value) in &local.environment {
            if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
                problems.push(Problem {
                    key: format!("sandbox.local.environment.{name}"),
                    position: None,
                    kind: ProblemKind::BadValue(
                        "not a variable: a name is not empty and has no =, and nothing has a NUL"
                            .into(),
                    ),
                });
            }
        }
        problems
    }
}

pub(super) const ALLOW_HOST_PROCESSES: &str = "sandbox.local.allow-host-processes";
