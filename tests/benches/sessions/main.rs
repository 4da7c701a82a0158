//! Many sessions of one host process at once, over streams that are as slow as a network.
//!
//! `cargo bench -p belljar-tests --bench sessions [SESSIONS] [MILLISECONDS]`, after `cargo xtask residents`: 200
//! sessions and 10 ms each way, unless something else is said. Each is a `remote` session: its command is this
//! program again, which holds back what goes to a resident and what comes from it. So this process does what a host
//! does and nothing else; what it holds and what its processor does are the host's. How long a call takes is also
//! due to the others, which share the machine with it.
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a benchmark measures time, rounds figures, and prints"
)]

mod delay;
mod held;
mod load;

use std::{
    ffi::OsString,
    path::Path,
    process::ExitCode,
    time::{Duration, Instant},
};

use belljar::{
    Sandbox,
    backends::{EngineEnvironment, RemoteOptions, VirtualOptions},
};
use belljar_tests::static_resident;
use rustix::process::{Resource, getrlimit, setrlimit};
use tokio::{task::JoinSet, time::sleep};

use held::Held;
use load::{Call, Came, load, millis_at};

/// How long a thread of the executor's that has nothing to do is kept. A tenth of the usual, so that a session's
/// rest is soon without what its last call occupied.
const THREAD_KEEP_ALIVE: Duration = Duration::from_secs(1);
/// How long the sessions rest: in this time each is asked once whether it lives.
const REST: Duration = Duration::from_secs(31);
/// What an agent that thinks does.
const PACE: Duration = Duration::from_secs(1);

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let Some((word, rest)) = words.split_first()
        && word == delay::WORD
    {
        return delay::run(rest);
    }
    let mut numbers = words.iter().filter_map(|word| word.parse().ok());
    let sessions = numbers.next().unwrap_or(200);
    let delay = numbers.next().unwrap_or(10);
    // The usual limit is for fewer sessions than this; whoever runs a host raises it too.
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    setrlimit(Resource::Nofile, limit).expect("up to the maximum");
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .thread_keep_alive(THREAD_KEEP_ALIVE)
        .enable_time()
        .build()
        .expect("an executor");
    runtime.block_on(measure(sessions, delay));
    ExitCode::SUCCESS
}

async fn measure(sessions: usize, delay: usize) {
    // In memory: on a disk, what a write costs is the disk's.
    let folder = std::env::var_os("BELLJAR_BENCH_FOLDER").unwrap_or_else(|| "/dev/shm".into());
    let folder = tempfile::tempdir_in(folder).expect("a temporary folder");
    for index in 0..sessions {
        let workspace = workspace(folder.path(), index);
        std::fs::create_dir(&workspace).expect("a folder");
        std::fs::write(workspace.join("small"), [b'x'; 1024]).expect("a file");
    }
    println!("{sessions} sessions, {delay} ms to them and {delay} ms back");
    println!(
        "{:<24} {:>12} {:>12} {:>12} {:>12}",
        "a session, at rest", "memory", "threads", "descriptors", "processor"
    );
    let virtual_ = |index| {
        let options = VirtualOptions {
            workspace: Some(workspace(folder.path(), index)),
            ..VirtualOptions::default()
        };
        Sandbox::new(options.open_ambient().expect("it opens"))
    };
    let (opened, _, before) = open(sessions, virtual_).await;
    rests("virtual", before, sessions, THREAD_KEEP_ALIVE).await;
    close(opened).await;

    let this = std::env::current_exe().expect("this program");
    let remote = |index| {
        let command: [OsString; 5] = [
            this.clone().into(),
            delay::WORD.into(),
            delay.to_string().into(),
            static_resident().into(),
            "stdio".into(),
        ];
        let root = workspace(folder.path(), index).display().to_string();
        let options = RemoteOptions {
            program_environment: EngineEnvironment::from_variables(std::env::vars_os()),
            ..RemoteOptions::new(command, root)
        };
        Sandbox::new(options.open_ambient().expect("it opens"))
    };
    let (opened, times, before) = open(sessions, remote).await;
    rests("remote", before, sessions, REST).await;
    println!(
        "opened all at once, with the first call: median {:.0} ms, 99 of 100 within {:.0} ms",
        millis_at(&times, 0.5),
        millis_at(&times, 0.99)
    );

    println!(
        "{:<24} {:>8} {:>12} {:>12} {:>10} {:>12} {:>8}",
        "a call", "of", "median", "99 of 100", "a second", "processor", "threads"
    );
    for call in Call::ALL {
        tell(call, "one", &load(&opened[..1], call, 50, None).await);
    }
    for call in Call::ALL {
        tell(call, "paced", &load(&opened, call, 4, Some(PACE)).await);
    }
    for call in Call::ALL {
        tell(call, "all", &load(&opened, call, 20, None).await);
    }
    rests("remote, afterwards", before, sessions, THREAD_KEEP_ALIVE).await;
    let began = Instant::now();
    close(opened).await;
    println!(
        "closed all at once: {:.0} ms",
        began.elapsed().as_secs_f64() * 1e3
    );
}

fn workspace(folder: &Path, index: usize) -> std::path::PathBuf {
    folder.join(index.to_string())
}

/// Opens sessions, each with a first call, all at once; with how long each took, and what this process held before.
async fn open(
    sessions: usize,
    one: impl Fn(usize) -> Sandbox,
) -> (Vec<Sandbox>, Vec<Duration>, Held) {
    let first_call = async |sandbox: &Sandbox| {
        sandbox.stat("small").await.expect("it is there");
    };
    // What the first one costs is no other's.
    let first = one(0);
    first_call(&first).await;
    close(vec![first]).await;
    let before = settled().await;
    let mut opening = JoinSet::new();
    for index in 0..sessions {
        let sandbox = one(index);
        opening.spawn(async move {
            let began = Instant::now();
            first_call(&sandbox).await;
            (sandbox, began.elapsed())
        });
    }
    let (opened, mut times): (Vec<_>, Vec<_>) = opening.join_all().await.into_iter().unzip();
    times.sort_unstable();
    (opened, times, before)
}

async fn close(sandboxes: Vec<Sandbox>) {
    let mut closing = JoinSet::new();
    for sandbox in sandboxes {
        closing.spawn(async move { sandbox.close().await.expect("it closes") });
    }
    closing.join_all().await;
}

/// What this process holds when the executor has let go of the threads that it does not need.
async fn settled() -> Held {
    sleep(2 * THREAD_KEEP_ALIVE).await;
    Held::now()
}

/// Leaves sessions alone for a while, and tells what each of them costs.
async fn rests(name: &str, before: Held, sessions: usize, rest: Duration) {
    let held = settled().await - before;
    let processor = held::processor_time();
    sleep(rest).await;
    let processor = (held::processor_time() - processor).as_secs_f64() / rest.as_secs_f64();
    let each = |total: f64| total / sessions as f64;
    println!(
        "{name:<24} {:>8.1} KiB {:>12.2} {:>12.2} {:>8.2} µs/s",
        each(held.anonymous),
        each(held.threads),
        each(held.descriptors),
        each(processor * 1e6)
    );
}

fn tell(call: Call, of: &str, came: &Came) {
    println!(
        "{:<24} {of:>8} {:>9.2} ms {:>9.2} ms {:>10.0} {:>9.0} µs {:>8.0}",
        call.name(),
        came.millis_at(0.5),
        came.millis_at(0.99),
        came.a_second(),
        came.processor_a_call(),
        came.threads
    );
}
