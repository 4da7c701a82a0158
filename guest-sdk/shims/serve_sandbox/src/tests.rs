//! The session against a server that answers as it is told.

use std::{cell::RefCell, rc::Rc, time::Duration};

use belljar_contract::{GuestPath, Launch, Pattern, Scope, processes::Command};
use belljar_guest::{
    ErrorKind, Result,
    http::{HttpError, Request as HttpRequest, Response as HttpResponse},
    lend::{Backend as _, Lease as _, Request, Response},
    processes::Outcome,
    testing::{with_http, with_settings},
};
use serde_json::{Value, json};

use crate::Lent;

type Scripted = std::result::Result<(u16, Value), HttpError>;

fn told(caller: &str) -> Value {
    let description = json!({
        "backend": "virtual", "root": "/workspace", "process-root": null, "writable": true,
        "durable": false, "capabilities": ["read"], "policy": { "read": null, "write": null, "programs": null },
        "instructions": "", "hardening-gaps": [],
        "limits": {
            "file-bytes": 1, "results": 1, "stdin-bytes": 1, "argument-bytes": 1, "output-default": 1,
            "output-maximum": 1, "timeout-default": 1, "timeout-maximum": 1, "processes": 1,
        },
    });
    json!({ "session": "5e55", "description": description, "idle": 600_000, "caller": caller })
}

/// Works with a server that answers in this order; what it was asked comes back.
fn with<T>(answers: Vec<Scripted>, work: impl FnOnce() -> T) -> (T, Vec<HttpRequest>) {
    let asked = Rc::new(RefCell::new(Vec::new()));
    let record = Rc::clone(&asked);
    let answers = RefCell::new(answers.into_iter());
    let answer = move |request: &HttpRequest| {
        assert_eq!(request.header("authorization"), Some("Bearer s3cret"));
        record.borrow_mut().push(request.clone());
        let (status, body) = answers.borrow_mut().next().unwrap()?;
        Ok(HttpResponse {
            status,
            headers: Vec::new(),
            body: body.to_string().into_bytes(),
        })
    };
    let settings = [("url", "https://lent.example/"), ("token", "s3cret")];
    let worked = with_settings(settings, || with_http(answer, work));
    let asked = asked.borrow().clone();
    (worked, asked)
}

/// Makes a call in a session that was opened before.
fn call(request: Request, mut answers: Vec<Scripted>) -> (Result<Response>, Vec<HttpRequest>) {
    answers.insert(0, Ok((200, told("c7"))));
    let ticket = json!({ "session": "5e55", "description": told("")["description"] });
    let (answered, mut asked) = with(answers, || {
        Lent::resume(ticket.to_string().as_bytes())?.call(request)
    });
    assert_eq!(asked.remove(0).url, "https://lent.example/v1/sessions/5e55");
    (answered, asked)
}

fn sent(request: &HttpRequest) -> Value {
    serde_json::from_slice(&request.body).unwrap()
}

fn path(text: &str) -> GuestPath {
    GuestPath::parse(text, "/").unwrap()
}

#[test]
fn a_session_is_opened_renewed_and_closed() {
    let answers = vec![
        Ok((201, told("c0"))),
        Ok((200, told("c1"))),
        Ok((204, Value::Null)),
    ];
    let (opened, asked) = with(answers, || {
        let opened = Lent::open()?;
        let lent = Lent::resume(&opened.ticket)?;
        assert_eq!(lent.describe().root, "/workspace");
        lent.renew()?;
        lent.close()?;
        Ok::<_, belljar_guest::Error>(opened)
    });
    assert_eq!(opened.unwrap().renew_every, Some(Duration::from_secs(200)));
    let lines: Vec<_> = asked
        .iter()
        .map(|request| (request.method.as_str(), request.url.as_str()))
        .collect();
    assert_eq!(
        lines,
        [
            ("POST", "https://lent.example/v1/sessions"),
            ("GET", "https://lent.example/v1/sessions/5e55"),
            ("DELETE", "https://lent.example/v1/sessions/5e55"),
        ]
    );
}

#[test]
fn a_session_that_does_not_open_says_why() {
    let refused = |code: &str| json!({ "refused": { "code": code, "message": "no" } });
    for (answer, kind) in [
        (Ok((401, refused("unauthorized"))), ErrorKind::AccessDenied),
        (Ok((503, refused("full"))), ErrorKind::Busy),
        (Ok((500, refused("not-opened"))), ErrorKind::BackendFailed),
        (
            Ok((404, json!("a page of somebody else"))),
            ErrorKind::BackendUnavailable,
        ),
        (Ok((201, json!({}))), ErrorKind::BackendFailed),
        (
            Err(HttpError::Unreachable(String::new())),
            ErrorKind::BackendUnavailable,
        ),
    ] {
        let (opened, _) = with(vec![answer.clone()], Lent::open);
        assert_eq!(opened.unwrap_err().kind, kind, "{answer:?}");
    }
}

#[test]
fn what_is_asked_is_what_the_server_reads() {
    let read = Request::Read {
        path: path("d/a/").without_links(),
    };
    let answer = json!({ "result": { "bytes": "aGk=", "version": "1" } });
    let (answered, asked) = call(read, vec![Ok((200, answer))]);
    assert!(matches!(answered, Ok(Response::Content(content)) if content.bytes == b"hi"));
    assert_eq!(asked[0].url, "https://lent.example/v1/sessions/5e55/calls");
    let expected = json!({
        "method": "files.read", "call": "c7-1", "no-links": true, "within": [], "params": { "path": "d/a/" }
    });
    assert_eq!(sent(&asked[0]), expected);
    let scope = Scope {
        base: GuestPath::root(),
        hidden: true,
        ignored: false,
        limit: 3,
        within: vec![vec![Pattern::parse("a/**").unwrap()]],
    };
    let glob = Request::Glob {
        pattern: Pattern::parse("*").unwrap(),
        scope,
    };
    let nothing = json!({ "paths": [], "total": 0, "skipped": { "links": 0, "binary": 0, "unreadable": 0, "special": 0 } });
    let (answered, asked) = call(glob, vec![Ok((200, json!({ "result": nothing })))]);
    assert!(answered.is_ok(), "{answered:?}");
    let body = sent(&asked[0]);
    assert_eq!(body["within"], json!([["a/**"]]));
    assert_eq!(
        body["params"]["scope"],
        json!({ "base": ".", "hidden": true, "ignored": false, "limit": 3 })
    );
}

fn run() -> Request {
    Request::Run(Launch {
        command: Command::Argv(vec!["true".into()]),
        directory: GuestPath::root(),
        environment: Vec::new(),
        stdin: b"in".to_vec(),
        user: None,
        timeout: Some(Duration::from_secs(1)),
        output_limit: 10,
    })
}

fn cancelled() -> Value {
    let output = json!({ "head": "", "tail": "", "dropped": 0 });
    json!({ "outcome": "cancelled", "stdout": output, "stderr": output, "duration": 1 })
}

#[test]
fn what_came_of_a_call_that_was_ended_is_fetched() {
    let answers = vec![
        Err(HttpError::Stopped),
        Ok((200, json!({ "result": cancelled() }))),
    ];
    let (answered, asked) = call(run(), answers);
    assert!(matches!(answered, Ok(Response::Execution(run)) if run.outcome == Outcome::Cancelled));
    assert_eq!(asked[1].method, "DELETE");
    assert_eq!(
        asked[1].url,
        "https://lent.example/v1/sessions/5e55/calls/c7-1"
    );
    let gone = json!({ "refused": { "code": "no-such-call", "message": "" } });
    let answers = vec![Err(HttpError::Stopped), Ok((404, gone))];
    let (answered, _) = call(run(), answers.clone());
    assert!(matches!(answered, Ok(Response::Execution(run)) if run.outcome == Outcome::Cancelled));
    let stat = Request::Stat { path: path("a") };
    let (answered, _) = call(stat, answers);
    assert_eq!(answered.unwrap_err().kind, ErrorKind::Cancelled);
}

#[test]
fn a_failed_operation_is_the_contracts_error() {
    let error = json!({ "kind": "stale", "operation": "files.read", "path": "a", "message": "m" });
    let read = Request::Stat { path: path("a") };
    let (answered, _) = call(read.clone(), vec![Ok((422, json!({ "error": error })))]);
    let error = answered.unwrap_err();
    assert_eq!(
        (error.kind, error.path.as_deref(), error.message.as_str()),
        (ErrorKind::Stale, Some("a"), "m")
    );
    for (status, kind) in [
        (404, ErrorKind::BackendUnavailable),
        (413, ErrorKind::TooLarge),
        (422, ErrorKind::BackendFailed),
        (503, ErrorKind::Busy),
        (500, ErrorKind::BackendFailed),
        (302, ErrorKind::BackendFailed),
    ] {
        let (answered, _) = call(read.clone(), vec![Ok((status, json!({})))]);
        assert_eq!(answered.unwrap_err().kind, kind);
    }
}
