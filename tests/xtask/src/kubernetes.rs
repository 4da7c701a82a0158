//! A real Kubernetes of two nodes for the tests, where its programs were built: they take too long to be built by the
//! way. `tests/kubernetes/` has the scripts that build, start and end it.

use std::{
    env,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::Result;

use crate::{
    engines::{BUSYBOX, Images},
    packages::{self, Package},
    process,
    workspace::Workspace,
};

/// Says where the programs are, or are to be.
const CACHE_VARIABLE: &str = "BELLJAR_KUBERNETES";
const CACHE: &str = "/var/cache/belljar-kubernetes";
/// Says where a running cluster has its state.
const STATE_VARIABLE: &str = "BELLJAR_KUBERNETES_STATE";
const STATE: &str = "/var/lib/belljar-kubernetes";

const NODES: [&str; 2] = ["node1", "node2"];

/// What a cluster takes beside its own programs.
const PACKAGES: [Package; 6] = [
    Package::new("etcd-server", "/usr/bin/etcd"),
    Package::new("containernetworking-plugins", "/usr/lib/cni/bridge"),
    Package::new("docker.io", "/usr/sbin/dockerd"),
    Package::new("busybox-static", "/bin/busybox"),
    Package::new("iproute2", "/sbin/ip"),
    Package::new("openssl", "/usr/bin/openssl"),
];

/// Starts the cluster, where it can be and does not run yet, and gives its nodes the image of the tests. It stays when
/// the tests have ended; idle, it takes a twentieth of a processor.
pub(crate) fn ready(workspace: &Workspace) -> Result<()> {
    if let Err(reason) = possible() {
        println!("skipped: Kubernetes, and its tests: {reason}");
        return Ok(());
    }
    let needed = env::var_os("BELLJAR_CI").is_some();
    if needed {
        packages::ensure(&PACKAGES)?;
    }
    let started = process::run(&mut script(workspace, "up")).and_then(|()| images(workspace));
    match started {
        Err(error) if !needed => {
            println!("skipped: Kubernetes, and its tests: {error:#}");
            Ok(())
        }
        started => started,
    }
}

/// Ends it.
pub(crate) fn down(workspace: &Workspace) -> Result<()> {
    process::run(&mut script(workspace, "down"))
}

/// Builds its programs.
pub(crate) fn build(workspace: &Workspace) -> Result<()> {
    process::run(&mut script(workspace, "build"))
}

/// Whether there can be a cluster on this machine; if not, why.
fn possible() -> Result<(), String> {
    let cache = of_variable(CACHE_VARIABLE, CACHE);
    if !cache.join("bin/kubelet").exists() {
        return Err(format!(
            "its programs are not in {}; `cargo xtask kubernetes --build` builds them, which takes twenty minutes of processor",
            cache.display()
        ));
    }
    if !rooted() {
        return Err("only root can start a cluster".to_owned());
    }
    if Path::new("/sys/fs/cgroup/cgroup.controllers").exists() {
        return Err("this version of it is set up for cgroups of version 1".to_owned());
    }
    Ok(())
}

fn rooted() -> bool {
    process::read(Command::new("id").arg("-u")).is_ok_and(|id| id.trim() == "0")
}

fn script(workspace: &Workspace, name: &str) -> Command {
    let folder = workspace.root().join("tests/kubernetes");
    let mut script = Command::new(folder.join(format!("{name}.sh")));
    script
        .env(CACHE_VARIABLE, of_variable(CACHE_VARIABLE, CACHE))
        .env(STATE_VARIABLE, of_variable(STATE_VARIABLE, STATE))
        .stdin(Stdio::null());
    script
}

fn of_variable(name: &str, default: &str) -> PathBuf {
    env::var_os(name).map_or_else(|| default.into(), PathBuf::from)
}

fn images(workspace: &Workspace) -> Result<()> {
    let archives = Images::new(workspace)?;
    let state = of_variable(STATE_VARIABLE, STATE);
    for node in NODES {
        let socket = state.join(node).join("docker.sock");
        let docker = || {
            let mut docker = Command::new("docker");
            docker.env("DOCKER_HOST", format!("unix://{}", socket.display()));
            docker
        };
        archives.import(docker, node, BUSYBOX)?;
    }
    Ok(())
}
