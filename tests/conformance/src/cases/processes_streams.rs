//! The three streams of a `run`: input, both outputs, what is kept of them.

use belljar_contract::{
    ErrorKind, RunOptions,
    processes::{Execution, Outcome},
};

use super::files_read::pattern;
use crate::{
    case::{Case, RUN, RUN_FILES, Verdict, case},
    check::{Failure, eq, expect_kind, same_bytes, that},
    fixture::Fixture,
    fixture_processes::{argv, fed, kept, limited, shell},
};

pub(super) const CASES: &[Case] = &[
    case!(
        input,
        "processes.run/input",
        "The input reaches the program byte for byte and then ends, at sizes around the pipe's.",
        RUN
    ),
    case!(
        no_input,
        "processes.run/no-input",
        "No input is an empty input: a program that reads it finds the end.",
        RUN
    ),
    case!(
        unread_input,
        "processes.run/input-that-is-not-read",
        "A program that does not read its input, or stops in the middle, is no error.",
        RUN
    ),
    case!(
        all_at_once,
        "processes.run/all-streams-at-once",
        "Large input and both outputs are moved at once, without a deadlock.",
        RUN
    ),
    case!(
        big_input,
        "processes.run/fifty-megabytes-of-input",
        "Fifty megabytes of input are counted by the program, and by one that reads nothing.",
        RUN
    ),
    case!(
        both_outputs,
        "processes.run/both-outputs",
        "The two outputs are kept apart.",
        RUN
    ),
    case!(
        bytes,
        "processes.run/output-is-bytes",
        "Bytes that are not UTF-8 come back as they are, on both outputs, with the code unchanged.",
        RUN
    ),
    case!(
        edges,
        "processes.run/a-character-across-a-block-edge",
        "Output of 65,535 bytes and then a character comes back whole, on both outputs.",
        RUN
    ),
    case!(
        whole,
        "processes.run/output-that-fits-is-whole",
        "At the limit and one below, nothing is dropped, and head and tail are the whole.",
        RUN
    ),
    case!(
        dropped,
        "processes.run/head-tail-and-dropped",
        "Over the limit the first half and the last half are kept, and the count dropped is exact.",
        RUN
    ),
    case!(
        zero_limit,
        "processes.run/an-output-limit-of-zero",
        "A limit of 0 keeps nothing and counts everything.",
        RUN
    ),
    case!(
        never_stopped,
        "processes.run/output-never-stops-a-program",
        "A program that prints 60 MB runs to its end, and all of it is counted.",
        RUN
    ),
    case!(
        apart_limits,
        "processes.run/each-output-has-its-own-limit",
        "What one output drops takes nothing from the other.",
        RUN
    ),
    case!(
        binary_through,
        "processes.run/a-megabyte-comes-back",
        "A megabyte through cat comes back equal.",
        RUN
    ),
    case!(
        input_limit,
        "processes.run/input-over-the-limit",
        "An input over the session's limit is too-large, and nothing runs.",
        RUN_FILES
    ),
    case!(
        short_outputs,
        "processes.run/short-outputs-are-never-lost",
        "A hundred short programs, four at a time, each have their output.",
        RUN
    ),
];

async fn input(f: &Fixture) -> Verdict {
    for size in [0, 1, 4096, 65_535, 65_536, 65_537, 131_072, 500_000] {
        let bytes = pattern(size);
        let execution = f.run(argv(&["cat"]), fed(bytes.clone())).await?;
        same_bytes("the output", &kept(&execution.stdout), &bytes)?;
        eq("the outcome", execution.outcome, Outcome::Exited(0))?;
    }
    Ok(())
}

async fn no_input(f: &Fixture) -> Verdict {
    let execution = f.run(shell("cat; echo end"), limited(20_000)).await?;
    same_bytes("the output", &kept(&execution.stdout), b"end\n")
}

async fn unread_input(f: &Fixture) -> Verdict {
    for text in [
        "exit 3",
        "exec <&-; sleep 0.2; exit 3",
        "head -c 10 >/dev/null; exit 3",
    ] {
        let execution = f.run(shell(text), fed(vec![b'x'; 1 << 20])).await?;
        eq(text, execution.outcome, Outcome::Exited(3))?;
    }
    Ok(())
}

async fn all_at_once(f: &Fixture) -> Verdict {
    let bytes = vec![b'x'; 400_000];
    let execution = f.run(shell("tee /dev/stderr"), fed(bytes.clone())).await?;
    if execution.outcome != Outcome::Exited(0) {
        return Err(Failure::unmet("no tee or no /dev/stderr in the sandbox"));
    }
    same_bytes("stdout", &kept(&execution.stdout), &bytes)?;
    same_bytes("stderr", &kept(&execution.stderr), &bytes)
}

async fn big_input(f: &Fixture) -> Verdict {
    const SIZE: usize = 50 << 20;
    if f.sandbox.describe().limits.stdin_bytes < SIZE as u64 {
        return Err(Failure::unmet("the session's input limit is below 50 MiB"));
    }
    let execution = f.run(shell("wc -c"), fed(vec![b'x'; SIZE])).await?;
    let count = String::from_utf8_lossy(&kept(&execution.stdout))
        .trim()
        .to_owned();
    eq("the count", count, SIZE.to_string())?;
    let execution = f.run(shell("exit 4"), fed(vec![b'x'; SIZE])).await?;
    eq("unread", execution.outcome, Outcome::Exited(4))
}

async fn both_outputs(f: &Fixture) -> Verdict {
    let execution = f
        .sh("echo out; echo err >&2; echo out2; echo err2 >&2")
        .await?;
    same_bytes("stdout", &kept(&execution.stdout), b"out\nout2\n")?;
    same_bytes("stderr", &kept(&execution.stderr), b"err\nerr2\n")?;
    that(!execution.duration.is_zero(), "it took no time")
}

async fn bytes(f: &Fixture) -> Verdict {
    let execution = f
        .sh(r"printf '\376\377\000\200ok\n'; printf '\376' >&2; exit 5")
        .await?;
    same_bytes("stdout", &kept(&execution.stdout), b"\xfe\xff\0\x80ok\n")?;
    same_bytes("stderr", &kept(&execution.stderr), b"\xfe")?;
    eq("the outcome", execution.outcome, Outcome::Exited(5))
}

async fn edges(f: &Fixture) -> Verdict {
    let text = format!("{}\u{e9}", "a".repeat(65_535));
    for command in ["cat", "cat >&2"] {
        let execution = f.run(shell(command), fed(text.clone())).await?;
        let output = match command {
            "cat" => &execution.stdout,
            _ => &execution.stderr,
        };
        same_bytes(command, &kept(output), text.as_bytes())?;
        eq("as text", output.to_text(), text.clone())?;
    }
    Ok(())
}

async fn echoed(f: &Fixture, bytes: &[u8], limit: u64) -> Result<Execution, Failure> {
    let options = RunOptions {
        output_limit: Some(limit),
        ..fed(bytes)
    };
    Ok(f.run(argv(&["cat"]), options).await?)
}

async fn whole(f: &Fixture) -> Verdict {
    for (size, limit) in [
        (10, 10),
        (9, 10),
        (0, 10),
        (1, 1),
        (100_001, 100_001),
        (11, 100),
    ] {
        let bytes = pattern(size);
        let execution = echoed(f, &bytes, limit).await?;
        eq("dropped", execution.stdout.dropped, 0)?;
        same_bytes("the output", &kept(&execution.stdout), &bytes)?;
    }
    Ok(())
}

async fn dropped(f: &Fixture) -> Verdict {
    for (size, limit) in [
        (11, 10),
        (1000, 10),
        (200_000, 10),
        (100_000, 4096),
        (300_000, 131_072),
    ] {
        let bytes = pattern(size);
        let output = echoed(f, &bytes, limit).await?.stdout;
        let half = usize::try_from(limit / 2).unwrap_or(usize::MAX);
        let what = format!("{size} bytes, limit {limit}");
        same_bytes(&what, &output.head, &bytes[..half])?;
        same_bytes(&what, &output.tail, &bytes[size - half..])?;
        eq(&what, output.dropped, (size - 2 * half) as u64)?;
    }
    // Which half has the odd byte is left open; that none is lost or counted twice is not.
    let bytes = pattern(1000);
    let output = echoed(f, &bytes, 7).await?.stdout;
    let (head, tail) = (output.head.len(), output.tail.len());
    that(
        head + tail <= 7 && head >= 3 && tail >= 3,
        "the halves are not halves",
    )?;
    same_bytes("the head", &output.head, &bytes[..head])?;
    same_bytes("the tail", &output.tail, &bytes[1000 - tail..])?;
    eq("dropped", output.dropped, (1000 - head - tail) as u64)
}

async fn zero_limit(f: &Fixture) -> Verdict {
    let output = echoed(f, b"12345", 0).await?.stdout;
    eq("kept", kept(&output), Vec::<u8>::new())?;
    eq("dropped", output.dropped, 5)?;
    let nothing = echoed(f, b"", 0).await?.stdout;
    eq("of nothing", nothing.dropped, 0)
}

async fn never_stopped(f: &Fixture) -> Verdict {
    let text = "head -c 60000000 /dev/zero; echo end; echo done >&2";
    let execution = f.run(shell(text), limited(50_000)).await?;
    eq("the outcome", execution.outcome, Outcome::Exited(0))?;
    let output = &execution.stdout;
    let all = (output.head.len() + output.tail.len()) as u64 + output.dropped;
    eq("printed", all, 60_000_004)?;
    that(output.tail.ends_with(b"end\n"), "the end is not there")?;
    same_bytes("stderr", &kept(&execution.stderr), b"done\n")
}

async fn apart_limits(f: &Fixture) -> Verdict {
    let options = RunOptions {
        output_limit: Some(100),
        ..RunOptions::default()
    };
    let text = "head -c 5000 /dev/zero; echo kept >&2";
    let execution = f.run(shell(text), options).await?;
    eq("stdout", execution.stdout.dropped, 4900)?;
    eq("stderr", execution.stderr.dropped, 0)?;
    same_bytes("stderr", &kept(&execution.stderr), b"kept\n")
}

async fn binary_through(f: &Fixture) -> Verdict {
    let most = f.sandbox.describe().limits.output_maximum;
    if most < 1 << 20 {
        return Err(Failure::unmet("the session's output limit is below 1 MiB"));
    }
    let bytes = pattern(1 << 20);
    let execution = echoed(f, &bytes, 1 << 20).await?;
    same_bytes("the output", &kept(&execution.stdout), &bytes)
}

async fn input_limit(f: &Fixture) -> Verdict {
    let most = usize::try_from(f.sandbox.describe().limits.stdin_bytes).unwrap_or(usize::MAX);
    if most > 256 << 20 {
        return Err(Failure::unmet(
            "the session's limit is over 256 MiB, too much to try",
        ));
    }
    let ran = f.run(shell("touch started"), fed(vec![0; most + 1])).await;
    expect_kind("one more", ran, ErrorKind::TooLarge)?;
    f.absent("started").await
}

async fn short_outputs(f: &Fixture) -> Verdict {
    f.at_once(4, |thread, f| async move {
        for index in 0..25 {
            let text = format!("echo {thread}-{index}");
            let right = format!("{thread}-{index}\n");
            same_bytes(&text, &f.printed(&text).await?, right.as_bytes())?;
        }
        Ok(())
    })
    .await
    .map(drop)
}
