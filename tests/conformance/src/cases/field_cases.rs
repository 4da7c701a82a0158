//! Inputs that people reported to systems that do this job, each as it was reported.
//!
//! What a topic's own cases have already, in the same words, is not said again here.

use belljar_contract::{
    ErrorKind, Expected, QueryOptions, RunOptions,
    files::{EntryKind, Syntax, WriteOptions},
    processes::Outcome,
};

use crate::{
    case::{CHMOD, Case, FILES, LINKS, RUN, RUN_FILES, Verdict, case},
    check::{Failure, eq, expect_kind, same_bytes, that},
    fixture::Fixture,
    fixture_files::{at_most, below},
    fixture_processes::{fed, kept, limited, shell},
};

pub(super) const CASES: &[Case] = &[
    case!(
        range_by_lines,
        "field/a-character-across-a-block-edge",
        "A reader that goes on where a range ended puts a cut character together again.",
        FILES
    ),
    case!(
        mark,
        "field/a-mark-and-no-final-newline",
        "The first line behind a byte order mark is replaced; nothing else changes.",
        FILES
    ),
    case!(
        near,
        "field/a-near-match-is-none",
        "Four spaces do not match three, and the file is unchanged.",
        FILES
    ),
    case!(
        executable_bit,
        "field/an-edit-keeps-the-executable-bit",
        "run.sh stays executable after an edit, 0600 stays 0600, and 0444 is refused.",
        CHMOD
    ),
    case!(
        through_link,
        "field/an-edit-through-a-link",
        "An edit through link.txt changes real.txt, and link.txt stays a link.",
        LINKS
    ),
    case!(
        fifo_by_process,
        "field/a-process-makes-a-fifo",
        "A FIFO that a process made blocks nothing: typed errors at once, and a usable session.",
        RUN_FILES
    ),
    case!(
        bad_expression,
        "field/a-bad-expression-says-why",
        "A pattern that does not parse is an error with a reason; as a literal it is found.",
        FILES
    ),
    case!(
        count_at_limit,
        "field/a-count-at-the-limit",
        "Of two matching lines, limit 1 says that there is more; 2 and 3 say that was all.",
        FILES
    ),
    case!(
        link_as_root,
        "field/a-search-that-begins-at-a-link",
        "A search that begins at a link finds; one that meets it counts it; list and glob agree.",
        LINKS
    ),
    case!(
        asked_by_name,
        "field/asked-for-by-name",
        "Ignored and hidden files are found when asked for by exact path.",
        FILES
    ),
    case!(
        not_utf8_output,
        "field/output-that-is-not-utf-8",
        "One byte FE fails nothing; nor does text that is split between two reads.",
        RUN
    ),
    case!(
        four_ends,
        "field/ends-that-look-alike",
        "Killed by signal 9, past the limit, exit 137 and exit 124 are four answers.",
        RUN
    ),
    case!(
        short_command,
        "field/a-short-commands-output",
        "echo ok, 500,000 bytes, and a megabyte into wc: every byte every time.",
        RUN
    ),
    case!(
        children,
        "field/children-of-a-shell-that-exits",
        "A shell that starts two sleeps and exits leaves the session usable, fifty times.",
        RUN
    ),
    case!(
        goes_on,
        "field/a-limit-that-kills-only-the-client",
        "A program that appends ten times a second for ever stops at its limit.",
        RUN_FILES
    ),
    case!(
        size_steps,
        "field/size-steps",
        "98,304, 131,072, 786,432 and 3,145,728 bytes are written and read back equal.",
        FILES
    ),
];

async fn range_by_lines(f: &Fixture) -> Verdict {
    for edge in [1024usize, 4096, 8192, 65_536] {
        let text = format!("{}\u{754c}\nend\n", "a".repeat(edge - 1));
        f.put("a", text.clone()).await?;
        let (mut bytes, mut offset) = (Vec::new(), 0);
        loop {
            let chunk = f.read_range("a", offset, edge as u64).await?;
            if chunk.bytes.is_empty() {
                break;
            }
            offset += chunk.bytes.len() as u64;
            bytes.extend(chunk.bytes);
        }
        same_bytes("the ranges together", &bytes, text.as_bytes())?;
    }
    Ok(())
}

async fn mark(f: &Fixture) -> Verdict {
    f.put("a", b"\xef\xbb\xbfconst v = 1;").await?;
    let size = f.stat("a").await?.size;
    let replaced = f.replace("a", "const v = 1;", "const v = 2;").await?;
    eq("the count", replaced.count, 1)?;
    f.holds("a", b"\xef\xbb\xbfconst v = 2;").await?;
    eq("the size", f.stat("a").await?.size, size)
}

async fn near(f: &Fixture) -> Verdict {
    let text = "alpha\n   beta\ngamma\n";
    let version = f.put("a", text).await?;
    let replaced = f.replace("a", "    beta", "    delta").await;
    expect_kind("replace", replaced, ErrorKind::NoMatch)?;
    f.holds("a", text).await?;
    eq("the version", f.read("a").await?.version, version)
}

async fn executable_bit(f: &Fixture) -> Verdict {
    for mode in [0o755, 0o600] {
        f.put("run.sh", "x").await?;
        f.chmod("run.sh", mode).await?;
        f.replace("run.sh", "x", "y").await?;
        eq("the mode", f.stat("run.sh").await?.mode, mode)?;
    }
    f.chmod("run.sh", 0o444).await?;
    let replaced = f.replace("run.sh", "y", "z").await;
    expect_kind("0444", replaced, ErrorKind::AccessDenied)?;
    f.holds("run.sh", "y").await?;
    eq("the mode", f.stat("run.sh").await?.mode, 0o444)
}

async fn through_link(f: &Fixture) -> Verdict {
    f.put("real.txt", "one").await?;
    f.symlink("real.txt", "link.txt").await?;
    f.replace("link.txt", "one", "two").await?;
    f.holds("real.txt", "two").await?;
    eq("the link", f.kind("link.txt").await?, Some(EntryKind::Link))?;
    let text = f.outside.read_link(&f.path("link.txt")).await?;
    eq("its text", text.as_str(), "real.txt")
}

async fn fifo_by_process(f: &Fixture) -> Verdict {
    f.meets(&[crate::Need::Command("mkfifo")]).await?;
    f.printed("mkdir d; mkfifo d/pipe; echo word > d/a").await?;
    let kind = ErrorKind::NotAFile;
    expect_kind("read", f.read("d/pipe").await, kind)?;
    let written = f.write("d/pipe", "x", Expected::Any).await;
    expect_kind("write", written, kind)?;
    expect_kind("replace", f.replace("d/pipe", "x", "y").await, kind)?;
    eq("stat", f.stat("d/pipe").await?.kind, EntryKind::Other)?;
    eq("search", f.lines("word", below("d")).await?, ["d/a:1"])?;
    same_bytes("the session", &f.printed("cat d/a").await?, b"word\n")
}

async fn bad_expression(f: &Fixture) -> Verdict {
    f.put("a.py", "x = make_thing(1)\n").await?;
    let query = |syntax| QueryOptions {
        pattern: "make_thing(".to_owned(),
        syntax,
        ..QueryOptions::default()
    };
    match f.search(query(Syntax::Regex), below(".")).await {
        Err(error) => {
            eq("the kind", error.kind, ErrorKind::InvalidArgument)?;
            that(error.message.len() > 10, "the error gives no reason")?;
        }
        Ok(_) => return Err(Failure::wrong("a bad expression was searched for")),
    }
    let found = f.lines_of(query(Syntax::Literal), below(".")).await?;
    eq("as a literal", found, ["a.py:1"])
}

async fn count_at_limit(f: &Fixture) -> Verdict {
    f.put("a", "word one\nword two\n").await?;
    for (limit, more) in [(1, true), (2, false), (3, false)] {
        let query = QueryOptions {
            pattern: "word".to_owned(),
            ..QueryOptions::default()
        };
        let found = f.search(query, at_most(limit)).await?;
        eq(&format!("limit {limit}"), found.more, more)?;
    }
    Ok(())
}

async fn link_as_root(f: &Fixture) -> Verdict {
    f.put("real/a.txt", "word\n").await?;
    f.symlink("real", "link").await?;
    eq(
        "from the link",
        f.lines("word", below("link")).await?.len(),
        1,
    )?;
    let query = QueryOptions {
        pattern: "word".to_owned(),
        ..QueryOptions::default()
    };
    let from_root = f.search(query, below(".")).await?;
    let got = (from_root.matches.len(), from_root.skipped.links);
    eq("from the root", got, (1, 1))?;
    eq("glob", f.found("link/*.txt").await?, ["link/a.txt"])?;
    eq("list", f.names("link").await?, ["a.txt"])?;
    let met = f.glob("**/*.txt", below(".")).await?;
    eq("glob from the root", (met.total, met.skipped.links), (1, 1))?;
    eq(
        "list from the root",
        f.kind("link").await?,
        Some(EntryKind::Link),
    )
}

async fn asked_by_name(f: &Fixture) -> Verdict {
    f.put(".gitignore", "dist/\n").await?;
    f.put("dist/app.js", "word\n").await?;
    f.put(".cfg/a.txt", "word\n").await?;
    f.put("src/b.txt", "word\n").await?;
    eq(
        "an ignored path",
        f.found("dist/app.js").await?,
        ["dist/app.js"],
    )?;
    eq(
        "a hidden base",
        f.lines("word", below(".cfg")).await?,
        [".cfg/a.txt:1"],
    )?;
    eq("**/*", f.found("**/*").await?, ["src", "src/b.txt"])?;
    eq(
        "search",
        f.lines("word", below(".")).await?,
        ["src/b.txt:1"],
    )
}

async fn not_utf8_output(f: &Fixture) -> Verdict {
    let execution = f.sh(r"printf '\376'; printf '\376' >&2; exit 3").await?;
    same_bytes("stdout", &kept(&execution.stdout), b"\xfe")?;
    same_bytes("stderr", &kept(&execution.stderr), b"\xfe")?;
    eq("the outcome", execution.outcome, Outcome::Exited(3))?;
    let text = format!("{}\u{e9}", "a".repeat(65_535));
    let execution = f.run(shell("cat"), fed(text.clone())).await?;
    same_bytes(
        "a split character",
        &kept(&execution.stdout),
        text.as_bytes(),
    )
}

async fn four_ends(f: &Fixture) -> Verdict {
    let outcomes = [
        f.sh("kill -9 $$").await?.outcome,
        f.run(shell("sleep 20"), limited(200)).await?.outcome,
        f.sh("exit 137").await?.outcome,
        f.sh("exit 124").await?.outcome,
    ];
    let right = [
        Outcome::Signalled(9),
        Outcome::TimedOut,
        Outcome::Exited(137),
        Outcome::Exited(124),
    ];
    eq("the outcomes", outcomes, right)
}

async fn short_command(f: &Fixture) -> Verdict {
    for _ in 0..100 {
        same_bytes("echo ok", &f.printed("echo ok").await?, b"ok\n")?;
    }
    let large = RunOptions {
        output_limit: Some(f.sandbox.describe().limits.output_maximum),
        ..RunOptions::default()
    };
    for _ in 0..10 {
        let execution = f
            .run(shell("head -c 500000 /dev/zero; echo end"), large.clone())
            .await?;
        let output = kept(&execution.stdout);
        eq("bytes out", output.len(), 500_004)?;
        that(output.ends_with(b"end\n"), "the end is missing")?;
        let execution = f.run(shell("wc -c"), fed(vec![0; 1 << 20])).await?;
        let counted = String::from_utf8_lossy(&kept(&execution.stdout))
            .trim()
            .to_owned();
        eq("bytes in", counted.as_str(), "1048576")?;
    }
    Ok(())
}

async fn children(f: &Fixture) -> Verdict {
    for _ in 0..50 {
        let execution = f.sh("sleep 100 & sleep 1 & exit 0").await?;
        eq("the outcome", execution.outcome, Outcome::Exited(0))?;
    }
    same_bytes("after them", &f.printed("echo ok").await?, b"ok\n")
}

async fn goes_on(f: &Fixture) -> Verdict {
    let options = WriteOptions {
        executable: true,
        ..WriteOptions::default()
    };
    let text = format!("#!/bin/sh\n{}\n", crate::fixture_processes::HEARTBEAT);
    f.write_with("forever", text, options).await?;
    let execution = f.run(shell("./forever"), limited(1000)).await?;
    eq("the outcome", execution.outcome, Outcome::TimedOut)?;
    f.still("beat").await
}

async fn size_steps(f: &Fixture) -> Verdict {
    for size in [98_304, 131_072, 786_432, 3_145_728] {
        let bytes = super::files_read::pattern(size);
        f.write("a", bytes.clone(), Expected::Any).await?;
        f.holds("a", &bytes).await?;
    }
    Ok(())
}
