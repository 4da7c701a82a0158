//! What an operator may say of a Pod.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    path::PathBuf,
    time::Duration,
};

use belljar_contract::session::Limits;

use super::super::{DEFAULT_CWD, Guarantee, PullPolicy};

/// How the `kubernetes` backend is opened.
///
/// A Pod is as narrow as one can be until something is said: no token of the cluster's, no capability, no new
/// privileges, no root, a read-only root file system, limits for all that a Pod can limit. What it can reach over
/// the network only the cluster can say, by a NetworkPolicy.
///
/// ```
/// use belljar::backends::{KubernetesOptions, KubernetesOptionsError};
///
/// let options = KubernetesOptions::new("debian:12");
/// assert_eq!(options.cwd, "/workspace");
/// assert!(options.validated().is_ok());
///
/// let refused = KubernetesOptions::new("").validated();
/// assert!(matches!(refused, Err(KubernetesOptionsError::Image { .. })));
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct KubernetesOptions {
    /// Who says where the cluster is, and who asks.
    pub access: ClusterAccess,
    /// The kubeconfig's context; none for its current one.
    pub context: Option<String>,
    /// Whether a kubeconfig may name a program that logs in (`exec`, `auth-provider`). It is run with the rights and
    /// the variables of this process. Default: false, so that a file from elsewhere runs nothing here.
    pub login_programs: bool,
    /// The namespace; none for the context's.
    pub namespace: Option<String>,
    /// The image; there is no default.
    pub image: String,
    /// When nodes fetch the image.
    pub pull: PullPolicy,
    /// The names of the Secrets with which nodes fetch it.
    pub pull_secrets: Vec<String>,
    /// How the program that serves the contract reaches the Pod.
    pub resident: PodResident,
    /// Folders with the residents of this installation, `belljar-resident-ARCH-linux` each; the first that has
    /// one counts.
    pub residents: Vec<PathBuf>,
    /// The RuntimeClass, as `gvisor`; none for the cluster's usual runtime.
    pub runtime_class: Option<String>,
    /// Labels that a node must have.
    pub node_selector: BTreeMap<String, String>,
    /// Taints of nodes that are put up with.
    pub tolerations: Vec<PodToleration>,
    /// Where the workspace is in the Pod: absolute, and not the container's own. It is a volume that ends with it.
    pub cwd: String,
    /// Whether the file functions may change it.
    pub writable: bool,
    /// The most that the workspace may hold, in bytes. Default: 1 GiB. Who is over it is evicted.
    pub workspace_bytes: u64,
    /// The same for `/tmp`. Default: 256 MiB.
    pub tmp_bytes: u64,
    /// The most memory, in bytes, which is also reserved. Default: 1 GiB. None for the namespace's own.
    pub memory: Option<u64>,
    /// The most processor time, in thousandths of a processor, which is also reserved. Default: 1000. None for the
    /// namespace's own.
    pub cpu_millis: Option<u32>,
    /// The user and the group of every process. Default: 65532, which images have for nobody in particular.
    pub user: u32,
    /// The group of every process. Default: 65532.
    pub group: u32,
    /// Whether the root is read-only; the workspace and `/tmp` are then the only places to write.
    pub readonly_rootfs: bool,
    /// Whether the Pod is told of the cluster's name servers. Default: false.
    pub dns: bool,
    /// The longest time until there is a session, pulls included. Default: two minutes.
    pub start_timeout: Duration,
    /// How long the cluster may say that no node takes the Pod, before that is believed. Default: ten seconds, since
    /// what another Pod has just left takes a moment to be known. Where nodes are added on demand, the time that
    /// takes.
    pub schedule_patience: Duration,
    /// How long whoever is waited for may say nothing at all before the session is dead. Default: 30 seconds.
    pub patience: Duration,
    /// How often a session says that it lives. Default: 30 seconds. What the Pod does not hear for as long as this and
    /// [`patience`](Self::patience) together, it takes for gone, and ends.
    pub keep_alive: Duration,
    /// The longest life of a Pod, after which the cluster ends it, whatever it does. Default: a day. So long others
    /// leave a Pod alone whose owner they cannot see.
    pub lifetime: Duration,
    /// More variables for processes. They travel on the stream and are no part of the Pod.
    pub environment: BTreeMap<String, String>,
    /// Guarantees without which no session opens.
    pub require: BTreeSet<Guarantee>,
    /// The numbers in force.
    pub limits: Limits,
}

/// Who says where the cluster is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClusterAccess {
    /// Kubeconfig files; what several say is put together as `kubectl` does.
    Kubeconfig(Vec<PathBuf>),
    /// The service account of the Pod that this process itself runs in.
    InCluster,
}

/// How the program that serves the contract reaches a Pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PodResident {
    /// It is copied over the stream, and its SHA-256 is compared before it is started. The image needs a POSIX shell,
    /// and `sha256sum` or the like.
    Copy,
    /// The Pod's image has it.
    Image {
        /// Its path there.
        path: String,
    },
    /// Another image has it, from which it is copied before the Pod's own container starts.
    Init {
        /// That image.
        image: String,
        /// Its path there.
        path: String,
    },
}

/// A taint of nodes that a Pod puts up with.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PodToleration {
    /// The taint's key.
    pub key: String,
    /// Its value; none for any.
    pub value: Option<String>,
    /// Its effect; none for all.
    pub effect: Option<String>,
}

impl KubernetesOptions {
    /// The defaults, with an image.
    #[must_use]
    pub fn new(image: impl Into<String>) -> Self {
        Self {
            access: ClusterAccess::Kubeconfig(Vec::new()),
            context: None,
            login_programs: false,
            namespace: None,
            image: image.into(),
            pull: PullPolicy::default(),
            pull_secrets: Vec::new(),
            resident: PodResident::Copy,
            residents: Vec::new(),
            runtime_class: None,
            node_selector: BTreeMap::new(),
            tolerations: Vec::new(),
            cwd: DEFAULT_CWD.to_owned(),
            writable: true,
            workspace_bytes: 1 << 30,
            tmp_bytes: 256 << 20,
            memory: Some(1 << 30),
            cpu_millis: Some(1000),
            user: 65_532,
            group: 65_532,
            readonly_rootfs: true,
            dns: false,
            start_timeout: Duration::from_secs(120),
            schedule_patience: Duration::from_secs(10),
            patience: Duration::from_secs(30),
            keep_alive: Duration::from_secs(30),
            lifetime: Duration::from_secs(24 * 3600),
            environment: BTreeMap::new(),
            require: BTreeSet::new(),
            limits: Limits::default(),
        }
    }

    /// How long the resident waits for a word of this host's until it takes it for gone, and ends.
    pub(super) fn silence(&self) -> Duration {
        self.keep_alive.saturating_add(self.patience)
    }
}

impl fmt::Debug for KubernetesOptions {
    /// Leaves out the variables' values: they may be secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KubernetesOptions")
            .field("access", &self.access)
            .field("context", &self.context)
            .field("login_programs", &self.login_programs)
            .field("namespace", &self.namespace)
            .field("image", &self.image)
            .field("pull", &self.pull)
            .field("pull_secrets", &self.pull_secrets)
            .field("resident", &self.resident)
            .field("residents", &self.residents)
            .field("runtime_class", &self.runtime_class)
            .field("node_selector", &self.node_selector)
            .field("tolerations", &self.tolerations)
            .field("cwd", &self.cwd)
            .field("writable", &self.writable)
            .field("workspace_bytes", &self.workspace_bytes)
            .field("tmp_bytes", &self.tmp_bytes)
            .field("memory", &self.memory)
            .field("cpu_millis", &self.cpu_millis)
            .field("user", &self.user)
            .field("group", &self.group)
            .field("readonly_rootfs", &self.readonly_rootfs)
            .field("dns", &self.dns)
            .field("start_timeout", &self.start_timeout)
            .field("schedule_patience", &self.schedule_patience)
            .field("patience", &self.patience)
            .field("keep_alive", &self.keep_alive)
            .field("lifetime", &self.lifetime)
            .field("environment", &self.environment.keys())
            .field("require", &self.require)
            .field("limits", &self.limits)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_not_shown() {
        let mut options = KubernetesOptions::new("i");
        options.environment.insert("TOKEN".into(), "s3cret".into());
        assert!(!format!("{options:?}").contains("s3cret"));
    }
}
