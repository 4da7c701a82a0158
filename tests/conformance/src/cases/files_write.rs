//! `write`: what is made, what is kept, what is refused.

use belljar_contract::{ErrorKind, Expected, files::WriteOptions};

use crate::{
    case::{Case, FILES, MODES, Verdict, case},
    check::{eq, expect_kind, that},
    fixture::Fixture,
};

pub(super) const CASES: &[Case] = &[
    case!(
        makes_and_replaces,
        "files.write/makes-and-replaces",
        "A write makes a file, and makes a shorter content the whole content.",
        FILES
    ),
    case!(
        missing_parent,
        "files.write/a-missing-parent",
        "Without make-parents a missing parent is not-found, and nothing is made.",
        FILES
    ),
    case!(
        make_parents,
        "files.write/make-parents",
        "With make-parents the missing directories are made.",
        FILES
    ),
    case!(
        make_parents_through_file,
        "files.write/make-parents-through-a-file",
        "A file on the way is not-a-directory, also with make-parents.",
        FILES
    ),
    case!(
        onto_directory,
        "files.write/onto-a-directory",
        "A directory at the path is is-a-directory, with a trailing slash too.",
        FILES
    ),
    case!(
        slash_on_nothing,
        "files.write/a-trailing-slash-on-nothing",
        "A trailing slash on a target that is not there is not-a-directory.",
        FILES
    ),
    case!(
        slash_on_file,
        "files.write/a-trailing-slash-on-a-file",
        "A trailing slash on a file is not-a-directory, and the file is unharmed.",
        FILES
    ),
    case!(
        new_modes,
        "files.write/modes-of-new-files",
        "A new file has mode 0644, or 0755 with executable; new parents 0755.",
        MODES
    ),
    case!(
        executable_adds,
        "files.write/executable-on-an-existing-file",
        "executable adds x wherever there is r.",
        MODES
    ),
    case!(
        leaves_nothing,
        "files.write/leaves-nothing-beside",
        "After writes that succeed and fail, the directory has the files and nothing else.",
        FILES
    ),
    case!(
        limit,
        "files.write/at-the-size-limit",
        "The session's limit can be written and read; one more is too-large and changes nothing.",
        FILES
    ),
    case!(
        unicode_names,
        "files.write/names-are-data",
        "A name may hold spaces, newlines, quotes, shell and glob signs, and any script.",
        FILES
    ),
    case!(
        long_names,
        "files.write/the-longest-name",
        "A name of 255 bytes is a name; one of 256 is too-large.",
        FILES
    ),
    case!(
        deep,
        "files.write/a-deep-path",
        "A path of a hundred directories works for every function.",
        FILES
    ),
];

async fn makes_and_replaces(f: &Fixture) -> Verdict {
    let first = f.write("a", "a long content", Expected::Any).await?;
    f.holds("a", "a long content").await?;
    let second = f.write("a", "short", Expected::Any).await?;
    f.holds("a", "short").await?;
    that(first != second, "two contents have one version")
}

async fn missing_parent(f: &Fixture) -> Verdict {
    let written = f.write("d/a", "x", Expected::Any).await;
    expect_kind("write", written, ErrorKind::NotFound)?;
    let appended = f.append("d/a", "x", Expected::Any).await;
    expect_kind("append", appended, ErrorKind::NotFound)?;
    eq("the names", f.names(".").await?, Vec::<String>::new())
}

async fn make_parents(f: &Fixture) -> Verdict {
    f.put("a/b/c/d.txt", "x").await?;
    f.holds("a/b/c/d.txt", "x").await?;
    f.put("a/b/e.txt", "y").await?;
    eq("the names", f.names("a/b").await?, ["c", "e.txt"])
}

async fn make_parents_through_file(f: &Fixture) -> Verdict {
    f.put("a", "x").await?;
    let written = f.put("a/b/c", "y").await;
    expect_kind("write", written, ErrorKind::NotADirectory)?;
    f.holds("a", "x").await
}

async fn onto_directory(f: &Fixture) -> Verdict {
    f.make_directory("d").await?;
    for path in ["d", "d/", "d/."] {
        let written = f.write(path, "x", Expected::Any).await;
        expect_kind(path, written, ErrorKind::IsADirectory)?;
        let appended = f.append(path, "x", Expected::Any).await;
        expect_kind(path, appended, ErrorKind::IsADirectory)?;
        let replaced = f.replace(path, "x", "y").await;
        expect_kind(path, replaced, ErrorKind::IsADirectory)?;
    }
    Ok(())
}

async fn slash_on_nothing(f: &Fixture) -> Verdict {
    for path in ["a/", "a/."] {
        let written = f.write(path, "x", Expected::Any).await;
        expect_kind(path, written, ErrorKind::NotADirectory)?;
        let appended = f.append(path, "x", Expected::Any).await;
        expect_kind(path, appended, ErrorKind::NotADirectory)?;
    }
    f.absent("a").await
}

async fn slash_on_file(f: &Fixture) -> Verdict {
    f.put("a", "x").await?;
    let written = f.write("a/", "y", Expected::Any).await;
    expect_kind("write", written, ErrorKind::NotADirectory)?;
    let appended = f.append("a/", "y", Expected::Any).await;
    expect_kind("append", appended, ErrorKind::NotADirectory)?;
    let replaced = f.replace("a/", "x", "y").await;
    expect_kind("replace", replaced, ErrorKind::NotADirectory)?;
    f.holds("a", "x").await
}

fn executable() -> WriteOptions {
    WriteOptions {
        make_parents: true,
        executable: true,
        ..WriteOptions::default()
    }
}

async fn new_modes(f: &Fixture) -> Verdict {
    f.write("plain", "x", Expected::Any).await?;
    f.append("added", "x", Expected::Any).await?;
    f.write_with("d/e/run", "x", executable()).await?;
    f.append_with("d/run", "x", executable()).await?;
    for (path, mode) in [
        ("plain", 0o644),
        ("added", 0o644),
        ("d/e/run", 0o755),
        ("d/run", 0o755),
        ("d", 0o755),
        ("d/e", 0o755),
    ] {
        eq(path, f.stat(path).await?.mode, mode)?;
    }
    f.make_directory("m/n").await?;
    eq("m", f.stat("m").await?.mode, 0o755)?;
    eq("m/n", f.stat("m/n").await?.mode, 0o755)
}

async fn executable_adds(f: &Fixture) -> Verdict {
    f.put("a", "x").await?;
    f.write_with("a", "y", executable()).await?;
    eq("after write", f.stat("a").await?.mode, 0o755)?;
    // Without it the bits stay as they are.
    f.write("a", "z", Expected::Any).await?;
    eq("after a plain write", f.stat("a").await?.mode, 0o755)?;
    f.put("b", "x").await?;
    f.append_with("b", "y", executable()).await?;
    eq("after append", f.stat("b").await?.mode, 0o755)
}

async fn leaves_nothing(f: &Fixture) -> Verdict {
    let version = f.put("a", "1").await?;
    f.write("a", "2", Expected::Any).await?;
    f.replace("a", "2", "3").await?;
    f.append("a", "4", Expected::Any).await?;
    f.copy("a", "b", Expected::Any).await?;
    let absent = f.write("a", "5", Expected::Absent).await;
    expect_kind("absent", absent, ErrorKind::AlreadyExists)?;
    let stale = f.write("a", "5", Expected::Version(version)).await;
    expect_kind("stale", stale, ErrorKind::Stale)?;
    expect_kind(
        "no match",
        f.replace("a", "9", "8").await,
        ErrorKind::NoMatch,
    )?;
    let copied = f.copy("b", "a", Expected::Absent).await;
    expect_kind("copy", copied, ErrorKind::AlreadyExists)?;
    eq("the names", f.names(".").await?, ["a", "b"])?;
    f.holds("a", "34").await
}

async fn limit(f: &Fixture) -> Verdict {
    let most = usize::try_from(f.sandbox.describe().limits.file_bytes).unwrap_or(usize::MAX);
    if most > 256 << 20 {
        return Err(crate::Failure::unmet(
            "the session's limit is over 256 MiB, too much to try",
        ));
    }
    f.put("a", vec![b'x'; most]).await?;
    eq("the size", f.read("a").await?.bytes.len(), most)?;
    let over = f.write("a", vec![b'y'; most + 1], Expected::Any).await;
    expect_kind("one more", over, ErrorKind::TooLarge)?;
    let chunk = f.read_range("a", 0, 1).await?;
    eq(
        "still there",
        (chunk.bytes, chunk.size),
        (b"x".to_vec(), most as u64),
    )
}

/// Names that something, somewhere, takes for more than a name.
pub(super) const ODD_NAMES: &[&str] = &[
    " ",
    " leading and trailing ",
    "two\nlines",
    "a\ttab\r",
    "it's \"quoted\"",
    "$(touch pwned)",
    "`touch pwned`",
    "${HOME}",
    "~",
    "-rf",
    "--help",
    "a;b|c&d>e<f",
    "*",
    "?[a-z]{b,c}",
    "back\\slash",
    "!bang",
    "#hash%41",
    "...",
    "\u{754c}\u{e9}\u{1f980}",
    "e\u{301}",
    "\u{feff}bom",
    "\u{202e}rtl",
    "\u{1}control\u{7f}",
];

async fn unicode_names(f: &Fixture) -> Verdict {
    for (index, name) in ODD_NAMES.iter().enumerate() {
        f.write(name, index.to_string(), Expected::Absent).await?;
    }
    for (index, name) in ODD_NAMES.iter().enumerate() {
        f.holds(name, index.to_string()).await?;
    }
    let mut right: Vec<&str> = ODD_NAMES.to_vec();
    right.sort_unstable();
    eq("the names", f.names(".").await?, right)
}

async fn long_names(f: &Fixture) -> Verdict {
    let (fits, over) = ("n".repeat(255), "n".repeat(256));
    f.write(&fits, "1", Expected::Any).await?;
    f.write(&fits, "2", Expected::Any).await?;
    f.append(&fits, "3", Expected::Any).await?;
    f.replace(&fits, "2", "4").await?;
    f.holds(&fits, "43").await?;
    let written = f.write(&over, "x", Expected::Any).await;
    expect_kind("256 bytes", written, ErrorKind::TooLarge)
}

async fn deep(f: &Fixture) -> Verdict {
    let path = format!("{}file", "d/".repeat(100));
    f.put(&path, "x").await?;
    f.append(&path, "y", Expected::Any).await?;
    f.holds(&path, "xy").await?;
    eq("the size", f.stat(&path).await?.size, 2)?;
    eq("found", f.found("**/file").await?, [path.as_str()])?;
    f.rename(&path, "e", Expected::Any).await?;
    f.remove("d", true).await?;
    eq("the names", f.names(".").await?, ["e"])
}
