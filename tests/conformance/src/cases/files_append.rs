//! `append`: what is added, and to what.

use belljar_contract::{ErrorKind, Expected};

use super::files_read::pattern;
use crate::{
    case::{Case, FILES, Verdict, case},
    check::{eq, expect_kind, that},
    fixture::Fixture,
};

pub(super) const CASES: &[Case] = &[
    case!(
        adds,
        "files.append/adds-at-the-end",
        "An append makes the file, adds to it byte for byte, and gives the version that read gives.",
        FILES
    ),
    case!(
        nothing,
        "files.append/nothing",
        "An append of no bytes makes an empty file, and changes nothing of one that is there.",
        FILES
    ),
    case!(
        no_newline,
        "files.append/adds-no-newline",
        "Nothing stands between the old end and what is added.",
        FILES
    ),
    case!(
        expected,
        "files.append/expected",
        "absent and a version are checked before anything is added.",
        FILES
    ),
    case!(
        beyond_limit,
        "files.append/beyond-the-size-limit",
        "One append is bounded by the limit; the file that grows by appends is not.",
        FILES
    ),
    case!(
        nobody_loses,
        "files.append/fifty-at-once-lose-nothing",
        "Of fifty appends at once, each is there, whole.",
        FILES
    ),
    case!(
        nobody_makes_twice,
        "files.append/absent-at-once",
        "Of eight appends at once that expect nothing there, one happens.",
        FILES
    ),
];

async fn adds(f: &Fixture) -> Verdict {
    f.append("a", "one\r\n", Expected::Any).await?;
    f.append("a", b"\0\xff", Expected::Any).await?;
    let version = f.append("a", pattern(70_000), Expected::Any).await?;
    let right = [&b"one\r\n\0\xff"[..], &pattern(70_000)].concat();
    f.holds("a", &right).await?;
    eq("the version", f.read("a").await?.version, version)
}

async fn nothing(f: &Fixture) -> Verdict {
    f.append("new", "", Expected::Any).await?;
    f.holds("new", "").await?;
    let before = f.put("a", "x").await?;
    eq(
        "the version",
        f.append("a", "", Expected::Any).await?,
        before,
    )?;
    f.holds("a", "x").await
}

async fn no_newline(f: &Fixture) -> Verdict {
    f.put("a", "\u{feff}one").await?;
    f.append("a", "two", Expected::Any).await?;
    f.holds("a", "\u{feff}onetwo").await
}

async fn expected(f: &Fixture) -> Verdict {
    let first = f.append("a", "1", Expected::Absent).await?;
    let second = f.append("a", "2", Expected::Version(first.clone())).await?;
    let absent = f.append("a", "3", Expected::Absent).await;
    expect_kind("absent", absent, ErrorKind::AlreadyExists)?;
    let stale = f.append("a", "3", Expected::Version(first)).await;
    expect_kind("stale", stale, ErrorKind::Stale)?;
    let gone = f.append("none", "3", Expected::Version(second)).await;
    expect_kind("a version of nothing", gone, ErrorKind::Stale)?;
    f.holds("a", "12").await?;
    f.absent("none").await
}

async fn beyond_limit(f: &Fixture) -> Verdict {
    let most = usize::try_from(f.sandbox.describe().limits.file_bytes).unwrap_or(usize::MAX);
    if most > 64 << 20 {
        return Err(crate::Failure::unmet(
            "the session's limit is over 64 MiB, too much to try",
        ));
    }
    f.put("a", vec![b'x'; most]).await?;
    let over = f.append("a", vec![b'y'; most + 1], Expected::Any).await;
    expect_kind("too much at once", over, ErrorKind::TooLarge)?;
    let version = f.append("a", "yz", Expected::Any).await?;
    let (at, size) = (most as u64 - 1, most as u64 + 2);
    let chunk = f.read_range("a", at, 10).await?;
    eq(
        "the end",
        (chunk.bytes, chunk.size),
        (b"xyz".to_vec(), size),
    )?;
    eq("the version", &chunk.version, &version)?;
    expect_kind("read whole", f.read("a").await, ErrorKind::TooLarge)?;
    let replaced = f.replace("a", "yz", "zy").await;
    expect_kind("replace", replaced, ErrorKind::TooLarge)?;
    // Any size can be copied, and a larger file has a version to expect too.
    f.copy("a", "b", Expected::Any).await?;
    eq("the copy's size", f.stat("b").await?.size, size)?;
    f.append("a", "!", Expected::Version(version)).await?;
    eq("the size", f.stat("a").await?.size, size + 1)
}

async fn nobody_loses(f: &Fixture) -> Verdict {
    f.put("a", "").await?;
    f.at_once(50, |index, f| async move {
        let line = format!("{index:02}{}\n", "-".repeat(100));
        Ok(f.append("a", line, Expected::Any).await?)
    })
    .await?;
    let text = String::from_utf8_lossy(&f.read("a").await?.bytes).into_owned();
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    eq("the lines", lines.len(), 50)?;
    for (index, line) in lines.iter().enumerate() {
        eq("a line", *line, format!("{index:02}{}", "-".repeat(100)))?;
    }
    Ok(())
}

async fn nobody_makes_twice(f: &Fixture) -> Verdict {
    let done = f
        .at_once(8, |index, f| async move {
            match f.append("a", index.to_string(), Expected::Absent).await {
                Ok(_) => Ok(1),
                Err(error) if error.kind == ErrorKind::AlreadyExists => Ok(0),
                Err(error) => Err(error.into()),
            }
        })
        .await?;
    eq("appends done", done.iter().sum::<i32>(), 1)?;
    that(
        f.read("a").await?.bytes.len() == 1,
        "the file has more than the one append",
    )
}
