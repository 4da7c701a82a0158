//! What a `run` costs over spawning the same program and reading its output with the standard library.
#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]

use std::{process::Command, time::Duration};

use belljar_contract::{
    Context, GuestPath, Launch, Request, Response,
    processes::{self, Outcome},
    session::Limits,
};
use belljar_workspace::{
    files::Workspace,
    processes::{Options, Supervisor},
};

const ROUNDS: usize = 15;
const RUNS: u32 = 40;

fn main() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let limits = Limits::default();
    let files = Workspace::open_ambient(directory.path(), &limits).expect("it is there");
    for owns_all_children in [true, false] {
        let supervisor = Supervisor::new(Options {
            root: directory.path().to_string_lossy().into_owned(),
            limits,
            owns_all_children,
        });
        let context = Context::new();
        let ours = || {
            let request = Request::Run(launch());
            match supervisor.call(&context, &files, request) {
                Ok(Response::Execution(ran)) => assert_eq!(ran.outcome, Outcome::Exited(0)),
                other => panic!("{other:?}"),
            }
        };
        let theirs = || {
            let mut command = Command::new("/bin/sh");
            command.args(["-c", "true"]).current_dir(directory.path());
            assert!(command.output().expect("a shell starts").status.success());
        };
        // Rounds of both in turn, and the least of each, because a machine is never quiet for long.
        let (mut least_ours, mut least_theirs) = (Duration::MAX, Duration::MAX);
        for _ in 0..ROUNDS {
            least_theirs = least_theirs.min(time(&context, theirs));
            least_ours = least_ours.min(time(&context, ours));
        }
        let ratio = least_ours.as_secs_f64() / least_theirs.as_secs_f64();
        println!(
            "sh -c true, owns_all_children = {owns_all_children}: run {least_ours:?}, std::process {least_theirs:?}, ratio {ratio:.2}"
        );
    }
}

fn time(context: &Context, mut work: impl FnMut()) -> Duration {
    let before = context.now();
    for _ in 0..RUNS {
        work();
    }
    (context.now() - before) / RUNS
}

fn launch() -> Launch {
    Launch {
        command: processes::Command::Shell("true".into()),
        directory: GuestPath::root(),
        environment: vec![],
        stdin: vec![],
        user: None,
        timeout: Some(Duration::from_secs(10)),
        output_limit: 1 << 20,
    }
}
