//! A resident whose session comes later, from a program that is started beside it.
#![cfg(target_os = "linux")]

use std::{
    os::{fd::OwnedFd, unix::fs::PermissionsExt as _},
    path::Path,
    process::{Child, Command, ExitStatus, Stdio},
    time::Duration,
};

use belljar_contract::{Context, GuestPath, Request, session::Limits};
use belljar_protocol::{Client, Stream, message::Open};

/// How long a test waits for what must come, before it fails.
const LONG: Duration = Duration::from_secs(20);

/// A program that is ended with its test.
struct Program(Child);

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Program {
    fn end(mut self) -> ExitStatus {
        for _ in 0..LONG.as_millis() {
            if let Some(status) = self.0.try_wait().expect("as it should be") {
                return status;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        panic!("it does not end");
    }
}

fn start(command: &str, socket: &Path, seconds: &str, stdio: fn() -> Stdio) -> Program {
    let child = Command::new(env!("CARGO_BIN_EXE_belljar-resident"))
        .arg(command)
        .arg(socket)
        .arg(seconds)
        .stdin(stdio())
        .stdout(stdio())
        .stderr(Stdio::null())
        .spawn();
    Program(child.expect("as it should be"))
}

fn open(attached: &mut Program, root: &Path) -> Client {
    let output = OwnedFd::from(attached.0.stdin.take().expect("as it should be"));
    let input = OwnedFd::from(attached.0.stdout.take().expect("as it should be"));
    let open = Open {
        root: root.to_str().expect("as it should be").into(),
        variables: Vec::new(),
        limits: Limits::default(),
        silence: None,
    };
    let context = Context::new().with_timeout(LONG);
    let (client, _) =
        Client::open(&context, Stream::new(input, output), &open).expect("as it should be");
    client
}

#[test]
fn a_session_that_is_handed_over_is_served_and_ends_both() {
    let folder = tempfile::tempdir().expect("as it should be");
    let socket = folder.path().join("socket");
    // Whichever comes first, the other one comes.
    let mut attached = start("attach", &socket, "20", Stdio::piped);
    let waiting = start("await", &socket, "20", Stdio::null);
    let client = open(&mut attached, folder.path());
    assert!(!socket.exists(), "nobody else may come");
    let request = Request::Stat {
        path: GuestPath::root(),
    };
    let context = Context::new().with_timeout(LONG);
    let answer = client.call(&context, request);
    assert!(answer.is_ok(), "{answer:?}");
    client.close(LONG);
    drop(client);
    assert!(waiting.end().success());
    assert!(attached.end().success());
}

#[test]
fn a_session_ends_with_its_stream_whoever_holds_it() {
    let folder = tempfile::tempdir().expect("as it should be");
    let socket = folder.path().join("socket");
    let waiting = start("await", &socket, "20", Stdio::null);
    let mut attached = start("attach", &socket, "20", Stdio::piped);
    let client = open(&mut attached, folder.path());
    drop(client);
    assert!(waiting.end().success());
}

#[test]
fn who_waits_in_vain_ends() {
    let folder = tempfile::tempdir().expect("as it should be");
    let socket = folder.path().join("socket");
    let waiting = start("await", &socket, "1", Stdio::null);
    assert!(waiting.end().success());
    assert!(!socket.exists());
    let attached = start("attach", &socket, "1", Stdio::null);
    assert!(!attached.end().success());
}

#[test]
fn it_copies_itself() {
    let folder = tempfile::tempdir().expect("as it should be");
    let copy = folder.path().join("belljar-resident");
    let program = env!("CARGO_BIN_EXE_belljar-resident");
    let status = Command::new(program).arg("copy").arg(&copy).status();
    assert!(status.expect("as it should be").success());
    let mode = copy
        .metadata()
        .expect("as it should be")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o555);
    let said = Command::new(&copy)
        .arg("--version")
        .output()
        .expect("as it should be");
    assert!(said.status.success());
    let left = folder.path().read_dir().expect("as it should be").count();
    assert_eq!(left, 1);
}
