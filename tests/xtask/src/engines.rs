//! The container engines of the tests: found, or where a missing one is a failure (`BELLJAR_CI`) installed
//! from Debian's packages and started, with the images that the tests use, which come from no registry.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use anyhow::{Context, Result, bail, ensure};

use crate::{
    packages::{self, Package},
    process,
    workspace::Workspace,
};

/// What the tests call the images.
pub(crate) const BUSYBOX: &str = "belljar-test:busybox";
const DEBIAN: &str = "belljar-test:debian";

/// Where Debian's busybox-static puts it.
const BUSYBOX_PROGRAM: &str = "/bin/busybox";

/// Makes the engines ready, as far as this machine is to have them.
pub(crate) fn ready(workspace: &Workspace) -> Result<()> {
    let needed = env::var_os("BELLJAR_CI").is_some();
    let images = Images::new(workspace)?;
    if needed {
        install()?;
        start_docker()?;
    }
    for (engine, package, names) in [
        ("docker", "docker.io", [BUSYBOX, DEBIAN].as_slice()),
        ("podman", "podman", &[BUSYBOX]),
    ] {
        let mut version = engine_command(workspace, engine);
        if !process::works(version.arg("version")) {
            ensure!(
                !needed,
                "{engine} does not work here; see `{engine} version`"
            );
            println!(
                "skipped: {engine} is not here, or not running, and its tests are skipped too; install and start it (Debian: {package}), or see `{engine} version`"
            );
            continue;
        }
        for name in names {
            if let Err(error) = images.import(|| engine_command(workspace, engine), engine, name) {
                ensure!(!needed, "the image {name} for {engine}: {error:#}");
                println!("skipped: the image {name} for {engine}: {error:#}");
            }
        }
    }
    Ok(())
}

/// An engine's command line, with the settings that its tests get too.
fn engine_command(workspace: &Workspace, engine: &str) -> Command {
    let mut command = Command::new(engine);
    command.envs(variables(workspace));
    command
}

/// What the engines' programs are told: nothing, but in CI, where podman may not set the limits that it
/// sets by default.
pub(crate) fn variables(workspace: &Workspace) -> Option<(&'static str, PathBuf)> {
    let settings = workspace.root().join("tests/engines/containers.conf");
    env::var_os("BELLJAR_CI").map(|_| ("CONTAINERS_CONF", settings))
}

fn install() -> Result<()> {
    packages::ensure(&[
        Package::new("docker.io", "/usr/sbin/dockerd"),
        Package::new("podman", "/usr/bin/podman"),
        Package::new("debootstrap", "/usr/sbin/debootstrap"),
        Package::new("busybox-static", BUSYBOX_PROGRAM),
        // A machine to reach by ssh, and the network between.
        Package::new("openssh-server", "/usr/sbin/sshd"),
        Package::new("openssh-client", "/usr/bin/ssh"),
        Package::new("iproute2", "/sbin/ip"),
        // A registry for components, and what signs them.
        Package::new("docker-registry", "/usr/bin/docker-registry"),
        Package::new("minisign", "/usr/bin/minisign"),
    ])
}

/// Starts Debian's dockerd, where nothing has: without a bridge and without touching the machine's network
/// rules, since no test's container has a network. It stays when the tests have ended.
fn start_docker() -> Result<()> {
    let works = || process::works(Command::new("docker").arg("version"));
    if works() {
        return Ok(());
    }
    // Sockets lie below it, whose paths must be short.
    let state = Path::new("/var/lib/belljar-dockerd");
    fs::create_dir_all(state).with_context(|| format!("cannot make {}", state.display()))?;
    let of = |name: &str| state.join(name);
    // One that a dead daemon left would keep this one from starting.
    let _ = fs::remove_file(of("pid"));
    let log = fs::File::create(of("log")).context("cannot write the log of dockerd")?;
    println!("starting dockerd; its log is {}", of("log").display());
    Command::new("setsid")
        .arg("dockerd")
        .args(["--iptables=false", "--ip6tables=false", "--bridge=none"])
        .args(["--ip-forward=false", "--ip-masq=false"])
        .arg("--data-root")
        .arg(of("data"))
        .arg("--exec-root")
        .arg(of("exec"))
        .arg("--pidfile")
        .arg(of("pid"))
        .args(["--host", "unix:///var/run/docker.sock"])
        .stdin(Stdio::null())
        .stdout(log.try_clone().context("cannot share the log")?)
        .stderr(log)
        .spawn()
        .context("cannot run dockerd")?;
    for _ in 0..150 {
        if works() {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    let log = fs::read_to_string(of("log")).unwrap_or_default();
    let last: Vec<&str> = log.lines().rev().take(10).collect();
    let last: Vec<&str> = last.into_iter().rev().collect();
    bail!(
        "dockerd did not start in 15 s; the end of its log:\n{}",
        last.join("\n")
    )
}

/// The images as archives, each made once.
pub(crate) struct Images {
    folder: PathBuf,
}

impl Images {
    pub(crate) fn new(workspace: &Workspace) -> Result<Self> {
        let folder = workspace.target().join("images");
        fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        Ok(Self { folder })
    }

    /// Gives an engine an image that it does not have.
    pub(crate) fn import(
        &self,
        command: impl Fn() -> Command,
        engine: &str,
        name: &str,
    ) -> Result<()> {
        if process::works(command().args(["image", "inspect", name])) {
            return Ok(());
        }
        let archive = match name {
            BUSYBOX => self.busybox()?,
            _ => self.debian()?,
        };
        println!("making the image {name} for {engine}");
        let archive = fs::File::open(&archive)
            .with_context(|| format!("cannot open {}", archive.display()))?;
        let mut import = command();
        import
            .args(["import", "--change", "CMD [\"sh\"]", "-", name])
            .stdin(archive)
            .stdout(Stdio::null());
        process::run(&mut import)
    }

    /// Nothing but busybox under all its names.
    fn busybox(&self) -> Result<PathBuf> {
        self.archive("busybox.tar", |root| {
            ensure!(
                Path::new(BUSYBOX_PROGRAM).exists(),
                "{BUSYBOX_PROGRAM} is not here; on Debian, install busybox-static"
            );
            for folder in ["bin", "tmp", "workspace"] {
                fs::create_dir_all(root.join(folder))?;
            }
            fs::copy(BUSYBOX_PROGRAM, root.join("bin/busybox"))?;
            let applets = process::read(Command::new(BUSYBOX_PROGRAM).arg("--list"))?;
            for applet in applets.lines().filter(|applet| *applet != "busybox") {
                std::os::unix::fs::symlink("busybox", root.join("bin").join(applet))?;
            }
            Ok(())
        })
    }

    /// A minimal Debian.
    fn debian(&self) -> Result<PathBuf> {
        self.archive("debian.tar", |root| {
            println!("making a minimal Debian, which takes a minute");
            let mut debootstrap = Command::new("debootstrap");
            debootstrap
                .args(["--variant=minbase", "bookworm"])
                .arg(root)
                .stdout(Stdio::null());
            process::run(&mut debootstrap).context("on Debian, install debootstrap")?;
            for cache in ["var/cache/apt/archives", "var/lib/apt/lists"] {
                fs::remove_dir_all(root.join(cache))?;
            }
            Ok(())
        })
    }

    /// An archive of what `fill` puts into a folder.
    fn archive(&self, name: &str, fill: impl FnOnce(&Path) -> Result<()>) -> Result<PathBuf> {
        let archive = self.folder.join(name);
        if archive.exists() {
            return Ok(archive);
        }
        let root = self.folder.join(format!("{name}.root"));
        if root.exists() {
            fs::remove_dir_all(&root)
                .with_context(|| format!("cannot remove {}", root.display()))?;
        }
        fs::create_dir(&root).with_context(|| format!("cannot make {}", root.display()))?;
        fill(&root)?;
        let half = archive.with_extension("part");
        let mut tar = Command::new("tar");
        tar.arg("--directory").arg(&root).arg("--one-file-system");
        process::run(tar.arg("--create").arg("--file").arg(&half).arg("."))?;
        fs::rename(&half, &archive)
            .with_context(|| format!("cannot make {}", archive.display()))?;
        fs::remove_dir_all(&root).with_context(|| format!("cannot remove {}", root.display()))?;
        Ok(archive)
    }
}
