//! A running `belljar serve-sandbox`, and a client of it.

use std::{
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, ExitStatus, Stdio},
    time::{Duration, Instant},
};

use reqwest::{Certificate, Client, Method, Response};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::belljar_command;

/// The token that every server of the tests has.
pub const TOKEN: &str = "a-token-for-tests-and-nothing-else";
/// The file with a server's certificate.
const CERTIFICATE: &str = "certificate.pem";
/// How long a server may take to listen, and to end.
const PATIENCE: Duration = Duration::from_secs(30);

/// How a server is started.
#[derive(Clone, Debug)]
pub struct SandboxServerOptions {
    /// The tables of its `belljar.toml` after `version`.
    pub config: String,
    /// More arguments.
    pub arguments: Vec<String>,
    /// With a certificate of its own, for `127.0.0.1`.
    pub tls: bool,
}

impl SandboxServerOptions {
    /// Processes of this machine, in a workspace for each session.
    #[must_use]
    pub fn local() -> Self {
        Self {
            config: "[sandbox]\nbackend = \"local\"\nwritable = true\n[sandbox.local]\nallow-host-processes = true\n".into(),
            arguments: Vec::new(),
            tls: false,
        }
    }

    /// The same in one workspace, for all sessions.
    ///
    /// # Panics
    /// When the path is not UTF-8.
    #[must_use]
    pub fn local_in(workspace: &Path) -> Self {
        let workspace = workspace.to_str().expect("UTF-8");
        let local = Self::local();
        let config = local.config.replacen(
            "[sandbox]\n",
            &format!("[sandbox]\nworkspace = {workspace:?}\n"),
            1,
        );
        Self { config, ..local }
    }

    /// Adds arguments.
    #[must_use]
    pub fn with(mut self, arguments: &[&str]) -> Self {
        self.arguments
            .extend(arguments.iter().map(|&argument| argument.to_owned()));
        self
    }
}

/// A server, ended when it is dropped.
#[derive(Debug)]
pub struct SandboxServer {
    child: Child,
    _stdout: BufReader<ChildStdout>,
    folder: TempDir,
    url: String,
    certificate: Option<String>,
}

impl SandboxServer {
    /// Starts one, and waits until it listens.
    ///
    /// # Panics
    /// When it does not.
    #[expect(
        clippy::disallowed_methods,
        reason = "a test makes what the server is given"
    )]
    #[must_use]
    pub fn start(options: &SandboxServerOptions) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let put = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).expect("a file is written");
            path
        };
        let config = put("belljar.toml", &format!("version = 1\n{}", options.config));
        let token = put("token", &format!("{TOKEN}\n"));
        let mut command = Command::new(belljar_command());
        command
            .args(["serve-sandbox", "--json", "--listen", "127.0.0.1:0"])
            .arg("--config")
            .arg(config)
            .arg("--token-file")
            .arg(token)
            .args(&options.arguments)
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped());
        let certificate = options.tls.then(|| {
            let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()])
                .expect("a certificate is made");
            let certificate = made.cert.pem();
            command
                .arg("--tls-certificate")
                .arg(put(CERTIFICATE, &certificate))
                .arg("--tls-key")
                .arg(put("key.pem", &made.signing_key.serialize_pem()));
            certificate
        });
        let mut child = command.spawn().expect("the command starts");
        let mut stdout = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut line = String::new();
        stdout
            .read_line(&mut line)
            .expect("it says where it listens");
        let told: Value = serde_json::from_str(&line).expect("it says where it listens");
        let url = told["listening"]["url"].as_str().expect("its address");
        Self {
            url: url.to_owned(),
            child,
            _stdout: stdout,
            folder,
            certificate,
        }
    }

    /// Where it listens.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The port on which it listens.
    ///
    /// # Panics
    /// When its address has none.
    #[must_use]
    pub fn port(&self) -> u16 {
        let port = self
            .url
            .rsplit(':')
            .next()
            .and_then(|port| port.parse().ok());
        port.unwrap_or_else(|| panic!("{} has no port", self.url))
    }

    /// The file with its certificate, as PEM.
    #[must_use]
    pub fn certificate(&self) -> Option<PathBuf> {
        let file = self.folder.path().join(CERTIFICATE);
        self.certificate.as_ref().map(|_| file)
    }

    /// The server's process.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// A client with the token.
    #[must_use]
    pub fn client(&self) -> SandboxClient {
        SandboxClient::new(&self.url, self.certificate.as_deref())
    }

    /// Tells it to end.
    pub fn terminate(&self) {
        // It may have ended.
        let _ = kill_process(Pid::from_child(&self.child), Signal::TERM);
    }

    /// Waits for its end, and says how long that took.
    ///
    /// # Panics
    /// When it does not end.
    #[expect(clippy::disallowed_methods, reason = "a test waits by the clock")]
    pub fn wait(&mut self) -> (ExitStatus, Duration) {
        let began = Instant::now();
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return (status, began.elapsed()),
                Ok(None) if began.elapsed() < PATIENCE => {
                    std::thread::sleep(Duration::from_millis(5));
                }
                other => panic!("the server does not end: {other:?}"),
            }
        }
    }
}

impl Drop for SandboxServer {
    fn drop(&mut self) {
        self.terminate();
        if !std::thread::panicking() {
            self.wait();
            return;
        }
        // Nothing more can be told of a test that has failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A client of such a server.
#[derive(Clone, Debug)]
pub struct SandboxClient {
    client: Client,
    url: String,
}

impl SandboxClient {
    /// Trusts this certificate, where there is one.
    ///
    /// # Panics
    /// When the certificate is none.
    #[must_use]
    pub fn new(url: &str, certificate: Option<&str>) -> Self {
        // Another one may have been chosen, which serves as well.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut client = Client::builder();
        if let Some(certificate) = certificate {
            let certificate = Certificate::from_pem(certificate.as_bytes()).expect("a certificate");
            client = client.tls_certs_only([certificate]);
        }
        Self {
            client: client.build().expect("a client"),
            url: url.to_owned(),
        }
    }

    /// Sends a request with the token; `path` comes after `/v1/sessions`.
    ///
    /// # Errors
    /// When there is no answer.
    pub async fn send(
        &self,
        method: Method,
        path: &str,
        body: Option<Value>,
    ) -> reqwest::Result<Response> {
        let url = format!("{}/v1/sessions{path}", self.url);
        let mut request = self.client.request(method, url).bearer_auth(TOKEN);
        if let Some(body) = body {
            request = request.body(body.to_string());
        }
        request.send().await
    }

    /// The same, and what the answer says: its status and its JSON.
    ///
    /// # Panics
    /// When there is no answer.
    pub async fn ask(&self, method: Method, path: &str, body: Option<Value>) -> (u16, Value) {
        let response = self.send(method, path, body).await.expect("an answer");
        let status = response.status().as_u16();
        let body = response.bytes().await.expect("a whole answer");
        let body = match body.as_ref() {
            [] => Value::Null,
            json => serde_json::from_slice(json).expect("JSON"),
        };
        (status, body)
    }

    /// Opens a session: its id.
    ///
    /// # Panics
    /// When it does not open.
    pub async fn open(&self) -> String {
        let (status, opened) = self.ask(Method::POST, "", None).await;
        assert_eq!(status, 201, "{opened}");
        opened["session"].as_str().unwrap_or_default().to_owned()
    }

    /// Makes a call in a session.
    ///
    /// # Panics
    /// When there is no answer.
    pub async fn call(&self, session: &str, method: &str, params: Value) -> (u16, Value) {
        let body = json!({ "method": method, "params": params });
        self.ask(Method::POST, &format!("/{session}/calls"), Some(body))
            .await
    }
}
