//! How a program ends, and that it always does.

use std::time::{Duration, Instant};

use belljar::{
    CallLimits, Context, ErrorKind, RunOptions, Sandbox,
    processes::{Command, Outcome, OutputStream, SignalKind},
    programs::ProgramSet,
};

use crate::{Place, host, made, made_up, shown};

const SEGV: u32 = 11;

async fn outcome(program: &[u8]) -> Outcome {
    let place = Place::of(made("it", program));
    place.run(&["it"], RunOptions::default()).await.outcome
}

#[tokio::test(flavor = "multi_thread")]
async fn every_exit_code_is_told() {
    for code in [0, 1, 125, 126, 127, 137, 255] {
        assert_eq!(outcome(&made_up::exit(code)).await, Outcome::Exited(code));
    }
    // As a system has it, which keeps eight bits.
    assert_eq!(outcome(&made_up::exit(-1)).await, Outcome::Exited(255));
    assert_eq!(outcome(&made_up::module("")).await, Outcome::Exited(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_component_is_a_program_too() {
    assert_eq!(outcome(&made_up::component(true)).await, Outcome::Exited(0));
    assert_eq!(
        outcome(&made_up::component(false)).await,
        Outcome::Exited(1)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_trap_is_the_signal_that_a_system_would_send() {
    for (body, signal) in [
        ("unreachable", 6),
        ("(drop (i32.load (i32.const 0x7fffffff)))", SEGV),
        ("(drop (i32.div_u (i32.const 1) (i32.const 0)))", 8),
    ] {
        let place = Place::of(made("it", &made_up::module(body)));
        let ended = place.run(&["it"], RunOptions::default()).await;
        assert_eq!(ended.outcome, Outcome::Signalled(signal), "{body}");
        assert!(shown(&ended.stderr).starts_with("it: "), "{body}");
    }
    let deep = made_up::module_with("(func $deep (call $deep))", "(call $deep)");
    assert_eq!(outcome(&deep).await, Outcome::Signalled(SEGV));
}

#[tokio::test(flavor = "multi_thread")]
async fn memory_that_runs_out_is_told() {
    assert_eq!(outcome(&made_up::grow()).await, Outcome::OutOfMemory);
    // Less than it needs to begin with.
    let limits = CallLimits {
        memory_bytes: 1 << 10,
        ..CallLimits::default()
    };
    let place = Place::of(made("it", &made_up::exit(0)).with_limits(limits));
    let ended = place.run(&["it"], RunOptions::default()).await;
    assert_eq!(ended.outcome, Outcome::OutOfMemory);
}

/// Programs that never end by themselves: one computes, one sleeps, one waits for input, one prints.
fn endless() -> ProgramSet {
    let host = host();
    let load = |bytes: &[u8]| host.load_program(bytes).expect("it is a program");
    ProgramSet::default()
        .with("spin", load(&made_up::spin()))
        .with("sleep", load(&made_up::sleep()))
        .with("copy", load(&made_up::copy()))
        .with("print", load(&made_up::print(0)))
}

const ENDLESS: [&str; 4] = ["spin", "sleep", "copy", "print"];

fn argv(name: &str) -> Command {
    Command::Argv(vec![name.to_owned()])
}

/// A process that waits for input has it open only when it was started.
async fn started(
    sandbox: &Sandbox,
    name: &str,
    timeout: Option<u64>,
) -> belljar::processes::ProcessId {
    let options = RunOptions {
        timeout,
        ..RunOptions::default()
    };
    let started = sandbox.start(argv(name), options).await;
    started.expect("the program starts")
}

#[tokio::test(flavor = "multi_thread")]
async fn each_ends_at_its_time_limit() {
    let place = Place::of(endless());
    for name in ENDLESS {
        let id = started(&place.sandbox, name, Some(300)).await;
        let ended = place.sandbox.wait(id, Duration::from_secs(20)).await;
        let ended = ended.expect("it can be waited for").expect("it ends");
        assert_eq!(ended.outcome, Outcome::TimedOut, "{name}");
        assert!(ended.duration >= Duration::from_millis(300), "{name}");
        assert!(
            ended.duration < Duration::from_millis(900),
            "{name}: {:?}",
            ended.duration
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_ends_when_its_call_is_cancelled() {
    let place = Place::of(endless());
    for name in ["spin", "sleep", "print"] {
        let context = Context::new();
        let sandbox = place.sandbox.within(context.clone());
        let run = tokio::spawn(async move { sandbox.run(argv(name), RunOptions::default()).await });
        // Cancelled at whatever moment of its life.
        tokio::time::sleep(Duration::from_millis(100)).await;
        context.cancellation().cancel();
        let cancelled = Instant::now();
        let ended = run.await.expect("no panic").expect("it has begun");
        assert_eq!(ended.outcome, Outcome::Cancelled, "{name}");
        assert!(cancelled.elapsed() < Duration::from_millis(600), "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_ends_by_a_signal_and_says_which() {
    let place = Place::of(endless());
    for (signal, number) in [
        (SignalKind::Interrupt, 2),
        (SignalKind::Kill, 9),
        (SignalKind::Terminate, 15),
    ] {
        for name in ENDLESS {
            let id = started(&place.sandbox, name, None).await;
            let sent = place.sandbox.signal(id, signal).await;
            sent.expect("it can be signalled");
            let ended = place.sandbox.wait(id, Duration::from_secs(20)).await;
            let ended = ended.expect("it can be waited for").expect("it ends");
            assert_eq!(ended.outcome, Outcome::Signalled(number), "{name}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn all_end_with_the_session() {
    let place = Place::of(endless());
    for name in ENDLESS {
        started(&place.sandbox, name, None).await;
    }
    let closing = Instant::now();
    place.sandbox.close().await.expect("it closes");
    assert!(closing.elapsed() < Duration::from_secs(2));
    let refused = place.sandbox.run(argv("spin"), RunOptions::default()).await;
    assert_eq!(
        refused.map_err(|error| error.kind).err(),
        Some(ErrorKind::Closed)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn one_too_many_is_busy_and_others_are_unharmed() {
    let place = Place::with(endless(), |options| options.limits.processes = 2);
    let first = started(&place.sandbox, "sleep", None).await;
    let second = started(&place.sandbox, "spin", None).await;
    let refused = place
        .sandbox
        .start(argv("spin"), RunOptions::default())
        .await;
    assert_eq!(
        refused.map_err(|error| error.kind).err(),
        Some(ErrorKind::Busy)
    );
    for id in [first, second] {
        let sent = place.sandbox.signal(id, SignalKind::Kill).await;
        sent.expect("it can be signalled");
        let ended = place.sandbox.wait(id, Duration::from_secs(20)).await;
        assert!(ended.expect("it can be waited for").is_some());
    }
    let chunk = place
        .sandbox
        .read_output(first, OutputStream::Stdout, 0, 10, Duration::ZERO)
        .await
        .expect("an ended process can be read");
    assert!(chunk.ended);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_there_is_told_with_what_is() {
    let place = Place::of(endless());
    let refused = place.sandbox.run(argv("git"), RunOptions::default()).await;
    let error = refused.expect_err("there is no git");
    assert_eq!(error.kind, ErrorKind::ProgramNotFound);
    let found = place
        .sandbox
        .find_commands(vec!["copy".into(), "git".into(), "sh".into()])
        .await
        .expect("commands can be looked for");
    let found: Vec<_> = found.iter().map(|command| command.path.is_some()).collect();
    assert_eq!(found, [true, false, false]);
    let instructions = place.sandbox.describe().instructions.clone();
    assert!(ENDLESS.iter().all(|name| instructions.contains(name)));
}
