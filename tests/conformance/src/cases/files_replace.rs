//! `replace`: literal bytes, counted exactly.

use belljar_contract::{ErrorKind, Expected, files::ReplaceOptions};

use crate::{
    case::{Case, FILES, Verdict, case},
    check::{eq, expect_kind},
    fixture::Fixture,
};

pub(super) const CASES: &[Case] = &[
    case!(
        one,
        "files.replace/exactly-one",
        "One occurrence is replaced, and the answer counts it and gives the version that read gives.",
        FILES
    ),
    case!(
        new_is_literal,
        "files.replace/new-text-is-literal",
        "Replacement text with dollar signs and backslashes goes in byte for byte, once and for all.",
        FILES
    ),
    case!(
        old_is_literal,
        "files.replace/old-text-is-literal",
        "What looks like a regular expression or a glob is looked for as it is.",
        FILES
    ),
    case!(
        mark_and_last_newline,
        "files.replace/keeps-mark-and-missing-newline",
        "A byte order mark stays first, a missing last newline stays missing, CRLF stays.",
        FILES
    ),
    case!(
        near_is_nothing,
        "files.replace/near-is-not-a-match",
        "Other white space is no match, and the file is unchanged.",
        FILES
    ),
    case!(
        overlapping,
        "files.replace/overlapping-occurrences-count",
        "aa is twice in aaa: several-matches; with all, from the left and not overlapping.",
        FILES
    ),
    case!(
        several,
        "files.replace/several-and-all",
        "More than one is several-matches and changes nothing; all replaces and counts them.",
        FILES
    ),
    case!(
        none,
        "files.replace/no-match",
        "None is no-match, with all too, in an empty file too.",
        FILES
    ),
    case!(
        empty_old,
        "files.replace/empty-old",
        "Empty old text is invalid-argument, whatever the file.",
        FILES
    ),
    case!(
        not_text,
        "files.replace/bytes-that-are-not-text",
        "Old and new may be any bytes, in a file that is not UTF-8, and across lines.",
        FILES
    ),
    case!(
        shrinks_and_grows,
        "files.replace/shrinks-and-grows",
        "The new text may be empty or longer, at the start, at the end, and the whole.",
        FILES
    ),
    case!(
        same,
        "files.replace/by-itself",
        "A replacement by the same text counts and keeps the version.",
        FILES
    ),
    case!(
        errors,
        "files.replace/nothing-and-directories",
        "Nothing there is not-found; a directory is is-a-directory; through a file not-a-directory.",
        FILES
    ),
    case!(
        expected,
        "files.replace/expected",
        "A version that is not the file's is stale; absent is already-exists; nothing changes.",
        FILES
    ),
    case!(
        result_too_large,
        "files.replace/a-result-over-the-limit",
        "A result over the size limit is too-large, and the file is unchanged.",
        FILES
    ),
    case!(
        many,
        "files.replace/many-occurrences",
        "A hundred thousand occurrences are replaced and counted.",
        FILES
    ),
];

async fn one(f: &Fixture) -> Verdict {
    f.put("a", "one two three").await?;
    let replaced = f.replace("a", "two", "2").await?;
    eq("the count", replaced.count, 1)?;
    f.holds("a", "one 2 three").await?;
    eq("the version", f.read("a").await?.version, replaced.version)
}

async fn new_is_literal(f: &Fixture) -> Verdict {
    for new in [r"$$100 $& $1 ${x} \1", r"\0\\ \n %s {} &", "$'`$`"] {
        f.put("a", "price: SLOT\n").await?;
        f.replace("a", "SLOT", new).await?;
        f.holds("a", format!("price: {new}\n")).await?;
        f.put("a", "SLOT SLOT\n").await?;
        eq(new, f.replace_all("a", "SLOT", new).await?.count, 2)?;
        f.holds("a", format!("{new} {new}\n")).await?;
    }
    Ok(())
}

async fn old_is_literal(f: &Fixture) -> Verdict {
    for old in ["a.c", "x*", "[ab]", "(?i)A", "^a", "a$", r"\d", "-n", "a|b"] {
        f.put("a", "abc xx b 1 A").await?;
        expect_kind(old, f.replace("a", old, "!").await, ErrorKind::NoMatch)?;
        f.put("a", format!("abc {old} 1")).await?;
        f.replace("a", old, "!").await?;
        f.holds("a", "abc ! 1").await?;
    }
    Ok(())
}

async fn mark_and_last_newline(f: &Fixture) -> Verdict {
    f.put("a", "\u{feff}const v = 1;").await?;
    let replaced = f.replace("a", "const v = 1;", "const v = 2;").await?;
    eq("the count", replaced.count, 1)?;
    f.holds("a", "\u{feff}const v = 2;").await?;
    f.put("a", "one\r\ntwo\r\nthree").await?;
    f.replace("a", "two\r\n", "2\r\n").await?;
    f.holds("a", "one\r\n2\r\nthree").await?;
    let unix = f.replace("a", "one\n2", "x").await;
    expect_kind("LF for CRLF", unix, ErrorKind::NoMatch)
}

async fn near_is_nothing(f: &Fixture) -> Verdict {
    let text = "alpha\n   beta\ngamma\n";
    f.put("a", text).await?;
    let four = f.replace("a", "    beta", "    delta").await;
    expect_kind("four spaces for three", four, ErrorKind::NoMatch)?;
    for old in ["\tbeta", "Beta", "beta ", "be\u{301}ta", "alpha\nbeta"] {
        expect_kind(old, f.replace("a", old, "x").await, ErrorKind::NoMatch)?;
    }
    f.holds("a", text).await
}

async fn overlapping(f: &Fixture) -> Verdict {
    f.put("a", "aaa").await?;
    let once = f.replace("a", "aa", "b").await;
    expect_kind("once", once, ErrorKind::SeveralMatches)?;
    f.holds("a", "aaa").await?;
    eq("the count", f.replace_all("a", "aa", "b").await?.count, 1)?;
    f.holds("a", "ba").await?;
    f.put("a", "abababa").await?;
    let once = f.replace("a", "aba", "x").await;
    expect_kind("aba", once, ErrorKind::SeveralMatches)?;
    eq("the count", f.replace_all("a", "aba", "x").await?.count, 2)?;
    f.holds("a", "xbx").await
}

async fn several(f: &Fixture) -> Verdict {
    f.put("a", "x y x").await?;
    let once = f.replace("a", "x", "z").await;
    expect_kind("once", once, ErrorKind::SeveralMatches)?;
    f.holds("a", "x y x").await?;
    eq("the count", f.replace_all("a", "x", "xx").await?.count, 2)?;
    f.holds("a", "xx y xx").await
}

async fn none(f: &Fixture) -> Verdict {
    for text in ["", "y", "x"] {
        f.put("a", text).await?;
        let once = f.replace("a", "xx", "z").await;
        expect_kind("once", once, ErrorKind::NoMatch)?;
        let all = f.replace_all("a", "xx", "z").await;
        expect_kind("all", all, ErrorKind::NoMatch)?;
        f.holds("a", text).await?;
    }
    Ok(())
}

async fn empty_old(f: &Fixture) -> Verdict {
    for text in ["", "x"] {
        f.put("a", text).await?;
        let once = f.replace("a", "", "z").await;
        expect_kind("once", once, ErrorKind::InvalidArgument)?;
        let all = f.replace_all("a", "", "z").await;
        expect_kind("all", all, ErrorKind::InvalidArgument)?;
        f.holds("a", text).await?;
    }
    let none = f.replace("none", "", "z").await;
    expect_kind("nothing there", none, ErrorKind::InvalidArgument)
}

async fn not_text(f: &Fixture) -> Verdict {
    f.put("a", b"\xff\0\n\xfe\r\n").await?;
    f.replace("a", b"\0\n\xfe", b"\x80\n\n\xc3").await?;
    f.holds("a", b"\xff\x80\n\n\xc3\r\n").await?;
    // Half a character is bytes like others.
    f.put("a", "\u{754c}").await?;
    f.replace("a", b"\x95", b"\x94").await?;
    f.holds("a", b"\xe7\x94\x8c").await
}

async fn shrinks_and_grows(f: &Fixture) -> Verdict {
    f.put("a", "start middle end").await?;
    f.replace("a", "start ", "").await?;
    f.replace("a", " end", "").await?;
    f.holds("a", "middle").await?;
    f.replace("a", "middle", "").await?;
    f.holds("a", "").await?;
    f.put("a", "x").await?;
    f.replace("a", "x", "y".repeat(200_000)).await?;
    f.holds("a", "y".repeat(200_000)).await
}

async fn same(f: &Fixture) -> Verdict {
    let version = f.put("a", "x y").await?;
    let replaced = f.replace("a", "x", "x").await?;
    eq(
        "the answer",
        (replaced.count, replaced.version),
        (1, version),
    )
}

async fn errors(f: &Fixture) -> Verdict {
    f.put("d/a", "x").await?;
    let none = f.replace("none", "x", "y").await;
    expect_kind("nothing there", none, ErrorKind::NotFound)?;
    let directory = f.replace("d", "x", "y").await;
    expect_kind("a directory", directory, ErrorKind::IsADirectory)?;
    let through = f.replace("d/a/b", "x", "y").await;
    expect_kind("through a file", through, ErrorKind::NotADirectory)?;
    f.absent("none").await
}

async fn expected(f: &Fixture) -> Verdict {
    let first = f.put("a", "1").await?;
    let when = |expected| ReplaceOptions {
        expected,
        all: false,
    };
    let version = Expected::Version(first.clone());
    let second = f.replace_with("a", "1", "2", when(version.clone())).await?;
    let stale = f.replace_with("a", "2", "3", when(version.clone())).await;
    expect_kind("stale", stale, ErrorKind::Stale)?;
    let absent = f.replace_with("a", "2", "3", when(Expected::Absent)).await;
    expect_kind("absent", absent, ErrorKind::AlreadyExists)?;
    let gone = f.replace_with("none", "2", "3", when(version)).await;
    expect_kind("a version of nothing", gone, ErrorKind::Stale)?;
    f.holds("a", "2").await?;
    eq("the version", f.read("a").await?.version, second.version)
}

async fn result_too_large(f: &Fixture) -> Verdict {
    let most = usize::try_from(f.sandbox.describe().limits.file_bytes).unwrap_or(usize::MAX);
    if most > 64 << 20 {
        return Err(crate::Failure::unmet(
            "the session's limit is over 64 MiB, too much to try",
        ));
    }
    let half = most / 2 + 1;
    f.put("a", "xx").await?;
    let over = f.replace_all("a", "x", vec![b'y'; half]).await;
    expect_kind("all", over, ErrorKind::TooLarge)?;
    f.holds("a", "xx").await?;
    f.put("b", vec![b'z'; most]).await?;
    f.append("c", "x", Expected::Any).await?;
    f.replace("c", "x", vec![b'y'; most]).await?;
    eq(
        "a result of the limit",
        f.stat("c").await?.size,
        most as u64,
    )
}

async fn many(f: &Fixture) -> Verdict {
    f.put("a", "ab".repeat(100_000)).await?;
    let replaced = f.replace_all("a", "b", "cd").await?;
    eq("the count", replaced.count, 100_000)?;
    f.holds("a", "acd".repeat(100_000)).await
}
