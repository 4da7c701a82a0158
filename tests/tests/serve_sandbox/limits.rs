//! What is bounded: sessions, bodies, and the patience with a client.

use std::{
    io::{Read as _, Write as _},
    time::Duration,
};

use belljar_tests::{SandboxServer, SandboxServerOptions, TOKEN};
use reqwest::Method;
use serde_json::json;

use crate::{code, kind};

#[tokio::test]
async fn so_many_sessions_and_no_more() {
    let server = SandboxServer::start(&SandboxServerOptions::local().with(&["--sessions", "2"]));
    let client = server.client();
    let (one, _other) = (client.open().await, client.open().await);
    let answer = client.send(Method::POST, "", None).await.unwrap();
    assert_eq!(answer.status().as_u16(), 503);
    assert_eq!(answer.headers()["retry-after"], "1");
    let body = serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap();
    assert_eq!(code(&body), "full");
    assert_eq!(
        client.ask(Method::DELETE, &format!("/{one}"), None).await.0,
        204
    );
    client.open().await;
}

#[tokio::test]
async fn many_sessions_work_at_once() {
    let server = SandboxServer::start(&SandboxServerOptions::local().with(&["--sessions", "40"]));
    let client = server.client();
    let mut sessions = tokio::task::JoinSet::new();
    for number in 0..40 {
        let client = client.clone();
        sessions.spawn(async move {
            let session = client.open().await;
            let command = json!({ "command": { "shell": format!("printf {number} >a; cat a") } });
            let (status, ran) = client.call(&session, "processes.run", command).await;
            assert_eq!(status, 200, "{ran}");
            let (_, read) = client
                .call(&session, "files.read", json!({ "path": "a" }))
                .await;
            assert_eq!(read["result"]["bytes"], ran["result"]["stdout"]["head"]);
            client
                .ask(Method::DELETE, &format!("/{session}"), None)
                .await
                .0
        });
    }
    while let Some(status) = sessions.join_next().await {
        assert_eq!(status.unwrap(), 204);
    }
}

#[tokio::test]
async fn a_body_is_as_large_as_the_limits_need_and_no_larger() {
    let mut options = SandboxServerOptions::local();
    options
        .config
        .push_str("[limits]\nfile = \"300KiB\"\nstdin = \"300KiB\"\narguments = \"4KiB\"\n");
    let server = SandboxServer::start(&options);
    let client = server.client();
    let session = client.open().await;
    let write = |bytes: usize| json!({ "path": "a", "bytes": "AAAA".repeat(bytes / 3) });
    let (status, written) = client.call(&session, "files.write", write(300 << 10)).await;
    assert_eq!(status, 200, "{written}");
    // Over the session's limit, and within what is read at all.
    let (status, large) = client.call(&session, "files.write", write(310 << 10)).await;
    assert_eq!((status, kind(&large)), (422, "too-large"));
    let mut stream = std::net::TcpStream::connect(("127.0.0.1", server.port())).unwrap();
    write!(
        stream,
        "POST /v1/sessions/{session}/calls HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {TOKEN}\r\ncontent-length: 2000000\r\n\r\n"
    )
    .unwrap();
    let mut said = [0; 12];
    stream.read_exact(&mut said).unwrap();
    assert_eq!(&said, b"HTTP/1.1 413");
}

#[tokio::test]
async fn a_client_that_is_slow_does_not_hold_up_others() {
    let server = SandboxServer::start(&SandboxServerOptions::local());
    let client = server.client();
    let session = client.open().await;
    // Half a head, half a body, and answers that nobody reads.
    let head = format!(
        "POST /v1/sessions/{session}/calls HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {TOKEN}\r\n"
    );
    let body = json!({ "method": "processes.run", "params": { "command": { "shell": "head -c 900000 /dev/zero" } } }).to_string();
    let unread = format!("{head}content-length: {}\r\n\r\n{body}", body.len());
    let slow: Vec<_> = (0..100)
        .map(|number| {
            let mut stream = std::net::TcpStream::connect(("127.0.0.1", server.port())).unwrap();
            let begun = match number % 3 {
                0 => &head[..40],
                1 => &format!("{head}content-length: 100000\r\n\r\n{{"),
                _ => &unread,
            };
            stream.write_all(begun.as_bytes()).unwrap();
            stream
        })
        .collect();
    for _ in 0..10 {
        let list = client.call(&session, "files.list", json!({ "path": "." }));
        let (status, _) = tokio::time::timeout(Duration::from_secs(20), list)
            .await
            .unwrap();
        assert_eq!(status, 200);
    }
    drop(slow);
}
