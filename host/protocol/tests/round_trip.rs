//! Everything that is said survives the format, which does not describe itself: what an attribute leaves
//! out of a field, or adds to it, would be read as something else.

mod support;

use std::{collections::BTreeSet, fmt::Debug, time::Duration};

use belljar_contract::{
    Error, ErrorKind, Expected, Launch, Operation, Pattern, Query, Request, Response, Scope,
    Version,
    files::{
        Chunk, Content, Entry, EntryKind, Found, GlobResult, Info, Line, Listing, Match, Name,
        ReplaceOptions, Replaced, SearchResult, Skipped, Syntax, WriteOptions,
    },
    processes::{
        Command, Ended, Execution, Outcome, Output, OutputChunk, OutputStream, ProcessId,
        SignalKind,
    },
    session::{CommandInfo, Limits},
};
use belljar_protocol::{
    facts::{Attempt, Facts, LimitFile, Told},
    message::{Answer, Ask, Open, Opened},
};
use proptest::prelude::*;
use serde::{Serialize, de::DeserializeOwned};
use support::path;

fn survives<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T) {
    let bytes = postcard::to_stdvec(value).expect("it is encoded");
    let (back, rest) = postcard::take_from_bytes::<T>(&bytes).expect("it is decoded");
    assert_eq!(&back, value);
    assert_eq!(rest, [0; 0], "{value:?}");
}

/// Where a request stands in the list; the compiler asks for a new one here.
const fn place(request: &Request) -> usize {
    match request {
        Request::Read { .. } => 0,
        Request::ReadRange { .. } => 1,
        Request::Write { .. } => 2,
        Request::Append { .. } => 3,
        Request::Replace { .. } => 4,
        Request::List { .. } => 5,
        Request::Glob { .. } => 6,
        Request::Search { .. } => 7,
        Request::Stat { .. } => 8,
        Request::Resolve { .. } => 9,
        Request::MakeDirectory { .. } => 10,
        Request::Remove { .. } => 11,
        Request::Rename { .. } => 12,
        Request::Copy { .. } => 13,
        Request::Run(_) => 14,
        Request::Start(_) => 15,
        Request::ReadOutput { .. } => 16,
        Request::WriteInput { .. } => 17,
        Request::Signal { .. } => 18,
        Request::Wait { .. } => 19,
        Request::FindCommands { .. } => 20,
    }
}

const fn place_of_response(response: &Response) -> usize {
    match response {
        Response::Content(_) => 0,
        Response::Chunk(_) => 1,
        Response::Version(_) => 2,
        Response::Replaced(_) => 3,
        Response::Listing(_) => 4,
        Response::Glob(_) => 5,
        Response::Search(_) => 6,
        Response::Info(_) => 7,
        Response::Path(_) => 8,
        Response::Execution(_) => 9,
        Response::Process(_) => 10,
        Response::Output(_) => 11,
        Response::Ended(_) => 12,
        Response::Commands(_) => 13,
        Response::Done => 14,
    }
}

fn version() -> Version {
    Version::parse("b3:0123").expect("a version")
}

fn pattern(text: &str) -> Pattern {
    Pattern::parse(text).expect("a pattern")
}

/// Every value of the fields that have several forms.
fn requests() -> Vec<Request> {
    let bytes = || vec![0, 255, b'a'];
    let expected = [
        Expected::Any,
        Expected::Absent,
        Expected::Version(version()),
    ];
    let scope = |within| Scope {
        base: path("a/").without_links(),
        hidden: true,
        ignored: false,
        limit: 7,
        within,
    };
    let scopes = [
        scope(vec![]),
        scope(vec![vec![], vec![pattern("**/*.rs"), pattern("b")]]),
    ];
    let process = ProcessId(u64::MAX);
    let mut all = vec![
        Request::Read { path: path(".") },
        Request::Read {
            path: path("a/b").without_links(),
        },
        Request::ReadRange {
            path: path("a/"),
            offset: u64::MAX,
            length: 0,
        },
        Request::List {
            path: path("ü"),
            limit: u32::MAX,
        },
        Request::Stat { path: path("a") },
        Request::Resolve { path: path("a") },
        Request::MakeDirectory { path: path("a") },
        Request::Remove {
            path: path("a"),
            recursive: true,
        },
        Request::WriteInput {
            process,
            bytes: bytes(),
            close: true,
        },
        Request::Wait {
            process,
            wait: Duration::MAX,
        },
        Request::FindCommands {
            names: vec!["sh".into(), String::new()],
        },
    ];
    for expected in expected {
        let options = WriteOptions {
            expected: expected.clone(),
            make_parents: true,
            executable: false,
        };
        all.extend([
            Request::Write {
                path: path("a"),
                bytes: bytes(),
                options: options.clone(),
            },
            Request::Append {
                path: path("a"),
                bytes: vec![],
                options,
            },
            Request::Replace {
                path: path("a"),
                old: bytes(),
                new: vec![],
                options: ReplaceOptions {
                    expected: expected.clone(),
                    all: true,
                },
            },
            Request::Rename {
                source: path("a"),
                target: path("b"),
                destination: expected.clone(),
            },
            Request::Copy {
                source: path("a"),
                target: path("b"),
                destination: expected,
            },
        ]);
    }
    for scope in scopes {
        all.push(Request::Glob {
            pattern: pattern("**"),
            scope: scope.clone(),
        });
        for syntax in [Syntax::Literal, Syntax::Regex] {
            all.push(Request::Search {
                query: Query {
                    pattern: "x".into(),
                    syntax,
                    ignore_case: true,
                    include: vec![pattern("*.rs")],
                    exclude: vec![],
                    context: 3,
                },
                scope: scope.clone(),
            });
        }
    }
    for (command, user, timeout) in [
        (
            Command::Argv(vec!["a".into(), String::new()]),
            None,
            Some(Duration::new(1, 999_999_999)),
        ),
        (Command::Shell("b\n".into()), Some("root".to_owned()), None),
    ] {
        let launch = Launch {
            command,
            directory: path("a"),
            environment: vec![("A".into(), "b=c".into())],
            stdin: bytes(),
            user,
            timeout,
            output_limit: 1,
        };
        all.extend([Request::Run(launch.clone()), Request::Start(launch)]);
    }
    for output in [OutputStream::Stdout, OutputStream::Stderr] {
        all.push(Request::ReadOutput {
            process,
            output,
            cursor: 1,
            limit: 2,
            wait: Duration::from_nanos(1),
        });
    }
    for signal in [
        SignalKind::Interrupt,
        SignalKind::Terminate,
        SignalKind::Hangup,
        SignalKind::User1,
        SignalKind::User2,
        SignalKind::Kill,
    ] {
        all.push(Request::Signal { process, signal });
    }
    all
}

fn responses() -> Vec<Response> {
    let raw_name = Name::from_bytes(b"a\xff".to_vec());
    let line = |text: &str| Line {
        text: text.into(),
        lossy: true,
        dropped: 9,
    };
    let skipped = Skipped {
        links: 1,
        binary: 2,
        unreadable: 3,
        special: u64::MAX,
    };
    let output = Output {
        head: b"a\0".to_vec(),
        tail: vec![255; 3],
        dropped: 4,
    };
    let mut all = vec![
        Response::Content(Content {
            bytes: vec![0, 255],
            version: version(),
        }),
        Response::Chunk(Chunk {
            bytes: vec![],
            size: 1,
            version: version(),
        }),
        Response::Version(version()),
        Response::Replaced(Replaced {
            count: 3,
            version: version(),
        }),
        Response::Search(SearchResult {
            matches: vec![Match {
                path: raw_name.clone(),
                line_number: 1,
                offset: 2,
                line: line("x"),
                before: vec![],
                after: vec![line(""), line("y")],
            }],
            more: true,
            skipped,
        }),
        Response::Path(path("a/b/").without_links()),
        Response::Process(ProcessId(3)),
        Response::Output(OutputChunk {
            bytes: vec![1],
            cursor: 2,
            dropped: 3,
            ended: true,
        }),
        Response::Ended(None),
        Response::Commands(vec![
            CommandInfo {
                name: "sh".into(),
                path: Some("/bin/sh".into()),
                version: None,
            },
            CommandInfo {
                name: "git".into(),
                path: None,
                version: Some("2".into()),
            },
        ]),
        Response::Done,
    ];
    for kind in [
        EntryKind::File,
        EntryKind::Directory,
        EntryKind::Link,
        EntryKind::Other,
    ] {
        all.extend([
            Response::Listing(Listing {
                entries: vec![
                    Entry {
                        name: raw_name.clone(),
                        kind,
                        size: None,
                    },
                    Entry {
                        name: "b".into(),
                        kind,
                        size: Some(5),
                    },
                ],
                total: 2,
            }),
            Response::Glob(GlobResult {
                paths: vec![Found {
                    path: raw_name.clone(),
                    kind,
                }],
                total: 1,
                skipped,
            }),
            Response::Info(Info {
                kind,
                size: 1,
                modified: i64::MIN,
                mode: 0o7777,
            }),
        ]);
    }
    for outcome in [
        Outcome::Exited(-1),
        Outcome::Signalled(9),
        Outcome::TimedOut,
        Outcome::Cancelled,
        Outcome::OutOfMemory,
    ] {
        all.extend([
            Response::Execution(Execution {
                outcome,
                stdout: output.clone(),
                stderr: Output::default(),
                duration: Duration::new(1, 1),
            }),
            Response::Ended(Some(Ended {
                outcome,
                duration: Duration::ZERO,
            })),
        ]);
    }
    all
}

#[test]
fn every_request_survives() {
    let all = requests();
    let places: BTreeSet<usize> = all.iter().map(place).collect();
    assert!(places.into_iter().eq(0..21));
    for request in all {
        for remaining in [None, Some(Duration::ZERO), Some(Duration::new(3, 5))] {
            let request = request.clone();
            survives(&Ask::Call { remaining, request });
        }
    }
}

#[test]
fn every_response_survives() {
    let all = responses();
    let places: BTreeSet<usize> = all.iter().map(place_of_response).collect();
    assert!(places.into_iter().eq(0..15));
    for response in all {
        survives(&Answer::Call(Ok(response)));
    }
}

#[test]
fn every_error_survives() {
    for kind in ErrorKind::ALL {
        for operation in Operation::ALL {
            let error = Error::new(kind, *operation, "what it is");
            survives(&Answer::Call(Err(error.clone())));
            survives(&Answer::Call(Err(error.at("a/ü"))));
        }
    }
}

#[test]
fn every_opening_survives() {
    for root in ["/", "/workspace/ü"] {
        let limits = Limits {
            timeout_default: Duration::from_millis(1),
            results: 3,
            ..Limits::default()
        };
        survives(&Ask::Open(Open {
            root: root.into(),
            variables: vec![("A".into(), String::new()), ("B".into(), "b\0".into())],
            limits,
            silence: None,
        }));
    }
    survives(&Answer::Refused("no such folder".into()));
    for (writable, gaps) in [(true, vec![]), (false, vec!["a".into(), "b".into()])] {
        let version = "1.2.3".into();
        survives(&Answer::Opened(Opened {
            version,
            writable,
            gaps,
        }));
    }
}

#[test]
fn every_probe_survives() {
    survives(&Ask::Probe);
    survives(&Answer::Probed(Facts::default()));
    let text = || Told::Text("a\n".into());
    for (root, tmp) in [
        (Attempt::NotTried, Attempt::Possible),
        (Attempt::Possible, Attempt::Refused("no".into())),
    ] {
        survives(&Answer::Probed(Facts {
            pid: u32::MAX,
            machine: "aarch64".into(),
            status: text(),
            mounts: Told::Absent,
            interfaces: Told::Unknown,
            routes: text(),
            ipv6_routes: text(),
            limits: vec![
                LimitFile {
                    path: "/a".into(),
                    text: "max".into(),
                };
                2
            ],
            root,
            workspace: Attempt::NotTried,
            tmp,
        }));
    }
}

proptest! {
    #[test]
    fn any_bytes_and_texts_survive(bytes: Vec<u8>, text: String, number: u64, nanos: u64) {
        survives(&support::ask(support::write("a", bytes.clone())));
        survives(&support::ask(Request::WriteInput {
            process: ProcessId(number),
            bytes: bytes.clone(),
            close: false,
        }));
        let output = Output { head: bytes.clone(), tail: bytes.clone(), dropped: number };
        survives(&Answer::Call(Ok(Response::Execution(Execution {
            outcome: Outcome::Exited(0),
            stdout: output.clone(),
            stderr: output,
            duration: Duration::from_nanos(nanos),
        }))));
        let entry = Entry {
            name: Name::from_bytes(bytes),
            kind: EntryKind::File,
            size: Some(number),
        };
        let listing = Listing { entries: vec![entry; 2], total: number };
        survives(&Answer::Call(Ok(Response::Listing(listing))));
        let error = Error::new(ErrorKind::NoMatch, Operation::Replace, text.clone()).at(text);
        survives(&Answer::Call(Err(error)));
    }
}
