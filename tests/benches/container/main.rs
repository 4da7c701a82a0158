//! A session in a container, against an `exec` for each call and against a minimal helper on a socket of the
//! same kind.
//!
//! `cargo bench -p belljar-tests --bench container [ENGINE] [IMAGE]`, after `cargo xtask residents` and `cargo xtask
//! engines`. The helper does nothing but what is measured: no confinement, no versions, one call at a
//! time. It is the limit of what this way of asking a container can do.
#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a benchmark measures time, does what its peers do, and prints"
)]

mod helper;
mod sessions;

use std::{
    process::{Command, Stdio},
    time::Instant,
};

use belljar::{
    Context, RunOptions, Sandbox, WriteOptions,
    backends::{ContainerEngine, ContainerOptions},
    processes::Command as Program,
};
use belljar_contract::blocking::block_on;
use belljar_tests::{
    BUSYBOX, bench_workspace, container_options, has_engine, median, millis, wait,
};

use helper::Helper;

const MIB: u64 = 1 << 20;

fn main() {
    let mut wanted = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with('-'));
    let engine = match wanted.next().as_deref() {
        Some("podman") => ContainerEngine::Podman,
        _ => ContainerEngine::Docker,
    };
    let image = wanted.next().unwrap_or_else(|| BUSYBOX.to_owned());
    if !has_engine(engine, &image) {
        return;
    }
    // Before anything else: what that would let go of would be taken again, and not be seen.
    sessions::held(engine, &image);
    let workspace = bench_workspace();
    let options = ContainerOptions {
        workspace: Some(workspace.path().to_owned()),
        ..container_options(engine, &image)
    };
    let began = Instant::now();
    let sandbox = Sandbox::new(options.open_ambient().expect("it opens"));
    wait(&sandbox, async |sandbox| {
        sandbox.stat("small").await.map(drop)
    });
    println!(
        "open, with the first call: {:.0} ms",
        millis(began.elapsed())
    );
    let name = own_container(engine);
    let mut helper = Helper::start(engine, &image, workspace.path());
    println!(
        "{:<24} {:>12} {:>12} {:>12} {:>10} {:>10}",
        "median", "ours", "helper", "exec", "to helper", "to exec"
    );
    measure(
        "read 1 KiB",
        5000,
        || {
            wait(&sandbox, async |sandbox| {
                sandbox.read("small").await.map(drop)
            })
        },
        || drop(helper.ask(b'r', b"small")),
        || exec(engine, &name, &["cat", "small"], &[]),
    );
    let kib = [b'y'; 1024];
    measure(
        "write 1 KiB",
        5000,
        || {
            wait(&sandbox, async |sandbox| {
                let written = sandbox.write("ours", kib, WriteOptions::default()).await;
                written.map(drop)
            });
        },
        || drop(helper.ask(b'w', &kib)),
        || exec(engine, &name, &["sh", "-c", "cat > theirs"], &kib),
    );
    measure(
        "sh -c true",
        1000,
        || {
            wait(&sandbox, async |sandbox| {
                let program = Program::Shell("true".to_owned());
                sandbox.run(program, RunOptions::default()).await.map(drop)
            });
        },
        || drop(helper.ask(b'p', b"")),
        || exec(engine, &name, &["sh", "-c", "true"], &[]),
    );
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
        || drop(helper.ask(b'r', b"large")),
        || exec(engine, &name, &["cat", "large"], &[]),
    );
    processes_a_second(&sandbox);
    let closed = block_on(&Context::new(), sandbox.close());
    closed.expect("nobody cancels").expect("it closes");
    drop(helper);
    sessions::from_a_pool(engine, &image);
}

/// Small processes, from as many threads as there are processors and twice that.
fn processes_a_second(sandbox: &Sandbox) {
    const EACH: u32 = 1000;
    let threads = std::thread::available_parallelism().map_or(2, |count| count.get() * 2);
    let began = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                for _ in 0..EACH {
                    wait(sandbox, async |sandbox| {
                        let program = Program::Argv(vec!["true".to_owned()]);
                        sandbox.run(program, RunOptions::default()).await.map(drop)
                    });
                }
            });
        }
    });
    let count = threads as f64 * f64::from(EACH);
    println!(
        "small processes from {threads} threads: {:.0} a second",
        count / began.elapsed().as_secs_f64()
    );
}

/// Takes turns, an `exec` for every fiftieth of the others.
fn measure(
    name: &str,
    rounds: u32,
    mut ours: impl FnMut(),
    mut helper: impl FnMut(),
    mut exec: impl FnMut(),
) {
    let time = |work: &mut dyn FnMut()| {
        let began = Instant::now();
        work();
        began.elapsed()
    };
    for _ in 0..rounds / 10 {
        ours();
        helper();
    }
    let mut times = [const { Vec::new() }; 3];
    for round in 0..rounds {
        times[0].push(time(&mut ours));
        times[1].push(time(&mut helper));
        if round % (rounds / 20) == 0 {
            times[2].push(time(&mut exec));
        }
    }
    let [ours, helper, exec] = times.map(median);
    println!(
        "{name:<24} {:>9.3} ms {:>9.3} ms {:>9.3} ms {:>9.2}× {:>9.0}×",
        millis(ours),
        millis(helper),
        millis(exec),
        ours.as_secs_f64() / helper.as_secs_f64(),
        exec.as_secs_f64() / ours.as_secs_f64()
    );
}

/// The session's container: the newest of ours.
fn own_container(engine: ContainerEngine) -> String {
    let listed = Command::new(engine.program())
        .args([
            "ps",
            "--latest",
            "--quiet",
            "--filter=label=belljar.session",
        ])
        .output()
        .expect("the engine lists");
    String::from_utf8_lossy(&listed.stdout).trim().to_owned()
}

fn exec(engine: ContainerEngine, container: &str, command: &[&str], input: &[u8]) {
    use std::io::Write as _;
    let mut child = Command::new(engine.program())
        .args(["exec", "--interactive", "--workdir=/workspace", container])
        .args(command)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(input).expect("it reads");
    }
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{output:?}");
}
