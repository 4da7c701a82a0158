//! A docker daemon of a test's own, which may be killed, frozen and filled: nobody else's containers are on it.

#![expect(
    clippy::disallowed_methods,
    reason = "a daemon is set up outside every workspace, and found on the PATH"
)]

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use belljar::backends::{ContainerEngine, ContainerOptions, EngineEnvironment};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::{BUSYBOX, container_options, containers::copy_image, disk::Disk, has_engine, is_root};

/// How long it may take to come, and to go.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often it is looked.
const LOOK: Duration = Duration::from_millis(20);

/// Where the daemon below the daemon says its id.
const CONTAINERD: &str = "exec/containerd/containerd.pid";

/// Networks are nobody's business here: no container has one.
const OPTIONS: [&str; 5] = [
    "--bridge=none",
    "--iptables=false",
    "--ip6tables=false",
    "--ip-forward=false",
    "--ip-masq=false",
];

/// A daemon with the image [`BUSYBOX`]. With this value it ends, and all that is on it.
///
/// It is for the thread that made it: with that thread the system ends it too.
pub struct Daemon {
    /// None while it is dead.
    daemon: Option<Child>,
    disk: Disk,
    options: Vec<String>,
    folder: TempDir,
}

impl Daemon {
    /// Who root of a container is on this machine, where users are remapped.
    pub const REMAPPED: u32 = 1_500_000_000;

    /// Starts one whose disk has so many bytes, with more options. None, with a word on why, where that
    /// cannot be.
    ///
    /// # Panics
    /// When it does not start, and in CI where it cannot.
    #[must_use]
    pub fn start(disk: u64, options: &[&str]) -> Option<Self> {
        Self::start_with(disk, options, None)
    }

    /// Starts one whose containers' users are others on this machine: [`REMAPPED`](Self::REMAPPED) and the ids
    /// after it. None, with a word on why, where that cannot be.
    ///
    /// # Panics
    /// As [`start`](Self::start).
    #[must_use]
    pub fn remapping(disk: u64) -> Option<Self> {
        let ranges = format!("nobody:{0}:65536\nnogroup:{0}:65536\n", Self::REMAPPED);
        Self::start_with(disk, &["--userns-remap=nobody:nogroup"], Some(&ranges))
    }

    fn start_with(disk: u64, options: &[&str], ranges: Option<&str>) -> Option<Self> {
        if !is_root() || !has_engine(ContainerEngine::Docker, BUSYBOX) {
            return None;
        }
        let started = Self::with_disk(disk, options, ranges).and_then(|mut daemon| {
            daemon.restart()?;
            copy_image(ContainerEngine::Docker, &mut docker(&daemon.address(), &[]))?;
            Ok(daemon)
        });
        match started {
            Ok(daemon) => Some(daemon),
            Err(error) => panic!("a daemon does not start: {error}"),
        }
    }

    fn with_disk(disk: u64, options: &[&str], ranges: Option<&str>) -> io::Result<Self> {
        // Sockets lie below it, whose paths must be short. A user who is none here must pass.
        let folder = tempfile::Builder::new().prefix("belljar-").tempdir()?;
        set_mode(folder.path(), 0o711)?;
        let (data, borrowed) = (folder.path().join("data"), folder.path().join("ranges"));
        std::fs::create_dir(&data)?;
        if let Some(ranges) = ranges {
            std::fs::write(&borrowed, ranges)?;
        }
        Ok(Self {
            daemon: None,
            disk: Disk::make(disk, &data, ranges.map(|_| borrowed.as_path()))?,
            options: options.iter().map(|&option| option.to_owned()).collect(),
            folder,
        })
    }

    /// Starts it again, where it is dead, and waits until it answers.
    ///
    /// # Errors
    /// When it does not start, with the end of its log.
    pub fn restart(&mut self) -> io::Result<()> {
        if self.daemon.is_some() {
            return Ok(());
        }
        let of = |name: &str| self.folder.path().join(name);
        // What a dead daemon left would keep this one from starting.
        for left in ["pid", CONTAINERD] {
            let _ = std::fs::remove_file(of(left));
        }
        let log = File::options().create(true).append(true).open(of("log"))?;
        let path = std::env::var("PATH").unwrap_or_default();
        let child = self
            .disk
            .command("setpriv")
            .args(["--pdeathsig=KILL", "dockerd"])
            .args(OPTIONS)
            .arg("--data-root")
            .arg(of("data"))
            .arg("--exec-root")
            .arg(of("exec"))
            .arg("--pidfile")
            .arg(of("pid"))
            .args(["--host", &self.address()])
            .args(&self.options)
            .env("PATH", format!("{path}:/usr/sbin:/sbin"))
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()?;
        let child = self.daemon.insert(child);
        let began = Instant::now();
        loop {
            if let Some(status) = child.try_wait()? {
                self.daemon = None;
                return Err(self.said(&format!("it ended with {status}")));
            }
            if works(&mut docker(&address(self.folder.path()), &["version"]))? {
                return Ok(());
            }
            if began.elapsed() > PATIENCE {
                return Err(self.said("it does not answer"));
            }
            sleep(LOOK);
        }
    }

    fn said(&self, what: &str) -> io::Error {
        let log = std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
        let last: Vec<&str> = log.lines().rev().take(10).collect();
        let last: Vec<&str> = last.into_iter().rev().collect();
        io::Error::other(format!("{what}:\n{}", last.join("\n")))
    }

    fn address(&self) -> String {
        address(self.folder.path())
    }

    /// What an engine's program must know to reach it.
    #[must_use]
    pub fn environment(&self) -> EngineEnvironment {
        let address = [("DOCKER_HOST".into(), self.address().into())];
        EngineEnvironment::from_variables(std::env::vars_os().chain(address))
    }

    /// Options for a container on it.
    #[must_use]
    pub fn options(&self) -> ContainerOptions {
        ContainerOptions {
            engine_environment: self.environment(),
            ..container_options(ContainerEngine::Docker, BUSYBOX)
        }
    }

    /// Runs docker's program on it, and gives what that prints.
    ///
    /// # Panics
    /// When it fails.
    #[must_use]
    pub fn docker(&self, arguments: &[&str]) -> String {
        let output = docker(&self.address(), arguments).output();
        let output = output.unwrap_or_else(|error| panic!("docker does not start: {error}"));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "docker {arguments:?}: {said}");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// The ids of all its containers, in every state.
    #[must_use]
    pub fn containers(&self) -> Vec<String> {
        let ids = self.docker(&["ps", "--all", "--quiet", "--no-trunc"]);
        ids.split_whitespace().map(str::to_owned).collect()
    }

    /// A folder for what it is to find: the same for it and for the test.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Fills its disk to the last byte, until the file that this gives is removed.
    ///
    /// # Errors
    /// When it is not full.
    pub fn fill(&self) -> io::Result<PathBuf> {
        self.disk.fill()
    }

    /// Kills it, and waits for it. Its containers live.
    pub fn kill(&mut self) {
        self.end(Signal::KILL);
    }

    /// Tells it to end, and waits until it has, with its containers.
    pub fn terminate(&mut self) {
        self.end(Signal::TERM);
    }

    /// Stops it: it is there, and does nothing.
    pub fn freeze(&self) {
        self.signal(Signal::STOP);
    }

    /// Lets it go on.
    pub fn thaw(&self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        if let Some(daemon) = &self.daemon {
            // It was not waited for, so the id is its own.
            let _ = kill_process(Pid::from_child(daemon), signal);
        }
    }

    fn end(&mut self, signal: Signal) {
        self.signal(signal);
        let Some(mut daemon) = self.daemon.take() else {
            return;
        };
        let began = Instant::now();
        while let Ok(None) = daemon.try_wait() {
            if began.elapsed() > PATIENCE {
                let _ = daemon.kill();
            }
            sleep(LOOK);
        }
        // The one below it ends with it, a little later.
        let below = std::fs::read_to_string(self.folder.path().join(CONTAINERD));
        let status = below.map(|id| format!("/proc/{}/stat", id.trim()));
        let lives = |status: &String| {
            std::fs::read_to_string(status).is_ok_and(|text| !text.contains(") Z "))
        };
        while status.as_ref().is_ok_and(lives) && began.elapsed() < PATIENCE {
            sleep(LOOK);
        }
    }
}

impl Daemon {
    /// Kills what stands between it and a container that it was just making when it was killed: nobody knows of
    /// that any more.
    fn end_shims(&self) {
        let ours = self.folder.path().join("exec").display().to_string();
        let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        for process in processes {
            let Ok(id) = process.file_name().to_string_lossy().parse() else {
                continue;
            };
            let line = std::fs::read_to_string(process.path().join("cmdline")).unwrap_or_default();
            let is_shim = line.starts_with("/") && line.contains("containerd-shim");
            if is_shim && line.contains(&ours) {
                let _ = Pid::from_raw(id).map(|id| kill_process(id, Signal::KILL));
            }
        }
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.thaw();
        // One that was killed left its containers, which the next one ends.
        if self.restart().is_ok() {
            let ids = docker(&self.address(), &["ps", "--all", "--quiet"]).output();
            let ids = ids.map(|output| output.stdout).unwrap_or_default();
            let ids = String::from_utf8_lossy(&ids);
            let ids: Vec<&str> = ids.split_whitespace().collect();
            if !ids.is_empty() {
                let remove = [["rm", "--force"].as_slice(), &ids].concat();
                let _ = docker(&self.address(), &remove).output();
            }
        }
        self.terminate();
        self.end_shims();
    }
}

fn address(folder: &Path) -> String {
    format!("unix://{}", folder.join("socket").display())
}

fn docker(address: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new("docker");
    command.args(arguments).env("DOCKER_HOST", address);
    command
}

fn works(command: &mut Command) -> io::Result<bool> {
    let command = command.stdout(Stdio::null()).stderr(Stdio::null());
    Ok(command.status()?.success())
}

fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode))
}
