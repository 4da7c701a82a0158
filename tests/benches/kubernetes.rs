//! A session in a Pod of the tests' cluster, against `kubectl exec` for each operation over the same link.
//!
//! `cargo bench -p belljar-tests --bench kubernetes`, after `cargo xtask kubernetes` and `residents`.
#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a benchmark measures time, does what its peers do, and prints"
)]

use std::{
    io::Write as _,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use belljar::{
    Context, RunOptions, Sandbox, WriteOptions,
    backends::{KubernetesOptions, KubernetesPool, PoolOptions},
    processes::Command as Program,
};
use belljar_contract::blocking::block_on;
use belljar_tests::{KubernetesPlace, median, millis, wait};

/// How often ours is timed for each time of the peer, which takes some hundred times as long.
const OURS: usize = 20;
const ROUNDS: usize = 30;
/// How many sessions are opened one after the other.
const SESSIONS: usize = 5;

const KIB: [u8; 1024] = [b'y'; 1024];

fn main() {
    let Some(place) = KubernetesPlace::make() else {
        return;
    };
    let options = || KubernetesOptions {
        cpu_millis: Some(1000),
        ..place.options()
    };
    let times = (0..SESSIONS).map(|_| {
        let began = Instant::now();
        let sandbox = opened(options());
        let time = began.elapsed();
        close(&sandbox);
        time
    });
    println!(
        "open, with the first call: {:.0} ms",
        millis(median(times.collect()))
    );
    from_a_pool(options());
    let sandbox = opened(options());
    let [pod] = place.pods().try_into().expect("one Pod");
    let kubectl = Kubectl { place: &place, pod };
    println!(
        "{:<16} {:>12} {:>16} {:>10}",
        "median", "ours", "kubectl exec", "ratio"
    );
    wait(&sandbox, async |sandbox| {
        let written = sandbox.write("small", KIB, WriteOptions::default()).await;
        written.map(drop)
    });
    measure(
        "read 1 KiB",
        || {
            wait(&sandbox, async |sandbox| {
                sandbox.read("small").await.map(drop)
            })
        },
        || kubectl.exec(&["cat", "/workspace/small"], &[]),
    );
    measure(
        "write 1 KiB",
        || {
            wait(&sandbox, async |sandbox| {
                let written = sandbox.write("ours", KIB, WriteOptions::default()).await;
                written.map(drop)
            });
        },
        || kubectl.exec(&["sh", "-c", "cat > /workspace/theirs"], &KIB),
    );
    measure(
        "sh -c true",
        || {
            wait(&sandbox, async |sandbox| {
                let program = Program::Shell("true".to_owned());
                sandbox.run(program, RunOptions::default()).await.map(drop)
            });
        },
        || kubectl.exec(&["sh", "-c", "true"], &[]),
    );
    close(&sandbox);
}

fn opened(options: KubernetesOptions) -> Sandbox {
    let sandbox = Sandbox::new(options.open_ambient().expect("it opens"));
    wait(&sandbox, async |sandbox| {
        sandbox.list(".", None).await.map(drop)
    });
    sandbox
}

/// The first call of a session, and the whole of the sessions before it is on the shelf again.
fn from_a_pool(options: KubernetesOptions) {
    let two = PoolOptions {
        size: 2,
        ..PoolOptions::default()
    };
    let pool = KubernetesPool::open_ambient(options, two).expect("it opens");
    let taken = (0..SESSIONS * 2).map(|_| {
        while pool.ready() < 2 {
            std::thread::sleep(Duration::from_millis(10));
        }
        let began = Instant::now();
        let sandbox = Sandbox::new(pool.session());
        wait(&sandbox, async |sandbox| {
            sandbox.list(".", None).await.map(drop)
        });
        let time = began.elapsed();
        close(&sandbox);
        time
    });
    println!(
        "open from the pool, with the first call: {:.1} ms",
        millis(median(taken.collect()))
    );
    block_on(&Context::new(), pool.close()).expect("nobody cancels");
}

fn close(sandbox: &Sandbox) {
    let closed = block_on(&Context::new(), sandbox.close());
    closed.expect("nobody cancels").expect("it closes");
}

/// The peer: a program and a request for each operation.
struct Kubectl<'a> {
    place: &'a KubernetesPlace,
    pod: String,
}

impl Kubectl<'_> {
    fn exec(&self, program: &[&str], input: &[u8]) {
        let mut child = Command::new(self.place.cluster().kubectl_program())
            .arg("--kubeconfig")
            .arg(self.place.kubeconfig())
            .args(["--namespace", self.place.namespace(), "exec", "--stdin"])
            .args([&self.pod, "--"])
            .args(program)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .expect("it starts");
        let mut stdin = child.stdin.take().expect("piped");
        stdin.write_all(input).expect("it reads");
        drop(stdin);
        assert!(child.wait().expect("it ends").success());
    }
}

/// Takes turns.
fn measure(name: &str, mut ours: impl FnMut(), mut theirs: impl FnMut()) {
    ours();
    theirs();
    let mut times = [const { Vec::new() }; 2];
    for _ in 0..ROUNDS {
        times[0].extend((0..OURS).map(|_| time(&mut ours)));
        times[1].push(time(&mut theirs));
    }
    let [ours, theirs] = times.map(median);
    println!(
        "{name:<16} {:>9.3} ms {:>13.1} ms {:>9.0}×",
        millis(ours),
        millis(theirs),
        theirs.as_secs_f64() / ours.as_secs_f64()
    );
}

fn time(work: &mut dyn FnMut()) -> Duration {
    let began = Instant::now();
    work();
    began.elapsed()
}
