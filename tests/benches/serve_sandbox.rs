//! Sandboxes that are lent over HTTP on loopback, against the same bytes from a plain HTTP server.
//!
//! `cargo bench -p belljar-tests --bench serve_sandbox`, after `cargo build --release`. Both are asked by the same client
//! over kept connections without TLS. The plain server is in this process and gives bytes from memory; ours is a
//! process of its own whose sandbox reads them from a file.
#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a benchmark measures time, does what its peers do, and prints"
)]

use std::time::{Duration, Instant};

use axum::{Router, body::Bytes, routing::get};
use belljar_tests::{
    SandboxClient, SandboxServer, SandboxServerOptions, bench_workspace, median, millis,
};
use reqwest::Client;
use serde_json::{Value, json};

const MIB: usize = 1 << 20;
/// The largest part of a file that a call reads, unless limits say otherwise.
const PART: usize = 16 * MIB;

#[tokio::main]
async fn main() {
    let workspace = bench_workspace();
    let root = workspace.path().to_str().expect("UTF-8");
    let options = SandboxServerOptions {
        config: format!(
            "[sandbox]\nbackend = \"local\"\nwritable = true\nworkspace = {root:?}\n[sandbox.local]\nallow-host-processes = true\n"
        ),
        ..SandboxServerOptions::local()
    };
    let server = SandboxServer::start(&options);
    let ours = server.client();
    let session = ours.open().await;
    let plain = plain().await;
    let client = Client::new();
    println!(
        "{:<24} {:>12} {:>12} {:>10}",
        "median", "ours", "plain", "to plain"
    );
    let call = async |method: &str, params: Value| call(&ours, &session, method, params).await;
    measure(
        "read 1 KiB",
        3000,
        async || call("files.read", json!({ "path": "small" })).await,
        async || fetch(&client, &plain, "small", 1024).await,
    )
    .await;
    measure(
        "sh -c true",
        500,
        async || call("processes.run", json!({ "command": { "shell": "true" } })).await,
        async || fetch(&client, &plain, "small", 1024).await,
    )
    .await;
    measure(
        "read 100 MiB",
        10,
        async || {
            for offset in (0..100 * MIB).step_by(PART) {
                let params = json!({ "path": "large", "offset": offset, "length": PART });
                call("files.read-range", params).await;
            }
        },
        async || fetch(&client, &plain, "large", 100 * MIB).await,
    )
    .await;
}

/// A server of the same bytes.
async fn plain() -> String {
    let bytes = |size: usize| {
        let bytes = Bytes::from(vec![b'x'; size]);
        get(async move || bytes.clone())
    };
    let routes = Router::new()
        .route("/small", bytes(1024))
        .route("/large", bytes(100 * MIB));
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a socket");
    let address = listener.local_addr().expect("its address");
    let server = axum_server::from_tcp(listener).expect("a server");
    tokio::spawn(server.serve(routes.into_make_service()));
    format!("http://{address}")
}

async fn fetch(client: &Client, url: &str, name: &str, size: usize) {
    let response = client.get(format!("{url}/{name}")).send().await;
    let body = response.expect("an answer").bytes().await;
    assert_eq!(body.expect("a whole answer").len(), size);
}

/// Makes a call, and takes the answer as it comes: what JSON and base64 cost its reader is not the server's.
async fn call(client: &SandboxClient, session: &str, method: &str, params: Value) {
    let body = json!({ "method": method, "params": params });
    let response = client
        .send(
            reqwest::Method::POST,
            &format!("/{session}/calls"),
            Some(body),
        )
        .await
        .expect("an answer");
    assert_eq!(response.status().as_u16(), 200);
    response.bytes().await.expect("a whole answer");
}

/// Takes turns.
async fn measure(
    name: &str,
    rounds: usize,
    mut ours: impl AsyncFnMut(),
    mut plain: impl AsyncFnMut(),
) {
    for _ in 0..rounds / 10 {
        ours().await;
        plain().await;
    }
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        first.push(time(&mut ours).await);
        second.push(time(&mut plain).await);
    }
    let (ours, plain) = (median(first), median(second));
    println!(
        "{name:<24} {:>9.3} ms {:>9.3} ms {:>9.2}×",
        millis(ours),
        millis(plain),
        ours.as_secs_f64() / plain.as_secs_f64()
    );
}

async fn time(work: &mut impl AsyncFnMut()) -> Duration {
    let began = Instant::now();
    work().await;
    began.elapsed()
}
