//! The largest honest answers are within the sizes that both ends agree on.

mod support;

use belljar_contract::{
    Context, MAX_NAME_BYTES, MAX_PATH_BYTES, Pattern, Query, Request, Response, Scope,
    files::{
        Entry, EntryKind, Found, GlobResult, Line, Listing, MAX_CONTEXT_LINES, Match, Name,
        SearchResult, Skipped, Syntax,
    },
    processes::{Command, Execution, Outcome, Output},
    session::{CommandInfo, Limits},
};
use support::{Answers, LONG, content, join, path, session};

/// A name that is no text: three times as long as text, and its bytes.
fn odd(bytes: usize) -> Name {
    Name::from_bytes(vec![0xff; bytes])
}

fn scope(limit: u32) -> Scope {
    Scope {
        base: path("."),
        hidden: true,
        ignored: true,
        limit,
        within: vec![],
    }
}

fn search(limit: u32, context: u32) -> Request {
    let query = Query {
        pattern: "a".into(),
        syntax: Syntax::Literal,
        ignore_case: false,
        include: vec![],
        exclude: vec![],
        context,
    };
    let scope = scope(limit);
    Request::Search { query, scope }
}

fn matches(count: u32, context: usize, text: &str) -> Response {
    let line = Line {
        text: text.into(),
        lossy: false,
        dropped: 0,
    };
    let matched = Match {
        path: odd(20),
        line_number: u64::MAX,
        offset: u64::MAX,
        line: line.clone(),
        before: vec![line.clone(); context],
        after: vec![line; context],
    };
    Response::Search(SearchResult {
        matches: vec![matched; count as usize],
        more: true,
        skipped: Skipped::default(),
    })
}

fn output() -> Output {
    Output {
        head: vec![0; 8 << 20],
        tail: vec![0; 8 << 20],
        dropped: u64::MAX,
    }
}

#[test]
fn the_largest_honest_answers_arrive() {
    let limits = Limits::default();
    let most = limits.results;
    let file = usize::try_from(limits.file_bytes).expect("a size");
    let launch = belljar_contract::Launch {
        command: Command::Shell("a".into()),
        directory: path("."),
        environment: vec![],
        stdin: vec![],
        user: None,
        timeout: None,
        output_limit: limits.output_maximum,
    };
    let answers = [
        (Request::Read { path: path("a") }, content(vec![1; file])),
        (
            Request::List {
                path: path("."),
                limit: most,
            },
            Response::Listing(Listing {
                entries: vec![
                    Entry {
                        name: odd(MAX_NAME_BYTES),
                        kind: EntryKind::File,
                        size: Some(u64::MAX),
                    };
                    most as usize
                ],
                total: u64::MAX,
            }),
        ),
        (
            Request::Glob {
                pattern: Pattern::parse("**").expect("a pattern"),
                scope: scope(3000),
            },
            Response::Glob(GlobResult {
                paths: vec![
                    Found {
                        path: odd(MAX_PATH_BYTES),
                        kind: EntryKind::Link,
                    };
                    3000
                ],
                total: u64::MAX,
                skipped: Skipped::default(),
            }),
        ),
        // Many lines of nothing take the most memory.
        (search(most, 10), matches(most, 10, "")),
        (
            search(500, MAX_CONTEXT_LINES),
            matches(500, MAX_CONTEXT_LINES as usize, "x"),
        ),
        (
            Request::Run(launch),
            Response::Execution(Execution {
                outcome: Outcome::Exited(0),
                stdout: output(),
                stderr: output(),
                duration: LONG,
            }),
        ),
        (
            Request::FindCommands {
                names: vec!["x".repeat(200); 100],
            },
            Response::Commands(vec![
                CommandInfo {
                    name: "x".repeat(200),
                    path: Some("x".repeat(MAX_PATH_BYTES)),
                    version: Some("x".repeat(800)),
                };
                100
            ]),
        ),
    ];
    let expected = answers.clone();
    let (client, served) = session(Answers(move |_: &Context, request: Request| {
        let answer = answers.iter().find(|(asked, _)| *asked == request);
        Ok(answer.expect("one of them").1.clone())
    }));
    for (request, answer) in expected {
        let operation = request.operation();
        let came = client.call(&Context::new(), request);
        assert!(came == Ok(answer), "{operation}");
    }
    client.close(LONG);
    assert!(matches!(join(served), Ok(())));
}
