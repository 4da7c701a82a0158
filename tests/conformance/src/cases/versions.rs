//! Versions, what is expected, and changes at once.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use belljar_contract::{ErrorKind, Expected, MAX_VERSION_BYTES, Version, files::ReplaceOptions};

use crate::{
    case::{Case, FILES, LINKS, Verdict, case},
    check::{Failure, eq, expect_kind, that},
    fixture::Fixture,
};

pub(super) const CASES: &[Case] = &[
    case!(
        of_content,
        "versions/are-of-the-content",
        "Equal content has one version, in any file and after any change; other content another.",
        FILES
    ),
    case!(
        same_everywhere,
        "versions/are-the-same-by-every-function",
        "read, read-range, write, append, replace and copy give a content the same version.",
        FILES
    ),
    case!(
        spelling,
        "versions/do-not-depend-on-the-path",
        "However the path is spelt, absolute or by .., the version is the same.",
        FILES
    ),
    case!(
        by_link,
        "versions/are-the-same-through-a-link",
        "Read through a link, a file has the version that it has by its own path.",
        LINKS
    ),
    case!(
        quick,
        "versions/see-a-change-in-the-same-moment",
        "A change of the same size, at once after the last, is another version.",
        FILES
    ),
    case!(
        absent,
        "expected/absent",
        "absent refuses a file and a directory, and leaves them.",
        FILES
    ),
    case!(
        absent_dangling,
        "expected/absent-and-a-link-to-nothing",
        "A dangling link is something: already-exists.",
        LINKS
    ),
    case!(
        version,
        "expected/a-version",
        "The right version passes; another, and any for nothing, is stale.",
        FILES
    ),
    case!(
        made_up,
        "expected/a-version-nobody-gave",
        "A version that no call gave is stale and does no harm, whatever its text.",
        FILES
    ),
    case!(
        writers,
        "expected/one-of-many-writers",
        "Of eight writers with one expected version one succeeds, and the rest are stale.",
        FILES
    ),
    case!(
        creators,
        "expected/one-of-many-creators",
        "Of eight writers that expect nothing there, one succeeds.",
        FILES
    ),
    case!(
        counters,
        "expected/no-lost-edit",
        "Four editors that read, count up and write with the version they read lose no count.",
        FILES
    ),
    case!(
        editors,
        "expected/one-of-many-edits",
        "Of eight replacements with one expected version one happens.",
        FILES
    ),
    case!(
        never_half,
        "files.write/is-never-seen-half",
        "A reader beside a writer of 1 MiB contents sees one or the other, never a part.",
        FILES
    ),
    case!(
        never_missing,
        "files.rename/is-never-seen-missing",
        "While files are renamed over a path, a reader always finds one of them.",
        FILES
    ),
];

async fn of_content(f: &Fixture) -> Verdict {
    let first = f.put("a", "same").await?;
    let other = f.put("a", "else").await?;
    that(first != other, "two contents have one version")?;
    eq("the same content again", &f.put("a", "same").await?, &first)?;
    eq("another file", &f.put("d/b", "same").await?, &first)?;
    let (empty, newline) = (f.put("a", "").await?, f.put("a", "\n").await?);
    that(empty != newline, "nothing and a newline have one version")
}

async fn same_everywhere(f: &Fixture) -> Verdict {
    for size in [3, 100_000] {
        let text = "x".repeat(size);
        let written = f.put("w", text.clone()).await?;
        f.put("a", &text.as_bytes()[1..]).await?;
        eq(
            "append",
            &f.append("a", "x", Expected::Any).await?,
            &written,
        )?;
        f.put("r", format!("y{}", &text[1..])).await?;
        eq(
            "replace",
            &f.replace("r", "y", "x").await?.version,
            &written,
        )?;
        eq("copy", &f.copy("w", "c", Expected::Any).await?, &written)?;
        eq("read", &f.read("w").await?.version, &written)?;
        eq("range", &f.read_range("c", 1, 1).await?.version, &written)?;
    }
    Ok(())
}

async fn spelling(f: &Fixture) -> Verdict {
    let version = f.put("d/a", "x").await?;
    for path in ["d//a", "d/./a", "./d/a", "none/../d/a"] {
        eq(path, &f.read(path).await?.version, &version)?;
        let expected = Expected::Version(version.clone());
        eq(path, &f.write(path, "x", expected).await?, &version)?;
    }
    let absolute = f.absolute("d/a");
    eq(
        "absolute",
        f.sandbox.read(&absolute).await?.version,
        version,
    )
}

async fn by_link(f: &Fixture) -> Verdict {
    let version = f.put("a", "x").await?;
    f.symlink("a", "link").await?;
    eq("read", &f.read("link").await?.version, &version)?;
    let expected = Expected::Version(version.clone());
    let next = f.write("link", "y", expected.clone()).await?;
    eq("read", f.read("a").await?.version, next)?;
    expect_kind(
        "again",
        f.write("link", "z", expected).await,
        ErrorKind::Stale,
    )
}

async fn quick(f: &Fixture) -> Verdict {
    let mut last = f.put("a", "0").await?;
    for text in ["1", "2", "3", "4", "5"] {
        let expected = Expected::Version(last.clone());
        let next = f.write("a", text, expected.clone()).await?;
        let stale = f.write("a", "x", expected).await;
        expect_kind("the old version", stale, ErrorKind::Stale)?;
        last = next;
    }
    f.holds("a", "5").await
}

async fn absent(f: &Fixture) -> Verdict {
    f.write("a", "1", Expected::Absent).await?;
    let again = f.write("a", "2", Expected::Absent).await;
    expect_kind("a file", again, ErrorKind::AlreadyExists)?;
    f.holds("a", "1").await?;
    f.put("d/b", "x").await?;
    // A directory is no target for a write; that is told before what is expected.
    let directory = f.write("d", "2", Expected::Absent).await;
    let kind = directory.as_ref().err().map(|error| error.kind);
    that(
        matches!(
            kind,
            Some(ErrorKind::AlreadyExists | ErrorKind::IsADirectory)
        ),
        "a directory was not refused",
    )?;
    f.holds("d/b", "x").await
}

async fn absent_dangling(f: &Fixture) -> Verdict {
    f.symlink("nothing", "link").await?;
    let written = f.write("link", "x", Expected::Absent).await;
    expect_kind("write", written, ErrorKind::AlreadyExists)?;
    f.put("a", "x").await?;
    let renamed = f.rename("a", "link", Expected::Absent).await;
    expect_kind("rename", renamed, ErrorKind::AlreadyExists)?;
    let copied = f.copy("a", "link", Expected::Absent).await;
    expect_kind("copy", copied, ErrorKind::AlreadyExists)?;
    f.absent("nothing").await
}

async fn version(f: &Fixture) -> Verdict {
    let first = f.put("a", "1").await?;
    let second = f.write("a", "2", Expected::Version(first.clone())).await?;
    let stale = f.write("a", "3", Expected::Version(first)).await;
    expect_kind("the old version", stale, ErrorKind::Stale)?;
    f.holds("a", "2").await?;
    let gone = f.write("none", "3", Expected::Version(second)).await;
    expect_kind("nothing there", gone, ErrorKind::Stale)?;
    f.absent("none").await
}

async fn made_up(f: &Fixture) -> Verdict {
    f.put("a", "1").await?;
    let longest = "v".repeat(MAX_VERSION_BYTES);
    for text in ["0", "../a", "*", "-", "$(x)", longest.as_str()] {
        let made_up = Version::parse(text).map_err(|error| Failure::wrong(error.to_string()))?;
        let written = f.write("a", "2", Expected::Version(made_up)).await;
        expect_kind(text, written, ErrorKind::Stale)?;
    }
    f.holds("a", "1").await
}

/// One for a change that happened, none for one that had to give way.
fn one_unless(
    result: belljar_contract::Result<Version>,
    kind: ErrorKind,
) -> Result<usize, Failure> {
    match result {
        Ok(_) => Ok(1),
        Err(error) if error.kind == kind => Ok(0),
        Err(error) => Err(error.into()),
    }
}

async fn writers(f: &Fixture) -> Verdict {
    for round in 0..5 {
        let version = f.put("a", format!("start {round}")).await?;
        let done = f
            .at_once(8, move |index, f| {
                let expected = Expected::Version(version.clone());
                async move {
                    let text = format!("writer {index}");
                    one_unless(f.write("a", text, expected).await, ErrorKind::Stale)
                }
            })
            .await?;
        eq("writes that happened", done.iter().sum::<usize>(), 1)?;
        let right = done.iter().position(|done| *done == 1).unwrap_or_default();
        f.holds("a", format!("writer {right}")).await?;
    }
    Ok(())
}

async fn creators(f: &Fixture) -> Verdict {
    for round in 0..5 {
        let name = format!("a{round}");
        let done = f
            .at_once(8, move |index, f| {
                let name = name.clone();
                async move {
                    let written = f.write(&name, index.to_string(), Expected::Absent).await;
                    one_unless(written, ErrorKind::AlreadyExists)
                }
            })
            .await?;
        eq("files made", done.iter().sum::<usize>(), 1)?;
    }
    Ok(())
}

async fn counters(f: &Fixture) -> Verdict {
    f.put("a", "0").await?;
    f.at_once(4, |_, f| async move {
        let mut counted = 0;
        while counted < 10 {
            let content = f.read("a").await?;
            let count: u64 = String::from_utf8_lossy(&content.bytes)
                .parse()
                .map_err(|error| Failure::wrong(format!("half a number: {error}")))?;
            let next = (count + 1).to_string();
            let expected = Expected::Version(content.version);
            counted += one_unless(f.write("a", next, expected).await, ErrorKind::Stale)?;
        }
        Ok(())
    })
    .await?;
    f.holds("a", "40").await
}

async fn editors(f: &Fixture) -> Verdict {
    let version = f.put("a", "x").await?;
    let done = f
        .at_once(8, move |index, f| {
            let options = ReplaceOptions {
                expected: Expected::Version(version.clone()),
                all: false,
            };
            async move {
                let edited = f.replace_with("a", "x", format!("x{index}"), options).await;
                one_unless(edited.map(|done| done.version), ErrorKind::Stale)
            }
        })
        .await?;
    eq("edits that happened", done.iter().sum::<usize>(), 1)?;
    eq("the size", f.stat("a").await?.size, 2)
}

async fn never_half(f: &Fixture) -> Verdict {
    const SIZE: usize = 1 << 20;
    f.put("a", vec![b'a'; SIZE]).await?;
    let done = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&done);
    let writing = f.meanwhile(move |f| async move {
        let mut result = Ok(());
        for round in 0..40u8 {
            let byte = if round % 2 == 0 { b'b' } else { b'a' };
            if let Err(error) = f.write("a", vec![byte; SIZE], Expected::Any).await {
                result = Err(Failure::from(error));
                break;
            }
        }
        told.store(true, Ordering::Release);
        result
    });
    while !done.load(Ordering::Acquire) {
        let bytes = f.read("a").await?.bytes;
        eq("the size", bytes.len(), SIZE)?;
        that(
            bytes.iter().all(|byte| *byte == bytes[0]),
            "a reader saw parts of two contents",
        )?;
    }
    writing.await
}

async fn never_missing(f: &Fixture) -> Verdict {
    f.put("a", "0").await?;
    let done = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&done);
    let renaming = f.meanwhile(move |f| async move {
        let mut result = Ok(());
        for round in 0..100 {
            let step = async {
                f.put("next", round.to_string()).await?;
                f.rename("next", "a", Expected::Any).await
            };
            if let Err(error) = step.await {
                result = Err(Failure::from(error));
                break;
            }
        }
        told.store(true, Ordering::Release);
        result
    });
    while !done.load(Ordering::Acquire) {
        that(!f.read("a").await?.bytes.is_empty(), "the file was empty")?;
    }
    renaming.await?;
    f.holds("a", "99").await
}
