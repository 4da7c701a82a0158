//! What the `container` backend needs to know, as a configuration says it.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    path::PathBuf,
    time::Duration,
};

use super::error::{Problem, ProblemKind};

/// What the `container` backend needs to know. What is none has the backend's default.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ContainerConfig {
    /// Whose command line starts the container.
    pub engine: Engine,
    /// The engine's program: a name, or a path of the host.
    pub program: Option<PathBuf>,
    /// The image; there is no default.
    pub image: String,
    /// When the image is fetched.
    pub pull: Pull,
    /// Where the workspace is in the container.
    pub cwd: Option<String>,
    /// More of the host's directories and files.
    pub binds: Vec<BindConfig>,
    /// The network's name.
    pub network: Option<String>,
    /// Capabilities that are given back.
    pub cap_add: BTreeSet<String>,
    /// The most memory, in bytes.
    pub memory: Option<u64>,
    /// The most processor time, in thousandths of a processor.
    pub cpu_millis: Option<u32>,
    /// The most processes; 0 for the engine's own limit.
    pub pids_limit: Option<u32>,
    /// Whose rights processes have.
    pub user: Option<User>,
    /// Whether the root is read-only.
    pub readonly_rootfs: Option<bool>,
    /// The size of the scratch, in bytes.
    pub scratch_bytes: Option<u64>,
    /// Whether programs in the scratch can be executed.
    pub scratch_exec: Option<bool>,
    /// The size of `/tmp`, in bytes.
    pub tmp_bytes: Option<u64>,
    /// Whether programs in `/tmp` can be executed.
    pub tmp_exec: Option<bool>,
    /// The longest time that a start may take.
    pub start_timeout: Option<Duration>,
    /// A name for the container.
    pub name: Option<String>,
    /// Whether a container of this name is used again.
    pub reconnect: bool,
    /// How long others leave a container alone whose owner they cannot see.
    pub lease: Option<Duration>,
    /// More variables for processes.
    pub environment: BTreeMap<String, String>,
    /// The program that serves the contract in the container.
    pub resident: Resident,
    /// How it is reached.
    pub transport: Transport,
    /// How long a container that is waited for may say nothing at all.
    pub patience: Option<Duration>,
    /// How many containers run before a session needs one.
    pub pool_size: u32,
    /// How long these are kept when nobody asks for a session.
    pub pool_idle: Option<Duration>,
    /// Guarantees without which no session opens.
    pub require: BTreeSet<Guarantee>,
}

/// Something of the host's that is seen in the container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BindConfig {
    /// A path of the host.
    pub host: PathBuf,
    /// Where it is seen.
    pub container: String,
    /// Whether it may be changed.
    pub writable: bool,
}

/// A container engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Engine {
    /// Docker, and what has its command line.
    #[default]
    Docker,
    /// Podman.
    Podman,
    /// Apple's container.
    Apple,
}

/// When an image is fetched from its registry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Pull {
    /// When it is not there.
    #[default]
    Missing,
    /// Never: no registry is asked.
    Never,
    /// Before every start.
    Always,
}

/// Whose rights processes have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum User {
    /// Those of the host's user who calls.
    Host,
    /// Those of the image's user.
    Image,
    /// Those of this user of the image.
    Named(String),
}

/// The program that serves the contract in the container.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Resident {
    /// The one of this installation for the image's architecture; where there is none, as `Off`.
    #[default]
    Auto,
    /// None: an exec for every operation.
    Off,
    /// This one, a path of the host.
    Path(PathBuf),
}

/// How the program that serves the contract is reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Transport {
    /// The fastest way that reaches it.
    #[default]
    Auto,
    /// A socket in a folder that is bound into the container.
    Socket,
    /// The standard input and output of the engine's program.
    Stdio,
}

/// Something that a container guarantees.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Guarantee {
    /// No program gets more rights than its caller has.
    NoNewPrivileges,
    /// There are no capabilities but those that were given back.
    Capabilities,
    /// The engine's filter of system calls is in force.
    Seccomp,
    /// The number of processes is limited.
    PidsLimit,
    /// Memory is limited.
    MemoryLimit,
    /// Processor time is limited.
    CpuLimit,
    /// The root is read-only.
    ReadonlyRootfs,
    /// The scratch and /tmp have a size.
    ScratchSize,
    /// There is no network.
    NoNetwork,
    /// What is made in the workspace belongs to the user who calls.
    HostUser,
    /// The image is fetched when the configuration says so, and at no other time.
    PullPolicy,
    /// What the container prints is not stored on this machine.
    NoLog,
    /// The image brings no writable volumes of its own.
    NoImageVolumes,
    /// The program that serves the contract runs in the container.
    Resident,
    /// The container ends when the program that opened it does.
    EndsWithOwner,
}

pub(super) const IMAGE: &str = "sandbox.container.image";
pub(super) const IMAGE_MISSING: &str =
    "the container backend has no default image; name one, as in image = \"debian:12\"";

impl ContainerConfig {
    /// Makes a configuration of a container of this image, with the defaults.
    #[must_use]
    pub fn new(image: impl Into<String>) -> Self {
        Self {
            image: image.into(),
            ..Self::default()
        }
    }

    /// What is wrong, whoever made it. What a container itself refuses is said when it is opened.
    pub(super) fn problems(&self) -> Vec<Problem> {
        match self.image.is_empty() {
            false => Vec::new(),
            true => vec![Problem {
                key: IMAGE.into(),
                position: None,
                kind: ProblemKind::Missing(IMAGE_MISSING),
            }],
        }
    }
}

impl fmt::Debug for ContainerConfig {
    /// Leaves out the variables' values: they may be secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ContainerConfig")
            .field("engine", &self.engine)
            .field("program", &self.program)
            .field("image", &self.image)
            .field("pull", &self.pull)
            .field("cwd", &self.cwd)
            .field("binds", &self.binds)
            .field("network", &self.network)
            .field("cap_add", &self.cap_add)
            .field("memory", &self.memory)
            .field("cpu_millis", &self.cpu_millis)
            .field("pids_limit", &self.pids_limit)
            .field("user", &self.user)
            .field("readonly_rootfs", &self.readonly_rootfs)
            .field("scratch_bytes", &self.scratch_bytes)
            .field("scratch_exec", &self.scratch_exec)
            .field("tmp_bytes", &self.tmp_bytes)
            .field("tmp_exec", &self.tmp_exec)
            .field("start_timeout", &self.start_timeout)
            .field("name", &self.name)
            .field("reconnect", &self.reconnect)
            .field("lease", &self.lease)
            .field("environment", &self.environment.keys())
            .field("resident", &self.resident)
            .field("transport", &self.transport)
            .field("patience", &self.patience)
            .field("pool_size", &self.pool_size)
            .field("pool_idle", &self.pool_idle)
            .field("require", &self.require)
            .finish()
    }
}
