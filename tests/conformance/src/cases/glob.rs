//! `glob`: the dialect, what counts, order and limit.

use belljar_contract::ErrorKind;

use crate::{
    case::{Case, FILES, Verdict, case},
    check::{eq, expect_kind, that},
    fixture::Fixture,
    fixture_files::below,
};

pub(super) const CASES: &[Case] = &[
    case!(
        plain,
        "glob/the-dialect",
        "*, ?, classes, braces, ** and \\ match what the dialect says, on the whole path.",
        FILES
    ),
    case!(
        reported,
        "glob/signs-are-not-plain-text",
        "*.py, **/*.py and *.{md,sh} find one, two and two.",
        FILES
    ),
    case!(
        bad,
        "glob/bad-patterns",
        "A pattern that does not parse is invalid-argument, never an empty answer.",
        FILES
    ),
    case!(
        form,
        "glob/forms",
        "A leading ./, // and a trailing / are allowed; with the last, only directories match.",
        FILES
    ),
    case!(
        characters,
        "glob/by-character",
        "? and a class are one character, not one byte; case matters.",
        FILES
    ),
    case!(
        double_star,
        "glob/double-star",
        "** is any number of names, also none, and never the base itself.",
        FILES
    ),
    case!(
        odd,
        "glob/signs-in-names",
        "Names that hold glob signs are found by escaped signs, and matched by wildcards.",
        FILES
    ),
    case!(
        hostile,
        "glob/hostile-patterns-end",
        "A pattern made to take for ever ends, with an answer or an error.",
        FILES
    ),
];

pub(super) async fn tree(f: &Fixture, paths: &[&str]) -> Verdict {
    for path in paths {
        f.put(path, "").await?;
    }
    Ok(())
}

pub(super) const NONE: [&str; 0] = [];

async fn plain(f: &Fixture) -> Verdict {
    tree(
        f,
        &["a", "ab", "abc", "b", "d/a", "d/e/a", "x-y", "x]", "^"],
    )
    .await?;
    for (pattern, right) in [
        ("a", &["a"][..]),
        ("a*", &["a", "ab", "abc"]),
        ("*a", &["a"]),
        ("a?", &["ab"]),
        ("a??", &["abc"]),
        ("?", &["^", "a", "b", "d"]),
        ("[ab]", &["a", "b"]),
        ("[a-b]", &["a", "b"]),
        ("[!a]", &["^", "b", "d"]),
        ("[^a]", &["^", "b", "d"]),
        ("[!a-z]", &["^"]),
        ("x[-]y", &["x-y"]),
        ("x[]]", &["x]"]),
        ("{a,b}", &["a", "b"]),
        ("a{,b,bc}", &["a", "ab", "abc"]),
        ("{a,{b,x-y}}", &["a", "b", "x-y"]),
        ("{d/a,b}", &["b", "d/a"]),
        ("*/a", &["d/a"]),
        ("*/*/a", &["d/e/a"]),
        ("d/*", &["d/a", "d/e"]),
        (r"\a", &["a"]),
        (r"\*", &[]),
        ("A", &[]),
        ("d*a", &[]),
        ("d?a", &[]),
        ("d[/]a", &[]),
    ] {
        // A `/` in a class cannot match; that it is refused is as good.
        let found = f.found(pattern).await;
        if pattern == "d[/]a" && found.is_err() {
            continue;
        }
        eq(pattern, found?, right)?;
    }
    Ok(())
}

async fn reported(f: &Fixture) -> Verdict {
    tree(f, &["a.py", "sub/b.py", "c.md", "d.sh"]).await?;
    eq("*.py", f.found("*.py").await?, ["a.py"])?;
    eq("**/*.py", f.found("**/*.py").await?, ["a.py", "sub/b.py"])?;
    eq("*.{md,sh}", f.found("*.{md,sh}").await?, ["c.md", "d.sh"])?;
    let bad = f.glob("[a", below(".")).await;
    expect_kind("[a", bad, ErrorKind::InvalidArgument)
}

async fn bad(f: &Fixture) -> Verdict {
    f.put("a", "").await?;
    for pattern in [
        "", "[a", "[", "{a", "{a,b", "a**", "**a", "a/**b", r"a\", "[z-a]", "a\0",
    ] {
        let found = f.glob(pattern, below(".")).await;
        expect_kind(&format!("{pattern:?}"), found, ErrorKind::InvalidArgument)?;
        let query = belljar_contract::QueryOptions {
            pattern: "x".to_owned(),
            include: vec![pattern.to_owned()],
            ..Default::default()
        };
        let searched = f.search(query, below(".")).await;
        expect_kind(
            &format!("include {pattern:?}"),
            searched,
            ErrorKind::InvalidArgument,
        )?;
    }
    let long = f.glob(&"a".repeat(5000), below(".")).await;
    expect_kind("5,000 bytes", long, ErrorKind::TooLarge)
}

async fn form(f: &Fixture) -> Verdict {
    tree(f, &["a", "d/a", "d/e/a"]).await?;
    for (pattern, right) in [
        ("./a", &["a"][..]),
        ("./d/*", &["d/a", "d/e"]),
        ("d//a", &["d/a"]),
        ("*/", &["d"]),
        ("d/*/", &["d/e"]),
        ("**/", &["d", "d/e"]),
        ("a/", &[]),
    ] {
        eq(pattern, f.found(pattern).await?, right)?;
    }
    Ok(())
}

async fn characters(f: &Fixture) -> Verdict {
    tree(f, &["\u{754c}", "\u{e9}", "e\u{301}", "\u{1f980}x", "Z"]).await?;
    for (pattern, right) in [
        ("?", &["Z", "\u{e9}", "\u{754c}"][..]),
        ("??", &["e\u{301}", "\u{1f980}x"]),
        ("[\u{754c}\u{e9}]", &["\u{e9}", "\u{754c}"]),
        ("[\u{e0}-\u{ff}]", &["\u{e9}"]),
        ("z", &[]),
    ] {
        eq(pattern, f.found(pattern).await?, right)?;
    }
    Ok(())
}

async fn double_star(f: &Fixture) -> Verdict {
    tree(f, &["a", "d/a", "d/e/a", "d/e/f/a", "x/a"]).await?;
    for (pattern, right) in [
        ("**/a", &["a", "d/a", "d/e/a", "d/e/f/a", "x/a"][..]),
        ("d/**", &["d/a", "d/e", "d/e/a", "d/e/f", "d/e/f/a"]),
        ("d/**/a", &["d/a", "d/e/a", "d/e/f/a"]),
        ("d/**/f/a", &["d/e/f/a"]),
        ("**/e/**/a", &["d/e/a", "d/e/f/a"]),
        ("**/**/x/**", &["x/a"]),
        ("{d,x}/**/a", &["d/a", "d/e/a", "d/e/f/a", "x/a"]),
    ] {
        eq(pattern, f.found(pattern).await?, right)?;
    }
    let every = [
        "a", "d", "d/a", "d/e", "d/e/a", "d/e/f", "d/e/f/a", "x", "x/a",
    ];
    eq("**", f.found("**").await?, every)?;
    f.make_directory("empty").await?;
    eq("empty/**", f.found("empty/**").await?, NONE)
}

async fn odd(f: &Fixture) -> Verdict {
    tree(
        f,
        &["[a]", "*", "{b,c}", "x\\y", "-n", "a b", "two\nlines", "!z"],
    )
    .await?;
    for (pattern, right) in [
        (r"\[a\]", &["[a]"][..]),
        ("[[]a]", &["[a]"]),
        (r"\*", &["*"]),
        (r"\{b,c\}", &["{b,c}"]),
        (r"x\\y", &["x\\y"]),
        ("-*", &["-n"]),
        ("a b", &["a b"]),
        ("two\n*", &["two\nlines"]),
        ("two?lines", &["two\nlines"]),
        ("!*", &["!z"]),
    ] {
        eq(pattern, f.found(pattern).await?, right)?;
    }
    eq("*", f.found("*").await?.len(), 8)
}

async fn hostile(f: &Fixture) -> Verdict {
    let name = "a".repeat(200);
    f.put(&name, "").await?;
    let began = f.context().now();
    for pattern in [
        format!("{}b", "*a".repeat(100)),
        format!("{}b", "{a,aa}".repeat(60)),
        format!("{}{}", "{".repeat(2000), "}".repeat(2000)),
        format!("{}x", "**/".repeat(1000)),
        "{a,b}".repeat(800),
        format!("[{}]", "a-z".repeat(1000)),
    ] {
        // Which of the two it is depends on what the implementation bounds.
        if let Ok(found) = f.glob(&pattern, below(".")).await {
            that(found.total <= 1, "a pattern found more than there is")?;
        }
    }
    let took = f.context().now().saturating_sub(began);
    that(took.as_secs() < 20, "the patterns took more than 20 s")
}
