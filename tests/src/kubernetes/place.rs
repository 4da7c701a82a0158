//! A namespace of a test's own, and the way to it of one who may do there what the documented Role says.

use std::{
    io,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
};

use belljar::backends::{ClusterAccess, KubernetesOptions, PullPolicy};
use tempfile::TempDir;

use crate::{BUSYBOX, static_resident};

use super::{KubernetesCluster, KubernetesLink, STEADY_NODE, process_began, until};

/// Where the API server is in its network.
const SERVER: ([u8; 4], u16) = ([10, 88, 0, 1], 6443);

/// Who the tests are for the cluster.
const USER: &str = "belljar-tests";

/// The namespace ends, with all in it, when this is dropped; that of a test that was killed when another begins.
#[derive(Debug)]
pub struct KubernetesPlace {
    cluster: KubernetesCluster,
    link: KubernetesLink,
    namespace: String,
    folder: TempDir,
}

impl KubernetesPlace {
    /// Makes one, where there is a cluster.
    ///
    /// # Panics
    /// When it is not made, and as [`KubernetesCluster::find`].
    #[must_use]
    pub fn make() -> Option<Self> {
        Self::on(STEADY_NODE)
    }

    /// One whose Pods are on this node.
    ///
    /// # Panics
    /// As [`make`](Self::make).
    #[must_use]
    pub fn on(node: &str) -> Option<Self> {
        let cluster = KubernetesCluster::find()?;
        match Self::made(cluster, node) {
            Ok(place) => Some(place),
            Err(error) => panic!("no place in the cluster: {error}"),
        }
    }

    fn made(cluster: KubernetesCluster, node: &str) -> io::Result<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        sweep(&cluster);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let (id, began) = (std::process::id(), own_beginning());
        let namespace = format!("belljar-{id}-{began}-{number}");
        let name = &namespace;
        cluster.apply(&format!(
            "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: {name}\n  \
             labels: {{belljar-tests: place}}\n  \
             annotations: {{scheduler.alpha.kubernetes.io/node-selector: kubernetes.io/hostname={node}}}\n",
        ));
        let folder = tempfile::Builder::new().prefix("belljar-").tempdir()?;
        let link = KubernetesLink::new(&cluster.network("control"), SocketAddr::from(SERVER))?;
        let place = Self {
            cluster,
            link,
            namespace,
            folder,
        };
        place.grant(role());
        place.write_kubeconfig()?;
        // No Pod may be made before its account is.
        until("the namespace has its account", || {
            let name = &place.namespace;
            let accounts = [
                "get",
                "serviceaccounts",
                "--output=name",
                "--namespace",
                name,
            ];
            place.cluster.ask(accounts).contains("/default")
        });
        Ok(place)
    }

    /// The cluster that it is in.
    #[must_use]
    pub fn cluster(&self) -> &KubernetesCluster {
        &self.cluster
    }

    /// The way to the cluster.
    #[must_use]
    pub fn link(&self) -> &KubernetesLink {
        &self.link
    }

    /// Its name in the cluster.
    #[must_use]
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// Who is granted what the Role says, and nothing else.
    #[must_use]
    pub fn kubeconfig(&self) -> PathBuf {
        self.folder.path().join("kubeconfig")
    }

    /// Options for a session here.
    #[must_use]
    pub fn options(&self) -> KubernetesOptions {
        let residents = static_resident().parent().map(Into::into);
        KubernetesOptions {
            access: ClusterAccess::Kubeconfig(vec![self.kubeconfig()]),
            namespace: Some(self.namespace.clone()),
            pull: PullPolicy::Never,
            residents: residents.into_iter().collect(),
            // Two processors have many of them.
            cpu_millis: Some(100),
            memory: Some(256 << 20),
            ..KubernetesOptions::new(BUSYBOX)
        }
    }

    /// A folder for what a test needs.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// What `kubectl` prints of the namespace.
    ///
    /// # Panics
    /// When it fails.
    #[track_caller]
    #[must_use]
    pub fn ask(&self, arguments: &[&str]) -> String {
        let namespace = ["--namespace", &self.namespace];
        self.cluster.ask(arguments.iter().chain(&namespace))
    }

    /// The names of its Pods that are not on their way out.
    ///
    /// # Panics
    /// When the cluster does not say.
    #[track_caller]
    #[must_use]
    pub fn pods(&self) -> Vec<String> {
        let each = r#"jsonpath={range .items[*]}{.metadata.name} {.status.phase}{.metadata.deletionTimestamp}{"\n"}{end}"#;
        let pods = self.ask(&["get", "pods", "--output", each]);
        let lives = |line: &&str| line.ends_with(" Running") || line.ends_with(" Pending");
        let name = |line: &str| line.split(' ').next().unwrap_or_default().to_owned();
        pods.lines().filter(lives).map(name).collect()
    }

    /// Makes what a manifest says, in the namespace.
    ///
    /// # Panics
    /// When the cluster does not take it.
    #[track_caller]
    pub fn apply(&self, manifest: &str) {
        let namespace = format!("--namespace={}", self.namespace);
        let mut kubectl = self.cluster.kubectl();
        kubectl.args(["apply", "--filename=-", &namespace]);
        if let Err(error) = super::output(&mut kubectl, manifest) {
            panic!("kubectl apply: {error}");
        }
    }

    /// Grants what this Role says, instead of what another did.
    ///
    /// # Panics
    /// When the cluster does not take it.
    #[track_caller]
    pub fn grant(&self, role: &str) {
        self.apply(role);
        self.apply(&format!(
            "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {{name: belljar}}\n\
             subjects: [{{kind: User, name: {USER}}}]\n\
             roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: Role, name: belljar}}\n"
        ));
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "a cluster is outside every workspace"
    )]
    fn write_kubeconfig(&self) -> io::Result<()> {
        let inside = std::fs::read_to_string(self.cluster.state.join("tests"))?;
        let there = format!("https://{}", SocketAddr::from(SERVER));
        let here = format!("https://{}", self.link.address());
        std::fs::write(self.kubeconfig(), inside.replace(&there, &here))
    }
}

impl Drop for KubernetesPlace {
    fn drop(&mut self) {
        // It ends in a while, for which nobody waits.
        let _ = self
            .cluster
            .kubectl()
            .args(["delete", "namespace", "--wait=false", &self.namespace])
            .output();
    }
}

/// Removes what tests left that were killed.
fn sweep(cluster: &KubernetesCluster) {
    let each =
        r#"jsonpath={range .items[*]}{.metadata.name}{.metadata.deletionTimestamp}{"\n"}{end}"#;
    let places = [
        "get",
        "namespaces",
        "--selector=belljar-tests=place",
        "--output",
        each,
    ];
    for name in cluster.ask(places).lines() {
        let words: Vec<&str> = name.split('-').collect();
        if let ["belljar", id, began, _] = words.as_slice()
            && let Ok(id) = id.parse()
            && process_began(id).as_deref() != Some(began)
        {
            let delete = [
                "delete",
                "namespace",
                "--wait=false",
                "--ignore-not-found",
                name,
            ];
            let _ = cluster.kubectl().args(delete).output();
        }
    }
}

fn own_beginning() -> String {
    process_began(std::process::id()).unwrap_or_default()
}

/// The Role, as the documentation has it: so that it is the one that is enough.
fn role() -> &'static str {
    let mut blocks = include_str!("../../../README.md")
        .split("```yaml\n")
        .skip(1);
    let role = blocks.find_map(|block| {
        let (block, _) = block.split_once("```")?;
        block
            .lines()
            .any(|line| line == "kind: Role")
            .then_some(block)
    });
    role.unwrap_or_else(|| panic!("the documentation has no Role"))
}
