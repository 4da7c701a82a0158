//! Paths by their text: one documented answer for each spelling.

use belljar_contract::{
    ErrorKind, Expected, ScopeOptions,
    files::{EntryKind, WriteOptions},
};

use super::files_write::ODD_NAMES;
use crate::{
    case::{Case, FILES, ROOT, Verdict, case},
    check::{Failure, eq, expect_kind},
    fixture::Fixture,
};

pub(super) const CASES: &[Case] = &[
    case!(
        empty,
        "paths/empty",
        "An empty path is invalid-argument in every operation.",
        FILES
    ),
    case!(
        nul,
        "paths/with-a-nul",
        "A path with a NUL is invalid-argument in every operation.",
        FILES
    ),
    case!(
        long,
        "paths/too-long",
        "A path over 4,096 bytes, or with a name over 255, is too-large in every operation.",
        FILES
    ),
    case!(
        longest,
        "paths/the-longest",
        "A path of 4,096 bytes is a path, and not-found where nothing is.",
        FILES
    ),
    case!(
        spellings,
        "paths/spellings",
        "Slashes, dots and double dots are taken out by text, before the file system is asked.",
        FILES
    ),
    case!(
        absolute,
        "paths/absolute",
        "The root's own path, spelt in any way, is the root; below it is the workspace.",
        FILES
    ),
    case!(
        the_root,
        "paths/the-root",
        "The root is a directory that can be listed, and neither removed, moved nor written.",
        ROOT
    ),
    case!(
        odd_names_written,
        "paths/odd-names-written",
        "What a shell or an option parser would take for more is a name where a file is made and changed.",
        FILES
    ),
    case!(
        odd_names_moved,
        "paths/odd-names-moved",
        "It is a name where a file is copied, renamed, listed and removed.",
        FILES
    ),
    case!(
        odd_names_seen,
        "paths/odd-names-seen",
        "It is a name where a file is read in ranges, looked at and resolved.",
        FILES
    ),
    case!(
        odd_names_searched,
        "paths/odd-names-searched",
        "It is a name where a file is searched.",
        FILES
    ),
    case!(
        case_matters,
        "paths/case-and-normal-forms-matter",
        "Names that differ in case or in Unicode form are two names.",
        FILES
    ),
    case!(
        errors_name_the_path,
        "errors/name-operation-and-path",
        "An error names the operation and the path as the caller gave it.",
        FILES
    ),
    case!(
        order,
        "errors/in-the-order-of-processing",
        "Bad arguments are told before what the path would say.",
        FILES
    ),
];

/// Requires every operation to refuse a path in this way.
async fn refused(f: &Fixture, path: &str, kind: ErrorKind) -> Verdict {
    let s = &f.sandbox;
    let shown: String = path.chars().take(30).collect();
    let what = |operation: &str| format!("{operation} {shown:?}");
    let base = || ScopeOptions {
        base: Some(path.to_owned()),
        ..ScopeOptions::default()
    };
    let word = belljar_contract::QueryOptions {
        pattern: "x".to_owned(),
        ..Default::default()
    };
    let plain = WriteOptions::default;
    let any = || Expected::Any;
    f.put("a", "x").await?;
    let a = f.path("a");
    expect_kind(&what("read"), s.read(path).await, kind)?;
    expect_kind(&what("read-range"), s.read_range(path, 0, 1).await, kind)?;
    expect_kind(&what("write"), s.write(path, "", plain()).await, kind)?;
    expect_kind(&what("append"), s.append(path, "", plain()).await, kind)?;
    let replaced = s.replace(path, "x", "y", Default::default()).await;
    expect_kind(&what("replace"), replaced, kind)?;
    expect_kind(&what("list"), s.list(path, None).await, kind)?;
    expect_kind(&what("glob"), s.glob("*", base()).await, kind)?;
    expect_kind(&what("search"), s.search(word, base()).await, kind)?;
    expect_kind(&what("stat"), s.stat(path).await, kind)?;
    expect_kind(&what("resolve"), s.resolve(path).await, kind)?;
    expect_kind(&what("make-directory"), s.make_directory(path).await, kind)?;
    expect_kind(&what("remove"), s.remove(path, true).await, kind)?;
    expect_kind(&what("rename from"), s.rename(path, &a, any()).await, kind)?;
    expect_kind(&what("rename to"), s.rename(&a, path, any()).await, kind)?;
    expect_kind(&what("copy from"), s.copy(path, &a, any()).await, kind)?;
    expect_kind(&what("copy to"), s.copy(&a, path, any()).await, kind)?;
    f.holds("a", "x").await
}

async fn empty(f: &Fixture) -> Verdict {
    refused(f, "", ErrorKind::InvalidArgument).await
}

async fn nul(f: &Fixture) -> Verdict {
    refused(f, "\0", ErrorKind::InvalidArgument).await?;
    refused(f, &f.path("a\0b"), ErrorKind::InvalidArgument).await
}

async fn long(f: &Fixture) -> Verdict {
    refused(f, &"a/".repeat(2500), ErrorKind::TooLarge).await?;
    refused(f, &"n".repeat(256), ErrorKind::TooLarge).await?;
    refused(f, &format!("a/{}/b", "n".repeat(256)), ErrorKind::TooLarge).await
}

async fn longest(f: &Fixture) -> Verdict {
    let path = format!("{}z", "a/".repeat(2047) + "b");
    eq("its length", path.len(), 4096)?;
    expect_kind("stat", f.sandbox.stat(&path).await, ErrorKind::NotFound)
}

async fn spellings(f: &Fixture) -> Verdict {
    f.put("d/a", "x").await?;
    f.put("b", "y").await?;
    for (path, right) in [
        ("d/a", "x"),
        ("d//a", "x"),
        ("./d/./a", "x"),
        ("d/../d/a", "x"),
        ("none/none/../../b", "y"),
        ("b/../d/a", "x"),
        ("d/a/../../b", "y"),
    ] {
        f.holds(path, right).await?;
    }
    for path in ["d/", "d/.", "d//", "d/../d/", "d/a/..", "none/../d/."] {
        eq(path, f.stat(path).await?.kind, EntryKind::Directory)?;
    }
    expect_kind("b/", f.stat("b/").await, ErrorKind::NotADirectory)?;
    expect_kind("b/.", f.stat("b/.").await, ErrorKind::NotADirectory)?;
    expect_kind("none/", f.stat("none/").await, ErrorKind::NotFound)?;
    // What is made by one spelling is there by the others.
    f.write("new/../e", "z", Expected::Absent).await?;
    f.holds("./e", "z").await
}

async fn absolute(f: &Fixture) -> Verdict {
    let root = f.sandbox.describe().root.clone();
    let root = root.trim_end_matches('/');
    f.put("d/a", "x").await?;
    let content = f.sandbox.read(&f.absolute("d/a")).await?;
    eq("by the root", content.bytes.as_slice(), b"x")?;
    let (d, here) = (f.absolute("d"), f.path("."));
    for path in [
        format!("{d}//a"),
        format!("/{d}/./a"),
        format!("/../..{d}/a"),
        format!("/none/..{d}/../d/a"),
    ] {
        let content = f.sandbox.read(&path).await?;
        eq(&path, content.bytes.as_slice(), b"x")?;
    }
    for path in [
        format!("{root}/"),
        format!("{root}/."),
        format!("/{root}//"),
    ] {
        let info = f.sandbox.stat(&path).await?;
        eq(&path, info.kind, EntryKind::Directory)?;
    }
    eq(
        "here",
        f.sandbox.stat(&here).await?.kind,
        EntryKind::Directory,
    )
}

async fn the_root(f: &Fixture) -> Verdict {
    f.put("a", "x").await?;
    for path in [".", "./", "a/..", "./."] {
        eq(path, f.names(path).await?, ["a"])?;
        eq(path, f.stat(path).await?.kind, EntryKind::Directory)?;
        f.make_directory(path).await?;
        let bad = ErrorKind::InvalidArgument;
        expect_kind(path, f.remove(path, true).await, bad)?;
        expect_kind(path, f.rename(path, "b", Expected::Any).await, bad)?;
        expect_kind(path, f.rename("a", path, Expected::Any).await, bad)?;
        let directory = ErrorKind::IsADirectory;
        expect_kind(path, f.read(path).await, directory)?;
        expect_kind(path, f.write(path, "x", Expected::Any).await, directory)?;
        expect_kind(path, f.copy(path, "b", Expected::Any).await, directory)?;
        expect_kind(path, f.copy("a", path, Expected::Any).await, directory)?;
    }
    eq("the names", f.names(".").await?, ["a"])
}

/// What each of the cases of odd names begins with.
async fn put_odd(f: &Fixture, name: &str) -> Result<String, Failure> {
    let file = format!("{name}/{name}");
    f.put(&file, "one\nthree\n").await?;
    Ok(file)
}

async fn odd_names_written(f: &Fixture) -> Verdict {
    for name in ODD_NAMES {
        let file = format!("{name}/{name}");
        f.make_directory(name).await?;
        f.write(&file, "one\n", Expected::Absent).await?;
        f.append(&file, "two\n", Expected::Any).await?;
        f.replace(&file, "two", "three").await?;
        f.holds(&file, "one\nthree\n").await?;
    }
    Ok(())
}

async fn odd_names_moved(f: &Fixture) -> Verdict {
    for name in ODD_NAMES {
        let file = put_odd(f, name).await?;
        let copy = format!("{name}/copy");
        f.copy(&file, &copy, Expected::Absent).await?;
        f.rename(&copy, &file, Expected::Any).await?;
        eq("list", f.names(name).await?, [*name])?;
        f.remove(&file, false).await?;
        f.remove(name, false).await?;
    }
    eq("the names", f.names(".").await?, Vec::<String>::new())
}

async fn odd_names_seen(f: &Fixture) -> Verdict {
    for name in ODD_NAMES {
        let file = put_odd(f, name).await?;
        eq("a range", f.read_range(&file, 4, 5).await?.bytes, b"three")?;
        eq("stat", f.stat(&file).await?.size, 10)?;
        eq("resolve", f.resolve(&file).await?, file.as_str())?;
    }
    Ok(())
}

async fn odd_names_searched(f: &Fixture) -> Verdict {
    for name in ODD_NAMES {
        let file = put_odd(f, name).await?;
        let base = ScopeOptions {
            base: Some(file.clone()),
            hidden: true,
            ..ScopeOptions::default()
        };
        eq(
            "search",
            f.lines("three", base).await?,
            [format!("{file}:2")],
        )?;
    }
    Ok(())
}

async fn case_matters(f: &Fixture) -> Verdict {
    f.put("Name", "1").await?;
    if f.stat("nAME").await.is_ok() {
        return Err(Failure::unmet("the file system takes no notice of case"));
    }
    f.write("name", "2", Expected::Absent).await?;
    f.write("\u{e9}", "3", Expected::Absent).await?;
    f.write("e\u{301}", "4", Expected::Absent).await?;
    f.holds("Name", "1").await?;
    f.holds("\u{e9}", "3").await?;
    eq(
        "names",
        f.names(".").await?,
        ["Name", "e\u{301}", "name", "\u{e9}"],
    )
}

async fn errors_name_the_path(f: &Fixture) -> Verdict {
    let path = f.path("none//x/../of these");
    let Err(error) = f.sandbox.read(&path).await else {
        return Err(Failure::wrong("a file that is not there was read"));
    };
    eq("the kind", error.kind, ErrorKind::NotFound)?;
    eq("the operation", error.operation.as_str(), "files.read")?;
    eq("a message", error.message.is_empty(), false)?;
    let plain = f.path("none");
    let Err(error) = f.sandbox.stat(&plain).await else {
        return Err(Failure::wrong("a file that is not there was found"));
    };
    eq("the path", error.path, Some(plain))
}

async fn order(f: &Fixture) -> Verdict {
    let replaced = f.replace("none", "", "x").await;
    expect_kind("empty old", replaced, ErrorKind::InvalidArgument)?;
    let globbed = f.glob("/x", crate::fixture_files::below("none")).await;
    expect_kind("an absolute glob", globbed, ErrorKind::InvalidArgument)?;
    f.put("a", "x").await?;
    let version = f.put("b", "y").await?;
    // The target before what is expected of it.
    f.make_directory("d").await?;
    let written = f.write("d", "x", Expected::Version(version)).await;
    expect_kind("a directory", written, ErrorKind::IsADirectory)
}
