//! What a session costs before its first call, and while it lasts.

use std::time::{Duration, Instant};

use belljar::{
    Context, Sandbox,
    backends::{ContainerEngine, ContainerPool, PoolOptions},
};
use belljar_contract::blocking::block_on;
use belljar_tests::{container_options, millis, wait};

/// The first call of a session, and the whole of the sessions before it is on the shelf again.
pub(crate) fn from_a_pool(engine: ContainerEngine, image: &str) {
    const ROUNDS: usize = 20;
    let options = PoolOptions {
        size: 2,
        ..PoolOptions::default()
    };
    let options_of_one = container_options(engine, image);
    let pool = ContainerPool::open_ambient(options_of_one, options).expect("it opens");
    let mut times: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
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
        })
        .collect();
    times.sort_unstable();
    println!(
        "open from the pool, with the first call: {:.2} ms, at most {:.2} ms of {ROUNDS}",
        millis(times[ROUNDS / 2]),
        millis(times[ROUNDS - 1])
    );
    block_on(&Context::new(), pool.close()).expect("nobody cancels");
}

/// What this process holds, and the memory of the residents, for each session that is open.
pub(crate) fn held(engine: ContainerEngine, image: &str) {
    const SESSIONS: usize = 20;
    let open = || {
        let options = container_options(engine, image);
        let sandbox = Sandbox::new(options.open_ambient().expect("it opens"));
        wait(&sandbox, async |sandbox| {
            sandbox.list(".", None).await.map(drop)
        });
        sandbox
    };
    // What the first one costs is no other's.
    close(&open());
    let anonymous = || kib("/proc/self/smaps_rollup", "Anonymous:").expect("this process is there");
    let entries = |folder| std::fs::read_dir(folder).expect("it is Linux").count() as u64;
    let now = || {
        [
            anonymous(),
            entries("/proc/self/task"),
            entries("/proc/self/fd"),
        ]
    };
    let before = now();
    let sandboxes: Vec<Sandbox> = (0..SESSIONS).map(|_| open()).collect();
    let after = now();
    let each = |total: u64| total as f64 / SESSIONS as f64;
    let [memory, threads, descriptors] =
        [0, 1, 2].map(|which| each(after[which].saturating_sub(before[which])));
    println!(
        "a session here: {memory:.1} KiB, {threads:.2} threads, {descriptors:.2} descriptors; \
         {:.2} MiB of the resident, {:.2} MiB of the engine's processes",
        each(of_processes("resident")) / 1024.0,
        each(of_processes("shim") + of_processes("conmon")) / 1024.0
    );
    sandboxes.iter().for_each(close);
}

fn close(sandbox: &Sandbox) {
    let closed = block_on(&Context::new(), sandbox.close());
    closed.expect("nobody cancels").expect("it closes");
}

/// The proportional share of all processes whose name has this in it, in KiB.
fn of_processes(name: &str) -> u64 {
    let entries = std::fs::read_dir("/proc").expect("it is Linux");
    let entries = entries.filter_map(|entry| Some(entry.ok()?.path()));
    entries
        .filter(|path| {
            let comm = std::fs::read_to_string(path.join("comm")).unwrap_or_default();
            comm.contains(name)
        })
        .filter_map(|path| kib(&path.join("smaps_rollup").to_string_lossy(), "Pss:"))
        .sum()
}

fn kib(file: &str, name: &str) -> Option<u64> {
    let text = std::fs::read_to_string(file).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}
