use std::{
    io::{self, Write},
    sync::{Arc, Mutex},
    time::Duration,
};

use belljar_contract::{
    Error, ErrorKind, Expected, GuestPath, Launch, Operation, Pattern, Query, Request, Response,
    Scope, Version,
    files::{
        Chunk, Content, Entry, EntryKind, Found, GlobResult, Info, Line as FileLine, Listing,
        Match, Name, Replaced, SearchResult, Skipped, Syntax,
    },
    processes::{
        Command, Ended, Execution, Outcome, Output, OutputChunk, OutputStream, ProcessId,
        SignalKind,
    },
    session::CommandInfo,
};

use super::{
    format::{Answered, Exchange, Line},
    *,
};

const SECRET: &str = "hunter2-hunter2";

/// A place to write to, and to look at.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn path(text: &str) -> GuestPath {
    GuestPath::parse(text, "/").unwrap()
}

/// Every kind of request, the secret wherever there is room for it.
fn requests() -> Vec<Request> {
    let named = || path(&format!("a/{SECRET}.txt"));
    let bytes = || format!("x{SECRET}y").into_bytes();
    let text = || format!("x{SECRET}y");
    let glob = || Pattern::parse(&format!("{SECRET}*")).unwrap();
    let scope = || Scope {
        base: named(),
        hidden: false,
        ignored: true,
        limit: 3,
        within: vec![vec![glob()]],
    };
    let launch = |command| Launch {
        command,
        directory: named(),
        environment: vec![("TOKEN".into(), "short".into()), (text(), SECRET.into())],
        stdin: bytes(),
        user: Some(text()),
        timeout: Some(Duration::from_millis(1500)),
        output_limit: 9,
    };
    vec![
        Request::Read { path: named() },
        Request::ReadRange {
            path: named(),
            offset: 1,
            length: 2,
        },
        Request::Write {
            path: named(),
            bytes: bytes(),
            options: Default::default(),
        },
        Request::Append {
            path: named(),
            bytes: bytes(),
            options: Default::default(),
        },
        Request::Replace {
            path: named(),
            old: bytes(),
            new: bytes(),
            options: Default::default(),
        },
        Request::List {
            path: named(),
            limit: 1,
        },
        Request::Glob {
            pattern: glob(),
            scope: scope(),
        },
        Request::Search {
            query: Query {
                pattern: text(),
                syntax: Syntax::Literal,
                ignore_case: false,
                include: vec![glob()],
                exclude: vec![glob()],
                context: 0,
            },
            scope: scope(),
        },
        Request::Stat { path: named() },
        Request::Resolve { path: named() },
        Request::MakeDirectory { path: named() },
        Request::Remove {
            path: named(),
            recursive: true,
        },
        Request::Rename {
            source: named(),
            target: named(),
            destination: Expected::Absent,
        },
        Request::Copy {
            source: named(),
            target: named(),
            destination: Expected::Any,
        },
        Request::Run(launch(Command::Argv(vec!["sh".into(), text()]))),
        Request::Start(launch(Command::Shell(text()))),
        Request::ReadOutput {
            process: ProcessId(1),
            output: OutputStream::Stdout,
            cursor: 0,
            limit: 1,
            wait: Duration::from_millis(2),
        },
        Request::WriteInput {
            process: ProcessId(1),
            bytes: bytes(),
            close: true,
        },
        Request::Signal {
            process: ProcessId(1),
            signal: SignalKind::Kill,
        },
        Request::Wait {
            process: ProcessId(1),
            wait: Duration::ZERO,
        },
        Request::FindCommands {
            names: vec![text()],
        },
    ]
}

/// Every kind of response, the same way.
fn responses() -> Vec<Response> {
    let bytes = || format!("x{SECRET}y").into_bytes();
    let text = || format!("x{SECRET}y");
    let version = || Version::parse("v1").unwrap();
    let name = || Name {
        text: text(),
        raw: Some([bytes(), vec![0xff]].concat()),
    };
    let line = || FileLine {
        text: text(),
        lossy: false,
        dropped: 0,
    };
    let output = || Output {
        head: bytes(),
        tail: bytes(),
        dropped: 1,
    };
    let ended = Ended {
        outcome: Outcome::Exited(0),
        duration: Duration::from_nanos(1),
    };
    vec![
        Response::Content(Content {
            bytes: bytes(),
            version: version(),
        }),
        Response::Chunk(Chunk {
            bytes: bytes(),
            size: 1,
            version: version(),
        }),
        Response::Version(version()),
        Response::Replaced(Replaced {
            count: 1,
            version: version(),
        }),
        Response::Listing(Listing {
            entries: vec![Entry {
                name: name(),
                kind: EntryKind::File,
                size: None,
            }],
            total: 1,
        }),
        Response::Glob(GlobResult {
            paths: vec![Found {
                path: name(),
                kind: EntryKind::Link,
            }],
            total: 1,
            skipped: Skipped::default(),
        }),
        Response::Search(SearchResult {
            matches: vec![Match {
                path: name(),
                line_number: 1,
                offset: 0,
                line: line(),
                before: vec![line()],
                after: vec![line()],
            }],
            more: false,
            skipped: Skipped::default(),
        }),
        Response::Info(Info {
            kind: EntryKind::Directory,
            size: 0,
            modified: -1,
            mode: 0o755,
        }),
        Response::Path(path(&text())),
        Response::Execution(Execution {
            outcome: Outcome::Signalled(9),
            stdout: output(),
            stderr: output(),
            duration: Duration::from_millis(1),
        }),
        Response::Process(ProcessId(7)),
        Response::Output(OutputChunk {
            bytes: bytes(),
            cursor: 1,
            dropped: 0,
            ended: true,
        }),
        Response::Ended(Some(ended)),
        Response::Commands(vec![CommandInfo {
            name: text(),
            path: Some(text()),
            version: Some(text()),
        }]),
        Response::Done,
    ]
}

fn exchanges() -> Vec<Exchange> {
    let error = Error::new(ErrorKind::NotFound, Operation::Read, SECRET).at(SECRET);
    let answers = responses()
        .into_iter()
        .map(Answered::Ok)
        .chain([Answered::Error(error)])
        .cycle();
    let exchange = |(request, answer)| Exchange { request, answer };
    requests().into_iter().zip(answers).map(exchange).collect()
}

#[test]
fn every_request_has_its_name_in_the_contract() {
    for request in requests() {
        let json = serde_json::to_value(&request).unwrap();
        let names: Vec<&String> = json.as_object().unwrap().keys().collect();
        assert_eq!(names, [request.operation().as_str()]);
    }
}

#[test]
fn every_line_is_read_as_it_was_written() {
    for exchange in exchanges() {
        let line = Line::Exchange(exchange);
        let text = serde_json::to_vec(&line).unwrap();
        assert_eq!(serde_json::from_slice::<Line>(&text).unwrap(), line);
    }
}

/// Whether the secret can be found in a value's texts, or in what they say in base64.
fn tells(value: &serde_json::Value) -> bool {
    use base64::{Engine as _, engine::general_purpose::STANDARD};
    match value {
        serde_json::Value::String(text) => {
            let decoded = STANDARD.decode(text).unwrap_or_default();
            text.contains(SECRET) || String::from_utf8_lossy(&decoded).contains(SECRET)
        }
        serde_json::Value::Array(values) => values.iter().any(tells),
        serde_json::Value::Object(fields) => fields
            .iter()
            .any(|(name, value)| name.contains(SECRET) || tells(value)),
        _ => false,
    }
}

#[test]
fn no_secret_and_no_value_of_a_variable_is_in_a_recording() {
    let secrets = Secrets::from_iter([("TOKEN", SECRET), ("LANG", "C")]);
    assert!(!format!("{secrets:?}").contains(SECRET));
    for mut exchange in exchanges() {
        let before = serde_json::to_value(&exchange).unwrap();
        secrets.request(&mut exchange.request);
        secrets.answered(&mut exchange.answer);
        let after = serde_json::to_value(&exchange).unwrap();
        assert!(!tells(&after), "{after}");
        assert!(!after.to_string().contains("short"), "{after}");
        // The test has put it where it could be told.
        let quiet = matches!(
            exchange.request,
            Request::ReadOutput { .. } | Request::Signal { .. } | Request::Wait { .. }
        );
        assert!(quiet || tells(&before), "{before}");
    }
}

#[test]
fn of_two_secrets_that_begin_alike_nothing_is_left() {
    let longer = format!("{SECRET}-and-more");
    let secrets = Secrets::from_iter([("A", SECRET.to_owned()), ("B", longer.clone())]);
    let mut request = Request::Write {
        path: path("a"),
        bytes: format!("{longer}{SECRET}{longer}").into_bytes(),
        options: Default::default(),
    };
    secrets.request(&mut request);
    let Request::Write { bytes, .. } = request else {
        unreachable!()
    };
    assert_eq!(bytes, b"[secret B][secret A][secret B]");
}

#[test]
fn what_is_no_recording_is_refused_with_the_line() {
    let read = |text: &str| Recording::read(text.as_bytes());
    let beginning = r#"{"recording": {"version": 1, "contract": "0.1.0"}}"#;
    let end = r#"{"end": {"failed": {"kind": "trap", "message": ""}}}"#;
    for (text, wrong) in [
        (String::new(), 1),
        ("{}".into(), 1),
        (end.into(), 1),
        (format!("{beginning}\n{beginning}\n"), 2),
        (format!("{beginning}\n{end}\n"), 2),
        (format!("{beginning}\nnot JSON\n"), 2),
    ] {
        match read(&text) {
            Err(RecordingError::Malformed { line, .. }) => assert_eq!(line, wrong, "{text}"),
            other => panic!("{text}: {other:?}"),
        }
    }
    let newer = beginning.replace("\"version\": 1", "\"version\": 2");
    assert!(matches!(
        read(&newer),
        Err(RecordingError::Version { version: 2 })
    ));
    assert_eq!(read(beginning).unwrap().calls(), 0);
}

#[test]
fn a_full_disk_is_told_at_the_end() {
    struct Full;

    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    let failed = Recorder::new(Full, Secrets::default()).finish();
    assert_eq!(failed.unwrap_err().kind(), io::ErrorKind::StorageFull);
    let there = Shared::default();
    Recorder::new(there.clone(), Secrets::default())
        .finish()
        .unwrap();
    assert!(there.0.lock().unwrap().ends_with(b"\n"));
}
