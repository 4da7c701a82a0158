//! `search`: lines, patterns, scope, order and limit.

use belljar_contract::{
    ErrorKind, QueryOptions, ScopeOptions,
    files::{MAX_CONTEXT_LINES, Syntax},
};

use crate::{
    case::{Case, FILES, Verdict, case},
    check::{eq, expect_kind, that},
    fixture::Fixture,
    fixture_files::{all, at_most, below},
};

pub(super) const CASES: &[Case] = &[
    case!(
        lines,
        "search/lines-and-offsets",
        "A match has its line number from 1, its byte offset, and its text without the line end.",
        FILES
    ),
    case!(
        once,
        "search/each-line-once",
        "A line is given once, however often it matches.",
        FILES
    ),
    case!(
        literal,
        "search/literal-patterns",
        "A literal stands for itself, with every sign, and is never an option.",
        FILES
    ),
    case!(
        regex,
        "search/regular-expressions",
        "The dialect's anchors, classes, alternatives and repetitions work, by Unicode.",
        FILES
    ),
    case!(
        bad,
        "search/bad-patterns",
        "A pattern that does not parse, is empty, too large, or spans lines is invalid-argument.",
        FILES
    ),
    case!(
        ignore_case,
        "search/ignore-case",
        "Case folding is Unicode's simple one, for literals and expressions.",
        FILES
    ),
    case!(
        limits,
        "search/limit-and-more",
        "more is set exactly when there is another line: limit below, at and above the number.",
        FILES
    ),
    case!(
        order,
        "search/order",
        "Matches come by path in byte order, then by line.",
        FILES
    ),
    case!(
        filters,
        "search/include-and-exclude",
        "Globs on the path or, without a slash, on the name; exclude wins and cuts directories.",
        FILES
    ),
    case!(
        scope,
        "search/hidden-and-ignored",
        "Hidden and ignored files count when asked for: by option, or as the base.",
        FILES
    ),
    case!(
        base_file,
        "search/a-file-as-base",
        "A file as the base is searched whatever its name; a base that is not there is not-found.",
        FILES
    ),
    case!(
        expensive,
        "search/expressions-take-linear-time",
        "An expression that would take for ever elsewhere ends.",
        FILES
    ),
];

fn regex_of(pattern: &str) -> QueryOptions {
    QueryOptions {
        pattern: pattern.to_owned(),
        syntax: Syntax::Regex,
        ..QueryOptions::default()
    }
}

pub(super) fn literal_of(pattern: &str) -> QueryOptions {
    QueryOptions {
        pattern: pattern.to_owned(),
        ..QueryOptions::default()
    }
}

async fn lines(f: &Fixture) -> Verdict {
    f.put("a", "one\nthe word\n\nword again\r\nlast word")
        .await?;
    let found = f.search(literal_of("word"), below(".")).await?;
    let got: Vec<_> = found
        .matches
        .iter()
        .map(|m| (m.line_number, m.offset, m.line.text.as_str()))
        .collect();
    let right = [
        (2, 4, "the word"),
        (4, 14, "word again"),
        (5, 26, "last word"),
    ];
    eq("the matches", got, right)?;
    that(
        found
            .matches
            .iter()
            .all(|m| !m.line.lossy && m.line.dropped == 0),
        "a whole line is marked as cut or lossy",
    )?;
    eq("more", found.more, false)
}

async fn once(f: &Fixture) -> Verdict {
    f.put("a", "x x x\ny\nxx\n").await?;
    eq("x", f.lines("x", below(".")).await?, ["a:1", "a:3"])
}

async fn literal(f: &Fixture) -> Verdict {
    for text in [
        "make_thing(",
        "a.c",
        "[x",
        "$HOME",
        "-x",
        "--help",
        "`ls`",
        "\\d",
        "a*b",
        "^",
        "(?i)",
        "\u{754c}",
        "'\"",
        "; rm",
        "{",
        "|",
    ] {
        f.put("a", format!("abc axb 1\n  {text}!\nnothing\n"))
            .await?;
        eq(text, f.lines(text, below(".")).await?, ["a:2"])?;
    }
    Ok(())
}

async fn regex(f: &Fixture) -> Verdict {
    f.put("a", "foo bar\nFoo1\n\u{e9}t\u{e9}\n\nbar foo\nx.y")
        .await?;
    for (pattern, right) in [
        ("^foo", &["a:1"][..]),
        ("foo$", &["a:5"]),
        ("^$", &["a:4"]),
        (r"\d", &["a:2"]),
        (r"^\w+$", &["a:2", "a:3"]),
        ("fo{2}", &["a:1", "a:5"]),
        ("bar|1", &["a:1", "a:2", "a:5"]),
        (r"x\.y", &["a:6"]),
        ("(?i)foo1", &["a:2"]),
        (r"\p{Lu}", &["a:2"]),
        ("^.t.$", &["a:3"]),
        (r"\bfoo\b", &["a:1", "a:5"]),
        ("[^ -~]", &["a:3"]),
    ] {
        eq(pattern, f.lines_like(pattern, below(".")).await?, right)?;
    }
    Ok(())
}

async fn bad(f: &Fixture) -> Verdict {
    f.put("a", "make_thing(1)\n").await?;
    for pattern in [
        "make_thing(",
        "[",
        "*",
        "a{2",
        "(?=x)",
        r"\1",
        r"a\nb",
        "x{1000}{1000}{1000}",
    ] {
        let found = f.search(regex_of(pattern), below(".")).await;
        if pattern == "a{2" && found.is_ok() {
            continue;
        }
        expect_kind(pattern, found, ErrorKind::InvalidArgument)?;
    }
    eq(
        "as a literal",
        f.lines("make_thing(", below(".")).await?,
        ["a:1"],
    )?;
    for query in [
        literal_of(""),
        regex_of(""),
        literal_of("a\nb"),
        literal_of("\n"),
    ] {
        let what = format!("{:?} {:?}", query.syntax, query.pattern);
        let found = f.search(query, below(".")).await;
        expect_kind(&what, found, ErrorKind::InvalidArgument)?;
    }
    let context = QueryOptions {
        context: MAX_CONTEXT_LINES + 1,
        ..literal_of("x")
    };
    let wide = f.search(context, below(".")).await;
    expect_kind("too much context", wide, ErrorKind::TooLarge)
}

async fn ignore_case(f: &Fixture) -> Verdict {
    f.put(
        "a",
        "Stra\u{df}e\n\u{c9}T\u{c9}\n\u{3a3}\u{391}\u{3a3}\nWord\n",
    )
    .await?;
    for (pattern, right) in [
        ("word", &["a:4"][..]),
        ("\u{e9}t\u{e9}", &["a:2"]),
        ("\u{3c3}\u{3b1}\u{3c2}", &["a:3"]),
        ("STRASSE", &[]),
    ] {
        for query in [literal_of(pattern), regex_of(pattern)] {
            let query = QueryOptions {
                ignore_case: true,
                ..query
            };
            eq(pattern, f.lines_of(query, below(".")).await?, right)?;
        }
        eq(pattern, f.lines(pattern, below(".")).await?, [""; 0])?;
    }
    Ok(())
}

async fn limits(f: &Fixture) -> Verdict {
    f.put("a", "word\nno\nword\n").await?;
    f.put("b", "word").await?;
    for (limit, count, more) in [
        (0, 0, true),
        (1, 1, true),
        (2, 2, true),
        (3, 3, false),
        (4, 3, false),
        (u32::MAX, 3, false),
    ] {
        let found = f.search(literal_of("word"), at_most(limit)).await?;
        let what = format!("limit {limit}");
        eq(&what, (found.matches.len(), found.more), (count, more))?;
    }
    let none = f.search(literal_of("absent"), at_most(0)).await?;
    eq(
        "nothing, limit 0",
        (none.matches.len(), none.more),
        (0, false),
    )
}

async fn order(f: &Fixture) -> Verdict {
    for path in ["d/x", "d-e", "d.e", "b", "D", "\u{e9}", "d0"] {
        f.put(path, "word\nword\n").await?;
    }
    let right = [
        "D:1", "D:2", "b:1", "b:2", "d-e:1", "d-e:2", "d.e:1", "d.e:2", "d/x:1", "d/x:2", "d0:1",
        "d0:2", "\u{e9}:1", "\u{e9}:2",
    ];
    eq("the order", f.lines("word", below(".")).await?, right)?;
    eq("the first", f.lines("word", at_most(3)).await?, &right[..3])
}

async fn filters(f: &Fixture) -> Verdict {
    for path in [
        "a.rs",
        "a.md",
        "d/b.rs",
        "d/e/c.rs",
        "vendor/v.rs",
        "d/vendor/w.rs",
    ] {
        f.put(path, "word\n").await?;
    }
    for (include, exclude, right) in [
        (
            &["*.rs"][..],
            &[][..],
            &[
                "a.rs:1",
                "d/b.rs:1",
                "d/e/c.rs:1",
                "d/vendor/w.rs:1",
                "vendor/v.rs:1",
            ][..],
        ),
        (&["d/*.rs"], &[], &["d/b.rs:1"]),
        (
            &["d/**"],
            &[],
            &["d/b.rs:1", "d/e/c.rs:1", "d/vendor/w.rs:1"],
        ),
        (&["*.md", "c.*"], &[], &["a.md:1", "d/e/c.rs:1"]),
        (&[], &["*.rs"], &["a.md:1"]),
        (
            &[],
            &["vendor"],
            &["a.md:1", "a.rs:1", "d/b.rs:1", "d/e/c.rs:1"],
        ),
        (&["*.rs"], &["a.*", "d/**"], &["vendor/v.rs:1"]),
        (&["*.rs"], &["*.rs"], &[]),
        (&["none"], &[], &[]),
    ] {
        let owned = |globs: &[&str]| globs.iter().map(ToString::to_string).collect();
        let query = QueryOptions {
            include: owned(include),
            exclude: owned(exclude),
            ..literal_of("word")
        };
        let what = format!("include {include:?}, exclude {exclude:?}");
        eq(&what, f.lines_of(query, below(".")).await?, right)?;
    }
    // Relative to the base, and not to the root.
    let query = QueryOptions {
        include: vec!["e/*.rs".to_owned()],
        ..literal_of("word")
    };
    eq(
        "below d",
        f.lines_of(query, below("d")).await?,
        ["d/e/c.rs:1"],
    )
}

async fn scope(f: &Fixture) -> Verdict {
    f.put(".gitignore", "dist/\n").await?;
    for path in ["a", ".cfg/a.txt", "dist/app.js"] {
        f.put(path, "word\n").await?;
    }
    eq("by default", f.lines("word", below(".")).await?, ["a:1"])?;
    eq(
        "a hidden base",
        f.lines("word", below(".cfg")).await?,
        [".cfg/a.txt:1"],
    )?;
    eq(
        "an ignored base",
        f.lines("word", below("dist")).await?,
        ["dist/app.js:1"],
    )?;
    let hidden = ScopeOptions {
        hidden: true,
        ..ScopeOptions::default()
    };
    eq(
        "hidden",
        f.lines("word", hidden).await?,
        [".cfg/a.txt:1", "a:1"],
    )?;
    let right = [".cfg/a.txt:1", "a:1", "dist/app.js:1"];
    eq("all", f.lines("word", all()).await?, right)
}

async fn base_file(f: &Fixture) -> Verdict {
    f.put(".gitignore", "*\n").await?;
    f.put("d/.x.log", "no\nword\n").await?;
    eq(
        "a file",
        f.lines("word", below("d/.x.log")).await?,
        ["d/.x.log:2"],
    )?;
    let none = f.search(literal_of("word"), below("none")).await;
    expect_kind("nothing there", none, ErrorKind::NotFound)?;
    let slash = f.search(literal_of("word"), below("d/.x.log/")).await;
    expect_kind("a slash on a file", slash, ErrorKind::NotADirectory)
}

async fn expensive(f: &Fixture) -> Verdict {
    f.put("a", format!("{}b\n", "a".repeat(20_000))).await?;
    let began = f.context().now();
    eq(
        "(a+)+$",
        f.lines_like("^(a+)+$", below(".")).await?,
        [""; 0],
    )?;
    eq(
        "(a|aa)+$",
        f.lines_like("^(a|aa)+$", below(".")).await?,
        [""; 0],
    )?;
    let took = f.context().now().saturating_sub(began);
    that(took.as_secs() < 10, "the expressions took more than 10 s")
}
