//! What the end-to-end tests and benchmarks of Belljar share.

mod bench;
mod containers;
mod daemon;
mod disk;
mod e2b;
mod emulated;
mod kubernetes;
mod lending_server;
mod lent_sandbox;
mod podman;
mod registry;
mod resident;
mod rootless;
mod sandbox_server;
mod ssh_server;
mod zombies;

use std::path::{Path, PathBuf};

pub use bench::{bench_workspace, median, millis, wait};
pub use containers::{BUSYBOX, DEBIAN, container_options, has_engine, is_root};
pub use daemon::Daemon;
pub use e2b::{E2B_KEY, E2bFault, E2bPlace, E2bProcess, E2bServer};
pub use emulated::{EMULATED, emulated_resident, has_emulator};
pub use kubernetes::{KubernetesCluster, KubernetesLink, KubernetesPlace, SHAKY_NODE, STEADY_NODE};
pub use lending_server::{LendingServer, Starts, in_query};
pub use lent_sandbox::LentSandboxes;
pub use podman::OwnPodman;
pub use registry::{RegistryServer, Signer};
pub use resident::ResidentProcess;
pub use rootless::RootlessPodman;
pub use sandbox_server::{SandboxClient, SandboxServer, SandboxServerOptions, TOKEN};
pub use ssh_server::SshServer;
pub use zombies::zombies;

/// The workspace's root folder.
#[must_use]
pub fn workspace_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .map(Path::to_owned)
        .unwrap_or_default()
}

/// The `belljar` command: where the build task says, or beside this test.
///
/// # Panics
/// When it was not built.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "the build task says where it is")]
pub fn belljar_command() -> PathBuf {
    let named = std::env::var_os("BELLJAR_BIN").map(PathBuf::from);
    let path = named.unwrap_or_else(|| {
        let test = std::env::current_exe().expect("this test's own path");
        let target = test.ancestors().nth(2).expect("cargo's target folder");
        target.join("belljar")
    });
    assert!(
        path.is_file(),
        "{} is not there; build it with `cargo build --package belljar`",
        path.display()
    );
    path
}

/// The static resident for this machine.
///
/// # Panics
/// When it was not built.
#[must_use]
pub fn static_resident() -> PathBuf {
    let path = resident_for(std::env::consts::ARCH);
    assert!(
        path.exists(),
        "{} is not there; build it with `cargo xtask residents`",
        path.display()
    );
    path
}

/// Where the static resident for an architecture is, when it was built.
fn resident_for(architecture: &str) -> PathBuf {
    #[expect(clippy::disallowed_methods, reason = "the build task says where it is")]
    let folder = std::env::var_os("BELLJAR_RESIDENTS")
        .map_or_else(|| workspace_root().join("target/residents"), PathBuf::from);
    folder.join(format!("belljar-resident-{architecture}-linux"))
}
