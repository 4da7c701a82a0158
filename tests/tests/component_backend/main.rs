//! Backends that are components: what one reaches of the network, what it can do to its host, and what becomes of its
//! calls. The contract over one is in the conformance suite (`posix`, `conformance`).

#![expect(
    clippy::disallowed_methods,
    reason = "a test sets up and looks at what is outside every workspace"
)]

mod calls;
mod command;
mod hostile;
mod network;
mod secrets;

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use belljar::{
    ErrorKind, OpenOptions, Sandbox,
    backends::{
        ComponentError, ComponentOptions, HttpGrant, OpenError, SecretSource, SecretVariables,
    },
    config::Config,
};
use belljar_tests::{LendingServer, Starts};
use tempfile::TempDir;

/// How long what happens at once may take on a machine that does other things as well.
const SOON: Duration = Duration::from_secs(2);
/// How long a test waits for what must happen.
const PATIENCE: Duration = Duration::from_secs(20);

/// A guest as a component, and what is said of it.
struct Lender {
    folder: TempDir,
    options: ComponentOptions,
    secrets: SecretVariables,
}

impl Lender {
    fn new(guest: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let component = folder.path().join("lender.wasm");
        std::fs::write(&component, belljar_test_guests::component(guest)).expect("it is written");
        Self {
            folder,
            options: ComponentOptions::new(component),
            secrets: SecretVariables::default(),
        }
    }

    fn setting(mut self, name: &str, value: impl Into<String>) -> Self {
        self.options.settings.insert(name.into(), value.into());
        self
    }

    /// A secret in a variable of its own name.
    fn secret(mut self, name: &str, value: &str) -> Self {
        let source = SecretSource::Environment { name: name.into() };
        self.options.secrets.insert(name.into(), source);
        self.secrets = SecretVariables::from([(name.to_owned(), value.to_owned())]);
        self
    }

    fn grant(mut self, grant: HttpGrant) -> Self {
        self.options.http.push(grant);
        self
    }

    fn open(&self) -> Result<Sandbox, OpenError> {
        let config = Config::component(self.options.clone()).writable();
        let options = OpenOptions {
            secrets: self.secrets.clone(),
            compilation_cache: Some(compiled()),
            ..OpenOptions::default()
        };
        Sandbox::open_ambient(&config, options)
    }

    fn opened(&self) -> Sandbox {
        self.open().expect("it opens")
    }

    /// Why it does not open, when the component was asked.
    fn refused(&self) -> belljar::Error {
        match self.open() {
            Err(OpenError::Component(ComponentError::NotOpened(error))) => error,
            other => panic!("it was not asked: {other:?}"),
        }
    }
}

/// What is compiled, for all tests and the next run.
fn compiled() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("component-backend-compiled")
}

fn server() -> LendingServer {
    LendingServer::start("/usr/local/bin:/usr/bin:/bin", Starts::default())
}

/// A grant of a server of this machine.
fn local(server: &LendingServer, host: &str) -> HttpGrant {
    HttpGrant {
        ports: Some(vec![server.port()]),
        private: true,
        http: true,
        ..HttpGrant::to([host])
    }
}

/// A session with a server that runs commands here.
fn lending(server: &LendingServer) -> Lender {
    Lender::new("lends_over_http")
        .setting("url", server.url())
        .secret("token", LendingServer::TOKEN)
        .grant(local(server, "127.0.0.1"))
}

fn kind<T: std::fmt::Debug>(result: Result<T, belljar::Error>) -> ErrorKind {
    result.expect_err("it fails").kind
}
