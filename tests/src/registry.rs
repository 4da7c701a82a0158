//! Debian's registry on loopback, and minisign's keys.

#![expect(
    clippy::disallowed_methods,
    reason = "a fixture works on the machine that the test runs on"
)]

use std::{
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use tempfile::TempDir;

const REGISTRY: &str = "/usr/bin/docker-registry";
const MINISIGN: &str = "/usr/bin/minisign";
/// How long the registry may take to listen.
const PATIENCE: Duration = Duration::from_secs(20);

/// A registry without TLS; it and what is in it end with this.
pub struct RegistryServer {
    folder: TempDir,
    address: String,
    process: Option<Child>,
}

impl RegistryServer {
    /// Whether this machine has what it takes.
    ///
    /// # Panics
    /// When it has not, and must.
    #[must_use]
    pub fn is_here() -> bool {
        let here = [REGISTRY, MINISIGN].map(|file| Path::new(file).exists()) == [true; 2];
        assert!(
            here || std::env::var_os("BELLJAR_CI").is_none(),
            "{REGISTRY} or {MINISIGN} is missing; `cargo xtask setup` installs them"
        );
        here
    }

    /// Starts one.
    ///
    /// # Panics
    /// When it does not listen.
    #[must_use]
    pub fn start() -> Self {
        let free = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = free.local_addr().expect("an address").to_string();
        drop(free);
        let mut server = Self {
            folder: tempfile::tempdir().expect("a folder"),
            address,
            process: None,
        };
        server.resume();
        server
    }

    /// Its name in a reference.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.address
    }

    /// Where its blobs are.
    #[must_use]
    pub fn blobs(&self) -> PathBuf {
        self.folder.path().join("docker/registry/v2/blobs/sha256")
    }

    /// Ends it; what is in it stays.
    pub fn stop(&mut self) {
        if let Some(mut process) = self.process.take() {
            let _ = process.kill();
            let _ = process.wait();
        }
    }

    /// Starts it again, at the same place.
    ///
    /// # Panics
    /// When it does not listen.
    pub fn resume(&mut self) {
        let configuration = self.folder.path().join("registry.yml");
        let text = format!(
            "version: 0.1\nlog: {{level: error}}\nstorage: {{filesystem: {{rootdirectory: {:?}}}}}\nhttp: {{addr: {:?}}}\n",
            self.folder.path(),
            self.address
        );
        std::fs::write(&configuration, text).expect("it is written");
        let process = Command::new(REGISTRY)
            .arg("serve")
            .arg(&configuration)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("it runs");
        self.process = Some(process);
        let began = Instant::now();
        while TcpStream::connect(&self.address).is_err() {
            assert!(began.elapsed() < PATIENCE, "the registry does not listen");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for RegistryServer {
    fn drop(&mut self) {
        self.stop();
    }
}

/// A key of minisign's, without a password.
pub struct Signer(TempDir);

impl Signer {
    /// Makes one.
    ///
    /// # Panics
    /// When minisign does not.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "it is no value, but a new key")]
    pub fn new() -> Self {
        let signer = Self(tempfile::tempdir().expect("a folder"));
        signer.minisign(&["-G", "-W", "-p", "public", "-s", "secret"]);
        signer
    }

    fn minisign(&self, arguments: &[&str]) {
        let output = Command::new(MINISIGN)
            .args(arguments)
            .current_dir(&self.0)
            .stdin(Stdio::null())
            .output()
            .expect("minisign runs");
        assert!(output.status.success(), "{output:?}");
    }

    /// The public key, as a configuration has it.
    ///
    /// # Panics
    /// When it is not there.
    #[must_use]
    pub fn key(&self) -> String {
        let text = std::fs::read_to_string(self.0.path().join("public")).expect("it is there");
        let key = text.lines().nth(1);
        key.expect("it has two lines").to_owned()
    }

    /// Signs a file, with a trusted comment, into another one.
    ///
    /// # Panics
    /// When minisign does not.
    pub fn sign(&self, file: &Path, comment: &str, into: &Path) {
        let [file, into] = [file, into].map(|path| path.to_str().expect("UTF-8"));
        self.minisign(&["-S", "-s", "secret", "-m", file, "-x", into, "-t", comment]);
    }
}
