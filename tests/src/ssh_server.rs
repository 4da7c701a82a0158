//! A machine to reach by `ssh`: Debian's sshd in a network namespace of its own, and another one for who comes.
//!
//! Nothing of this machine's network is touched, nor anything of its users': keys, settings and the home folder are
//! made for each server.

use std::{
    ffi::OsString,
    fs,
    io::{self, BufRead as _, BufReader},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        Mutex, OnceLock, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
    thread,
    time::Duration,
};

use tempfile::TempDir;

const SSHD: &str = "/usr/sbin/sshd";
const SERVER: &str = "10.0.0.2";
const CLIENT: &str = "10.0.0.1";
const LOOPBACK: &str = "127.0.0.1";

/// A server that runs until this is dropped.
#[derive(Debug)]
pub struct SshServer {
    folder: TempDir,
    /// The namespaces of the server and of who comes.
    namespaces: [String; 2],
    /// There until it is stopped.
    sshd: Mutex<Option<Child>>,
}

impl SshServer {
    /// Whether there can be one here; where not, the reason is printed.
    ///
    /// # Panics
    /// In CI, where it must be possible, when it is not.
    #[expect(
        clippy::print_stdout,
        clippy::disallowed_methods,
        reason = "a skipped test says so, and CI that none may be"
    )]
    #[must_use]
    pub fn is_possible() -> bool {
        if let Err(reason) = possible() {
            let reason = format!("ssh: {reason}");
            assert!(std::env::var_os("BELLJAR_CI").is_none(), "{reason}");
            println!("skipped: {reason}");
            return false;
        }
        true
    }

    /// Starts one, where that is possible.
    ///
    /// # Panics
    /// When it does not start, and as [`is_possible`](Self::is_possible).
    #[must_use]
    pub fn start() -> Option<Self> {
        Self::is_possible().then(|| match Self::make() {
            Ok(server) => server,
            Err(error) => panic!("the ssh server does not start: {error}"),
        })
    }

    fn make() -> io::Result<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = |side: &str| format!("belljar-{}-{number}-{side}", std::process::id());
        let names = [name("s"), name("c")];
        let namespaces = Namespaces::make(&names)?;
        let folder = tempfile::tempdir()?;
        settings(folder.path())?;
        // It drops its rights here.
        fs::create_dir_all("/run/sshd")?;
        let mut sshd = in_namespace(&names[0])
            .args([SSHD, "-D", "-e", "-f"])
            .arg(folder.path().join("sshd_config"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()?;
        let log = sshd.stderr.take();
        let mut log = BufReader::new(log.ok_or_else(|| io::Error::other("no log"))?);
        let mut said = String::new();
        while said.matches("Server listening").count() < 2 {
            if log.read_line(&mut said)? == 0 {
                let _ = sshd.wait();
                return Err(io::Error::other(said));
            }
        }
        // A test may want to know what it said; and it would not go on when nobody read it.
        let kept = folder.path().join("log");
        thread::spawn(move || {
            let mut all = String::new();
            while log.read_line(&mut all).is_ok_and(|count| count > 0) {
                let _ = write(&kept, &all);
            }
        });
        namespaces.keep();
        Ok(Self {
            folder,
            namespaces: names,
            sshd: Mutex::new(Some(sshd)),
        })
    }

    /// A folder of the server's, for whatever a test needs.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The home folder of who comes.
    #[must_use]
    pub fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// A command that runs `command` on the server, with more options for `ssh`.
    pub fn ssh(&self, options: &[&str], command: &[&str]) -> Vec<OsString> {
        self.ssh_to(&self.namespaces[1], SERVER, options, command)
    }

    /// The same over the loopback interface, as a program on the server does it.
    pub fn ssh_on_loopback(&self, command: &[&str]) -> Vec<OsString> {
        self.ssh_to(&self.namespaces[0], LOOPBACK, &[], command)
    }

    fn ssh_to(
        &self,
        namespace: &str,
        address: &str,
        options: &[&str],
        command: &[&str],
    ) -> Vec<OsString> {
        let of = |name: &str| self.folder.path().join(name).display().to_string();
        let mut words: Vec<OsString> = ["ip", "netns", "exec", namespace, "ssh", "-F", "none"]
            .map(Into::into)
            .into();
        words.extend(options.iter().map(Into::into));
        for option in [
            "BatchMode=yes".to_owned(),
            "ConnectTimeout=5".to_owned(),
            "StrictHostKeyChecking=yes".to_owned(),
            "GlobalKnownHostsFile=none".to_owned(),
            "IdentityAgent=none".to_owned(),
            "IdentitiesOnly=yes".to_owned(),
            format!("UserKnownHostsFile={}", of("known")),
            format!("IdentityFile={}", of("key")),
        ] {
            words.extend(["-o".into(), option.into()]);
        }
        words.extend(["-l", "root", address, "--"].map(Into::into));
        words.extend(command.iter().map(Into::into));
        words
    }

    /// Cuts the link: what is sent is lost, and nobody is told.
    ///
    /// # Panics
    /// When it cannot be cut.
    pub fn cut(&self) {
        self.link("down");
    }

    /// Joins it again, until there is a way.
    ///
    /// # Panics
    /// When there is none for long.
    pub fn mend(&self) {
        self.link("up");
        let reach = self.ssh(&[], &["true"]);
        for _ in 0..50 {
            let mut command = Command::new(&reach[0]);
            let reached = command.args(&reach[1..]).output();
            if reached.is_ok_and(|output| output.status.success()) {
                return;
            }
            // Each end first forgets that it did not find the other.
            thread::sleep(Duration::from_millis(100));
        }
        panic!("the link is not joined again");
    }

    fn link(&self, state: &str) {
        let set = in_namespace(&self.namespaces[0])
            .args(["ip", "link", "set", "far", state])
            .status();
        assert!(set.is_ok_and(|status| status.success()), "the link {state}");
    }

    /// Runs a program where the server is.
    #[must_use]
    pub fn command(&self, program: &str) -> Command {
        let mut command = in_namespace(&self.namespaces[0]);
        command.arg(program);
        command
    }
}

impl SshServer {
    /// Stops it, for whoever cannot drop it: a thread that has it may outlive its test.
    pub fn stop(&self) {
        let sshd = self
            .sshd
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(mut sshd) = sshd {
            let _ = sshd.kill();
            let _ = sshd.wait();
            drop(Namespaces(&self.namespaces));
        }
    }
}

impl Drop for SshServer {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Two network namespaces with a link between them, removed unless they are kept.
struct Namespaces<'a>(&'a [String; 2]);

impl<'a> Namespaces<'a> {
    fn make(names: &'a [String; 2]) -> io::Result<Self> {
        let [server, client] = names;
        let made = Self(names);
        for name in names {
            ip(&["netns", "add", name])?;
            ip(&["-n", name, "link", "set", "lo", "up"])?;
        }
        ip(&[
            "-n", server, "link", "add", "far", "type", "veth", "peer", "name", "near", "netns",
            client,
        ])?;
        for (name, device, address) in [(server, "far", SERVER), (client, "near", CLIENT)] {
            let address = format!("{address}/24");
            ip(&["-n", name, "addr", "add", &address, "dev", device])?;
            ip(&["-n", name, "link", "set", device, "up"])?;
        }
        Ok(made)
    }

    fn keep(self) {
        std::mem::forget(self);
    }
}

impl Drop for Namespaces<'_> {
    fn drop(&mut self) {
        for name in self.0 {
            // What runs in it still keeps it until it ends.
            let _ = ip(&["netns", "delete", name]);
        }
    }
}

fn ip(arguments: &[&str]) -> io::Result<()> {
    let output = Command::new("ip").args(arguments).output()?;
    match output.status.success() {
        true => Ok(()),
        false => Err(io::Error::other(format!(
            "ip {arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        ))),
    }
}

fn in_namespace(name: &str) -> Command {
    let mut command = Command::new("ip");
    command.args(["netns", "exec", name]);
    command
}

/// Whether there can be a server here; found out once.
fn possible() -> Result<(), String> {
    static FOUND: OnceLock<Result<(), String>> = OnceLock::new();
    FOUND.get_or_init(find_out).clone()
}

fn find_out() -> Result<(), String> {
    if !Path::new(SSHD).exists() {
        return Err(format!("{SSHD} is not here; install openssh-server"));
    }
    for (program, argument, package) in [("ssh", "-V", "openssh-client"), ("ip", "-V", "iproute2")]
    {
        let output = Command::new(program).arg(argument).output();
        output.map_err(|error| format!("{program}: {error}; install {package}"))?;
    }
    let name = format!("belljar-{}-probe", std::process::id());
    ip(&["netns", "add", &name]).map_err(|error| format!("no network namespace: {error}"))?;
    ip(&["netns", "delete", &name]).map_err(|error| format!("no network namespace: {error}"))
}

/// Keys and settings.
fn settings(folder: &Path) -> io::Result<()> {
    let of = |name: &str| folder.join(name);
    fs::create_dir(of("home"))?;
    for name in ["host", "key"] {
        let made = Command::new("ssh-keygen")
            .args(["-q", "-t", "ed25519", "-N", "", "-C", "", "-f"])
            .arg(of(name))
            .status()?;
        if !made.success() {
            return Err(io::Error::other("ssh-keygen failed"));
        }
    }
    let read = |name: &str| read(&of(name));
    write(&of("authorized"), &read("key.pub")?)?;
    let host = read("host.pub")?;
    write(&of("known"), &format!("{SERVER},{LOOPBACK} {host}"))?;
    let shown = |name: &str| of(name).display().to_string();
    let text = format!(
        "Port 22\nListenAddress {SERVER}\nListenAddress {LOOPBACK}\nHostKey {host}\nAuthorizedKeysFile {authorized}\n\
         StrictModes no\nUsePAM no\nPidFile none\nPasswordAuthentication no\nKbdInteractiveAuthentication no\n\
         PermitRootLogin prohibit-password\nPrintMotd no\nMaxStartups 100\nMaxSessions 100\n\
         ClientAliveInterval 0\nTCPKeepAlive no\nSetEnv HOME={home}\n",
        host = shown("host"),
        authorized = shown("authorized"),
        home = shown("home"),
    );
    write(&of("sshd_config"), &text)?;
    fs::set_permissions(of("key"), fs::Permissions::from_mode(0o600))
}

#[expect(clippy::disallowed_methods, reason = "a folder of the test's own")]
fn read(path: &Path) -> io::Result<String> {
    fs::read_to_string(path)
}

#[expect(clippy::disallowed_methods, reason = "a folder of the test's own")]
fn write(path: &Path, text: &str) -> io::Result<()> {
    fs::write(path, text)
}
