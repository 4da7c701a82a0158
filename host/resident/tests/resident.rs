//! The program itself: what it serves, and how it ends.
#![cfg(unix)]

use std::{
    os::{
        fd::OwnedFd,
        unix::{ffi::OsStrExt as _, net::UnixListener},
    },
    path::Path,
    process::{Child, Command, ExitStatus, Output, Stdio},
    time::Duration,
};

use belljar_contract::{
    Context, ErrorKind, GuestPath, Launch, Request, Response,
    files::WriteOptions,
    processes::{self, Execution, Outcome},
    session::Limits,
};
use belljar_protocol::{
    Client, OpenError, Stream,
    facts::{Attempt, Told},
    message::{Open, Opened},
};

/// How long a test waits for what must come, before it fails.
const LONG: Duration = Duration::from_secs(20);

fn resident() -> Command {
    Command::new(env!("CARGO_BIN_EXE_belljar-resident"))
}

/// A resident that is ended with its test.
struct Resident(Child);

impl Resident {
    /// Waits for its end.
    fn end(mut self) -> ExitStatus {
        for _ in 0..LONG.as_millis() {
            if let Some(status) = self.0.try_wait().expect("as it should be") {
                return status;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        panic!("the resident does not end");
    }
}

impl Drop for Resident {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// How it is reached.
#[derive(Clone, Copy, Debug)]
enum Way {
    Connect,
    Stdio,
}

const WAYS: [Way; 2] = [Way::Connect, Way::Stdio];

fn start(way: Way) -> (Resident, Stream) {
    match way {
        Way::Stdio => {
            let mut child = resident()
                .arg("stdio")
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .expect("as it should be");
            let input = OwnedFd::from(child.stdout.take().expect("as it should be"));
            let output = OwnedFd::from(child.stdin.take().expect("as it should be"));
            (Resident(child), Stream::new(input, output))
        }
        Way::Connect => {
            let folder = tempfile::tempdir().expect("as it should be");
            let socket = folder.path().join("socket");
            let listener = UnixListener::bind(&socket).expect("as it should be");
            let child = resident()
                .arg("connect")
                .arg(&socket)
                .stdin(Stdio::null())
                .spawn()
                .expect("as it should be");
            let (stream, _) = listener.accept().expect("as it should be");
            (
                Resident(child),
                Stream::try_from(stream).expect("as it should be"),
            )
        }
    }
}

fn open_at(stream: Stream, root: &Path) -> Result<(Client, Opened), OpenError> {
    let open = Open {
        root: root.to_str().expect("as it should be").into(),
        variables: vec![("GIVEN".into(), "value".into())],
        limits: Limits::default(),
        silence: None,
    };
    Client::open(&Context::new().with_timeout(LONG), stream, &open)
}

struct Session {
    client: Client,
    resident: Resident,
    folder: tempfile::TempDir,
}

fn session(way: Way) -> Session {
    let folder = tempfile::tempdir().expect("as it should be");
    let (resident, stream) = start(way);
    let (client, opened) = open_at(stream, folder.path()).expect("as it should be");
    assert!(opened.writable);
    assert_eq!(opened.version, env!("CARGO_PKG_VERSION"));
    Session {
        client,
        resident,
        folder,
    }
}

fn path(text: &str) -> GuestPath {
    GuestPath::parse(text, "/").expect("as it should be")
}

fn shell(text: &str) -> Launch {
    Launch {
        command: processes::Command::Shell(text.into()),
        directory: GuestPath::root(),
        environment: vec![],
        stdin: vec![],
        user: None,
        timeout: Some(Duration::from_secs(60)),
        output_limit: 1 << 20,
    }
}

impl Session {
    fn call(&self, request: Request) -> Result<Response, ErrorKind> {
        let answer = self.client.call(&Context::new(), request);
        answer.map_err(|error| error.kind)
    }

    fn run(&self, text: &str) -> Result<Execution, ErrorKind> {
        match self.call(Request::Run(shell(text)))? {
            Response::Execution(execution) => Ok(execution),
            other => panic!("{other:?}"),
        }
    }

    /// Starts what says its number in this file and stays.
    fn start(&self, file: &str) -> String {
        let launch = shell(&format!("echo $$ >{file}; exec sleep 1000"));
        let started = self.call(Request::Start(launch));
        assert!(matches!(started, Ok(Response::Process(_))));
        self.until_there(file)
    }

    fn until_there(&self, file: &str) -> String {
        loop {
            match self.call(Request::Read { path: path(file) }) {
                Ok(Response::Content(content)) if content.bytes.ends_with(b"\n") => {
                    return String::from_utf8(content.bytes)
                        .expect("as it should be")
                        .trim()
                        .into();
                }
                Ok(Response::Content(_)) | Err(ErrorKind::NotFound) => {
                    std::thread::sleep(Duration::from_millis(1));
                }
                other => panic!("{other:?}"),
            }
        }
    }
}

fn lives(pid: &str) -> bool {
    let pid = rustix::process::Pid::from_raw(pid.parse().expect("as it should be"))
        .expect("as it should be");
    rustix::process::test_kill_process(pid).is_ok()
}

#[test]
fn a_session_from_opening_to_close() {
    for way in WAYS {
        let session = session(way);
        let written = session.call(Request::Write {
            path: path("a/b"),
            bytes: b"from a tool\n".to_vec(),
            options: WriteOptions {
                make_parents: true,
                ..WriteOptions::default()
            },
        });
        assert!(matches!(written, Ok(Response::Version(_))), "{way:?}");
        // What is written to standard output here must not reach the stream, and there is no input.
        let ran = session
            .run("cat a/b; cat; echo $GIVEN; echo no >&2")
            .unwrap();
        assert_eq!(ran.outcome, Outcome::Exited(0));
        assert_eq!(ran.stdout.head, b"from a tool\nvalue\n");
        assert_eq!(ran.stderr.head, b"no\n");
        let started = session.start("started");
        let (running, closed) = std::thread::scope(|scope| {
            let runs = scope.spawn(|| session.run("echo $$ >ran; exec sleep 1000"));
            let running = session.until_there("ran");
            session.client.close(LONG);
            (running, runs.join().unwrap())
        });
        assert_eq!(closed, Err(ErrorKind::Closed));
        assert!(!lives(&started) && !lives(&running), "{way:?}");
        assert_eq!(session.resident.end().code(), Some(0), "{way:?}");
        assert!(session.folder.path().join("a/b").is_file());
    }
}

#[test]
fn it_tells_what_it_sees() {
    for way in WAYS {
        let session = session(way);
        let facts = session.client.probe(&Context::new()).unwrap();
        assert!(facts.are_bounded());
        assert_eq!(facts.pid, session.resident.0.id());
        assert_eq!(facts.workspace, Attempt::Possible);
        let told =
            |told: &Told, what: &str| matches!(told, Told::Text(text) if text.contains(what));
        assert!(told(&facts.status, "NoNewPrivs:"));
        assert!(told(&facts.mounts, " / "));
        assert!(told(&facts.interfaces, "lo:"));
        assert_eq!(session.folder.path().read_dir().unwrap().count(), 0);
    }
}

#[test]
fn no_descriptor_of_the_session_reaches_a_process() {
    if !Path::new("/proc/self/fd").exists() {
        return;
    }
    for way in WAYS {
        let session = session(way);
        // A shell's glob opens the folder itself, so one more number than the three may be there.
        let ran = session.run("for fd in /proc/$$/fd/*; do readlink $fd; done");
        let text = String::from_utf8(ran.unwrap().stdout.head).unwrap();
        assert!(!text.contains("socket:"), "{text}");
        assert!(text.lines().count() <= 4, "{text}");
    }
}

#[test]
fn a_host_that_is_gone_ends_the_resident_and_its_processes() {
    for way in WAYS {
        let session = session(way);
        let started = session.start("started");
        let Session {
            client,
            resident,
            folder,
        } = session;
        drop(client);
        assert_eq!(resident.end().code(), Some(0), "{way:?}");
        assert!(!lives(&started), "{way:?}");
        drop(folder);
    }
}

/// The host is killed in the middle of a run: no goodbye, only the stream's end.
#[test]
fn a_host_that_is_killed_in_a_run_ends_the_resident_and_its_processes() {
    let (resident, stream) = start(Way::Connect);
    let folder = tempfile::tempdir().unwrap();
    let (client, _) = open_at(stream, folder.path()).unwrap();
    let session = Session {
        client,
        resident,
        folder,
    };
    // A call that is given up still runs there.
    let context = Context::new();
    let pid = std::thread::scope(|scope| {
        let run = "trap '' TERM INT HUP; echo $$ >ran; sleep 1000; sleep 1000";
        let run = scope.spawn(|| session.client.call(&context, Request::Run(shell(run))));
        let pid = session.until_there("ran");
        rustix::process::kill_process(
            rustix::process::Pid::from_child(&session.resident.0),
            rustix::process::Signal::STOP,
        )
        .unwrap();
        context.cancellation().cancel();
        let ended = run.join().unwrap().map_err(|error| error.kind);
        assert_eq!(ended, Err(ErrorKind::Cancelled));
        pid
    });
    assert!(lives(&pid));
    let resident_pid = rustix::process::Pid::from_child(&session.resident.0);
    let Session {
        client, resident, ..
    } = session;
    drop(client);
    rustix::process::kill_process(resident_pid, rustix::process::Signal::CONT).unwrap();
    assert_eq!(resident.end().code(), Some(0));
    assert!(!lives(&pid));
}

#[test]
fn a_root_that_is_not_there_is_refused() {
    for way in WAYS {
        let (resident, stream) = start(way);
        let opened = open_at(stream, Path::new("/does/not/exist"));
        assert!(matches!(opened, Err(OpenError::Refused(_))), "{way:?}");
        assert_eq!(resident.end().code(), Some(1), "{way:?}");
    }
}

fn output(command: &mut Command) -> Output {
    command
        .stdin(Stdio::null())
        .output()
        .expect("as it should be")
}

#[test]
fn arguments_that_mean_nothing_are_a_usage_error() {
    let odd = std::ffi::OsStr::from_bytes(b"\xff");
    let wrong: [&[&std::ffi::OsStr]; 7] = [
        &[],
        &["serve".as_ref()],
        &["connect".as_ref()],
        &["connect".as_ref(), "a".as_ref(), "b".as_ref()],
        &["stdio".as_ref(), "a".as_ref()],
        &["--version".as_ref(), "a".as_ref()],
        &[odd],
    ];
    for arguments in wrong {
        let ended = output(resident().args(arguments));
        assert_eq!(ended.status.code(), Some(2), "{arguments:?}");
        assert!(ended.stdout.is_empty() && !ended.stderr.is_empty());
    }
}

#[test]
fn what_cannot_be_served_is_a_failure() {
    let folder = tempfile::tempdir().unwrap();
    let nowhere = folder.path().join("nowhere");
    let ended = output(resident().arg("connect").arg(&nowhere));
    assert_eq!(ended.status.code(), Some(1));
    // The stream's end before anything is said is only an end.
    let ended = output(resident().arg("stdio"));
    assert_eq!(ended.status.code(), Some(0));
    let ended = output(resident().arg("--version"));
    assert_eq!(ended.status.code(), Some(0));
    assert!(ended.stdout.starts_with(b"belljar-resident "));
}
