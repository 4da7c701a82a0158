//! A session over `ssh` on loopback, against what the same connection does with raw bytes.
//!
//! `cargo bench -p belljar-tests --bench remote`, after `cargo xtask residents`. The raw stream is `ssh host cat`:
//! its round trip is a kibibyte that comes back, and 100 MiB are a file that it prints, with the connection that it
//! needs each time.
#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a benchmark measures time, does what its peers do, and prints"
)]

use std::{
    ffi::OsString,
    io::{Read as _, Write as _},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    time::{Duration, Instant},
};

use belljar::{
    Context, RunOptions, Sandbox, WriteOptions,
    backends::{EngineEnvironment, RemoteOptions},
    processes::Command as Program,
};
use belljar_contract::blocking::block_on;
use belljar_tests::{SshServer, bench_workspace, median, millis, static_resident, wait};

const MIB: u64 = 1 << 20;

fn main() {
    let Some(server) = SshServer::start() else {
        return;
    };
    let workspace = bench_workspace();
    let large = workspace.path().join("large");
    let resident = static_resident().display().to_string();
    let root = workspace.path().to_str().expect("UTF-8");
    let options = RemoteOptions {
        program_environment: EngineEnvironment::from_variables(std::env::vars_os()),
        ..RemoteOptions::new(server.ssh_on_loopback(&[&resident, "stdio"]), root)
    };
    let began = Instant::now();
    let sandbox = Sandbox::new(options.open_ambient().expect("it opens"));
    wait(&sandbox, async |sandbox| {
        sandbox.stat("small").await.map(drop)
    });
    println!(
        "open, with the first call: {:.0} ms; `ssh host true`: {:.0} ms",
        millis(began.elapsed()),
        millis(time(&mut || to_the_end(
            &server.ssh_on_loopback(&["true"]),
            0
        )))
    );
    let mut echo = Echo::start(&server.ssh_on_loopback(&["cat"]));
    println!(
        "{:<24} {:>12} {:>12} {:>10}",
        "median", "ours", "raw", "to raw"
    );
    let kib = [b'y'; 1024];
    measure(
        "read 1 KiB",
        3000,
        || {
            wait(&sandbox, async |sandbox| {
                sandbox.read("small").await.map(drop)
            })
        },
        || echo.round_trip(&kib),
    );
    measure(
        "write 1 KiB",
        3000,
        || {
            wait(&sandbox, async |sandbox| {
                let written = sandbox.write("ours", kib, WriteOptions::default()).await;
                written.map(drop)
            });
        },
        || echo.round_trip(&kib),
    );
    measure(
        "sh -c true",
        500,
        || {
            wait(&sandbox, async |sandbox| {
                let program = Program::Shell("true".to_owned());
                sandbox.run(program, RunOptions::default()).await.map(drop)
            });
        },
        || echo.round_trip(&kib),
    );
    let cat = server.ssh_on_loopback(&["cat", &large.display().to_string()]);
    measure(
        "read 100 MiB",
        20,
        || {
            for part in 0..10 {
                wait(&sandbox, async |sandbox| {
                    let read = sandbox.read_range("large", part * 10 * MIB, 10 * MIB);
                    read.await.map(drop)
                });
            }
        },
        || to_the_end(&cat, 100 << 20),
    );
    let closed = block_on(&Context::new(), sandbox.close());
    closed.expect("nobody cancels").expect("it closes");
}

/// Takes turns.
fn measure(name: &str, rounds: usize, mut ours: impl FnMut(), mut raw: impl FnMut()) {
    for _ in 0..rounds / 10 {
        ours();
        raw();
    }
    let mut times = [const { Vec::new() }; 2];
    for _ in 0..rounds {
        times[0].push(time(&mut ours));
        times[1].push(time(&mut raw));
    }
    let [ours, raw] = times.map(median);
    println!(
        "{name:<24} {:>9.3} ms {:>9.3} ms {:>9.2}×",
        millis(ours),
        millis(raw),
        ours.as_secs_f64() / raw.as_secs_f64()
    );
}

fn time(work: &mut dyn FnMut()) -> Duration {
    let began = Instant::now();
    work();
    began.elapsed()
}

fn start(command: &[OsString]) -> Child {
    Command::new(&command[0])
        .args(&command[1..])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts")
}

/// Runs a command to its end, which prints so many bytes.
fn to_the_end(command: &[OsString], bytes: usize) {
    let mut child = start(command);
    let mut stdout = child.stdout.take().expect("piped");
    let (mut read, mut buffer) = (0, vec![0; 128 << 10]);
    while let count @ 1.. = stdout.read(&mut buffer).expect("it prints") {
        read += count;
    }
    assert!(child.wait().expect("it ends").success());
    assert_eq!(read, bytes);
}

/// A program that sends back what it is sent.
struct Echo {
    child: Child,
    pipes: Option<(ChildStdin, ChildStdout)>,
}

impl Echo {
    fn start(command: &[OsString]) -> Self {
        let mut child = start(command);
        let pipes = child.stdin.take().zip(child.stdout.take());
        Self { child, pipes }
    }

    fn round_trip(&mut self, bytes: &[u8]) {
        let (input, output) = self.pipes.as_mut().expect("it runs");
        input.write_all(bytes).expect("it reads");
        let mut back = vec![0; bytes.len()];
        output.read_exact(&mut back).expect("it answers");
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        self.pipes = None;
        let _ = self.child.wait();
    }
}
