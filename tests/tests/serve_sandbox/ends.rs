//! How sessions end: closed, left, with the server, and with one that is killed.

use std::time::{Duration, Instant};

use belljar_tests::{SandboxServer, SandboxServerOptions};
use reqwest::Method;
use serde_json::{Value, json};

use crate::{code, local, sleep, sleeps, until};

async fn start(server: &SandboxServer, session: &str, seconds: &str) {
    let (status, started) = server
        .client()
        .call(session, "processes.start", sleep(seconds))
        .await;
    assert_eq!(status, 200, "{started}");
    until("the process runs", || sleeps(seconds));
}

#[tokio::test]
async fn a_closed_session_is_gone_with_its_processes_and_calls() {
    let server = local();
    let client = server.client();
    let session = client.open().await;
    start(&server, &session, "721.25").await;
    let waiting = tokio::spawn({
        let (client, session) = (client.clone(), session.clone());
        async move {
            client
                .call(&session, "processes.run", sleep("722.25"))
                .await
        }
    });
    tokio::task::spawn_blocking(|| until("the process runs", || sleeps("722.25")))
        .await
        .unwrap();
    let (status, closed) = client
        .ask(Method::DELETE, &format!("/{session}"), None)
        .await;
    assert_eq!((status, closed), (204, Value::Null));
    assert!(!sleeps("721.25") && !sleeps("722.25"));
    let (status, ended) = waiting.await.unwrap();
    assert_eq!(
        (status, &ended["result"]["outcome"]),
        (200, &json!("cancelled"))
    );
    let (status, gone) = client
        .call(&session, "files.list", json!({ "path": "." }))
        .await;
    assert_eq!((status, code(&gone)), (404, "no-such-session"));
}

#[tokio::test]
async fn a_session_that_is_left_is_closed_and_one_that_is_used_is_not() {
    let server = SandboxServer::start(&SandboxServerOptions::local().with(&["--idle", "1s"]));
    let client = server.client();
    let (left, kept) = (client.open().await, client.open().await);
    start(&server, &left, "723.25").await;
    // Longer than a session may be left: a call in hand is use, and so is to ask for it now and then.
    let waiting = client.call(
        &kept,
        "processes.run",
        json!({ "command": { "argv": ["sleep", "2.5"] } }),
    );
    let (status, _) = waiting.await;
    assert_eq!(status, 200);
    until("the process is gone", || !sleeps("723.25"));
    let (status, _) = client.ask(Method::GET, &format!("/{left}"), None).await;
    assert_eq!(status, 404);
    for _ in 0..5 {
        let (status, _) = client.ask(Method::GET, &format!("/{kept}"), None).await;
        assert_eq!(status, 200);
        tokio::time::sleep(Duration::from_millis(400)).await;
    }
}

#[tokio::test]
async fn a_signal_answers_what_runs_and_leaves_nothing() {
    let mut server = local();
    let client = server.client();
    let (one, other) = (client.open().await, client.open().await);
    start(&server, &one, "724.25").await;
    let waiting =
        tokio::spawn(async move { client.call(&other, "processes.run", sleep("725.25")).await });
    tokio::task::spawn_blocking(|| until("the process runs", || sleeps("725.25")))
        .await
        .unwrap();
    server.terminate();
    let (status, ended) = waiting.await.unwrap();
    assert_eq!(
        (status, &ended["result"]["outcome"]),
        (200, &json!("cancelled"))
    );
    let (status, took) = server.wait();
    assert_eq!(status.code(), Some(143));
    assert!(took < Duration::from_secs(5), "{took:?}");
    assert!(!sleeps("724.25") && !sleeps("725.25"));
}

#[tokio::test]
async fn an_open_connection_does_not_hold_up_the_end() {
    let mut server = local();
    let silent = std::net::TcpStream::connect(("127.0.0.1", server.port())).unwrap();
    server.client().open().await;
    let began = Instant::now();
    server.terminate();
    assert_eq!(server.wait().0.code(), Some(143));
    assert!(
        began.elapsed() < Duration::from_secs(5),
        "{:?}",
        began.elapsed()
    );
    drop(silent);
}
