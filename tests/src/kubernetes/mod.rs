//! A real Kubernetes of two nodes, which `cargo xtask kubernetes` starts, where its programs were built.
//!
//! The cluster lives in networks of its own. What a test does there goes over a [`KubernetesLink`], which a test may
//! cut; what the fixture does goes another way, so that it reaches the cluster then, too.

mod link;
mod place;

use std::{
    ffi::OsStr,
    io,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

pub use self::{link::KubernetesLink, place::KubernetesPlace};

/// The node for whatever happens to nodes: no other test has a Pod there.
pub const SHAKY_NODE: &str = "node2";
/// The node for all else.
pub const STEADY_NODE: &str = "node1";

/// How long anything may take that the cluster does by itself.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often it is looked.
const LOOK: Duration = Duration::from_millis(50);

/// The cluster, which runs.
#[derive(Debug)]
pub struct KubernetesCluster {
    programs: PathBuf,
    state: PathBuf,
    /// Its one process in this machine's terms, below which it is.
    process: u32,
}

impl KubernetesCluster {
    /// Finds it; where there is none, the reason is printed.
    ///
    /// # Panics
    /// In CI, where its programs are and it does not run.
    #[expect(
        clippy::print_stdout,
        clippy::disallowed_methods,
        reason = "a skipped test says so, and CI that none may be where it could run"
    )]
    #[must_use]
    pub fn find() -> Option<Self> {
        let of = |name: &str, default: &str| {
            std::env::var_os(name).map_or_else(|| default.into(), PathBuf::from)
        };
        let programs = of("BELLJAR_KUBERNETES", "/var/cache/belljar-kubernetes").join("bin");
        let state = of("BELLJAR_KUBERNETES_STATE", "/var/lib/belljar-kubernetes");
        let possible = programs.join("kubelet").exists()
            && rustix::process::geteuid().is_root()
            && !Path::new("/sys/fs/cgroup/cgroup.controllers").exists();
        if let (Some(process), true) = (running(&state), possible) {
            return Some(Self {
                programs,
                state,
                process,
            });
        }
        let reason = "Kubernetes: no cluster runs; see `cargo xtask kubernetes`";
        assert!(
            !possible || std::env::var_os("BELLJAR_CI").is_none(),
            "{reason}"
        );
        println!("skipped: {reason}");
        None
    }

    /// `kubectl` as whoever may do all, on a way that no test cuts.
    #[must_use]
    pub fn kubectl(&self) -> Command {
        let mut command = self.within("control");
        command
            .arg(self.programs.join("kubectl"))
            .arg("--kubeconfig")
            .arg(self.state.join("admin"));
        command
    }

    /// The program itself, for whoever comes another way.
    #[must_use]
    pub fn kubectl_program(&self) -> PathBuf {
        self.programs.join("kubectl")
    }

    /// What `kubectl` prints.
    ///
    /// # Panics
    /// When it fails.
    #[track_caller]
    pub fn ask<T: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = T>) -> String {
        match output(self.kubectl().args(arguments), "") {
            Ok(printed) => printed,
            Err(error) => panic!("kubectl: {error}"),
        }
    }

    /// Makes what a manifest says.
    ///
    /// # Panics
    /// When the cluster does not take it.
    #[track_caller]
    pub fn apply(&self, manifest: &str) {
        if let Err(error) = output(self.kubectl().args(["apply", "--filename", "-"]), manifest) {
            panic!("kubectl apply: {error}");
        }
    }

    /// Cuts a node's link: what is sent to and by it is lost, and nobody is told.
    ///
    /// # Panics
    /// When it cannot be cut.
    pub fn cut(&self, node: &str) {
        self.link_of(node, "down");
    }

    /// Joins it again, and waits until the node takes Pods.
    ///
    /// # Panics
    /// When it does not for long.
    pub fn mend(&self, node: &str) {
        self.link_of(node, "up");
        let state = r#"{.status.conditions[?(@.type=="Ready")].status}{.spec.taints}"#;
        until("the node is ready again", || {
            let output = format!("jsonpath={state}");
            self.ask(["get", "node", node, "--output", &output]) == "True"
        });
    }

    fn link_of(&self, node: &str, to: &str) {
        let mut command = self.within("control");
        let set = output(command.args(["ip", "link", "set", node, to]), "");
        if let Err(error) = set {
            panic!("the link of {node}: {error}");
        }
    }

    /// Gives the nodes an image of one program, `/belljar-resident`.
    ///
    /// # Panics
    /// When they do not take it.
    pub fn image_of_resident(&self, name: &str) {
        let resident = crate::static_resident();
        for node in [STEADY_NODE, SHAKY_NODE] {
            let packed = Command::new("tar")
                .arg("--create")
                .arg("--transform=s,.*,belljar-resident,")
                .arg("--directory")
                .arg(resident.parent().unwrap_or(&resident))
                .arg(resident.file_name().unwrap_or_default())
                .stdout(Stdio::piped())
                .spawn();
            let imported = packed.and_then(|mut packed| {
                let mut import = self.docker(node);
                let input = packed.stdout.take().map_or_else(Stdio::null, Stdio::from);
                let done = import.args(["import", "-", name]).stdin(input).output()?;
                Ok(packed.wait()?.success() && done.status.success())
            });
            assert!(
                matches!(imported, Ok(true)),
                "{name} for {node}: {imported:?}"
            );
        }
    }

    /// Takes an image from the nodes.
    pub fn forget_image(&self, name: &str) {
        for node in [STEADY_NODE, SHAKY_NODE] {
            // A container of it may still be on its way out; then the image goes with the cluster.
            let _ = self.docker(node).args(["image", "rm", name]).output();
        }
    }

    /// A node's own engine.
    #[must_use]
    pub fn docker(&self, node: &str) -> Command {
        let socket = self.state.join(node).join("docker.sock");
        let mut docker = Command::new("docker");
        docker.env("DOCKER_HOST", format!("unix://{}", socket.display()));
        docker
    }

    /// A command among the cluster's mounts, in one of its networks.
    fn within(&self, network: &str) -> Command {
        let mut command = Command::new("nsenter");
        let mut network_option = std::ffi::OsString::from("--net=");
        network_option.push(self.network(network));
        command
            .arg(format!("--target={}", self.process))
            .arg("--mount")
            .arg(network_option)
            .arg("--");
        command
    }

    /// One of its networks, as a file.
    fn network(&self, name: &str) -> PathBuf {
        let state = self.state.strip_prefix("/").unwrap_or(&self.state);
        Path::new("/proc")
            .join(self.process.to_string())
            .join("root")
            .join(state)
            .join("net")
            .join(name)
    }
}

/// The process that is a cluster, when it is ready and lives.
#[expect(
    clippy::disallowed_methods,
    reason = "a cluster is outside every workspace"
)]
fn running(state: &Path) -> Option<u32> {
    let known = std::fs::read_to_string(state.join("cluster")).ok()?;
    let (id, began) = known.trim().split_once(' ')?;
    let id = id.parse().ok()?;
    let lives = process_began(id).as_deref() == Some(began);
    (lives && state.join("ready").exists()).then_some(id)
}

/// When a process began, in the kernel's ticks: with its id it is one process for ever.
#[expect(clippy::disallowed_methods, reason = "it is the kernel that says it")]
fn process_began(id: u32) -> Option<String> {
    let line = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    let after_name = line.rsplit_once(") ")?.1;
    after_name.split(' ').nth(19).map(str::to_owned)
}

/// What a command prints, which is given something to read.
fn output(command: &mut Command, input: &str) -> io::Result<String> {
    use io::Write as _;
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(input.as_bytes())?;
    }
    let output = child.wait_with_output()?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(io::Error::other(
            String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        )),
    }
}

/// Looks until it is so.
#[expect(clippy::disallowed_methods, reason = "what it waits for is real")]
#[track_caller]
fn until(what: &str, mut so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !so() {
        assert!(
            began.elapsed() < PATIENCE,
            "not within {PATIENCE:?}: {what}"
        );
        std::thread::sleep(LOOK);
    }
}
