//! Sandboxes that are lent over HTTP on loopback, against the same bytes from a plain HTTP server.
//!
//! `cargo bench -p belljar-tests --bench serve_sandbox`, after `cargo build --release` and `cargo xtask guests`. All are
//! asked over kept connections without TLS: the plain server and ours by the same client, which reads the answer and
//! leaves JSON and base64 as they are; and ours by the component, as a backend. The plain server is in this process and
//! gives bytes from memory; ours is a process of its own whose sandbox reads them from a file.
#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a benchmark measures time, does what its peers do, and prints"
)]

use std::time::{Duration, Instant};

use axum::{Router, body::Bytes, routing::get};
use belljar::{RunOptions, Sandbox, processes::Command};
use belljar_tests::{
    LentSandboxes, SandboxClient, SandboxServer, SandboxServerOptions, bench_workspace, median,
    millis, wait,
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
    let lent = LentSandboxes::by(&belljar_test_guests::shim("serve_sandbox"));
    let began = Instant::now();
    let lent = lent.open(&server).expect("it opens");
    println!(
        "open by the component, compiled: {:.0} ms",
        millis(began.elapsed())
    );
    println!(
        "{:<16} {:>12} {:>12} {:>14} {:>10} {:>10}",
        "median", "plain", "ours", "by component", "to plain", "to plain"
    );
    let call = async |method: &str, params: Value| call(&ours, &session, method, params).await;
    let small = async || fetch(&client, &plain, "small", 1024).await;
    measure(
        "read 1 KiB",
        2000,
        small,
        async || call("files.read", json!({ "path": "small" })).await,
        || by_component(&lent, async |lent| lent.read("small").await.map(drop)),
    )
    .await;
    measure(
        "sh -c true",
        500,
        small,
        async || {
            let params = json!({ "command": { "shell": "true" } });
            call("processes.run", params).await;
        },
        || {
            by_component(&lent, async |lent| {
                let program = Command::Shell("true".to_owned());
                lent.run(program, RunOptions::default()).await.map(drop)
            });
        },
    )
    .await;
    measure(
        "read 100 MiB",
        10,
        async || fetch(&client, &plain, "large", 100 * MIB).await,
        async || {
            for offset in (0..100 * MIB).step_by(PART) {
                let params = json!({ "path": "large", "offset": offset, "length": PART });
                call("files.read-range", params).await;
            }
        },
        || {
            for offset in (0..100 * MIB).step_by(PART) {
                by_component(&lent, async |lent| {
                    let read = lent.read_range("large", offset as u64, PART as u64);
                    read.await.map(drop)
                });
            }
        },
    )
    .await;
    lent.close().await.expect("it closes");
}

/// A call from a thread that may block.
fn by_component(lent: &Sandbox, call: impl AsyncFnOnce(&Sandbox) -> belljar_contract::Result<()>) {
    tokio::task::block_in_place(|| wait(lent, call));
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
    mut plain: impl AsyncFnMut(),
    mut ours: impl AsyncFnMut(),
    mut by_component: impl FnMut(),
) {
    let mut times = [const { Vec::new() }; 3];
    for round in 0..rounds + rounds / 10 {
        let took = [
            time(&mut plain).await,
            time(&mut ours).await,
            time(&mut async || by_component()).await,
        ];
        // The first tenth is to warm up.
        if round >= rounds / 10 {
            for (times, took) in times.iter_mut().zip(took) {
                times.push(took);
            }
        }
    }
    let [plain, ours, lent] = times.map(median);
    let ratio = |time: Duration| time.as_secs_f64() / plain.as_secs_f64();
    println!(
        "{name:<16} {:>9.3} ms {:>9.3} ms {:>11.3} ms {:>9.2}× {:>9.2}×",
        millis(plain),
        millis(ours),
        millis(lent),
        ratio(ours),
        ratio(lent)
    );
}

async fn time(work: &mut impl AsyncFnMut()) -> Duration {
    let began = Instant::now();
    work().await;
    began.elapsed()
}
