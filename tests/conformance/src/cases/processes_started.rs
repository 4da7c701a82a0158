//! Processes that outlive a call: output from a cursor, input, ids, limits.

use std::{collections::BTreeSet, time::Duration};

use belljar_contract::{
    ErrorKind, RunOptions,
    processes::{Outcome, OutputStream, ProcessId},
};

use crate::{
    case::{Case, OWN_START, START, START_FILES, Verdict, case},
    check::{Failure, eq, expect_kind, same_bytes, that},
    fixture::Fixture,
    fixture_processes::{argv, shell},
};

pub(super) const CASES: &[Case] = &[
    case!(
        to_its_end,
        "processes.start/to-its-end",
        "A started process is read to its end on both outputs, and its outcome is told.",
        START
    ),
    case!(
        lives_on,
        "processes.start/outlives-its-call",
        "A started process goes on while other calls are made.",
        START_FILES
    ),
    case!(
        ids,
        "processes.start/ids-are-never-used-again",
        "Each process has an id of its own, also after others have ended.",
        START
    ),
    case!(
        unknown,
        "processes.start/unknown-ids",
        "An id that nobody gave is not-found in every function.",
        START
    ),
    case!(
        errors,
        "processes.start/errors-as-run",
        "What run refuses, start refuses in the same way, and no process is left of it.",
        START_FILES
    ),
    case!(
        wait,
        "processes.wait/for-its-end",
        "wait gives nothing while it runs, and the outcome ever after.",
        START
    ),
    case!(
        exit_codes,
        "processes.wait/outcomes",
        "Exit codes, signals and the time limit are told apart.",
        START
    ),
    case!(
        after_end,
        "processes.start/answers-after-its-end",
        "read-output, wait and signal answer for an ended process as long as the session lives.",
        START
    ),
    case!(
        busy,
        "processes.start/one-too-many-is-busy",
        "Running processes count against the limit; one more is busy, until one has ended.",
        OWN_START
    ),
];

pub(super) const SHORT: Duration = Duration::from_millis(200);
pub(super) const LONG: Duration = Duration::from_secs(20);
pub(super) const OUT: OutputStream = OutputStream::Stdout;

async fn to_its_end(f: &Fixture) -> Verdict {
    let process = f
        .start_sh("echo one; echo two >&2; sleep 0.2; echo three; exit 3")
        .await?;
    same_bytes(
        "stdout",
        &f.all_output(process, OUT).await?,
        b"one\nthree\n",
    )?;
    let stderr = f.all_output(process, OutputStream::Stderr).await?;
    same_bytes("stderr", &stderr, b"two\n")?;
    let ended = f.ended(process).await?;
    eq("the outcome", ended.outcome, Outcome::Exited(3))?;
    that(!ended.duration.is_zero(), "it took no time")
}

async fn lives_on(f: &Fixture) -> Verdict {
    let process = f
        .start_sh("echo ready; while [ ! -e go ]; do sleep 0.02; done; echo went")
        .await?;
    f.prints(process, b"ready\n").await?;
    eq(
        "running",
        f.sandbox.wait(process, Duration::ZERO).await?,
        None,
    )?;
    same_bytes("beside it", &f.printed("echo beside").await?, b"beside\n")?;
    f.put("go", "").await?;
    same_bytes(
        "stdout",
        &f.all_output(process, OUT).await?,
        b"ready\nwent\n",
    )?;
    eq(
        "the outcome",
        f.ended(process).await?.outcome,
        Outcome::Exited(0),
    )
}

async fn ids(f: &Fixture) -> Verdict {
    let mut seen = BTreeSet::new();
    for _ in 0..10 {
        let process = f.start_sh("true").await?;
        that(seen.insert(process), "an id was given twice")?;
        f.ended(process).await?;
    }
    Ok(())
}

async fn unknown(f: &Fixture) -> Verdict {
    use belljar_contract::processes::SignalKind;
    for id in [u64::MAX, u64::MAX / 2] {
        let id = ProcessId(id);
        let s = &f.sandbox;
        let none = ErrorKind::NotFound;
        expect_kind("read", s.read_output(id, OUT, 0, 1, SHORT).await, none)?;
        expect_kind("write", s.write_input(id, "x", false).await, none)?;
        expect_kind("signal", s.signal(id, SignalKind::Kill).await, none)?;
        expect_kind("wait", s.wait(id, SHORT).await, none)?;
    }
    Ok(())
}

async fn errors(f: &Fixture) -> Verdict {
    f.put("a", "").await?;
    let plain = RunOptions::default;
    let none = f.start(argv(&["belljar-no-such-program"]), plain()).await;
    expect_kind("no program", none, ErrorKind::ProgramNotFound)?;
    let plain_file = f.start(argv(&["./a"]), plain()).await;
    expect_kind("not executable", plain_file, ErrorKind::NotExecutable)?;
    for (directory, right) in [
        ("none", ErrorKind::NotFound),
        ("a", ErrorKind::NotADirectory),
    ] {
        let options = RunOptions {
            directory: Some(directory.to_owned()),
            ..plain()
        };
        expect_kind(directory, f.start(shell("true"), options).await, right)?;
    }
    let empty = f.start(argv(&[]), plain()).await;
    expect_kind("no command", empty, ErrorKind::InvalidArgument)?;
    let zero = f
        .start(shell("true"), crate::fixture_processes::limited(0))
        .await;
    expect_kind("no time", zero, ErrorKind::InvalidArgument)
}

async fn wait(f: &Fixture) -> Verdict {
    let process = f.start_sh("read x; exit 5").await?;
    let began = f.context().now();
    eq("running", f.sandbox.wait(process, SHORT).await?, None)?;
    let took = f.context().now().saturating_sub(began);
    that(took >= SHORT, "it did not wait")?;
    eq(
        "at once",
        f.sandbox.wait(process, Duration::ZERO).await?,
        None,
    )?;
    f.sandbox.write_input(process, "", true).await?;
    let ended = f.ended(process).await?;
    eq("the outcome", ended.outcome, Outcome::Exited(5))?;
    eq(
        "again",
        f.sandbox.wait(process, Duration::ZERO).await?,
        Some(ended),
    )
}

async fn exit_codes(f: &Fixture) -> Verdict {
    for (text, timeout, right) in [
        ("exit 0", None, Outcome::Exited(0)),
        ("exit 124", None, Outcome::Exited(124)),
        ("exit 137", None, Outcome::Exited(137)),
        ("kill -KILL $$", None, Outcome::Signalled(9)),
        ("kill -TERM $$", None, Outcome::Signalled(15)),
        ("sleep 30", Some(200), Outcome::TimedOut),
    ] {
        let options = RunOptions {
            timeout,
            ..RunOptions::default()
        };
        let process = f.start(shell(text), options).await?;
        eq(text, f.ended(process).await?.outcome, right)?;
    }
    Ok(())
}

async fn after_end(f: &Fixture) -> Verdict {
    use belljar_contract::processes::SignalKind;
    let process = f.start_sh("echo kept").await?;
    f.ended(process).await?;
    for _ in 0..3 {
        // Others come and go meanwhile.
        let other = f.start_sh("true").await?;
        f.ended(other).await?;
        same_bytes("the output", &f.all_output(process, OUT).await?, b"kept\n")?;
        for signal in [SignalKind::Interrupt, SignalKind::Kill] {
            f.sandbox.signal(process, signal).await?;
        }
        eq(
            "the outcome",
            f.ended(process).await?.outcome,
            Outcome::Exited(0),
        )?;
    }
    Ok(())
}

async fn busy(f: &Fixture) -> Verdict {
    let most = f.sandbox.describe().limits.processes;
    if most > 200 {
        return Err(Failure::unmet(
            "the session runs over 200 processes, too many to try",
        ));
    }
    let mut running = Vec::new();
    for _ in 0..most {
        running.push(f.start_sh("read x").await?);
    }
    let started = f.start_sh("true").await;
    expect_kind("start", started, ErrorKind::Busy)?;
    expect_kind("run", f.sh("true").await, ErrorKind::Busy)?;
    let one = running[0];
    f.sandbox.write_input(one, "", true).await?;
    f.ended(one).await?;
    eq("run", f.sh("true").await?.outcome, Outcome::Exited(0))?;
    // A run is counted only while it runs.
    let again = f.start_sh("true").await?;
    f.ended(again).await.map(drop)
}
