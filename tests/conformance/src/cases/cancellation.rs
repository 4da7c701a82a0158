//! Cancellation and deadlines: before a call, in the middle of it, and of a part of it.

use std::time::Duration;

use belljar_contract::{
    Context, ErrorKind, Expected, RunOptions,
    processes::{Outcome, OutputStream},
};

use crate::{
    case::{Case, FILES, RUN, RUN_FILES, START_FILES, Verdict, case},
    check::{eq, expect_kind, same_bytes, that},
    fixture::Fixture,
    fixture_files::below,
    fixture_processes::{HEARTBEAT, kept, limited, shell},
};

pub(super) const CASES: &[Case] = &[
    case!(
        before,
        "cancellation/before-a-call",
        "A call that was cancelled before it starts does not start.",
        FILES
    ),
    case!(
        late,
        "cancellation/after-the-deadline",
        "A call whose time is up before it starts does not start: timed-out.",
        FILES
    ),
    case!(
        before_run,
        "cancellation/before-a-run",
        "A run or start that was cancelled or is late before it starts runs nothing.",
        START_FILES
    ),
    case!(
        mid_run,
        "cancellation/in-the-middle-of-a-run",
        "A cancelled run is told as such, soon, with what it printed until then.",
        RUN
    ),
    case!(
        mid_run_tree,
        "cancellation/ends-the-tree",
        "Cancelling a run ends children that ignore SIGTERM and those in other sessions.",
        RUN_FILES
    ),
    case!(
        grace,
        "cancellation/gives-time-to-clean-up",
        "A program has time after SIGTERM to clean up, and what it prints then is kept.",
        RUN
    ),
    case!(
        deadline_run,
        "cancellation/a-deadline-in-the-middle-of-a-run",
        "A context's deadline ends a run as its own time limit does.",
        RUN_FILES
    ),
    case!(
        nearer,
        "cancellation/the-nearer-limit-holds",
        "Of a run's time limit and its context's deadline the nearer one ends it.",
        RUN
    ),
    case!(
        child,
        "cancellation/of-a-child-context",
        "Cancelling a part leaves its parent and its siblings; cancelling the parent ends all.",
        RUN
    ),
    case!(
        waiting,
        "cancellation/of-a-wait",
        "A cancelled wait or read-output comes back soon, and the process lives on.",
        START_FILES
    ),
    case!(
        finished,
        "cancellation/after-the-end-does-nothing",
        "Cancelling a call that has ended changes nothing, and the session stays usable.",
        RUN_FILES
    ),
    case!(
        usable,
        "cancellation/leaves-the-session-usable",
        "After twenty cancelled runs the next call answers.",
        RUN_FILES
    ),
    case!(
        whole,
        "cancellation/of-writes-is-whole-or-nothing",
        "Writes that are cancelled at any moment leave the old content or the new.",
        FILES
    ),
];

fn cancelled(f: &Fixture) -> Fixture {
    let context = f.context().child();
    context.cancellation().cancel();
    f.within(context)
}

fn late_by(f: &Fixture) -> Fixture {
    f.within(f.context().child().with_timeout(Duration::ZERO))
}

async fn refused(f: &Fixture, stopped: &Fixture, kind: ErrorKind) -> Verdict {
    f.put("a", "x").await?;
    let s = stopped;
    let word = belljar_contract::QueryOptions {
        pattern: "x".to_owned(),
        ..Default::default()
    };
    expect_kind("read", s.read("a").await, kind)?;
    expect_kind("read-range", s.read_range("a", 0, 1).await, kind)?;
    expect_kind("write", s.write("a", "y", Expected::Any).await, kind)?;
    expect_kind("append", s.append("a", "y", Expected::Any).await, kind)?;
    expect_kind("replace", s.replace("a", "x", "y").await, kind)?;
    expect_kind("list", s.list(".").await, kind)?;
    expect_kind("glob", s.glob("*", below(".")).await, kind)?;
    expect_kind("search", s.search(word, below(".")).await, kind)?;
    expect_kind("stat", s.stat("a").await, kind)?;
    expect_kind("resolve", s.resolve("a").await, kind)?;
    expect_kind("make-directory", s.make_directory("d").await, kind)?;
    expect_kind("remove", s.remove("a", true).await, kind)?;
    expect_kind("rename", s.rename("a", "b", Expected::Any).await, kind)?;
    expect_kind("copy", s.copy("a", "b", Expected::Any).await, kind)?;
    f.holds("a", "x").await?;
    eq("the names", f.names(".").await?, ["a"])
}

async fn before(f: &Fixture) -> Verdict {
    refused(f, &cancelled(f), ErrorKind::Cancelled).await
}

async fn late(f: &Fixture) -> Verdict {
    refused(f, &late_by(f), ErrorKind::TimedOut).await
}

async fn before_run(f: &Fixture) -> Verdict {
    for (stopped, kind) in [
        (cancelled(f), ErrorKind::Cancelled),
        (late_by(f), ErrorKind::TimedOut),
    ] {
        expect_kind("run", stopped.sh("touch started").await, kind)?;
        let started = stopped.start_sh("touch started").await;
        expect_kind("start", started, kind)?;
        let found = stopped.sandbox.find_commands(vec!["sh".to_owned()]).await;
        expect_kind("find-commands", found, kind)?;
    }
    f.delay(300).await?;
    f.absent("started").await
}

/// Runs shell text and cancels it after a time; also how long the end took from then on.
async fn cancel_after(
    f: &Fixture,
    text: &str,
    milliseconds: u64,
) -> Result<(belljar_contract::processes::Execution, Duration), crate::Failure> {
    let context = f.context().child();
    let (text, cancellation) = (text.to_owned(), context.cancellation().clone());
    let running = f.within(context).meanwhile(|f| async move {
        let execution = f.run(shell(&text), limited(50_000)).await?;
        Ok((execution, f.context().now()))
    });
    f.delay(milliseconds).await?;
    let began = f.context().now();
    cancellation.cancel();
    let (execution, ended) = running.await?;
    Ok((execution, ended.saturating_sub(began)))
}

async fn mid_run(f: &Fixture) -> Verdict {
    for text in [
        "echo out; echo err >&2; sleep 40",
        "trap '' TERM; echo out; echo err >&2; while :; do sleep 40; done",
    ] {
        let (execution, took) = cancel_after(f, text, 600).await?;
        eq(text, execution.outcome, Outcome::Cancelled)?;
        same_bytes("stdout", &kept(&execution.stdout), b"out\n")?;
        same_bytes("stderr", &kept(&execution.stderr), b"err\n")?;
        // 500 ms between TERM and KILL, and a busy machine's scheduling.
        that(
            took < Duration::from_millis(1400),
            &format!("it took {took:?}"),
        )?;
    }
    Ok(())
}

async fn mid_run_tree(f: &Fixture) -> Verdict {
    f.put("heart.sh", format!("trap '' TERM INT HUP\n{HEARTBEAT}\n"))
        .await?;
    let setsid = "command -v setsid >/dev/null && setsid sh heart.sh &";
    for text in [
        "sh heart.sh & sleep 50".to_owned(),
        format!("{setsid} sh heart.sh & sleep 50"),
        "( sh heart.sh </dev/null >/dev/null 2>&1 & ); sleep 50".to_owned(),
    ] {
        let (execution, _) = cancel_after(f, &text, 700).await?;
        eq(&text, execution.outcome, Outcome::Cancelled)?;
        f.still("beat").await?;
    }
    Ok(())
}

async fn grace(f: &Fixture) -> Verdict {
    let text = "trap 'sleep 0.1; echo cleaned; exit 0' TERM; echo ready; \
                while :; do sleep 0.01 || :; done";
    let (execution, _) = cancel_after(f, text, 600).await?;
    eq("the outcome", execution.outcome, Outcome::Cancelled)?;
    same_bytes("the output", &kept(&execution.stdout), b"ready\ncleaned\n")
}

async fn deadline_run(f: &Fixture) -> Verdict {
    let context = f.context().child().with_timeout(Duration::from_millis(900));
    let began = f.context().now();
    let execution = f
        .within(context)
        .run(shell(&format!("echo before; {HEARTBEAT}")), limited(50_000))
        .await?;
    let took = f.context().now().saturating_sub(began);
    eq("the outcome", execution.outcome, Outcome::TimedOut)?;
    same_bytes("the output", &kept(&execution.stdout), b"before\n")?;
    that(
        took < Duration::from_millis(1900),
        &format!("it took {took:?}"),
    )?;
    f.still("beat").await
}

async fn nearer(f: &Fixture) -> Verdict {
    let context = f.context().child().with_timeout(Duration::from_secs(30));
    let began = f.context().now();
    let execution = f
        .within(context)
        .run(shell("sleep 40"), limited(300))
        .await?;
    let took = f.context().now().saturating_sub(began);
    eq("the outcome", execution.outcome, Outcome::TimedOut)?;
    that(took < Duration::from_secs(3), &format!("it took {took:?}"))
}

async fn child(f: &Fixture) -> Verdict {
    let parent = f.context().child();
    let (one, two) = (parent.child(), parent.child());
    let start = |context: &Context, text: &'static str| {
        f.within(context.clone())
            .meanwhile(move |f| async move { Ok(f.sh(text).await?.outcome) })
    };
    let (first, second) = (start(&one, "sleep 40"), start(&two, "sleep 1; exit 3"));
    f.delay(200).await?;
    one.cancellation().cancel();
    eq("the one", first.await?, Outcome::Cancelled)?;
    eq("its sibling", second.await?, Outcome::Exited(3))?;
    let under = f.within(parent.clone());
    eq(
        "its parent",
        under.sh("exit 4").await?.outcome,
        Outcome::Exited(4),
    )?;
    let third = start(&two, "sleep 40");
    f.delay(200).await?;
    parent.cancellation().cancel();
    eq("with the parent", third.await?, Outcome::Cancelled)?;
    expect_kind(
        "a new child",
        f.within(parent.child()).sh("true").await,
        ErrorKind::Cancelled,
    )
}

async fn waiting(f: &Fixture) -> Verdict {
    let process = f.start_sh("read x; echo end").await?;
    for reads in [true, false] {
        let context = f.context().child();
        let cancellation = context.cancellation().clone();
        let waiting = f.within(context).meanwhile(move |f| async move {
            let long = Duration::from_secs(50);
            let result = if reads {
                f.sandbox
                    .read_output(process, OutputStream::Stdout, 0, 9, long)
                    .await
                    .map(drop)
            } else {
                f.sandbox.wait(process, long).await.map(drop)
            };
            Ok((result, f.context().now()))
        });
        f.delay(200).await?;
        let began = f.context().now();
        cancellation.cancel();
        let (result, ended) = waiting.await?;
        expect_kind("the wait", result, ErrorKind::Cancelled)?;
        let took = ended.saturating_sub(began);
        that(
            took < Duration::from_millis(900),
            &format!("it took {took:?}"),
        )?;
    }
    f.sandbox.write_input(process, "", true).await?;
    let output = f.all_output(process, OutputStream::Stdout).await?;
    same_bytes("the process", &output, b"end\n")
}

async fn finished(f: &Fixture) -> Verdict {
    let context = f.context().child();
    let within = f.within(context.clone());
    within.put("a", "x").await?;
    let execution = within
        .run(shell("echo done"), RunOptions::default())
        .await?;
    context.cancellation().cancel();
    eq("the outcome", execution.outcome, Outcome::Exited(0))?;
    f.holds("a", "x").await?;
    eq(
        "after it",
        f.sh("exit 2").await?.outcome,
        Outcome::Exited(2),
    )
}

async fn usable(f: &Fixture) -> Verdict {
    for round in 0..20 {
        let (execution, _) = cancel_after(f, "sleep 40", 10 + round * 5).await?;
        eq("the outcome", execution.outcome, Outcome::Cancelled)?;
    }
    f.put("a", "x").await?;
    same_bytes("a run", &f.printed("cat a").await?, b"x")
}

async fn whole(f: &Fixture) -> Verdict {
    const SIZE: usize = 2 << 20;
    f.put("a", vec![b'a'; SIZE]).await?;
    for round in 0..30u32 {
        let context = f.context().child();
        let cancellation = context.cancellation().clone();
        let writing = f
            .within(context)
            .meanwhile(|f| async move { Ok(f.write("a", vec![b'b'; SIZE], Expected::Any).await) });
        std::thread::sleep(Duration::from_micros(u64::from(round) * 100));
        cancellation.cancel();
        let written = writing.await?;
        let bytes = f.read("a").await?.bytes;
        eq("the size", bytes.len(), SIZE)?;
        that(bytes.iter().all(|byte| *byte == bytes[0]), "half a content")?;
        match written {
            Ok(_) => eq("the content", bytes[0], b'b')?,
            Err(error) => eq("the kind", error.kind, ErrorKind::Cancelled)?,
        }
        f.put("a", vec![b'a'; SIZE]).await?;
    }
    eq("the names", f.names(".").await?, ["a"])
}
