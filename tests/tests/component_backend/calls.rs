//! What becomes of calls: side by side, cancelled, and at the session's end.

use std::time::{Duration, Instant};

use belljar::{Command, Context, ErrorKind, RunOptions, WriteOptions, processes::Outcome};

use crate::{Lender, PATIENCE, SOON, kind, lending, local, server};

fn shell(text: &str) -> Command {
    Command::Shell(text.into())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_lent_and_given_back() {
    let server = server();
    let session = lending(&server).opened();
    let root = session.describe().root.clone();
    session
        .write("a", "x", WriteOptions::default())
        .await
        .expect("it is written");
    let content = std::fs::read(std::path::Path::new(&root).join("a"));
    assert_eq!(content.expect("it is there"), b"x");
    session.close().await.expect("it closes");
    assert!(!std::path::Path::new(&root).exists(), "the sandbox is gone");
    assert_eq!(kind(session.read("a").await), ErrorKind::Closed);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_is_dropped_is_given_back() {
    let server = server();
    let session = lending(&server).opened();
    let root = session.describe().root.clone();
    drop(session);
    let by = Instant::now() + PATIENCE;
    while std::path::Path::new(&root).exists() {
        assert!(Instant::now() < by, "the sandbox is still there");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_run_does_not_keep_a_read_waiting() {
    let server = server();
    let session = lending(&server).opened();
    session
        .write("a", "x", WriteOptions::default())
        .await
        .expect("it is written");
    let context = Context::new();
    let within = session.within(context.clone());
    let long = tokio::spawn(async move {
        within
            .run(shell("echo > begun; sleep 50"), RunOptions::default())
            .await
    });
    let by = Instant::now() + PATIENCE;
    while session.stat("begun").await.is_err() {
        assert!(Instant::now() < by, "the program does not begin");
    }
    let began = Instant::now();
    assert_eq!(session.read("a").await.expect("it is read").bytes, b"x");
    assert!(began.elapsed() < SOON, "{:?}", began.elapsed());
    context.cancellation().cancel();
    let ended = long.await.expect("no panic").expect("it ran");
    assert_eq!(ended.outcome, Outcome::Cancelled);
    session.close().await.expect("it closes");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_call_at_once_waits_for_the_one_before() {
    let server = server();
    let mut lender = lending(&server);
    lender.options.component_limits.calls = 1;
    let session = lender.opened();
    let writes = (0..8).map(|number| {
        let session = session.clone();
        tokio::spawn(async move {
            let path = format!("f{number}");
            session.write(&path, "x", WriteOptions::default()).await
        })
    });
    for write in writes.collect::<Vec<_>>() {
        write.await.expect("no panic").expect("it is written");
    }
    assert_eq!(
        session.list(".", None).await.expect("it is listed").total,
        8
    );
    session.close().await.expect("it closes");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_call_drops_its_connection_at_once() {
    let server = server();
    let slow = format!("GET {}/slow", server.url());
    let session = Lender::new("lends_requests")
        .setting("slow", slow)
        .grant(local(&server, "127.0.0.1"))
        .opened();
    let context = Context::new();
    let within = session.within(context.clone());
    let call = tokio::spawn(async move { within.read("slow").await });
    assert!(server.is_asked(PATIENCE), "the server is asked");
    let began = Instant::now();
    context.cancellation().cancel();
    assert!(server.is_left(PATIENCE), "the server is left");
    assert!(
        began.elapsed() < Duration::from_millis(500),
        "{:?}",
        began.elapsed()
    );
    // The guest answered that it was told; it may have ended what it did.
    let came = call.await.expect("no panic").expect("it answers");
    assert_eq!(came.bytes, b"stopped");
    assert_eq!(
        kind(session.read("other").await),
        ErrorKind::NotFound,
        "the session lives on"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_is_dropped_drops_its_connection() {
    let server = server();
    let slow = format!("GET {}/slow", server.url());
    let session = Lender::new("lends_requests")
        .setting("slow", slow)
        .grant(local(&server, "127.0.0.1"))
        .opened();
    let within = session.clone();
    let call = tokio::spawn(async move { within.read("slow").await });
    assert!(server.is_asked(PATIENCE), "the server is asked");
    call.abort();
    assert!(server.is_left(PATIENCE), "the server is left");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_sessions_end_ends_its_calls() {
    let server = server();
    let slow = format!("GET {}/slow", server.url());
    let session = Lender::new("lends_requests")
        .setting("slow", slow)
        .grant(local(&server, "127.0.0.1"))
        .opened();
    let within = session.clone();
    let call = tokio::spawn(async move { within.read("slow").await });
    assert!(server.is_asked(PATIENCE), "the server is asked");
    let began = Instant::now();
    session.close().await.expect("it closes");
    assert!(
        began.elapsed() < Duration::from_secs(4),
        "{:?}",
        began.elapsed()
    );
    assert!(server.is_left(PATIENCE), "the server is left");
    let _ = call.await.expect("no panic");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_gone_is_told_in_time() {
    let server = server();
    let session = lending(&server).opened();
    drop(server);
    let began = Instant::now();
    let error = session.read("a").await.expect_err("nobody is there");
    assert_eq!(error.kind, ErrorKind::BackendUnavailable);
    assert!(began.elapsed() < PATIENCE, "{:?}", began.elapsed());
}
