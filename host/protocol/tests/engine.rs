//! The workspace engine, served.

mod support;

use std::{path::Path, time::Duration};

use belljar_contract::{
    Context, Error, ErrorKind, GuestPath, Launch, Request, Response,
    processes::{Command, Execution, Outcome},
    session::Limits,
};
use belljar_protocol::Client;
use belljar_workspace::{
    Engine,
    files::Workspace,
    processes::{Options, Supervisor},
};
use support::{LONG, Served, join, kind, read, session, write};

struct Closing(Engine);

impl belljar_protocol::Engine for Closing {
    fn call(&self, context: &Context, request: Request) -> Result<Response, Error> {
        self.0.call(context, request)
    }
}

impl Drop for Closing {
    fn drop(&mut self) {
        self.0.close();
    }
}

fn serving(directory: &Path) -> (Client, Served) {
    let limits = Limits::default();
    let files = Workspace::open_ambient(directory, &limits).expect("as it should be");
    let supervisor = Supervisor::new(Options {
        root: directory.to_str().expect("as it should be").into(),
        limits,
        owns_all_children: false,
    });
    session(Closing(Engine::new(files, Some(supervisor))))
}

fn shell(text: &str) -> Launch {
    Launch {
        command: Command::Shell(text.into()),
        directory: GuestPath::root(),
        environment: vec![],
        stdin: vec![],
        user: None,
        timeout: Some(Duration::from_secs(60)),
        output_limit: 1 << 20,
    }
}

fn run(client: &Client, context: &Context, text: &str) -> Result<Execution, ErrorKind> {
    match kind(client.call(context, Request::Run(shell(text))))? {
        Response::Execution(execution) => Ok(execution),
        other => panic!("{other:?}"),
    }
}

/// Waits until a program has made this file with something in it.
fn until_there(client: &Client, name: &str) -> String {
    loop {
        match kind(client.call(&Context::new(), read(name))) {
            Ok(Response::Content(content)) if content.bytes.ends_with(b"\n") => {
                return String::from_utf8(content.bytes)
                    .expect("as it should be")
                    .trim()
                    .to_owned();
            }
            Ok(Response::Content(_)) | Err(ErrorKind::NotFound) => {
                std::thread::sleep(Duration::from_millis(1));
            }
            other => panic!("{other:?}"),
        }
    }
}

fn lives(pid: &str) -> bool {
    let pid = rustix::process::Pid::from_raw(pid.parse().expect("as it should be"))
        .expect("as it should be");
    rustix::process::test_kill_process(pid).is_ok()
}

#[test]
fn a_file_of_the_largest_size_goes_there_and_back() {
    let directory = tempfile::tempdir().unwrap();
    let (client, served) = serving(directory.path());
    let context = Context::new().with_timeout(LONG);
    let bytes: Vec<u8> = (0..=250).cycle().take(16 << 20).collect();
    let written = client.call(&context, write("a", bytes.clone())).unwrap();
    let Response::Version(version) = written else {
        panic!("{written:?}");
    };
    match client.call(&context, read("a")).unwrap() {
        Response::Content(content) => {
            assert!(content.bytes == bytes);
            assert_eq!(content.version, version);
        }
        other => panic!("{other:?}"),
    }
    let missing = client.call(&context, read("b")).unwrap_err();
    assert_eq!(missing.kind, ErrorKind::NotFound);
    assert_eq!(missing.path.as_deref(), Some("b"));
    client.close(LONG);
    assert!(matches!(join(served), Ok(())));
}

#[test]
fn a_cancelled_run_comes_back_with_what_it_printed() {
    let directory = tempfile::tempdir().unwrap();
    let (client, _served) = serving(directory.path());
    let context = Context::new();
    let execution = std::thread::scope(|scope| {
        let run = scope.spawn(|| run(&client, &context, "echo part; echo $$ >pid; exec sleep 60"));
        let pid = until_there(&client, "pid");
        context.cancellation().cancel();
        let execution = run.join().unwrap().unwrap();
        assert!(!lives(&pid));
        execution
    });
    assert_eq!(execution.outcome, Outcome::Cancelled);
    assert_eq!(execution.stdout.head, b"part\n");
}

#[test]
fn a_run_ends_at_the_deadline_of_its_call_and_not_before_as_cancelled() {
    let directory = tempfile::tempdir().unwrap();
    let (client, _served) = serving(directory.path());
    for _ in 0..3 {
        let context = Context::new().with_timeout(Duration::from_millis(300));
        // It does not go at SIGTERM, so that the two ends differ in time too.
        let ran = run(&client, &context, "trap '' TERM; echo part; sleep 60").unwrap();
        assert_eq!(ran.outcome, Outcome::TimedOut);
        assert_eq!(ran.stdout.head, b"part\n");
    }
}

/// A session with a started process, and that process.
fn with_a_process(directory: &Path) -> (Client, Served, String) {
    let (client, served) = serving(directory);
    let launch = shell("echo $$ >started; exec sleep 1000");
    let started = client.call(&Context::new(), Request::Start(launch));
    assert!(matches!(started, Ok(Response::Process(_))));
    let pid = until_there(&client, "started");
    assert!(lives(&pid));
    (client, served, pid)
}

#[test]
fn closing_waits_until_processes_have_ended() {
    let directory = tempfile::tempdir().unwrap();
    let (client, served, started) = with_a_process(directory.path());
    std::thread::scope(|scope| {
        let run = scope.spawn(|| run(&client, &Context::new(), "echo $$ >ran; exec sleep 1000"));
        let ran = until_there(&client, "ran");
        client.close(LONG);
        assert!(!lives(&ran) && !lives(&started));
        assert_eq!(run.join().unwrap(), Err(ErrorKind::Closed));
    });
    assert!(matches!(join(served), Ok(())));
}

#[test]
fn processes_end_with_a_client_that_is_dropped() {
    let directory = tempfile::tempdir().unwrap();
    let (client, served, started) = with_a_process(directory.path());
    drop(client);
    assert!(matches!(join(served), Ok(())));
    assert!(!lives(&started));
}
