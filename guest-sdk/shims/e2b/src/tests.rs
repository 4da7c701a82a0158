//! The shim against scripted answers: what goes out, and what the answers come to.

use std::{cell::RefCell, rc::Rc};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use belljar_guest::{
    ErrorKind,
    http::{HttpError, Request, Response},
    lend::{Client as _, Failure, Lease as _, Opened, Output},
    testing,
};
use serde_json::{Value, json};

use crate::{Session, stream};

const SETTINGS: [(&str, &str); 2] = [("api-key", "e2b_k"), ("user", "ada")];

fn frame(flags: u8, content: &str) -> Vec<u8> {
    let length = u32::try_from(content.len()).unwrap();
    let mut frame = vec![flags];
    frame.extend(length.to_be_bytes());
    frame.extend(content.as_bytes());
    frame
}

fn event(event: &Value) -> Vec<u8> {
    frame(0, &json!({ "event": event }).to_string())
}

/// A program that printed this and ended with this code, as the real server tells it: without what is nothing.
fn ran(stdout: &[u8], code: i32) -> Vec<u8> {
    let mut body = event(&json!({"start": {"pid": 7}}));
    body.extend(event(&json!({"keepalive": {}})));
    if !stdout.is_empty() {
        body.extend(event(&json!({"data": {"stdout": STANDARD.encode(stdout)}})));
    }
    body.extend(match code {
        0 => event(&json!({"end": {"exited": true, "status": "exit status 0"}})),
        code => event(&json!({"end": {"exitCode": code, "exited": true, "status": "exit status"}})),
    });
    body.extend(frame(2, "{}"));
    body
}

fn response(status: u16, body: impl Into<Vec<u8>>) -> Response {
    Response {
        status,
        headers: Vec::new(),
        body: body.into(),
    }
}

fn streamed(body: Vec<u8>) -> Response {
    Response {
        headers: vec![(
            "content-type".to_owned(),
            b"application/connect+json".to_vec(),
        )],
        ..response(200, body)
    }
}

/// The message of a call that is answered by a stream.
fn message(request: &Request) -> Value {
    let (head, content) = request.body.split_at(5);
    let length = u32::try_from(content.len()).unwrap().to_be_bytes();
    assert_eq!(head, [&[0], &length[..]].concat());
    serde_json::from_slice(content).unwrap()
}

fn made() -> Response {
    let told = json!({
        "templateID": "base", "sandboxID": "i1", "clientID": "c", "envdVersion": "0.6.4",
        "envdAccessToken": "secret", "domain": null, "new": 1,
    });
    response(201, told.to_string())
}

type Log = Rc<RefCell<Vec<Request>>>;

/// Answers as E2B does, and keeps what was asked.
fn working(log: &Log) -> impl Fn(&Request) -> Result<Response, HttpError> + 'static {
    let log = Rc::clone(log);
    move |request| {
        log.borrow_mut().push(request.clone());
        Ok(match (request.method.as_str(), request.url.as_str()) {
            ("POST", "https://api.e2b.app/sandboxes") => made(),
            ("POST", url) if url.ends_with("/Start") => {
                let asked = message(request).to_string();
                match asked.contains("mktemp") {
                    true => streamed(ran(b"/tmp/belljar-x\n", 0)),
                    false => streamed(ran(b"a\x00\xff", 3)),
                }
            }
            ("GET", url) if url.contains("/files?") => response(200, "content"),
            ("POST", url) if url.contains("/files?") => response(200, "[]"),
            _ => response(204, ""),
        })
    }
}

fn opened(log: &Log) -> Opened {
    let answer = |request: &Request| match request.url.ends_with("/Start") {
        true => Ok(streamed(ran(b"", 0))),
        false => Ok(made()),
    };
    let all = Rc::clone(log);
    let answer = move |request: &Request| {
        all.borrow_mut().push(request.clone());
        answer(request)
    };
    testing::with_settings(SETTINGS, || testing::with_http(answer, Session::open)).unwrap()
}

/// The log, without the values of headers.
fn lines(log: &Log) -> Vec<String> {
    let log = log.borrow();
    let line = |request: &Request| format!("{} {}", request.method, request.url);
    log.iter().map(line).collect()
}

#[test]
fn a_sandbox_is_made_narrow_and_with_a_workspace() {
    let log = Log::default();
    let opened = opened(&log);
    assert_eq!(opened.renew_every.unwrap().as_secs(), 100);
    let log = log.borrow();
    assert_eq!(log.len(), 2);
    assert_eq!(log[0].header("x-api-key"), Some("e2b_k"));
    let asked: Value = serde_json::from_slice(&log[0].body).unwrap();
    assert_eq!(
        asked,
        json!({
            "templateID": "base", "timeout": 300, "secure": true, "autoPause": false,
            "allow_internet_access": false, "metadata": {},
        })
    );
    assert_eq!(log[1].url, "https://49983-i1.e2b.app/process.Process/Start");
    for (name, value) in [
        ("x-access-token", "secret"),
        ("e2b-sandbox-id", "i1"),
        ("e2b-sandbox-port", "49983"),
        ("connect-protocol-version", "1"),
        ("content-type", "application/connect+json"),
        ("authorization", "Basic YWRhOg=="),
        ("x-api-key", "none"),
    ] {
        assert_eq!(log[1].header(name).unwrap_or("none"), value, "{name}");
    }
    assert_eq!(message(&log[1])["process"]["args"][3], "/home/user/work");
}

#[test]
fn a_command_runs_with_its_input_from_a_file_that_is_gone() {
    let log = Log::default();
    let ticket = opened(&Log::default()).ticket;
    testing::with_settings(SETTINGS, || {
        testing::with_http(working(&log), || {
            let session = Session::resume(&ticket).unwrap();
            let output = session.exec("cat; exit 3", b"in").unwrap();
            let expected = Output {
                code: 3,
                stdout: b"a\x00\xff".to_vec(),
                stderr: Vec::new(),
            };
            assert_eq!(output, expected);
            assert_eq!(session.exec("true", b"").unwrap(), expected);
        });
    });
    let envd = "https://49983-i1.e2b.app";
    assert_eq!(
        lines(&log),
        [
            // Once for each instance.
            format!("POST {envd}/process.Process/Start"),
            format!("POST {envd}/files?path=/tmp/belljar-x/0&username=ada"),
            format!("POST {envd}/process.Process/Start"),
            format!("POST {envd}/process.Process/Start"),
        ]
    );
    let log = log.borrow();
    assert_eq!(log[1].body, b"in");
    let asked = message(&log[2]);
    assert_eq!(asked["stdin"], false);
    assert_eq!(asked["tag"], "/tmp/belljar-x/0");
    let arguments = &asked["process"]["args"];
    assert_eq!(arguments[3], "/tmp/belljar-x/0");
    assert_eq!(arguments[4], "cat; exit 3");
    assert_eq!(message(&log[3])["process"]["args"], json!(["-c", "true"]));
}

#[test]
fn what_is_in_a_path_stays_in_it() {
    let log = Log::default();
    let ticket = opened(&Log::default()).ticket;
    testing::with_settings(SETTINGS, || {
        testing::with_http(working(&log), || {
            let session = Session::resume(&ticket).unwrap();
            assert_eq!(
                session.read("/a b&username=root#\u{e9}").unwrap(),
                b"content"
            );
        });
    });
    let asked = "/files?path=/a%20b%26username%3Droot%23%C3%A9&username=ada";
    assert_eq!(
        lines(&log),
        [format!("GET https://49983-i1.e2b.app{asked}")]
    );
}

#[test]
fn a_session_is_kept_and_ended() {
    let log = Log::default();
    let ticket = opened(&Log::default()).ticket;
    testing::with_settings(SETTINGS, || {
        testing::with_http(working(&log), || {
            let session = Session::resume(&ticket).unwrap();
            session.renew().unwrap();
            session.close().unwrap();
        });
    });
    assert_eq!(log.borrow()[0].body, br#"{"timeout":300}"#);
    assert_eq!(
        lines(&log),
        [
            "POST https://api.e2b.app/sandboxes/i1/timeout",
            "DELETE https://api.e2b.app/sandboxes/i1"
        ]
    );
}

/// What an operation comes to when everything is answered by this.
fn against<T>(
    answer: impl Fn(&Request) -> Result<Response, HttpError> + 'static,
    work: impl FnOnce(Session) -> T,
) -> T {
    let ticket = opened(&Log::default()).ticket;
    testing::with_settings(SETTINGS, || {
        testing::with_http(answer, || work(Session::resume(&ticket).unwrap()))
    })
}

#[test]
fn refusals_have_their_kinds_and_words() {
    let words = r#"{"code":1,"message":"no more of it"}"#;
    for (status, kind) in [
        (401, ErrorKind::AccessDenied),
        (404, ErrorKind::InvalidArgument),
        (429, ErrorKind::Busy),
        (503, ErrorKind::Busy),
        (502, ErrorKind::BackendUnavailable),
        (500, ErrorKind::BackendFailed),
    ] {
        let answer = move |_: &Request| Ok(response(status, words));
        let error = testing::with_settings(SETTINGS, || testing::with_http(answer, Session::open))
            .unwrap_err();
        assert_eq!(error.kind, kind, "{status}");
        assert!(error.to_string().contains("no more of it"), "{error}");
    }
    for (status, is_expected) in [
        (
            502,
            (|failure| matches!(failure, Failure::Unavailable(_))) as fn(&Failure) -> bool,
        ),
        (429, |failure| matches!(failure, Failure::Busy(_))),
        (401, |failure| matches!(failure, Failure::Failed(_))),
        (500, |failure| matches!(failure, Failure::Failed(_))),
    ] {
        let answer = move |_: &Request| Ok(response(status, words));
        let failure = against(answer, |session| session.exec("true", b"").unwrap_err());
        assert!(is_expected(&failure), "{status}: {failure:?}");
        assert!(failure.to_string().contains("no more of it"), "{failure}");
    }
    let gone = against(
        move |_| Ok(response(404, words)),
        |session| session.renew().unwrap_err(),
    );
    assert_eq!(gone.kind, ErrorKind::BackendUnavailable);
    // What is gone already needs no end.
    against(
        move |_| Ok(response(404, words)),
        |session| session.close().unwrap(),
    );
}

#[test]
fn a_broken_connection_is_looked_into() {
    let broken = || Err(HttpError::Unreachable("reset".to_owned()));
    let all = against(move |_| broken(), |session| session.read("/a").unwrap_err());
    assert!(matches!(all, Failure::Unavailable(_)), "{all:?}");
    let is_there = against(
        move |request| match request.url.ends_with("/health") {
            true => Ok(response(204, "")),
            false => broken(),
        },
        |session| session.read("/a").unwrap_err(),
    );
    assert!(matches!(is_there, Failure::Failed(_)), "{is_there:?}");
    let is_gone = against(
        move |request| match request.url.ends_with("/health") {
            true => Ok(response(502, r#"{"message":"The sandbox was not found"}"#)),
            false => broken(),
        },
        |session| session.read("/a").unwrap_err(),
    );
    assert!(matches!(is_gone, Failure::Unavailable(_)), "{is_gone:?}");
}

#[test]
fn a_command_that_nobody_waits_for_is_ended_by_its_tag() {
    let log = Log::default();
    let all = Rc::clone(&log);
    let answer = move |request: &Request| {
        let is_start = request.url.ends_with("/Start");
        let is_first = is_start && message(request).to_string().contains("mktemp");
        match (is_start, is_first) {
            (_, true) => Ok(streamed(ran(b"/tmp/belljar-x\n", 0))),
            (true, _) => Err(HttpError::Stopped),
            _ => {
                all.borrow_mut().push(request.clone());
                Ok(response(200, "{}"))
            }
        }
    };
    against(answer, |session| {
        session.exec("sleep 9", b"in").unwrap_err()
    });
    let log = log.borrow();
    let last = log.last().unwrap();
    assert!(last.url.ends_with("/process.Process/SendSignal"));
    assert_eq!(
        serde_json::from_slice::<Value>(&last.body).unwrap(),
        json!({"process": {"tag": "/tmp/belljar-x/0"}, "signal": "SIGNAL_SIGTERM"})
    );
}

#[test]
fn frames_are_read_to_their_end_and_no_further() {
    let whole = ran(b"out", 0);
    assert_eq!(stream::output(&whole).unwrap().stdout, b"out");
    for end in 0..whole.len() {
        assert!(stream::output(&whole[..end]).is_err(), "cut at {end}");
    }
    let started = || event(&json!({"start": {"pid": 1}}));
    let ended = || event(&json!({"end": {"exited": true}}));
    let bad: [(&str, Vec<Vec<u8>>); 9] = [
        ("something after the end", vec![whole.clone(), vec![0]]),
        (
            "an end without a program's",
            vec![started(), frame(2, "{}")],
        ),
        ("no start", vec![ended(), frame(2, "{}")]),
        ("garbage", vec![frame(0, "garbage")]),
        ("4 GiB announced", vec![b"\0\xff\xff\xff\xff{}".to_vec()]),
        ("compressed", vec![started(), frame(1, "{}")]),
        ("unknown flags", vec![started(), frame(4, "{}")]),
        (
            "no base64",
            vec![
                started(),
                event(&json!({"data": {"stdout": "!"}})),
                ended(),
                frame(2, "{}"),
            ],
        ),
        ("the end is none", vec![started(), ended(), frame(2, "[")]),
    ];
    for (what, frames) in bad {
        let read = stream::output(&frames.concat());
        assert!(matches!(read, Err(Failure::Failed(_))), "{what}: {read:?}");
    }
    for (code, is_expected) in [
        (
            "unavailable",
            (|failure| matches!(failure, Failure::Unavailable(_))) as fn(&Failure) -> bool,
        ),
        ("resource_exhausted", |failure| {
            matches!(failure, Failure::Busy(_))
        }),
        ("unauthenticated", |failure| {
            matches!(failure, Failure::Failed(_))
        }),
        ("invalid_argument", |failure| {
            matches!(failure, Failure::Failed(_))
        }),
    ] {
        let last = json!({"error": {"code": code, "message": "why"}}).to_string();
        let failure = stream::output(&frame(2, &last)).unwrap_err();
        assert!(is_expected(&failure), "{code}: {failure:?}");
    }
}

#[test]
fn a_signal_is_told_as_a_shell_tells_it() {
    for (status, code) in [("signal: killed", 137), ("signal: terminated", 143)] {
        let end = event(&json!({"end": {"exitCode": -1, "status": status, "error": status}}));
        let body = [event(&json!({"start": {}})), end, frame(2, "{}")].concat();
        assert_eq!(stream::output(&body).unwrap().code, code);
    }
}

#[test]
fn settings_are_checked_and_named() {
    for (name, value) in [
        ("domain", "a/b"),
        ("api-url", "ftp://a"),
        ("sandbox-url", "https://a?b"),
        ("user", "a:b"),
        ("root", "work"),
        ("timeout", "5"),
        ("internet", "yes"),
        ("metadata", "[1]"),
    ] {
        let settings = [("api-key", "k"), (name, value)];
        let nobody = |_: &Request| -> Result<Response, HttpError> { panic!("nothing is sent") };
        let error = testing::with_settings(settings, || testing::with_http(nobody, Session::open));
        let error = error.unwrap_err();
        assert_eq!(error.kind, ErrorKind::InvalidArgument);
        assert!(error.to_string().contains(name), "{error}");
    }
}

#[test]
fn an_answer_that_would_lead_elsewhere_is_refused() {
    for (member, value) in [
        ("sandboxID", "a.evil/"),
        ("domain", "evil@x"),
        ("domain", "x/y"),
    ] {
        let mut told: Value = serde_json::from_slice(&made().body).unwrap();
        told[member] = value.into();
        let text = told.to_string();
        let answer = move |_: &Request| Ok(response(201, text.clone()));
        let error = testing::with_settings(SETTINGS, || testing::with_http(answer, Session::open));
        assert_eq!(error.unwrap_err().kind, ErrorKind::BackendFailed);
    }
}
