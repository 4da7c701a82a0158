//! The figures that Belljar is designed for, each as a ratio to a peer or limit in the same run.
//!
//! `cargo bench -p belljar-tests --bench figures [NAME…]`; build the guests first with `cargo xtask guests`. Ours
//! and the peer take turns, and the ratio is of the medians, so that a machine that is busy with other
//! things distorts both alike.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a benchmark measures time, does what its peers do, and prints"
)]

use std::{
    path::Path,
    process::Command,
    sync::Arc,
    time::{Duration, Instant},
};

use belljar::{
    Backend, Context, Description, Host, HostOptions, Request, Response, Sandbox, Tool, WasiMode,
    async_trait,
    backends::VirtualOptions,
    files::{EntryKind, Info},
    programs::ProgramSet,
};
use belljar_test_guests::{coding, component};
use belljar_tests::workspace_root;

type Figure = fn() -> Result<(), Box<dyn std::error::Error>>;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let wanted: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with('-'))
        .collect();
    let figures: [(&str, Figure); 6] = [
        ("call", call),
        ("host-call", host_call),
        ("read", read),
        ("load", load),
        ("process", process),
        ("program", program),
    ];
    println!(
        "{:<44} {:>12} {:>12} {:>8}  target",
        "figure (median)", "ours", "peer", "ratio"
    );
    for (name, figure) in figures {
        if wanted.is_empty() || wanted.iter().any(|wanted| wanted == name) {
            figure()?;
        }
    }
    Ok(())
}

/// Medians of two things that take turns.
fn pair(rounds: u32, mut ours: impl FnMut(), mut peer: impl FnMut()) -> (Duration, Duration) {
    let time = |work: &mut dyn FnMut()| {
        let start = Instant::now();
        work();
        start.elapsed()
    };
    for _ in 0..rounds / 10 {
        ours();
        peer();
    }
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        a.push(time(&mut ours));
        b.push(time(&mut peer));
    }
    (median(a), median(b))
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn row(name: &str, (ours, peer): (Duration, Duration), target: &str) {
    let ratio = ours.as_secs_f64() / peer.as_secs_f64();
    println!(
        "{name:<44} {:>9.2} µs {:>9.2} µs {ratio:>8.2}  {target}",
        micros(ours),
        micros(peer)
    );
}

fn single(name: &str, ours: Duration, target: &str) {
    println!(
        "{name:<44} {:>9.3} µs {:>12} {:>8}  {target}",
        micros(ours),
        "–",
        "–"
    );
}

fn micros(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e6
}

fn figures_tool(options: HostOptions) -> Result<Tool, Box<dyn std::error::Error>> {
    Ok(Host::new(options)?.load(&component("figures"), WasiMode::Deny)?)
}

/// Instantiate, call and drop, against wasmtime doing the same with nothing around it.
fn call() -> Result<(), Box<dyn std::error::Error>> {
    let tool = figures_tool(HostOptions::default())?;
    let sandbox = Sandbox::new(VirtualOptions::default().open_ambient()?);
    let bare = bare::Bare::new(&component("figures"))?;
    let arguments = r#"{"text": "hello"}"#;
    let figure = pair(
        20_000,
        || {
            drop(
                tool.call_blocking(&sandbox, "echo", arguments)
                    .expect("an answer"),
            )
        },
        || bare.call("echo", arguments).expect("an answer"),
    );
    row(
        "call: instantiate, call, drop",
        figure,
        "≤ 2 × bare wasmtime",
    );
    Ok(())
}

/// A backend that answers at once, so that what is left is the way to it.
struct Null(Arc<Description>);

#[async_trait]
impl Backend for Null {
    fn describe(&self) -> Arc<Description> {
        Arc::clone(&self.0)
    }

    async fn call(&self, _: &Context, _: Request) -> belljar_contract::Result<Response> {
        Ok(Response::Info(Info {
            kind: EntryKind::File,
            size: 1,
            modified: 0,
            mode: 0o644,
        }))
    }

    async fn close(&self) -> belljar_contract::Result<()> {
        Ok(())
    }
}

/// A call from the guest to the host and back, before any work.
fn host_call() -> Result<(), Box<dyn std::error::Error>> {
    const COUNT: u32 = 10_000;
    let tool = figures_tool(HostOptions::default())?;
    let description = VirtualOptions::default().open_ambient()?.describe();
    let sandbox = Sandbox::new(Arc::new(Null(description)));
    for (name, what) in [
        ("report_many", "host call: progress"),
        ("stat_many", "host call: stat, null backend"),
    ] {
        let run = |count: u32| {
            let arguments = format!(r#"{{"path": "src/lib.rs", "count": {count}}}"#);
            let start = Instant::now();
            tool.call_blocking(&sandbox, name, &arguments)
                .expect("an answer");
            start.elapsed()
        };
        let with = median((0..50).map(|_| run(COUNT)).collect());
        let without = median((0..50).map(|_| run(0)).collect());
        single(what, (with - without) / COUNT, "< 1 µs");
    }
    Ok(())
}

/// A file of 1 KiB, read by a guest, against the standard library.
fn read() -> Result<(), Box<dyn std::error::Error>> {
    const COUNT: u32 = 2_000;
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("file");
    std::fs::write(&path, [b'x'; 1024])?;
    let tool = figures_tool(HostOptions::default())?;
    let options = VirtualOptions {
        workspace: Some(folder.path().to_owned()),
        ..VirtualOptions::default()
    };
    let sandbox = Sandbox::new(options.open_ambient()?);
    let arguments = format!(r#"{{"path": "file", "count": {COUNT}}}"#);
    let (ours, peer) = pair(
        50,
        || {
            drop(
                tool.call_blocking(&sandbox, "read_many", &arguments)
                    .expect("an answer"),
            )
        },
        || {
            for _ in 0..COUNT {
                assert_eq!(std::fs::read(&path).expect("the file").len(), 1024);
            }
        },
    );
    row(
        "read 1 KiB from a guest",
        (ours / COUNT, peer / COUNT),
        "≤ 3 × std::fs::read",
    );
    Ok(())
}

/// A program that needs no operating system, from `run` to its answer, against one that needs it.
fn program() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let host = Host::new(HostOptions {
        cache: Some(folder.path().join("cache")),
        ..HostOptions::default()
    })?;
    let nothing =
        wat::parse_str(r#"(module (memory (export "memory") 1) (func (export "_start")))"#)?;
    let mut programs = ProgramSet::default().with("nothing", host.load_program(&nothing)?);
    let built = std::env::var_os("BELLJAR_PROGRAMS")
        .map_or_else(|| workspace_root().join("target/programs"), Into::into);
    let utilities = host.load_program_ambient(&built.join("coreutils.wasm"))?;
    programs = programs.with("true", utilities);
    let options = VirtualOptions {
        programs: Some(Arc::new(programs)),
        ..VirtualOptions::default()
    };
    let sandbox = Sandbox::new(options.open_ambient()?);
    for (name, what) in [
        ("nothing", "run an empty program without a system"),
        ("true", "run true, of 7 MB with many others"),
    ] {
        let run = || {
            let command = belljar::Command::Argv(vec![name.to_owned()]);
            let ran = sandbox.run(command, belljar::RunOptions::default());
            let ran = belljar_contract::blocking::block_on(&Context::new(), ran);
            assert!(ran.expect("in time").expect("it starts").outcome.success());
        };
        let times = pair(200, run, || {
            let ended = Command::new("true").status();
            assert!(ended.expect("it starts").success());
        });
        row(what, times, "< 1 ms");
    }
    Ok(())
}

/// A component from the cache: audited, loaded, linked, asked for its tools.
fn load() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let options = HostOptions {
        cache: Some(folder.path().join("cache")),
        ..HostOptions::default()
    };
    let host = Host::new(options)?;
    for (name, bytes) in [("figures", component("figures")), ("coding", coding())] {
        host.load(&bytes, WasiMode::Deny)?;
        let times = (0..200).map(|_| {
            let start = Instant::now();
            host.load(&bytes, WasiMode::Deny).expect("it loads");
            start.elapsed()
        });
        single(
            &format!("load {name} from the cache"),
            median(times.collect()),
            "coding: < 1000 µs",
        );
    }
    Ok(())
}

/// `belljar run` of a small tool, the whole process.
fn process() -> Result<(), Box<dyn std::error::Error>> {
    let command = workspace_root().join("target/release/belljar");
    let command = std::env::var_os("BELLJAR_COMMAND").map_or(command, Into::into);
    if !command.exists() {
        println!(
            "process: skipped, {} is not there: cargo build --release",
            command.display()
        );
        return Ok(());
    }
    let folder = tempfile::tempdir()?;
    let run = |program: &Path, arguments: &[&str]| {
        let output = Command::new(program)
            .args(arguments)
            .current_dir(folder.path())
            .env("XDG_CACHE_HOME", folder.path())
            .output()
            .expect("it starts");
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
    };
    std::fs::write(folder.path().join("figures.wasm"), component("figures"))?;
    let figure = pair(
        60,
        || {
            run(
                &command,
                &["run", "figures.wasm", "echo", r#"{"text": "hello"}"#],
            )
        },
        || run(Path::new("true"), &[]),
    );
    row(
        "process: belljar run, against /bin/true",
        figure,
        "< 30,000 µs",
    );
    Ok(())
}

/// The same component with wasmtime alone: a pool, no limits, no interruption, no policy.
mod bare {
    use wasmtime::{
        Config, Enabled, Engine, InstanceAllocationStrategy, PoolingAllocationConfig, Store,
        component::{Component, Linker},
    };

    wasmtime::component::bindgen!({ path: "../wit", world: "tool" });

    pub(crate) struct Bare {
        engine: Engine,
        instance: ToolPre<()>,
    }

    impl Bare {
        pub(crate) fn new(bytes: &[u8]) -> wasmtime::Result<Self> {
            let mut pool = PoolingAllocationConfig::new();
            pool.linear_memory_keep_resident(1 << 20);
            pool.table_keep_resident(64 << 10);
            pool.pagemap_scan(Enabled::Auto);
            let mut config = Config::new();
            config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
            let engine = Engine::new(&config)?;
            let component = Component::from_binary(&engine, bytes)?;
            let mut linker = Linker::new(&engine);
            linker.define_unknown_imports_as_traps(&component)?;
            let instance = ToolPre::new(linker.instantiate_pre(&component)?)?;
            Ok(Self { engine, instance })
        }

        pub(crate) fn call(&self, name: &str, arguments: &str) -> wasmtime::Result<()> {
            let mut store = Store::new(&self.engine, ());
            let tool = self.instance.instantiate(&mut store)?;
            match tool
                .belljar_sandbox_tools()
                .call_call(&mut store, name, arguments)?
            {
                Ok(_) => Ok(()),
                Err(_) => Err(wasmtime::format_err!("the tool failed")),
            }
        }
    }
}
