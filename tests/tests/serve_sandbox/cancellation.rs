//! Calls that end early: their client is gone, says so, or their time is over.

use std::{
    io::Write as _,
    time::{Duration, Instant},
};

use belljar_tests::{SandboxServer, SandboxServerOptions, TOKEN};
use reqwest::Method;
use serde_json::{Value, json};

use crate::{code, kind, local, sleep, sleeps, until};

/// Begins a call over a connection of its own, and gives that.
fn begin(server: &SandboxServer, session: &str, body: &Value) -> std::net::TcpStream {
    let body = body.to_string();
    let mut stream =
        std::net::TcpStream::connect(("127.0.0.1", server.port())).expect("a connection");
    write!(
        stream,
        "POST /v1/sessions/{session}/calls HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {TOKEN}\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .expect("it is written");
    stream
}

#[tokio::test]
async fn a_client_that_goes_away_cancels_its_call_down_to_the_processes() {
    let server = local();
    let session = server.client().open().await;
    let shell = json!({ "shell": "trap '' TERM; setsid sleep 711.25 & sleep 712.25 & wait; wait" });
    let call = json!({ "method": "processes.run", "params": { "command": shell, "options": { "timeout": 600_000 } } });
    let stream = begin(&server, &session, &call);
    until("the processes run", || sleeps("711.25") && sleeps("712.25"));
    drop(stream);
    let began = Instant::now();
    until("the processes are gone", || {
        !sleeps("711.25") && !sleeps("712.25")
    });
    assert!(
        began.elapsed() < Duration::from_secs(3),
        "{:?}",
        began.elapsed()
    );
    // The session lives on.
    let list = server
        .client()
        .call(&session, "files.list", json!({ "path": "." }))
        .await;
    assert_eq!(list.0, 200);
}

#[tokio::test]
async fn what_a_cancelled_call_came_to_is_told() {
    let server = local();
    let client = server.client();
    let session = client.open().await;
    let address = format!("/{session}/calls/c0-1");
    let call = |text: &str| {
        json!({ "method": "processes.run", "call": "c0-1", "params": {
            "command": { "shell": text }, "options": { "timeout": 600_000 } } })
    };
    // Its client has gone, and asks on another connection.
    let stream = begin(&server, &session, &call("echo so far; exec sleep 713.25"));
    until("the process runs", || sleeps("713.25"));
    drop(stream);
    let (status, told) = client.ask(Method::DELETE, &address, None).await;
    assert_eq!(
        (status, &told["result"]["outcome"]),
        (200, &json!("cancelled")),
        "{told}"
    );
    assert_eq!(told["result"]["stdout"]["head"], "c28gZmFyCg==");
    // Its client waits: both are told.
    let waiting = tokio::spawn({
        let (client, session) = (client.clone(), session.clone());
        let call = call("exec sleep 714.25");
        async move {
            client
                .ask(Method::POST, &format!("/{session}/calls"), Some(call))
                .await
        }
    });
    tokio::task::spawn_blocking(|| until("the process runs", || sleeps("714.25")))
        .await
        .unwrap();
    let again = client
        .ask(
            Method::POST,
            &format!("/{session}/calls"),
            Some(call("true")),
        )
        .await;
    assert_eq!((again.0, code(&again.1)), (409, "call-exists"));
    let one = client.ask(Method::DELETE, &address, None).await;
    assert_eq!(one, waiting.await.unwrap());
    assert_eq!(one.1["result"]["outcome"], "cancelled");
    // What was answered is forgotten, and its name is free again.
    let (status, gone) = client.ask(Method::DELETE, &address, None).await;
    assert_eq!((status, code(&gone)), (404, "no-such-call"));
}

#[tokio::test]
async fn a_call_that_was_cancelled_before_it_came_does_not_begin() {
    let server = local();
    let client = server.client();
    let session = client.open().await;
    let (status, _) = client
        .ask(Method::DELETE, &format!("/{session}/calls/late"), None)
        .await;
    assert_eq!(status, 404);
    let write =
        json!({ "method": "files.write", "call": "late", "params": { "path": "a", "bytes": "" } });
    let late = client
        .ask(Method::POST, &format!("/{session}/calls"), Some(write))
        .await;
    assert_eq!((late.0, kind(&late.1)), (422, "cancelled"));
    let stat = client
        .call(&session, "files.stat", json!({ "path": "a" }))
        .await;
    assert_eq!(kind(&stat.1), "not-found");
}

#[tokio::test]
async fn a_call_ends_at_its_time() {
    let server = local();
    let client = server.client();
    let session = client.open().await;
    let body = json!({ "method": "processes.run", "timeout": 300, "params": sleep("715.25") });
    let began = Instant::now();
    let (status, ended) = client
        .ask(Method::POST, &format!("/{session}/calls"), Some(body))
        .await;
    assert_eq!(
        (status, &ended["result"]["outcome"]),
        (200, &json!("timed-out"))
    );
    assert!(
        began.elapsed() < Duration::from_secs(5),
        "{:?}",
        began.elapsed()
    );
    let body = json!({ "method": "files.list", "timeout": 0, "params": { "path": "." } });
    let late = client
        .ask(Method::POST, &format!("/{session}/calls"), Some(body))
        .await;
    assert_eq!((late.0, kind(&late.1)), (422, "timed-out"));
}

#[tokio::test]
async fn a_client_that_goes_away_over_tls_cancels_its_call() {
    let options = SandboxServerOptions {
        tls: true,
        ..SandboxServerOptions::local()
    };
    let server = SandboxServer::start(&options);
    let client = server.client();
    let session = client.open().await;
    let waiting = tokio::spawn({
        let (client, session) = (client.clone(), session.clone());
        async move {
            client
                .call(&session, "processes.run", sleep("716.25"))
                .await
        }
    });
    tokio::task::spawn_blocking(|| until("the process runs", || sleeps("716.25")))
        .await
        .unwrap();
    waiting.abort();
    tokio::task::spawn_blocking(|| until("the process is gone", || !sleeps("716.25")))
        .await
        .unwrap();
}
