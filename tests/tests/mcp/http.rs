//! Many clients over HTTP.

use std::time::Duration;

use serde_json::json;

use crate::server::{HttpServer, Place, call, initialize, wait_for_processes};

#[test]
fn who_has_no_token_or_comes_from_elsewhere_is_refused() {
    let place = Place::files();
    let server = HttpServer::start(&place, &["--allow-origin", "https://good.example:443"]);
    let body = initialize(json!(0)).to_string();
    let status = |headers: &[(&str, &str)]| server.request("POST", headers, body.as_bytes()).status;
    assert_eq!(
        status(&[("Authorization", "Bearer another-token-with-enough-bytes")]),
        401
    );
    assert_eq!(status(&[("Authorization", "")]), 401);
    assert_eq!(status(&[("Host", "evil.example")]), 403);
    assert_eq!(status(&[("Origin", "https://evil.example")]), 403);
    assert_eq!(status(&[("Origin", "null")]), 403);
    assert_eq!(status(&[("Origin", "https://good.example")]), 200);
    assert_eq!(status(&[]), 200);
}

#[test]
fn garbage_has_an_answer() {
    let place = Place::files();
    let server = HttpServer::start(&place, &[]);
    let session = server.session();
    let with = [("Mcp-Session-Id", session.as_str())];
    for (body, code) in [("garbage", -32700), ("[]", -32600)] {
        let reply = server.request("POST", &with, body.as_bytes());
        assert_eq!(
            (reply.status, &reply.messages[0]["error"]["code"]),
            (400, &json!(code))
        );
    }
    assert_eq!(
        server
            .post("no-such-session", &call(json!(1), "list", json!({})))
            .status,
        404
    );
    let again = server.post(&session, &initialize(json!(2)));
    assert_eq!(
        again.messages.last().expect("an answer")["error"]["code"],
        -32600
    );
    assert_eq!(
        server.text(&session, "echo", json!({"text": "still here"})),
        "still here"
    );
}

#[test]
fn sessions_do_not_see_each_others_workspaces_and_are_so_many() {
    let place = Place::files();
    let server = HttpServer::start(&place, &["--sessions", "2"]);
    let (one, other) = (server.session(), server.session());
    server.text(&one, "write", json!({"path": "a.txt", "content": "one"}));
    assert!(server.text(&one, "list", json!({})).contains("a.txt"));
    assert!(!server.text(&other, "list", json!({})).contains("a.txt"));
    let more = || {
        server
            .request("POST", &[], initialize(json!(0)).to_string().as_bytes())
            .status
    };
    assert_eq!(more(), 503);
    let with = [("Mcp-Session-Id", one.as_str())];
    assert_eq!(server.request("DELETE", &with, b"").status, 204);
    assert_eq!(
        server.post(&one, &call(json!(1), "list", json!({}))).status,
        404
    );
    // Its place is free once its sandbox is closed.
    let start = std::time::Instant::now();
    while more() == 503 {
        assert!(start.elapsed() < Duration::from_secs(20));
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn the_end_of_a_session_ends_its_processes() {
    let place = Place::new();
    let server = HttpServer::start(&place, &[]);
    let session = server.session();
    let with = [("Mcp-Session-Id", session.as_str())];
    let body = call(json!(1), "shell", json!({"command": "sleep 7701"})).to_string();
    let _reading = server.open("POST", &with, body.as_bytes());
    wait_for_processes(&["sleep", "7701"], 1);
    assert_eq!(server.request("DELETE", &with, b"").status, 204);
    assert!(wait_for_processes(&["sleep", "7701"], 0) < Duration::from_secs(5));
}

#[test]
fn a_client_that_does_not_come_back_loses_its_calls() {
    let place = Place::new();
    let server = HttpServer::start(&place, &[]);
    let session = server.session();
    let with = [("Mcp-Session-Id", session.as_str())];
    let body = call(json!(1), "shell", json!({"command": "sleep 7702"})).to_string();
    let reading = server.open("POST", &with, body.as_bytes());
    wait_for_processes(&["sleep", "7702"], 1);
    drop(reading);
    let time = wait_for_processes(&["sleep", "7702"], 0);
    assert!(
        time > Duration::from_secs(2),
        "a lost connection alone cancels nothing: {time:?}"
    );
    assert_eq!(
        server.text(&session, "echo", json!({"text": "still here"})),
        "still here"
    );
}
