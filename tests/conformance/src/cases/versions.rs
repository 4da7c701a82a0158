//! Versions, what is expected, and changes at once.

use belljar_contract::{ErrorKind, Expected, MAX_VERSION_BYTES, Version};

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
    let directory = f.write("d", "2", Expected::Absent).await;
    expect_kind("a directory", directory, ErrorKind::AlreadyExists)?;
    let directory = f.write("d", "2", Expected::Any).await;
    expect_kind(
        "a directory, whatever is there",
        directory,
        ErrorKind::IsADirectory,
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
