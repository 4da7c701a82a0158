//! What goes into a started process and comes out of it.

use super::processes_started::{LONG, OUT, SHORT};
use std::time::Duration;

use belljar_contract::{ErrorKind, RunOptions, processes::Outcome};

use super::files_read::pattern;
use crate::{
    case::{Case, START, Verdict, case},
    check::{eq, expect_kind, same_bytes, that},
    fixture::Fixture,
    fixture_processes::{argv, fed},
};

pub(super) const CASES: &[Case] = &[
    case!(
        cursor,
        "processes.read-output/from-a-cursor",
        "A cursor reads on from where it was, again and again, in pieces of the limit.",
        START
    ),
    case!(
        cursor_past,
        "processes.read-output/past-the-end",
        "A cursor past what was printed is invalid-argument, running and ended.",
        START
    ),
    case!(
        dropped,
        "processes.read-output/what-is-no-longer-held",
        "Only the last bytes are held; a read from before them says how many are gone.",
        START
    ),
    case!(
        waits,
        "processes.read-output/waits",
        "A read waits while there is nothing, answers when there is, and gives up at its time.",
        START
    ),
    case!(
        read_limits,
        "processes.read-output/limits",
        "A limit over the session's is too-large; a limit of 0 reads nothing and is no end.",
        START
    ),
    case!(
        ended_flag,
        "processes.read-output/ended",
        "ended is set when all was read and nothing more will come, and not before.",
        START
    ),
    case!(
        stdin_first,
        "processes.write-input/after-the-first-input",
        "The first input comes first, then what is written, and then the end that close makes.",
        START
    ),
    case!(
        stdin_open,
        "processes.write-input/input-stays-open",
        "Input stays open until it is closed: a program that reads waits.",
        START
    ),
    case!(
        stdin_closed,
        "processes.write-input/closed",
        "After its end, and after the program's, input is closed.",
        START
    ),
    case!(
        stdin_busy,
        "processes.write-input/whole-or-not-at-all",
        "A program that does not read makes writes busy, and each accepted write arrives whole.",
        START
    ),
    case!(
        large,
        "processes.start/a-megabyte-both-ways",
        "A megabyte through a started cat comes back equal.",
        START
    ),
];

async fn cursor(f: &Fixture) -> Verdict {
    let process = f.start_sh("printf 0123456789").await?;
    f.ended(process).await?;
    let (mut read, mut at) = (Vec::new(), 0);
    for _ in 0..4 {
        let chunk = f.sandbox.read_output(process, OUT, at, 3, LONG).await?;
        read.extend_from_slice(&chunk.bytes);
        at = chunk.cursor;
        eq("the cursor", at, read.len() as u64)?;
        eq("ended", chunk.ended, at == 10)?;
    }
    same_bytes("all", &read, b"0123456789")?;
    let again = f.sandbox.read_output(process, OUT, 4, 100, LONG).await?;
    same_bytes("from 4 on", &again.bytes, b"456789")?;
    let end = f.sandbox.read_output(process, OUT, 10, 100, LONG).await?;
    eq(
        "at the end",
        (end.bytes.len(), end.cursor, end.ended),
        (0, 10, true),
    )
}

async fn cursor_past(f: &Fixture) -> Verdict {
    let process = f.start_sh("printf abc; read x").await?;
    f.prints(process, b"abc").await?;
    for at in [4, u64::MAX] {
        let past = f.sandbox.read_output(process, OUT, at, 1, SHORT).await;
        expect_kind("running", past, ErrorKind::InvalidArgument)?;
    }
    f.sandbox.write_input(process, "", true).await?;
    f.ended(process).await?;
    let past = f.sandbox.read_output(process, OUT, 4, 1, SHORT).await;
    expect_kind("ended", past, ErrorKind::InvalidArgument)
}

async fn dropped(f: &Fixture) -> Verdict {
    let bytes = pattern(5000);
    let options = RunOptions {
        output_limit: Some(100),
        ..fed(bytes.clone())
    };
    let process = f.start(argv(&["cat"]), options).await?;
    f.sandbox.write_input(process, "", true).await?;
    f.ended(process).await?;
    let chunk = f.sandbox.read_output(process, OUT, 0, 5000, LONG).await?;
    same_bytes("what is held", &chunk.bytes, &bytes[4900..])?;
    let right = (4900, 5000, true);
    eq(
        "the rest",
        (chunk.dropped, chunk.cursor, chunk.ended),
        right,
    )?;
    let chunk = f.sandbox.read_output(process, OUT, 4890, 20, LONG).await?;
    eq("dropped from 4890 on", chunk.dropped, 10)?;
    same_bytes("from 4890 on", &chunk.bytes, &bytes[4900..4920])?;
    eq("the cursor", chunk.cursor, 4920)?;
    let chunk = f.sandbox.read_output(process, OUT, 4950, 10, LONG).await?;
    eq("dropped from 4950 on", chunk.dropped, 0)?;
    same_bytes("from 4950 on", &chunk.bytes, &bytes[4950..4960])
}

async fn waits(f: &Fixture) -> Verdict {
    let process = f.start_sh("read x; echo \"got $x\"; read y").await?;
    let clock = f.context();
    let began = clock.now();
    let nothing = f.sandbox.read_output(process, OUT, 0, 100, SHORT).await?;
    let took = clock.now().saturating_sub(began);
    eq(
        "nothing yet",
        (nothing.bytes.len(), nothing.ended),
        (0, false),
    )?;
    that(took >= SHORT, "it did not wait")?;
    that(took < Duration::from_secs(2), "it waited for too long")?;
    let reading = f.meanwhile(move |f| async move {
        Ok(f.sandbox.read_output(process, OUT, 0, 100, LONG).await?)
    });
    f.delay(100).await?;
    f.sandbox.write_input(process, "it\n", false).await?;
    let began = clock.now();
    same_bytes("what came", &reading.await?.bytes, b"got it\n")?;
    let took = clock.now().saturating_sub(began);
    that(
        took < Duration::from_secs(5),
        "a waiting read was not woken",
    )?;
    f.sandbox.write_input(process, "", true).await?;
    f.ended(process).await.map(drop)
}

async fn read_limits(f: &Fixture) -> Verdict {
    let process = f.start_sh("printf abc").await?;
    f.ended(process).await?;
    let most = f.sandbox.describe().limits.output_maximum;
    let over = f
        .sandbox
        .read_output(process, OUT, 0, most + 1, SHORT)
        .await;
    expect_kind("over the limit", over, ErrorKind::TooLarge)?;
    let all = f.sandbox.read_output(process, OUT, 0, most, SHORT).await?;
    same_bytes("the limit itself", &all.bytes, b"abc")?;
    let none = f.sandbox.read_output(process, OUT, 0, 0, SHORT).await?;
    eq(
        "limit 0",
        (none.bytes.len(), none.cursor, none.ended),
        (0, 0, false),
    )
}

async fn ended_flag(f: &Fixture) -> Verdict {
    let process = f.start_sh("printf abc; read x; printf def").await?;
    f.prints(process, b"abc").await?;
    let early = f
        .sandbox
        .read_output(process, OUT, 3, 9, Duration::ZERO)
        .await?;
    eq("while it runs", early.ended, false)?;
    f.sandbox.write_input(process, "", true).await?;
    f.ended(process).await?;
    let part = f.sandbox.read_output(process, OUT, 0, 5, LONG).await?;
    eq("before the end", part.ended, false)?;
    let rest = f.sandbox.read_output(process, OUT, 5, 5, LONG).await?;
    eq(
        "at the end",
        (rest.bytes.as_slice(), rest.ended),
        (&b"f"[..], true),
    )
}

async fn stdin_first(f: &Fixture) -> Verdict {
    let process = f.start(argv(&["cat"]), fed("first ")).await?;
    f.sandbox.write_input(process, "second ", false).await?;
    f.sandbox.write_input(process, "", false).await?;
    f.sandbox.write_input(process, b"\xff\0third", true).await?;
    let right = b"first second \xff\0third";
    same_bytes("the output", &f.all_output(process, OUT).await?, right)?;
    eq(
        "the outcome",
        f.ended(process).await?.outcome,
        Outcome::Exited(0),
    )
}

async fn stdin_open(f: &Fixture) -> Verdict {
    let process = f.start_sh("cat; echo end").await?;
    eq("it waits", f.sandbox.wait(process, SHORT).await?, None)?;
    f.sandbox.write_input(process, "", true).await?;
    same_bytes("the output", &f.all_output(process, OUT).await?, b"end\n")
}

async fn stdin_closed(f: &Fixture) -> Verdict {
    let process = f.start_sh("cat >/dev/null; sleep 20").await?;
    f.sandbox.write_input(process, "x", true).await?;
    let after = f.sandbox.write_input(process, "y", false).await;
    expect_kind("after its end", after, ErrorKind::Closed)?;
    use belljar_contract::processes::SignalKind;
    f.sandbox.signal(process, SignalKind::Kill).await?;
    f.ended(process).await?;
    let process = f.start_sh("true").await?;
    f.ended(process).await?;
    let after = f.sandbox.write_input(process, "y", false).await;
    expect_kind("after the program's", after, ErrorKind::Closed)
}

async fn stdin_busy(f: &Fixture) -> Verdict {
    let process = f
        .start_sh("while [ ! -e go ]; do sleep 0.02; done; wc -c")
        .await?;
    let piece = vec![b'x'; 1 << 20];
    let (mut accepted, mut refused) = (0u64, false);
    for _ in 0..200 {
        match f.sandbox.write_input(process, piece.clone(), false).await {
            Ok(()) => accepted += piece.len() as u64,
            Err(error) if error.kind == ErrorKind::Busy => {
                refused = true;
                break;
            }
            Err(error) => return Err(error.into()),
        }
    }
    that(
        refused,
        "200 MiB were taken for a program that reads nothing",
    )?;
    f.printed(": > go").await?;
    // It reads now: closing is possible as soon as it has.
    let mut closed = false;
    for _ in 0..200 {
        match f.sandbox.write_input(process, "", true).await {
            Ok(()) => {
                closed = true;
                break;
            }
            Err(error) if error.kind == ErrorKind::Busy => f.delay(25).await?,
            Err(error) => return Err(error.into()),
        }
    }
    that(closed, "the input stayed busy though the program reads")?;
    let counted = f.all_output(process, OUT).await?;
    let counted = String::from_utf8_lossy(&counted).trim().to_owned();
    eq("what arrived", counted, accepted.to_string())
}

async fn large(f: &Fixture) -> Verdict {
    let bytes = pattern(1 << 20);
    let options = RunOptions {
        output_limit: Some(f.sandbox.describe().limits.output_maximum),
        ..fed(bytes.clone())
    };
    let process = f.start(argv(&["cat"]), options).await?;
    // Its input stays open: what was printed is read while the program still runs.
    f.prints(process, &bytes).await?;
    f.sandbox.write_input(process, "", true).await?;
    eq(
        "the outcome",
        f.ended(process).await?.outcome,
        Outcome::Exited(0),
    )
}
