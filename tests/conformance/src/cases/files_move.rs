//! `rename` and `copy`.

use belljar_contract::{ErrorKind, Expected, files::EntryKind};

use super::files_read::pattern;
use crate::{
    case::{CHMOD, Case, FILES, Verdict, case},
    check::{eq, expect_kind},
    fixture::Fixture,
};

pub(super) const CASES: &[Case] = &[
    case!(
        rename,
        "files.rename/files-and-directories",
        "A file and a directory with its content move, within and across directories.",
        FILES
    ),
    case!(
        rename_onto,
        "files.rename/onto-what-is-there",
        "A file replaces a file, a directory an empty one; each other pair has its own error.",
        FILES
    ),
    case!(
        rename_expected,
        "files.rename/destination",
        "absent refuses anything, a version all but a file in it; nothing moves then.",
        FILES
    ),
    case!(
        rename_errors,
        "files.rename/errors",
        "Missing sources and parents are not-found, parents that are files not-a-directory.",
        FILES
    ),
    case!(
        rename_into_itself,
        "files.rename/into-and-onto-itself",
        "A directory into itself is invalid-argument; onto itself nothing happens.",
        FILES
    ),
    case!(
        rename_slashes,
        "files.rename/trailing-slashes",
        "A directory may have a trailing slash at both ends; a file may not.",
        FILES
    ),
    case!(
        copy,
        "files.copy/content",
        "A copy has the content and the version, and is a file of its own.",
        FILES
    ),
    case!(
        copy_mode,
        "files.copy/mode",
        "A copy has the source's mode, a new one and one that replaces a file.",
        CHMOD
    ),
    case!(
        copy_errors,
        "files.copy/errors",
        "A directory at either end is is-a-directory; missing sources and parents are not-found.",
        FILES
    ),
    case!(
        copy_expected,
        "files.copy/destination",
        "absent and a version are checked before anything is copied.",
        FILES
    ),
    case!(
        copy_itself,
        "files.copy/onto-itself",
        "A copy onto itself does nothing and gives the version.",
        FILES
    ),
];

async fn rename(f: &Fixture) -> Verdict {
    f.put("a", "x").await?;
    f.put("d/e/f", "y").await?;
    f.rename("a", "b", Expected::Any).await?;
    f.rename("b", "d/b", Expected::Any).await?;
    f.holds("d/b", "x").await?;
    f.rename("d", "g", Expected::Any).await?;
    f.holds("g/e/f", "y").await?;
    f.rename("g/e", "e", Expected::Absent).await?;
    f.holds("e/f", "y").await?;
    eq("the names", f.names(".").await?, ["e", "g"])?;
    eq("the names", f.names("g").await?, ["b"])
}

async fn rename_onto(f: &Fixture) -> Verdict {
    f.put("a", "x").await?;
    f.put("b", "y").await?;
    f.rename("a", "b", Expected::Any).await?;
    f.holds("b", "x").await?;
    f.put("d/a", "in d").await?;
    f.make_directory("empty").await?;
    f.put("full/a", "in full").await?;
    let any = || Expected::Any;
    let full = f.rename("d", "full", any()).await;
    expect_kind("onto a full directory", full, ErrorKind::NotEmpty)?;
    let onto = f.rename("b", "empty", any()).await;
    expect_kind("a file onto a directory", onto, ErrorKind::IsADirectory)?;
    let onto = f.rename("d", "b", any()).await;
    expect_kind("a directory onto a file", onto, ErrorKind::NotADirectory)?;
    f.rename("d", "empty", any()).await?;
    f.holds("empty/a", "in d").await?;
    f.holds("full/a", "in full").await?;
    eq("the names", f.names(".").await?, ["b", "empty", "full"])
}

async fn rename_expected(f: &Fixture) -> Verdict {
    let a = f.put("a", "x").await?;
    let b = f.put("b", "y").await?;
    f.make_directory("d").await?;
    for target in ["b", "d"] {
        let absent = f.rename("a", target, Expected::Absent).await;
        expect_kind(target, absent, ErrorKind::AlreadyExists)?;
    }
    let version = |version: &belljar_contract::Version| Expected::Version(version.clone());
    let stale = f.rename("a", "b", version(&a)).await;
    expect_kind("another version", stale, ErrorKind::Stale)?;
    let gone = f.rename("a", "none", version(&a)).await;
    expect_kind("a version of nothing", gone, ErrorKind::Stale)?;
    f.holds("a", "x").await?;
    f.holds("b", "y").await?;
    f.rename("a", "b", version(&b)).await?;
    f.holds("b", "x").await?;
    f.rename("b", "c", Expected::Absent).await?;
    eq("the names", f.names(".").await?, ["c", "d"])
}

async fn rename_errors(f: &Fixture) -> Verdict {
    f.put("a", "x").await?;
    f.put("b", "y").await?;
    for (source, target, right) in [
        ("none", "c", ErrorKind::NotFound),
        ("none/d", "c", ErrorKind::NotFound),
        ("a", "none/c", ErrorKind::NotFound),
        ("a/c", "c", ErrorKind::NotADirectory),
        ("a", "b/c", ErrorKind::NotADirectory),
    ] {
        let what = format!("{source} to {target}");
        expect_kind(&what, f.rename(source, target, Expected::Any).await, right)?;
    }
    eq("the names", f.names(".").await?, ["a", "b"])
}

async fn rename_into_itself(f: &Fixture) -> Verdict {
    f.put("d/a", "x").await?;
    for target in ["d/e", "d/e/f", "d/../d/e"] {
        let into = f.rename("d", target, Expected::Any).await;
        expect_kind(target, into, ErrorKind::InvalidArgument)?;
    }
    f.rename("d", "d", Expected::Any).await?;
    f.rename("d/a", "./d//a", Expected::Any).await?;
    f.holds("d/a", "x").await?;
    // A name that begins with the other's is not in it.
    f.rename("d", "de", Expected::Any).await?;
    f.holds("de/a", "x").await
}

async fn rename_slashes(f: &Fixture) -> Verdict {
    f.put("d/a", "x").await?;
    f.rename("d/", "e/", Expected::Any).await?;
    f.holds("e/a", "x").await?;
    let from = f.rename("e/a/", "b", Expected::Any).await;
    expect_kind("from a file with a slash", from, ErrorKind::NotADirectory)?;
    let to = f.rename("e/a", "b/", Expected::Any).await;
    expect_kind(
        "a file to a name with a slash",
        to,
        ErrorKind::NotADirectory,
    )?;
    eq("the names", f.names(".").await?, ["e"])
}

async fn copy(f: &Fixture) -> Verdict {
    for size in [0, 10, 4096, 65_537, 3_145_728] {
        let bytes = pattern(size);
        let version = f.put("a", bytes.clone()).await?;
        eq(
            "the version",
            f.copy("a", "b", Expected::Any).await?,
            version,
        )?;
        f.holds("b", &bytes).await?;
    }
    f.write("b", "other", Expected::Any).await?;
    eq("the source", f.stat("a").await?.size, 3_145_728)?;
    eq("the names", f.names(".").await?, ["a", "b"])
}

async fn copy_mode(f: &Fixture) -> Verdict {
    f.put("a", "x").await?;
    f.chmod("a", 0o750).await?;
    f.copy("a", "b", Expected::Any).await?;
    eq("a new copy", f.stat("b").await?.mode, 0o750)?;
    f.put("c", "y").await?;
    f.chmod("c", 0o600).await?;
    f.copy("a", "c", Expected::Any).await?;
    f.holds("c", "x").await?;
    eq("an existing target", f.stat("c").await?.mode, 0o750)
}

async fn copy_errors(f: &Fixture) -> Verdict {
    f.put("a", "x").await?;
    f.make_directory("d").await?;
    for (source, target, right) in [
        ("none", "c", ErrorKind::NotFound),
        ("a", "none/c", ErrorKind::NotFound),
        ("d", "c", ErrorKind::IsADirectory),
        ("a", "d", ErrorKind::IsADirectory),
        ("a", "d/", ErrorKind::IsADirectory),
        ("a/b", "c", ErrorKind::NotADirectory),
        ("a", "a/b", ErrorKind::NotADirectory),
        ("a/", "c", ErrorKind::NotADirectory),
        ("a", "c/", ErrorKind::NotADirectory),
    ] {
        let what = format!("{source} to {target}");
        expect_kind(&what, f.copy(source, target, Expected::Any).await, right)?;
    }
    eq("the names", f.names(".").await?, ["a", "d"])?;
    eq("d", f.stat("d").await?.kind, EntryKind::Directory)
}

async fn copy_expected(f: &Fixture) -> Verdict {
    let a = f.put("a", "x").await?;
    let b = f.put("b", "y").await?;
    let absent = f.copy("a", "b", Expected::Absent).await;
    expect_kind("absent", absent, ErrorKind::AlreadyExists)?;
    let stale = f.copy("a", "b", Expected::Version(a.clone())).await;
    expect_kind("stale", stale, ErrorKind::Stale)?;
    let gone = f.copy("a", "none", Expected::Version(b.clone())).await;
    expect_kind("a version of nothing", gone, ErrorKind::Stale)?;
    f.holds("b", "y").await?;
    f.copy("a", "b", Expected::Version(b)).await?;
    f.copy("a", "c", Expected::Absent).await?;
    f.holds("b", "x").await?;
    f.holds("c", "x").await
}

async fn copy_itself(f: &Fixture) -> Verdict {
    let version = f.put("a", "x").await?;
    for target in ["a", "./a", "b/../a"] {
        eq(
            target,
            f.copy("a", target, Expected::Any).await?,
            version.clone(),
        )?;
    }
    f.holds("a", "x").await
}
