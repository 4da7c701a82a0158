//! How processes end: time limits, the whole tree, what is left in the background.

use std::time::Duration;

use belljar_contract::{ErrorKind, RunOptions, processes::Outcome};

use crate::{
    case::{Case, RUN, RUN_FILES, Verdict, case},
    check::{Failure, eq, expect_kind, same_bytes, that},
    fixture::Fixture,
    fixture_processes::{HEARTBEAT, kept, limited, shell},
};

pub(super) const CASES: &[Case] = &[
    case!(
        limit_holds,
        "processes.run/the-time-limit-holds",
        "The result comes within 100 ms of the limit, for a program that ends, and for one that will not.",
        RUN
    ),
    case!(
        ticks,
        "processes.run/a-time-limit-keeps-what-was-printed",
        "What was printed before the limit is in the result.",
        RUN
    ),
    case!(
        tree,
        "processes.run/a-time-limit-ends-children",
        "Children in the background and the foreground die with the program.",
        RUN_FILES
    ),
    case!(
        stubborn,
        "processes.run/a-time-limit-ends-what-ignores-term",
        "A program that ignores SIGTERM, and its children that do, are ended.",
        RUN_FILES
    ),
    case!(
        setsid,
        "processes.run/a-time-limit-ends-other-sessions",
        "What left the process group by a session of its own is ended.",
        RUN_FILES
    ),
    case!(
        double_fork,
        "processes.run/a-time-limit-ends-orphans",
        "What lost its parent by a double fork is ended.",
        RUN_FILES
    ),
    case!(
        scrubbed,
        "processes.run/a-time-limit-ends-what-hides",
        "A child in a session of its own and with an empty environment is ended.",
        RUN_FILES
    ),
    case!(
        stopped,
        "processes.run/a-time-limit-ends-what-is-stopped",
        "A program that stopped itself is ended.",
        RUN
    ),
    case!(
        cleans_up,
        "processes.run/term-comes-before-kill",
        "At a limit a program gets SIGTERM, and what it prints then is kept.",
        RUN
    ),
    case!(
        background_holds_pipe,
        "processes.run/ends-when-its-leader-does",
        "A child in the background that holds the pipes does not delay the call, and is ended.",
        RUN_FILES
    ),
    case!(
        background_drain,
        "processes.run/what-the-background-printed-is-kept",
        "What a child in the background printed until the leader's end is in the result.",
        RUN
    ),
    case!(
        background_apart,
        "processes.run/leaves-nothing-behind",
        "A child that let go of the pipes and left the session is ended with the run too.",
        RUN_FILES
    ),
    case!(
        survivors_by_name,
        "processes.run/leaves-no-zombies",
        "After a hundred children in the background, no process and no zombie of theirs is left.",
        RUN
    ),
    case!(
        timeouts_refused,
        "processes.run/bad-time-limits",
        "A limit of 0 and one over the session's maximum are invalid-argument.",
        RUN_FILES
    ),
    case!(
        out_of_memory,
        "processes.run/out-of-memory-is-told",
        "Where the backend can tell, running out of memory is an outcome of its own.",
        OUT_OF_MEMORY
    ),
];

const OUT_OF_MEMORY: &[crate::Need] = &[
    crate::Need::Can(belljar_contract::session::Capability::Run),
    crate::Need::Can(belljar_contract::session::Capability::OutOfMemory),
    crate::Need::Command("sh"),
];

/// How much later than promised a result may come: a busy machine's scheduling, which is no
/// fault of a sandbox. A limit that is not enforced misses by seconds.
const SLACK: Duration = Duration::from_millis(900);

async fn limit_holds(f: &Fixture) -> Verdict {
    for text in [
        "sleep 30",
        "trap '' TERM; sleep 30; sleep 30",
        "while :; do :; done",
    ] {
        let limit = Duration::from_millis(500);
        let began = f.context().now();
        let execution = f.run(shell(text), limited(500)).await?;
        let took = f.context().now().saturating_sub(began);
        eq(text, execution.outcome, Outcome::TimedOut)?;
        that(
            took >= limit,
            &format!("{text}: ended early, after {took:?}"),
        )?;
        that(
            took < limit + Duration::from_millis(100) + SLACK,
            &format!("{text}: took {took:?}"),
        )?;
        that(
            execution.duration >= limit,
            "the duration is below the limit",
        )?;
    }
    Ok(())
}

async fn ticks(f: &Fixture) -> Verdict {
    let text =
        "i=0; while :; do echo tick $i; echo tock $i >&2; i=$((i+1)); sleep 0.1 || sleep 1; done";
    let execution = f.run(shell(text), limited(1000)).await?;
    eq("the outcome", execution.outcome, Outcome::TimedOut)?;
    for (output, word) in [(&execution.stdout, "tick"), (&execution.stderr, "tock")] {
        let text = String::from_utf8_lossy(&kept(output)).into_owned();
        let lines: Vec<&str> = text.lines().collect();
        that(!lines.is_empty(), &format!("no {word} at all"))?;
        for (index, line) in lines.iter().enumerate() {
            eq("a line", *line, format!("{word} {index}"))?;
        }
    }
    Ok(())
}

/// Runs shell text until its limit; then its heartbeat must have stopped.
async fn ends(f: &Fixture, text: &str) -> Verdict {
    let execution = f.run(shell(text), limited(1000)).await?;
    eq(text, execution.outcome, Outcome::TimedOut)?;
    f.still("beat").await
}

/// The heartbeat as a program of its own, in a file.
async fn heart(f: &Fixture, first: &str) -> Verdict {
    f.put("heart.sh", format!("{first}\n{HEARTBEAT}\n")).await?;
    Ok(())
}

async fn tree(f: &Fixture) -> Verdict {
    ends(f, &format!("({HEARTBEAT}) & sleep 31 & sleep 32")).await?;
    f.remove("beat", false).await?;
    ends(f, &format!("({HEARTBEAT}); true")).await
}

async fn stubborn(f: &Fixture) -> Verdict {
    heart(f, "trap '' TERM INT HUP").await?;
    ends(
        f,
        "trap '' TERM INT HUP; sh heart.sh & sh heart.sh; sleep 30",
    )
    .await
}

async fn setsid(f: &Fixture) -> Verdict {
    needs_command(f, "setsid").await?;
    no_gap(f, "leaves its process group")?;
    heart(f, "trap '' TERM HUP").await?;
    ends(f, "setsid sh heart.sh & sleep 30").await
}

async fn double_fork(f: &Fixture) -> Verdict {
    heart(f, "trap '' TERM HUP").await?;
    ends(f, "( sh heart.sh </dev/null >/dev/null 2>&1 & ) ; sleep 30").await
}

async fn scrubbed(f: &Fixture) -> Verdict {
    needs_command(f, "setsid").await?;
    no_gap(f, "clears its environment")?;
    heart(f, "trap '' TERM HUP; PATH=/usr/bin:/bin").await?;
    ends(
        f,
        "( env -i setsid sh heart.sh </dev/null >/dev/null 2>&1 & ) ; sleep 30",
    )
    .await
}

async fn stopped(f: &Fixture) -> Verdict {
    let began = f.context().now();
    let execution = f
        .run(shell("echo before; kill -STOP $$"), limited(500))
        .await?;
    let took = f.context().now().saturating_sub(began);
    eq("the outcome", execution.outcome, Outcome::TimedOut)?;
    same_bytes("the output", &kept(&execution.stdout), b"before\n")?;
    that(took < Duration::from_secs(3), "it took more than 3 s")
}

async fn cleans_up(f: &Fixture) -> Verdict {
    let text = "trap 'echo cleaned; exit 7' TERM; echo ready; while :; do sleep 0.01 || :; done";
    let execution = f.run(shell(text), limited(700)).await?;
    eq("the outcome", execution.outcome, Outcome::TimedOut)?;
    same_bytes("the output", &kept(&execution.stdout), b"ready\ncleaned\n")
}

async fn background_holds_pipe(f: &Fixture) -> Verdict {
    let began = f.context().now();
    let text =
        format!("({HEARTBEAT}) & while [ ! -s beat ]; do sleep 0.01; done; echo done; exit 3");
    let execution = f.run(shell(&text), limited(30_000)).await?;
    let took = f.context().now().saturating_sub(began);
    eq("the outcome", execution.outcome, Outcome::Exited(3))?;
    same_bytes("the output", &kept(&execution.stdout), b"done\n")?;
    that(
        took < Duration::from_secs(5),
        "the background delayed the call",
    )?;
    f.still("beat").await
}

async fn background_drain(f: &Fixture) -> Verdict {
    let text = "(echo early; echo early >&2; sleep 30) & sleep 0.5; echo late";
    let execution = f.run(shell(text), limited(20_000)).await?;
    eq("the outcome", execution.outcome, Outcome::Exited(0))?;
    same_bytes("stdout", &kept(&execution.stdout), b"early\nlate\n")?;
    same_bytes("stderr", &kept(&execution.stderr), b"early\n")
}

async fn background_apart(f: &Fixture) -> Verdict {
    needs_command(f, "setsid").await?;
    no_gap(f, "leaves its process group")?;
    heart(f, "trap '' TERM HUP").await?;
    let text = "( setsid sh heart.sh </dev/null >/dev/null 2>&1 & ); \
                while [ ! -s beat ]; do sleep 0.01; done; echo done";
    same_bytes("the output", &f.printed(text).await?, b"done\n")?;
    f.still("beat").await
}

async fn survivors_by_name(f: &Fixture) -> Verdict {
    // Counted from inside, and told apart from what others have there: by the process group of the shell that
    // starts them, which a zombie keeps, and by a command line that has it.
    let text = "read -r l </proc/self/stat && set -- ${l##*) } && i=0 && \
                while [ $i -lt 100 ]; do sleep 987654.$3 & i=$((i+1)); done; echo $3; exit 0";
    let execution = f.run(shell(text), limited(30_000)).await?;
    if execution.outcome != Outcome::Exited(0) {
        return Err(Failure::wrong("the children could not be started"));
    }
    let group = String::from_utf8_lossy(&kept(&execution.stdout))
        .trim()
        .to_owned();
    if group.is_empty() {
        return Err(Failure::unmet(
            "the sandbox has no /proc to count processes in",
        ));
    }
    let count = format!(
        "n=0; z=0; for s in /proc/[0-9]*/stat; do read -r l 2>/dev/null <$s || continue; \
         set -- ${{l##*) }}; [ \"$1 $3\" = 'Z {group}' ] && z=$((z+1)); done; \
         for c in /proc/[0-9]*/cmdline; do \
         tr '\\0' ' ' 2>/dev/null <$c | grep -q '^sleep 987654[.]{group} ' && n=$((n+1)); done; \
         echo $n $z"
    );
    // Whoever reaps may need a moment.
    let mut last = Vec::new();
    for _ in 0..20 {
        last = kept(&f.sh(&count).await?.stdout);
        if last == b"0 0\n" {
            return Ok(());
        }
        f.delay(100).await?;
    }
    let last = String::from_utf8_lossy(&last).trim().to_owned();
    Err(Failure::wrong(format!(
        "processes and zombies left: {last}"
    )))
}

async fn timeouts_refused(f: &Fixture) -> Verdict {
    let maximum = f.sandbox.describe().limits.timeout_maximum;
    let over = u64::try_from(maximum.as_millis()).unwrap_or(u64::MAX - 1) + 1;
    for timeout in [0, over, u64::MAX] {
        let ran = f.run(shell("touch started"), limited(timeout)).await;
        expect_kind(&format!("{timeout} ms"), ran, ErrorKind::InvalidArgument)?;
    }
    f.absent("started").await?;
    let most = RunOptions {
        timeout: Some(over - 1),
        ..RunOptions::default()
    };
    let execution = f.run(shell("true"), most).await?;
    eq("the maximum itself", execution.outcome, Outcome::Exited(0))
}

async fn out_of_memory(f: &Fixture) -> Verdict {
    // Doubles a text for ever; what the backend's memory limit is does not matter.
    let text = "x=0123456789abcdef; while :; do x=$x$x; done";
    let execution = f.run(shell(text), limited(40_000)).await?;
    eq("the outcome", execution.outcome, Outcome::OutOfMemory)?;
    let killed = f.sh("kill -KILL $$").await?;
    eq("killed by itself", killed.outcome, Outcome::Signalled(9))
}

async fn needs_command(f: &Fixture, name: &'static str) -> Verdict {
    f.meets(&[crate::Need::Command(name)]).await
}

/// A gap that the sandbox tells of is not hidden from anybody; what it tells is not tried.
fn no_gap(f: &Fixture, about: &str) -> Verdict {
    let description = f.sandbox.describe();
    match description
        .hardening_gaps
        .iter()
        .find(|gap| gap.contains(about))
    {
        Some(gap) => Err(Failure::unmet(format!(
            "the sandbox declares this gap: {gap}"
        ))),
        None => Ok(()),
    }
}
