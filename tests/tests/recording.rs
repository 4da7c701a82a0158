//! Recordings of real tools: made on a backend, and run again without one.

#![expect(
    clippy::disallowed_methods,
    reason = "a test sets up and looks at what is outside every workspace"
)]

use std::{
    fs::File,
    io::{BufReader, Read as _},
    path::Path,
    time::Duration,
};

use belljar::{
    CallLimits, Host, HostOptions, Sandbox, Tool, WasiMode,
    backends::{LocalOptions, VirtualOptions},
    recording::{Recorder, Recording, RecordingError, Secrets},
};
use belljar_contract::{Context, blocking::block_on};
use tempfile::TempDir;

const SECRET: &str = "s3cret-of-the-operator";

fn load(bytes: &[u8]) -> Tool {
    let host = Host::new(HostOptions::default()).expect("the engine starts");
    host.load(bytes, WasiMode::Deny).expect("it loads")
}

/// A recording in a file, with the calls made on this sandbox.
struct Recorded(TempDir);

impl Recorded {
    fn on(sandbox: &Sandbox, tool: &Tool, calls: &[(&str, &str)], secrets: Secrets) -> Self {
        let recorded = Self(tempfile::tempdir().expect("a folder"));
        let file = File::create_new(recorded.path()).expect("a new file");
        let recorder = Recorder::new(file, secrets);
        let tool = tool.clone().with_recorder(recorder.clone());
        for (name, arguments) in calls {
            let _ = tool.call_blocking(sandbox, name, arguments);
        }
        recorder.finish().expect("it is written");
        let closed = block_on(&Context::new(), sandbox.close());
        closed.expect("nobody cancels").expect("it closes");
        recorded
    }

    fn path(&self) -> std::path::PathBuf {
        self.0.path().join("recording")
    }

    fn text(&self) -> String {
        let mut text = String::new();
        let mut file = File::open(self.path()).expect("it is there");
        file.read_to_string(&mut text).expect("it is text");
        text
    }

    fn read(&self) -> Recording {
        read(&self.path()).expect("it is a recording")
    }
}

fn read(path: &Path) -> Result<Recording, RecordingError> {
    Recording::read(BufReader::new(File::open(path).expect("it is there")))
}

fn on_virtual() -> Sandbox {
    Sandbox::new(VirtualOptions::default().open_ambient().expect("it opens"))
}

fn on_local() -> Sandbox {
    let options = LocalOptions {
        allow_host_processes: true,
        environment: [("TOKEN".to_owned(), SECRET.to_owned())].into(),
        ..LocalOptions::default()
    };
    Sandbox::new(options.open_ambient().expect("it opens"))
}

const EDITS: &[(&str, &str)] = &[
    ("write", r#"{"path": "a.rs", "content": "fn old() {}\n"}"#),
    ("read", r#"{"path": "a.rs"}"#),
    (
        "edit",
        r#"{"path": "a.rs", "edits": [{"old": "old", "new": "young"}]}"#,
    ),
    ("search", r#"{"pattern": "young"}"#),
    // Refused by the guard, by the tool's own check, and by the contract.
    ("write", r#"{"path": "../b", "content": ""}"#),
    ("read", r#"{"path": "missing"}"#),
    ("read", r#"{"no": "path"}"#),
    ("nothing", "{}"),
];

#[test]
fn a_tool_does_the_same_without_the_sandbox() {
    let tool = load(&belljar_test_guests::coding());
    let recorded = Recorded::on(&on_virtual(), &tool, EDITS, Secrets::default());
    let recording = recorded.read();
    assert_eq!(recording.calls(), EDITS.len());
    assert_eq!(recording.replay(&tool), Ok(()));
    // And again: nothing was used up.
    assert_eq!(recording.replay(&tool), Ok(()));
}

#[test]
fn the_first_thing_that_differs_is_told_with_its_line() {
    let tool = load(&belljar_test_guests::coding());
    let recorded = Recorded::on(&on_virtual(), &tool, EDITS, Secrets::default());
    let text = recorded.text();
    let change = |from: &str, to: &str| {
        assert!(text.contains(from), "{from} in {text}");
        std::fs::write(recorded.path(), text.replacen(from, to, 1)).expect("it is written");
        *recorded.read().replay(&tool).expect_err("it differs")
    };
    let first = |part: &str| {
        let at = text.lines().position(|line| line.contains(part));
        at.expect("it is there") + 1
    };

    // The tool asks for another file than was recorded.
    let asked = r#"{"files.stat":{"path":"missing"}}"#;
    let difference = change(asked, r#"{"files.stat":{"path":"other"}}"#);
    assert_eq!((difference.call, difference.line), (6, first(asked)));
    assert!(difference.now.contains("missing") && difference.recorded.contains("other"));

    // It answers something else.
    let answered = text
        .lines()
        .find(|line| line.starts_with(r#"{"end":{"answer"#));
    let answered = answered.expect("a call was answered");
    let difference = change(
        answered,
        r#"{"end":{"answer":{"content":[],"structured":null}}}"#,
    );
    assert_eq!((difference.call, difference.line), (1, first(answered)));

    // It ends where it asked once more.
    let end = text
        .lines()
        .find(|line| line.starts_with(r#"{"end""#))
        .expect("an end");
    let more = format!(
        "{}\n{end}",
        r#"{"exchange":{"request":{"files.read":{"path":"z"}},"answer":{"ok":"done"}}}"#
    );
    let difference = change(end, &more);
    assert_eq!((difference.call, difference.line), (1, first(end)));
}

#[test]
fn processes_are_replayed_without_any() {
    let tool = load(&belljar_test_guests::coding());
    let calls = [
        ("shell", r#"{"command": "echo out; echo err >&2; exit 3"}"#),
        (
            "shell",
            r#"{"command": "echo \"$TOKEN\" | tee secret.txt"}"#,
        ),
        ("read", r#"{"path": "secret.txt"}"#),
    ];
    let secrets = Secrets::from_iter([("TOKEN", SECRET)]);
    let recorded = Recorded::on(&on_local(), &tool, &calls, secrets);
    let text = recorded.text();
    assert!(text.contains("[secret TOKEN]"), "{text}");
    assert!(!text.contains(SECRET), "{text}");
    assert_eq!(recorded.read().replay(&tool), Ok(()));
}

#[test]
fn a_call_that_a_limit_ended_is_compared_as_far_as_it_goes() {
    let limits = CallLimits {
        timeout: Duration::from_millis(200),
        ..CallLimits::default()
    };
    let tool = load(&belljar_test_guests::coding());
    let short = tool.clone().with_limits(limits);
    let sleep = [("shell", r#"{"command": "echo begun; sleep 100"}"#)];
    let recorded = Recorded::on(&on_local(), &short, &sleep, Secrets::default());
    assert!(
        recorded.text().contains(r#""kind":"limit""#),
        "{}",
        recorded.text()
    );
    assert_eq!(recorded.read().replay(&tool), Ok(()));
}

#[test]
fn a_recording_that_was_cut_is_as_good_as_what_is_in_it() {
    let tool = load(&belljar_test_guests::coding());
    let recorded = Recorded::on(&on_virtual(), &tool, &EDITS[..2], Secrets::default());
    let text = recorded.text();
    // In the middle of the second call, and of nothing else.
    let last = text.trim_end().rfind('\n').expect("several lines") + 1;
    std::fs::write(recorded.path(), &text[..last]).expect("it is written");
    let recording = recorded.read();
    assert_eq!(recording.calls(), 2);
    assert_eq!(recording.replay(&tool), Ok(()));
    std::fs::write(recorded.path(), &text[..text.len() - 5]).expect("it is written");
    assert!(matches!(
        read(&recorded.path()),
        Err(RecordingError::Malformed { .. })
    ));
}
