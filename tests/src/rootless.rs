//! A rootless podman of a test's own: another user's, with their own images and containers.

#![expect(
    clippy::disallowed_methods,
    reason = "an engine is set up outside every workspace"
)]

use std::{
    ffi::OsStr,
    io,
    os::unix::fs::{PermissionsExt as _, chown},
    path::{Path, PathBuf},
    process::Command,
};

use belljar::backends::{ContainerEngine, ContainerOptions, EngineEnvironment};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::{
    BUSYBOX, container_options, containers::copy_image, has_engine, is_root, static_resident,
};

/// A user that every machine has, and who owns nothing on it.
const NOBODY: u32 = 65534;

/// Nobody's podman, with the image [`BUSYBOX`]. With this value it ends, and all that is on it.
///
/// Nobody has no range of borrowed ids, so that there is one user in its containers: root, who is nobody here.
pub struct RootlessPodman {
    folder: TempDir,
}

impl RootlessPodman {
    /// Whose it is.
    pub const USER: u32 = NOBODY;

    /// Makes one. None, with a word on why, where that cannot be.
    ///
    /// # Panics
    /// When it does not work, and in CI where it cannot.
    #[must_use]
    pub fn start() -> Option<Self> {
        if !is_root() || !has_engine(ContainerEngine::Podman, BUSYBOX) {
            return None;
        }
        match Self::made() {
            Ok(made) => Some(made),
            Err(error) => panic!("a rootless podman does not work: {error}"),
        }
    }

    fn made() -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("belljar-").tempdir()?;
        let made = Self { folder };
        set_mode(made.path(), 0o755)?;
        for name in ["home", "run", "work"] {
            let path = made.of(name);
            std::fs::create_dir(&path)?;
            set_mode(&path, 0o700)?;
            chown(&path, Some(NOBODY), Some(NOBODY))?;
        }
        std::fs::create_dir(made.of("residents"))?;
        let resident = static_resident();
        let name = resident.file_name().unwrap_or_default();
        std::fs::copy(&resident, made.of("residents").join(name))?;
        // A machine without a session for this user has no systemd to ask for a cgroup. The limits are as for
        // the other podman of the tests.
        let settings = "[containers]\n\
            default_ulimits = [\"nofile=20000:20000\", \"nproc=32768:32768\"]\n\
            [engine]\ncgroup_manager = \"cgroupfs\"\nevents_logger = \"file\"\nruntime = \"runc\"\n";
        std::fs::write(made.of("containers.conf"), settings)?;
        let storage = format!(
            "[storage]\ndriver = \"vfs\"\nrunroot = {:?}\ngraphroot = {:?}\n\
            [storage.options.vfs]\nignore_chown_errors = \"true\"\n",
            made.of("run").join("storage"),
            made.of("home").join("storage"),
        );
        std::fs::write(made.of("storage.conf"), storage)?;
        let mut program =
            String::from("#!/bin/sh\nexec setpriv --reuid=65534 --regid=65534 --clear-groups env");
        for (name, value) in made.variables() {
            program.push_str(&format!(" {name}='{}'", value.display()));
        }
        program.push_str(" podman \"$@\"\n");
        std::fs::write(made.program(), program)?;
        set_mode(&made.program(), 0o755)?;
        let mut load = Command::new(made.program());
        copy_image(ContainerEngine::Podman, load.current_dir("/"))?;
        Ok(made)
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn of(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// Podman's program, for root: it becomes nobody first.
    fn program(&self) -> PathBuf {
        self.of("podman")
    }

    fn variables(&self) -> [(&'static str, PathBuf); 4] {
        [
            ("HOME", self.of("home")),
            ("XDG_RUNTIME_DIR", self.of("run")),
            ("CONTAINERS_CONF", self.of("containers.conf")),
            ("CONTAINERS_STORAGE_CONF", self.of("storage.conf")),
        ]
    }

    /// A folder that is nobody's own.
    #[must_use]
    pub fn workspace(&self) -> PathBuf {
        self.of("work")
    }

    /// Where residents are that nobody may read.
    #[must_use]
    pub fn residents(&self) -> PathBuf {
        self.of("residents")
    }

    /// Options for a container of nobody's, in nobody's folder. The session is this process's, in whose folders
    /// nobody finds no socket.
    #[must_use]
    pub fn options(&self) -> ContainerOptions {
        ContainerOptions {
            program: Some(self.program()),
            engine_environment: EngineEnvironment::from_variables(std::env::vars_os()),
            workspace: Some(self.workspace()),
            residents: vec![self.residents()],
            ..container_options(ContainerEngine::Podman, BUSYBOX)
        }
    }

    /// A program as nobody, who has no more of the environment than their engine needs.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new("setpriv");
        command
            .args(["--reuid=65534", "--regid=65534", "--clear-groups", "--"])
            .arg(program)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .envs(self.variables())
            .current_dir(self.workspace());
        command
    }
}

impl Drop for RootlessPodman {
    fn drop(&mut self) {
        let podman = |arguments: &[&str]| {
            let mut command = Command::new(self.program());
            let output = command.args(arguments).current_dir("/").output();
            let output = output.map(|output| output.stdout).unwrap_or_default();
            String::from_utf8_lossy(&output).into_owned()
        };
        for id in podman(&["ps", "--all", "--quiet"]).split_whitespace() {
            podman(&["rm", "--force", "--time=0", id]);
        }
        // A process of its own holds its namespaces.
        let holder = std::fs::read_to_string(self.of("run/libpod/tmp/pause.pid"));
        let holder = holder.ok().and_then(|text| text.trim().parse().ok());
        if let Some(holder) = holder.and_then(Pid::from_raw) {
            let _ = kill_process(holder, Signal::KILL);
        }
    }
}

fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode))
}
