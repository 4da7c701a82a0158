//! Sessions in containers of real engines: how they begin and end, and what is said when an engine fails.
//!
//! Without an engine a test is skipped and says so; in CI it fails.

#![expect(
    clippy::disallowed_methods,
    reason = "a test sets up and looks at what is outside every workspace"
)]

mod apple;
mod by_shell;
mod daemon;
mod fails;
mod far;
mod field_cases;
mod full;
mod life;
mod limits;
mod pool;
mod reconnect;
mod remapped;
mod rootless;
mod starts;
mod transport;
mod workspace;

use std::{
    error::Error as _,
    os::unix::fs::PermissionsExt as _,
    path::Path,
    process::Command as Program,
    time::{Duration, Instant},
};

use belljar::{
    Command, Context, Error, ErrorKind, RunOptions, Sandbox,
    backends::{
        CliError, CliFailure, ContainerEngine, ContainerFate, ContainerOptions, ContainerState,
    },
    processes::Execution,
};
use belljar_contract::blocking::block_on;
use belljar_tests::{BUSYBOX, container_options, has_engine};

/// Those that each important test runs on.
const ENGINES: [ContainerEngine; 2] = [ContainerEngine::Docker, ContainerEngine::Podman];

/// Options for a container, where there is an engine.
fn on(engine: ContainerEngine) -> Option<ContainerOptions> {
    has_engine(engine, BUSYBOX).then(|| container_options(engine, BUSYBOX))
}

fn on_docker() -> Option<ContainerOptions> {
    on(ContainerEngine::Docker)
}

fn on_each() -> impl Iterator<Item = ContainerOptions> {
    ENGINES.into_iter().filter_map(on)
}

#[track_caller]
fn open(options: ContainerOptions) -> Sandbox {
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

#[track_caller]
fn sh(sandbox: &Sandbox, text: &str) -> Execution {
    match run(sandbox, text) {
        Ok(execution) => execution,
        Err(error) => panic!("{text}: {error:?}"),
    }
}

fn run(sandbox: &Sandbox, text: &str) -> Result<Execution, Error> {
    let command = Command::Shell(text.to_owned());
    wait(sandbox.run(command, RunOptions::default()))
}

/// What a program printed, which must have ended well.
#[track_caller]
fn printed(sandbox: &Sandbox, text: &str) -> String {
    let execution = sh(sandbox, text);
    assert!(execution.outcome.success(), "{text}: {execution:?}");
    execution.stdout.to_text().trim_end().to_owned()
}

#[track_caller]
fn close(sandbox: &Sandbox) {
    wait(sandbox.close()).expect("it closes");
}

/// Runs the engine's own program.
fn engine(engine: ContainerEngine, arguments: &[&str]) -> String {
    let mut program = Program::new(engine.program());
    let output = program.args(arguments).output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{engine} {arguments:?}: {said}");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// The ids of containers with a label `NAME` or `NAME=VALUE`, in every state.
fn labelled(of: ContainerEngine, label: &str) -> Vec<String> {
    let filter = format!("--filter=label={label}");
    let ids = engine(of, &["ps", "--all", "--quiet", "--no-trunc", &filter]);
    ids.split_whitespace().map(str::to_owned).collect()
}

/// A name that no other test has: containers are found by it.
fn a_name(of: &str) -> String {
    format!("test-{of}-{}", std::process::id())
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

/// The session is dead: this call and every later one says so at once, with the reason.
#[track_caller]
fn is_dead(sandbox: &Sandbox, error: &Error) {
    assert_eq!(error.kind, ErrorKind::BackendUnavailable, "{error:?}");
    for _ in 0..2 {
        let began = Instant::now();
        let again = wait(sandbox.list(".", None)).expect_err("it is dead");
        assert_eq!(again.kind, ErrorKind::BackendUnavailable, "{again:?}");
        assert!(began.elapsed() < Duration::from_secs(1), "{again:?}");
    }
}

/// What became of the container of a session that is dead.
#[track_caller]
fn fate_of(error: &Error) -> &ContainerFate {
    let source = error.source();
    match source.and_then(|source| source.downcast_ref()) {
        Some(fate) => fate,
        None => panic!("its fate is not told: {error:?}"),
    }
}

/// Makes a script of a test's a program.
fn make_executable(path: &Path) {
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(path, mode).expect("it is ours");
}

/// Kills a process of this machine by its id.
fn kill(process: &str) {
    let killed = Program::new("kill").args(["-KILL", process]).status();
    assert!(killed.expect("it starts").success(), "{process}");
}

/// The engine says that the container runs no more, whether it has removed it yet or not.
#[track_caller]
fn has_ended(error: &Error) {
    let fate = fate_of(error);
    assert!(
        matches!(
            fate,
            ContainerFate::Gone
                | ContainerFate::There(ContainerState::Exited | ContainerState::Removing)
        ),
        "{error:?}"
    );
}

/// Starts a call that lasts, does something to it, and gives how it ended.
fn in_the_middle(sandbox: &Sandbox, act: impl FnOnce()) -> Error {
    std::thread::scope(|scope| {
        let call = scope.spawn(|| run(sandbox, "echo >running; exec sleep 600"));
        until("it runs", Duration::from_secs(10), || {
            wait(sandbox.stat("running")).is_ok()
        });
        act();
        call.join().expect("no panic").expect_err("it is dead")
    })
}

/// Why an engine's program failed, where that is what an error comes from.
fn failure(error: &Error) -> Option<&CliFailure> {
    let source = error.source()?;
    match source.downcast_ref::<ContainerFate>() {
        Some(ContainerFate::Unknown(error)) => Some(&error.failure),
        Some(_) => None,
        None => source
            .downcast_ref::<CliError>()
            .map(|error| &error.failure),
    }
}
