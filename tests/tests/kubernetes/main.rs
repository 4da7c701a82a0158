//! Sessions in Pods of a real cluster, whose nodes, Pods and API server things happen to.
//!
//! Where there is no cluster, a test is skipped and says so; in CI it fails where there could be one.

#![expect(
    clippy::disallowed_methods,
    reason = "a test sets up and looks at what is outside every workspace"
)]

mod fails;
mod life;
mod looked_into;
mod lost;
mod manifests;
mod owner;

use std::{
    error::Error as _,
    path::PathBuf,
    time::{Duration, Instant},
};

use belljar::{
    Command, Context, Error, ErrorKind, RunOptions, Sandbox,
    backends::{KubernetesError, KubernetesFailure, KubernetesOptions, PodFate},
    processes::Execution,
};
use belljar_contract::blocking::block_on;
use belljar_tests::KubernetesPlace;

/// How long anything may take that the cluster does.
const PATIENCE: Duration = Duration::from_secs(60);

fn place() -> Option<KubernetesPlace> {
    KubernetesPlace::make()
}

#[track_caller]
fn open(options: KubernetesOptions) -> Sandbox {
    match options.open_ambient() {
        Ok(backend) => Sandbox::new(backend),
        Err(error) => panic!("it does not open: {error:?}"),
    }
}

/// Opens a session, and waits until it is there.
#[track_caller]
fn started(options: KubernetesOptions) -> Sandbox {
    let sandbox = open(options);
    match wait(sandbox.list(".", None)) {
        Ok(_) => sandbox,
        Err(error) => panic!("it does not start: {error:?}"),
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

/// Calls what does not come to be, and gives the contract's error with what is behind it.
#[track_caller]
fn fails(options: KubernetesOptions) -> (Error, KubernetesError) {
    let sandbox = open(options);
    let error = wait(sandbox.list(".", None)).expect_err("there is no session");
    let source = error.source().and_then(|source| source.downcast_ref());
    let why: KubernetesError = source.cloned().unwrap_or_else(|| panic!("{error:?}"));
    // Whatever was there of it is gone, or going.
    let _ = wait(sandbox.close());
    (error, why)
}

/// What became of the Pod of a session that is dead.
#[track_caller]
fn fate(error: &Error) -> PodFate {
    assert_eq!(error.kind, ErrorKind::BackendUnavailable, "{error:?}");
    let source = error.source().and_then(|source| source.downcast_ref());
    source.cloned().unwrap_or_else(|| panic!("{error:?}"))
}

/// Asks again until it is so; each question takes its time.
#[track_caller]
fn until(what: &str, mut so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !so() {
        assert!(
            began.elapsed() < PATIENCE,
            "not within {PATIENCE:?}: {what}"
        );
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Calls that are in flight when something happens: each waits for a program.
fn in_flight(sandbox: &Sandbox, calls: usize) -> Vec<std::thread::JoinHandle<Error>> {
    let waits = |at: usize| {
        let sandbox = sandbox.clone();
        let command = Command::Shell(format!("touch began-{at}; exec sleep 600"));
        let options = RunOptions {
            timeout: Some(150_000),
            ..RunOptions::default()
        };
        std::thread::spawn(move || {
            wait(sandbox.run(command, options)).expect_err("its session dies")
        })
    };
    let waiting = (0..calls).map(waits).collect();
    for at in 0..calls {
        until("every call is in flight", || {
            wait(sandbox.stat(&format!("began-{at}"))).is_ok()
        });
    }
    waiting
}

/// The session is dead: every later call says so at once.
#[track_caller]
fn is_dead(sandbox: &Sandbox) {
    for _ in 0..2 {
        let (again, took) = timed(|| wait(sandbox.list(".", None)));
        let again = again.expect_err("it is dead");
        assert_eq!(again.kind, ErrorKind::BackendUnavailable, "{again:?}");
        assert!(took < Duration::from_secs(1), "{took:?} {again:?}");
    }
}
