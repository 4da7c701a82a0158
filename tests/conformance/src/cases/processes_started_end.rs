//! How started processes end: signals, the whole tree, time limits, the session's end.

use std::time::Duration;

use belljar_contract::{
    RunOptions,
    processes::{Outcome, OutputStream, SignalKind},
};

use crate::{
    case::{Case, OWN_START, OWN_START_HOST, START, START_FILES, Verdict, case},
    check::{Failure, eq, same_bytes, that},
    fixture::Fixture,
    fixture_processes::{HEARTBEAT, limited, shell},
};

pub(super) const CASES: &[Case] = &[
    case!(
        signals,
        "processes.signal/each-arrives",
        "interrupt, terminate, hangup, user1 and user2 reach the process group.",
        START
    ),
    case!(
        default_action,
        "processes.signal/ends-what-does-not-catch-it",
        "A program that does not catch a signal is signalled by it.",
        START
    ),
    case!(
        kill_tree,
        "processes.signal/kill-ends-all-of-it",
        "kill ends the program, children that ignore signals, and those in other sessions.",
        START_FILES
    ),
    case!(
        leader_ends,
        "processes.start/the-rest-ends-with-the-leader",
        "When the leader ends, its children in the background are ended too.",
        START_FILES
    ),
    case!(
        time_limit,
        "processes.start/a-time-limit",
        "A started process with a time limit is ended at it, with its children; output is kept.",
        START_FILES
    ),
    case!(
        no_limit,
        "processes.start/no-time-limit-unless-asked-for",
        "A start call's own deadline and end do not end what it started.",
        START_FILES
    ),
    case!(
        close_ends,
        "session.close/ends-processes",
        "Closing the session ends every process, also what ignores SIGTERM.",
        OWN_START_HOST
    ),
    case!(
        close_ends_run,
        "session.close/ends-a-run",
        "A run that is on its way when the session is closed comes back soon.",
        OWN_START
    ),
];

const OUT: OutputStream = OutputStream::Stdout;

async fn signals(f: &Fixture) -> Verdict {
    for (signal, name) in [
        (SignalKind::Interrupt, "INT"),
        (SignalKind::Terminate, "TERM"),
        (SignalKind::Hangup, "HUP"),
        (SignalKind::User1, "USR1"),
        (SignalKind::User2, "USR2"),
    ] {
        let text = format!(
            "trap 'echo got {name}; exit 9' {name}; echo ready; while :; do sleep 0.02 || :; done"
        );
        let process = f.start_sh(&text).await?;
        f.prints(process, b"ready\n").await?;
        f.sandbox.signal(process, signal).await?;
        eq(name, f.ended(process).await?.outcome, Outcome::Exited(9))?;
        let right = format!("ready\ngot {name}\n");
        same_bytes(name, &f.all_output(process, OUT).await?, right.as_bytes())?;
    }
    Ok(())
}

async fn default_action(f: &Fixture) -> Verdict {
    for (signal, number) in [
        (SignalKind::Interrupt, 2),
        (SignalKind::Terminate, 15),
        (SignalKind::Hangup, 1),
        (SignalKind::Kill, 9),
    ] {
        let process = f.start_sh("echo ready; exec sleep 30").await?;
        f.prints(process, b"ready\n").await?;
        f.sandbox.signal(process, signal).await?;
        let outcome = f.ended(process).await?.outcome;
        eq(
            &format!("signal {number}"),
            outcome,
            Outcome::Signalled(number),
        )?;
    }
    Ok(())
}

async fn heart(f: &Fixture) -> Verdict {
    let text = format!("trap '' TERM INT HUP\n{HEARTBEAT}\n");
    f.put("heart.sh", text).await?;
    Ok(())
}

async fn kill_tree(f: &Fixture) -> Verdict {
    heart(f).await?;
    for text in [
        "trap '' TERM; sh heart.sh & sleep 60",
        "( sh heart.sh </dev/null >/dev/null 2>&1 & ); sleep 60",
        "if command -v setsid >/dev/null; then setsid sh heart.sh & else sh heart.sh & fi; sleep 60",
    ] {
        let process = f.start_sh(text).await?;
        f.beats("beat").await?;
        f.sandbox.signal(process, SignalKind::Kill).await?;
        f.ended(process).await?;
        f.still("beat").await?;
        f.remove("beat", false).await?;
    }
    Ok(())
}

async fn leader_ends(f: &Fixture) -> Verdict {
    heart(f).await?;
    let process = f
        .start_sh("sh heart.sh & while [ ! -s beat ]; do sleep 0.01; done; echo done; exit 4")
        .await?;
    eq(
        "the outcome",
        f.ended(process).await?.outcome,
        Outcome::Exited(4),
    )?;
    same_bytes("the output", &f.all_output(process, OUT).await?, b"done\n")?;
    f.still("beat").await
}

async fn time_limit(f: &Fixture) -> Verdict {
    heart(f).await?;
    let text = "echo before; sh heart.sh & sleep 60";
    let process = f.start(shell(text), limited(700)).await?;
    let ended = f.ended(process).await?;
    eq("the outcome", ended.outcome, Outcome::TimedOut)?;
    that(
        ended.duration >= Duration::from_millis(700),
        "it ended early",
    )?;
    same_bytes(
        "the output",
        &f.all_output(process, OUT).await?,
        b"before\n",
    )?;
    f.still("beat").await
}

async fn no_limit(f: &Fixture) -> Verdict {
    let call = f.context().with_timeout(Duration::from_millis(400)).child();
    let process = f
        .within(call.clone())
        .start(shell("read x; exit 6"), RunOptions::default())
        .await?;
    f.delay(600).await?;
    call.cancellation().cancel();
    eq(
        "running",
        f.sandbox.wait(process, Duration::from_millis(100)).await?,
        None,
    )?;
    f.sandbox.write_input(process, "", true).await?;
    eq(
        "the outcome",
        f.ended(process).await?.outcome,
        Outcome::Exited(6),
    )
}

async fn close_ends(f: &Fixture) -> Verdict {
    heart(f).await?;
    f.start_sh("trap '' TERM; sh heart.sh & sleep 60").await?;
    f.beats("beat").await?;
    let began = f.context().now();
    f.sandbox.close().await?;
    let took = f.context().now().saturating_sub(began);
    that(took < Duration::from_secs(5), "closing took more than 5 s")?;
    let size = |f: &Fixture| {
        let (outside, path) = (std::sync::Arc::clone(&f.outside), f.path("beat"));
        async move { Ok::<_, Failure>(outside.read(&path).await?.len()) }
    };
    let before = size(f).await?;
    f.delay(700).await?;
    eq("the heartbeat file", size(f).await?, before)
}

async fn close_ends_run(f: &Fixture) -> Verdict {
    let running = f.meanwhile(|f| async move {
        let began = f.context().now();
        let ran = f.sh("sleep 50").await;
        Ok((ran, f.context().now().saturating_sub(began)))
    });
    f.delay(500).await?;
    f.sandbox.close().await?;
    let (ran, took) = running.await?;
    that(
        took < Duration::from_secs(10),
        "the run went on after the session's end",
    )?;
    let succeeded = ran.is_ok_and(|execution| execution.outcome.success());
    that(!succeeded, "a run that was ended says that it succeeded")
}
