//! Sessions over commands that reach a resident: `ssh` to a real server, whose link is cut, and others that need no
//! network.
//!
//! Where no server can be, a test is skipped and says so; in CI it fails.

#![expect(
    clippy::disallowed_methods,
    reason = "a test sets up and looks at what is outside every workspace"
)]

mod fails;
mod install;
mod link;
mod others;
mod session;

use std::{
    error::Error as _,
    ffi::OsString,
    path::Path,
    time::{Duration, Instant},
};

use belljar::{
    Command, Context, Error, ErrorKind, RunOptions, Sandbox,
    backends::{EngineEnvironment, InstallError, RemoteError, RemoteFailure, RemoteOptions},
    processes::Execution,
};
use belljar_contract::blocking::block_on;
use belljar_tests::{SshServer, static_resident};
use tempfile::TempDir;

/// A server, and a workspace on it.
struct Place {
    server: SshServer,
    workspace: TempDir,
}

impl Place {
    fn start() -> Option<Self> {
        Some(Self {
            server: SshServer::start()?,
            workspace: tempfile::tempdir().expect("a temporary folder"),
        })
    }

    /// Options for a session over `ssh`, with more options for that.
    fn options_with(&self, ssh: &[&str]) -> RemoteOptions {
        let resident = static_resident().display().to_string();
        let command = self.server.ssh(ssh, &[&resident, "stdio"]);
        options(command, self.workspace.path())
    }

    fn options(&self) -> RemoteOptions {
        self.options_with(&[])
    }
}

/// Options for a test: a program finds what is on this machine's PATH.
fn options(
    command: impl IntoIterator<Item = impl Into<OsString>>,
    workspace: &Path,
) -> RemoteOptions {
    let root = workspace.to_str().expect("UTF-8");
    let residents = static_resident().parent().map(Into::into);
    RemoteOptions {
        program_environment: EngineEnvironment::from_variables(std::env::vars_os()),
        residents: residents.into_iter().collect(),
        connect_timeout: Duration::from_secs(20),
        ..RemoteOptions::new(command, root)
    }
}

#[track_caller]
fn open(options: RemoteOptions) -> Sandbox {
    match options.open_ambient() {
        Ok(backend) => Sandbox::new(backend),
        Err(error) => panic!("it does not open: {error:?}"),
    }
}

/// Waits for a call to end.
#[track_caller]
fn wait<T>(call: impl Future<Output = T>) -> T {
    block_on(&Context::new(), call).expect("nobody stops it")
}

fn run(sandbox: &Sandbox, text: &str) -> Result<Execution, Error> {
    let command = Command::Shell(text.to_owned());
    wait(sandbox.run(command, RunOptions::default()))
}

/// What a program printed, which must have ended well.
#[track_caller]
fn printed(sandbox: &Sandbox, text: &str) -> String {
    match run(sandbox, text) {
        Ok(execution) => {
            assert!(execution.outcome.success(), "{text}: {execution:?}");
            execution.stdout.to_text().trim_end().to_owned()
        }
        Err(error) => panic!("{text}: {error:?}"),
    }
}

#[track_caller]
fn close(sandbox: &Sandbox) {
    wait(sandbox.close()).expect("it closes");
}

/// How long it took.
fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let began = Instant::now();
    let value = work();
    (value, began.elapsed())
}

/// Calls what cannot be reached, or does not do what it should.
#[track_caller]
fn fails(options: RemoteOptions) -> (Error, RemoteError) {
    let sandbox = open(options);
    let error = wait(sandbox.list(".", None)).expect_err("there is no session");
    close(&sandbox);
    let why = why(&error);
    (error, why)
}

/// What is behind an error.
#[track_caller]
fn why(error: &Error) -> RemoteError {
    let source = error.source().and_then(|source| source.downcast_ref());
    source.cloned().unwrap_or_else(|| panic!("{error:?}"))
}

/// Asks again until it is so; each question takes its time.
#[track_caller]
fn until(what: &str, most: Duration, mut so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !so() {
        assert!(began.elapsed() < most, "not within {most:?}: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Whether a process is there, and is no zombie.
fn lives(pid: &str) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status"));
    status.is_ok_and(|status| !status.contains("State:\tZ") && !status.contains("State:\tX"))
}

/// The session is dead: this call and every later one says so at once, with the reason.
#[track_caller]
fn is_dead(sandbox: &Sandbox, error: &Error) {
    assert_eq!(error.kind, ErrorKind::BackendUnavailable, "{error:?}");
    for _ in 0..2 {
        let (again, took) = timed(|| wait(sandbox.list(".", None)));
        let again = again.expect_err("it is dead");
        assert_eq!(again.kind, ErrorKind::BackendUnavailable, "{again:?}");
        assert!(took < Duration::from_secs(1), "{again:?}");
    }
}
