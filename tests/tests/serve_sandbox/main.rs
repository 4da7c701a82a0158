//! `belljar serve-sandbox` over loopback: who is let in, what is answered, and how everything ends.

#![expect(
    clippy::disallowed_methods,
    reason = "a test sets up and looks at what is outside every workspace"
)]

mod admission;
mod calls;
mod cancellation;
mod ends;
mod limits;

use std::time::{Duration, Instant};

use belljar_tests::{SandboxServer, SandboxServerOptions};
use serde_json::{Value, json};

fn local() -> SandboxServer {
    SandboxServer::start(&SandboxServerOptions::local())
}

/// A process that no other test has: `sleep` for so many seconds.
fn sleep(seconds: &str) -> Value {
    json!({ "command": { "argv": ["sleep", seconds] }, "options": { "timeout": 600_000 } })
}

/// Whether such a process is there.
fn sleeps(seconds: &str) -> bool {
    let wanted = format!("sleep\0{seconds}\0");
    let entries = std::fs::read_dir("/proc").expect("processes");
    entries.filter_map(Result::ok).any(|entry| {
        std::fs::read(entry.path().join("cmdline")).is_ok_and(|line| line == wanted.as_bytes())
    })
}

/// Waits until something holds, which it does soon or the test fails.
#[track_caller]
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < Duration::from_secs(30), "never: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The code of a refusal.
fn code(body: &Value) -> &str {
    body["refused"]["code"].as_str().unwrap_or_default()
}

/// The kind of a failed operation.
fn kind(body: &Value) -> &str {
    body["error"]["kind"].as_str().unwrap_or_default()
}
