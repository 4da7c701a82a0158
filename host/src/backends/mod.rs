//! The backends, one file each, and why one is not opened.
//!
//! A backend takes its options as a value; it knows of no configuration file and of no other backend.

mod client;
pub(crate) mod component;
mod container;
mod doctor;
mod executor;
mod in_process;
mod install;
mod keeper;
#[cfg(feature = "kubernetes")]
mod kubernetes;
mod lease;
mod local;
mod owner;
mod pool;
mod posix;
mod program;
mod remote;
mod report;
mod resident;
mod started_once;
mod virtual_;

use std::path::PathBuf;

#[cfg(feature = "kubernetes")]
pub use self::kubernetes::{
    ClusterAccess, ClusterAccessError, KubernetesError, KubernetesFailure, KubernetesOptions,
    KubernetesOptionsError, KubernetesPool, LeftPod, PodFate, PodResident, PodToleration,
    PrunePodsError,
};
pub use self::{
    client::{Client, ClientBytes, ClientBytesOutput, ClientError, ClientOptions, ClientOutput},
    component::{
        ComponentError, ComponentLimits, ComponentOptions, GrantError, HttpGrant, SecretError,
        SecretSource, SecretVariables,
    },
    container::{
        Bind, CliError, CliFailure, ContainerEngine, ContainerFate, ContainerOptions,
        ContainerOptionsError, ContainerPool, ContainerState, ContainerUser, DEFAULT_CWD, Gap,
        Guarantee, HostUser, Kept, Left, PruneOptions, PruneReport, PullPolicy, ResidentChoice,
        TransportChoice, Verdict, prune_ambient,
    },
    install::InstallError,
    local::LocalOptions,
    pool::PoolOptions,
    posix::{Exec, ExecCall, ExecError, PosixBackend, PosixGap, PosixOptions},
    program::EngineEnvironment,
    remote::{RemoteError, RemoteFailure, RemoteOptions, RemoteOptionsError},
    report::{ExamineError, Report, Row, Standing, Weakness},
    virtual_::VirtualOptions,
};

/// Why a sandbox is not opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The workspace is not there.
    #[error("the workspace {} does not exist; make it, or name another one", path.display())]
    WorkspaceNotFound {
        /// The workspace.
        path: PathBuf,
    },
    /// The workspace is not a directory.
    #[error("the workspace {} is not a directory", path.display())]
    WorkspaceNotADirectory {
        /// The workspace.
        path: PathBuf,
    },
    /// The workspace cannot be opened.
    #[error("the workspace {} cannot be opened", path.display())]
    Workspace {
        /// The workspace.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The workspace is to be changed and cannot be.
    #[error("the workspace {} cannot be written; give it the permission, or set writable = false", path.display())]
    WorkspaceNotWritable {
        /// The workspace.
        path: PathBuf,
    },
    /// The workspace's path cannot be told to a tool.
    #[error("the path of the workspace {} is not UTF-8, and a tool would see it; use another path", path.display())]
    WorkspaceNotUtf8 {
        /// The workspace.
        path: PathBuf,
    },
    /// A temporary workspace cannot be made.
    #[error("cannot make a temporary workspace")]
    Temporary(#[source] std::io::Error),
    /// `local` was chosen without the word that it may run processes on the host.
    #[error(
        "the local backend runs processes on this machine with your rights, and nothing confines them; to allow it, set allow-host-processes = true in [sandbox.local]"
    )]
    HostProcessesNotAllowed,
    /// A program that the sandbox is to have is not loaded.
    #[error("the program {name} of [sandbox.virtual.programs] is not loaded")]
    Program {
        /// The program's name.
        name: String,
        /// Why.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// What runs programs does not start.
    #[error("programs cannot be run")]
    Runtime(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// This system cannot supervise processes.
    #[error("this system cannot supervise processes")]
    Supervisor(#[source] std::io::Error),
    /// The options of a container are wrong.
    #[error("the container's options cannot be used")]
    ContainerOptions(#[from] ContainerOptionsError),
    /// A container's engine failed.
    #[error("the container engine failed")]
    Engine(#[from] CliError),
    /// The program that is to serve the contract in a container is named, and not there.
    #[error(
        "the resident {} is not there; name another one in [sandbox.container] resident, leave it out, or build it with `cargo xtask residents`",
        path.display()
    )]
    ResidentNotFound {
        /// Where it was named.
        path: PathBuf,
    },
    /// This installation has no resident to install on another machine.
    #[error(
        "there is no resident to install ({}); build one with `cargo xtask residents`",
        Looked(looked)
    )]
    NothingToInstall {
        /// The folders where it was looked for.
        looked: Vec<PathBuf>,
    },
    /// The program that serves the contract is there, and cannot be read.
    #[error("the resident cannot be read")]
    ResidentUnreadable(#[source] std::io::Error),
    /// The options of a place that a command reaches are wrong.
    #[error("the remote backend's options cannot be used")]
    RemoteOptions(#[from] RemoteOptionsError),
    /// A backend that is a component is not opened.
    #[error(transparent)]
    Component(#[from] ComponentError),
    /// The options of a Pod are wrong.
    #[cfg(feature = "kubernetes")]
    #[error("the Pod's options cannot be used")]
    KubernetesOptions(#[from] KubernetesOptionsError),
    /// There is no way to a cluster.
    #[cfg(feature = "kubernetes")]
    #[error("there is no way to the cluster")]
    Cluster(#[from] ClusterAccessError),
    /// A container did not start.
    #[error("the container did not start")]
    NotStarted(#[source] belljar_contract::Error),
    /// There is no thread that could keep a pool of containers filled.
    #[error("the pool of containers has no thread to work on")]
    Pool(#[source] std::io::Error),
    /// A container, or a Pod, cannot give what the configuration requires.
    #[error("the sandbox lacks what the configuration requires: {}", Listed(gaps))]
    RequirementsUnmet {
        /// What is missing.
        gaps: Vec<Gap>,
    },
}

struct Looked<'a>(&'a [PathBuf]);

impl std::fmt::Display for Looked<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0.is_empty() {
            return f.write_str("no folder of residents is known");
        }
        f.write_str("looked in")?;
        for path in self.0 {
            write!(f, " {}", path.display())?;
        }
        Ok(())
    }
}

struct Listed<'a>(&'a [Gap]);

impl std::fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (index, gap) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { "; " };
            write!(f, "{separator}{gap}")?;
        }
        Ok(())
    }
}
