//! What an operator may say of a container.
//!
//! The documentation of its plain choices is also what the schema of a configuration shows.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    path::PathBuf,
    time::Duration,
};

use belljar_contract::session::Limits;

use super::{ContainerEngine, EngineEnvironment, Guarantee};

/// Where the workspace is in a container, when nothing else is said.
pub const DEFAULT_CWD: &str = "/workspace";

/// How the `container` backend is opened.
///
/// Everything is as narrow as it can be until something is said: no network, no capability, no new privileges,
/// a read-only root, and the workspace as the only thing of the host's.
///
/// ```
/// use belljar::backends::{ContainerOptions, ContainerOptionsError};
///
/// let options = ContainerOptions::new("debian:12");
/// assert_eq!((options.network.as_str(), options.pids_limit), ("none", Some(512)));
/// assert!(options.validated().is_ok());
///
/// let refused = ContainerOptions::new("--privileged").validated();
/// assert!(matches!(refused, Err(ContainerOptionsError::Image { .. })));
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct ContainerOptions {
    /// The engine.
    pub engine: ContainerEngine,
    /// The engine's program: a name on the PATH, or a path; none for the engine's usual name.
    pub program: Option<PathBuf>,
    /// The variables of the engine's program.
    pub engine_environment: EngineEnvironment,
    /// The image; there is no default.
    pub image: String,
    /// When the image is fetched from its registry.
    pub pull: PullPolicy,
    /// Where the workspace is in the container: absolute, and not the container's own.
    pub cwd: String,
    /// The host's directory that is bound there; none for scratch, which ends with the container.
    pub workspace: Option<PathBuf>,
    /// Whether the workspace may be changed. One that may not is bound read-only.
    pub writable: bool,
    /// More of the host's directories and files.
    pub binds: Vec<Bind>,
    /// The network's name; `none` for no network at all.
    pub network: String,
    /// Capabilities that are given back after all were dropped: `CHOWN`, `NET_BIND_SERVICE`, …
    pub cap_add: BTreeSet<String>,
    /// The most memory, in bytes, swap included.
    pub memory: Option<u64>,
    /// The most processor time, in thousandths of a processor: 1500 are one and a half.
    pub cpu_millis: Option<u32>,
    /// The most processes and threads. None for the engine's own limit, which may be none.
    ///
    /// 512 are enough for a parallel build, and stop a fork bomb before the host feels it.
    pub pids_limit: Option<u32>,
    /// Whose rights processes have. None: those of the host's user where a workspace is bound, so that
    /// what is made there belongs to the caller; else the image's.
    pub user: Option<ContainerUser>,
    /// Whether the root is read-only; scratch and `/tmp` are then the only places to write.
    pub readonly_rootfs: bool,
    /// The size of the scratch at [`cwd`](Self::cwd), in bytes. It is memory, and counts as such.
    ///
    /// The default is 1 GiB: a checkout and its build, where a source tree alone is much smaller.
    pub scratch_bytes: u64,
    /// Whether programs in the scratch can be executed. Default: true, since to build and to run is what a
    /// workspace is for.
    pub scratch_exec: bool,
    /// The size of `/tmp`, in bytes. Default: 256 MiB.
    pub tmp_bytes: u64,
    /// Whether programs in `/tmp` can be executed. Default: false; nothing but an installer needs it.
    pub tmp_exec: bool,
    /// The longest time that a start may take, a pull included. Default: two minutes.
    pub start_timeout: Duration,
    /// A name under which the container is found again; see [`reconnect`](Self::reconnect).
    pub name: Option<String>,
    /// Whether a container of this name is used again, and left when the session closes: stopped, so that nothing
    /// in it runs without an owner. It needs [`state`](Self::state).
    ///
    /// What is kept is the bound workspace, and what was written elsewhere in the container, where
    /// [`readonly_rootfs`](Self::readonly_rootfs) is false. Scratch, `/tmp` and every process are gone, as they are
    /// at every stop of a container. One session at a time has it; another is `busy`. It is looked for at the first
    /// call: with other hardening or another image it is refused, and so are two of one name. When it was removed
    /// meanwhile, a new one takes its place.
    pub reconnect: bool,
    /// How long after its start others leave a container alone whose owner they cannot see. Default: a day.
    pub lease: Duration,
    /// More variables for processes in the container. They travel on the stream and never in an argv.
    pub environment: BTreeMap<String, String>,
    /// A folder of the host's where what is found again has its place: see [`reconnect`](Self::reconnect). It is
    /// made when it is missing, for this user alone. Its path is best short: a socket's has about 100 bytes.
    pub state: Option<PathBuf>,
    /// How the program that serves the contract is reached. Default: over a socket where the engine is on this
    /// kernel, which is the fastest, else over standard input and output, which reach everywhere.
    pub transport: TransportChoice,
    /// How long a container that is waited for may say nothing at all before the session is dead. Default: 15
    /// seconds, in which a container on a machine that is short of everything still answers.
    pub patience: Duration,
    /// The program that serves the contract in the container.
    pub resident: ResidentChoice,
    /// Folders with the residents of this installation, `belljar-resident-ARCH-linux` each; the first that has
    /// one counts.
    pub residents: Vec<PathBuf>,
    /// Without these no session opens.
    pub require: BTreeSet<Guarantee>,
    /// The numbers in force.
    pub limits: Limits,
}

/// Something of the host's that is seen in a container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bind {
    /// A path of the host: absolute.
    pub host: PathBuf,
    /// Where it is seen: absolute.
    pub container: String,
    /// Whether it may be changed.
    pub writable: bool,
}

impl Bind {
    /// Binds read-only.
    #[must_use]
    pub fn read_only(host: impl Into<PathBuf>, container: impl Into<String>) -> Self {
        Self {
            host: host.into(),
            container: container.into(),
            writable: false,
        }
    }
}

/// Whose rights processes have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ContainerUser {
    /// The host's user who calls: what is made in a bound workspace belongs to them.
    Host,
    /// The image's.
    Image,
    /// This one, by name or as `UID` or `UID:GID`.
    Named(String),
}

/// The host's user who calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostUser {
    /// The user's id.
    pub uid: u32,
    /// The group's id.
    pub gid: u32,
}

/// When an image is fetched from its registry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PullPolicy {
    /// When it is not there.
    #[default]
    Missing,
    /// Never: no registry is asked.
    Never,
    /// Before every start.
    Always,
}

impl PullPolicy {
    /// The policy's name, in a configuration and for an engine.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Never => "never",
            Self::Always => "always",
        }
    }
}

/// How the program that serves the contract is reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TransportChoice {
    /// The fastest way that reaches it.
    #[default]
    Auto,
    /// A socket in a folder that is bound into the container.
    Socket,
    /// The standard input and output of the engine's program.
    Stdio,
}

/// The program that serves the contract in the container.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ResidentChoice {
    /// The one of this installation for the image's architecture; where there is none, as [`Off`](Self::Off), with
    /// a warning. Whoever needs it requires [`Guarantee::Resident`].
    #[default]
    Auto,
    /// None: every operation is an `exec` of its own, which is slow and weaker.
    Off,
    /// This one, a path of the host; it must be there.
    Path(PathBuf),
}

impl ContainerOptions {
    /// The defaults, with an image.
    #[must_use]
    pub fn new(image: impl Into<String>) -> Self {
        Self {
            engine: ContainerEngine::default(),
            program: None,
            engine_environment: EngineEnvironment::default(),
            image: image.into(),
            pull: PullPolicy::default(),
            cwd: DEFAULT_CWD.to_owned(),
            workspace: None,
            writable: true,
            binds: Vec::new(),
            network: NO_NETWORK.to_owned(),
            cap_add: BTreeSet::new(),
            memory: None,
            cpu_millis: None,
            pids_limit: Some(512),
            user: None,
            readonly_rootfs: true,
            scratch_bytes: 1 << 30,
            scratch_exec: true,
            tmp_bytes: 256 << 20,
            tmp_exec: false,
            start_timeout: Duration::from_secs(120),
            name: None,
            reconnect: false,
            lease: Duration::from_secs(24 * 3600),
            environment: BTreeMap::new(),
            state: None,
            transport: TransportChoice::default(),
            patience: Duration::from_secs(15),
            resident: ResidentChoice::default(),
            residents: Vec::new(),
            require: BTreeSet::new(),
            limits: Limits::default(),
        }
    }

    /// Whose rights processes have, when nothing was said too.
    pub(super) fn effective_user(&self) -> ContainerUser {
        match (&self.user, &self.workspace) {
            (Some(user), _) => user.clone(),
            (None, Some(_)) => ContainerUser::Host,
            (None, None) => ContainerUser::Image,
        }
    }
}

/// The network that is none.
pub(super) const NO_NETWORK: &str = "none";

impl fmt::Debug for ContainerOptions {
    /// Leaves out the variables' values: they may be secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ContainerOptions")
            .field("engine", &self.engine)
            .field("program", &self.program)
            .field("engine_environment", &self.engine_environment)
            .field("image", &self.image)
            .field("pull", &self.pull)
            .field("cwd", &self.cwd)
            .field("workspace", &self.workspace)
            .field("writable", &self.writable)
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
            .field("state", &self.state)
            .field("transport", &self.transport)
            .field("patience", &self.patience)
            .field("resident", &self.resident)
            .field("residents", &self.residents)
            .field("require", &self.require)
            .field("limits", &self.limits)
            .finish()
    }
}
