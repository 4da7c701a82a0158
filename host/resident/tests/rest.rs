//! What a resident takes while it does nothing.
#![cfg(target_os = "linux")]
#![expect(
    clippy::disallowed_methods,
    reason = "what the system tells, and a file of the test"
)]

use std::{
    fs,
    process::{Child, Command, Stdio},
    time::Duration,
};

use belljar_contract::{Context, GuestPath, Request, Response, session::Limits};
use belljar_protocol::{Client, Stream, message::Open};

/// The most memory of its own, in KiB: what is a file's pages is the system's.
const MOST: u64 = 4096;

struct Resident(Child);

impl Drop for Resident {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Resident {
    /// A number in what the system tells of it, or of one of its threads.
    fn told(of: &std::path::Path, what: &str) -> u64 {
        let status = fs::read_to_string(of.join("status")).expect("it lives");
        let line = status.lines().find(|line| line.starts_with(what));
        let number = line.and_then(|line| line.split_whitespace().nth(1));
        number.expect("it is told").parse().expect("a number")
    }

    fn process(&self) -> std::path::PathBuf {
        format!("/proc/{}", self.0.id()).into()
    }

    /// How often its threads have been woken.
    fn wakes(&self) -> u64 {
        let threads = fs::read_dir(self.process().join("task")).expect("it lives");
        threads
            .map(|thread| Self::told(&thread.expect("it lives").path(), "voluntary_ctxt_switches"))
            .sum()
    }
}

#[test]
fn it_keeps_nothing_of_what_it_has_read_and_sleeps() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("large"), vec![0; 16 << 20]).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_belljar-resident"))
        .arg("stdio")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let stream = Stream::new(
        child.stdout.take().unwrap().into(),
        child.stdin.take().unwrap().into(),
    );
    let resident = Resident(child);
    let open = Open {
        root: folder.path().to_str().unwrap().into(),
        variables: vec![],
        limits: Limits::default(),
        silence: None,
    };
    let context = Context::new().with_timeout(Duration::from_secs(20));
    let (client, _) = Client::open(&context, stream, &open).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..3 {
                    let path = GuestPath::parse("large", "/").unwrap();
                    let answer = client.call(&Context::new(), Request::Read { path });
                    assert!(matches!(answer, Ok(Response::Content(_))));
                }
            });
        }
    });
    // The last answer is freed after it was written.
    client.ping(&context).unwrap();
    let kept = || Resident::told(&resident.process(), "RssAnon");
    for _ in 0..100 {
        if kept() <= MOST {
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(kept() <= MOST, "{} KiB", kept());
    // The last threads may still be on their way to sleep.
    let sleeps = (0..10).any(|_| {
        let before = resident.wakes();
        std::thread::sleep(Duration::from_millis(500));
        resident.wakes() == before
    });
    assert!(sleeps);
}
