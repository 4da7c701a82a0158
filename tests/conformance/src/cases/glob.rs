//! `glob`: the dialect, what counts, order and limit.

use belljar_contract::{ErrorKind, ScopeOptions, files::EntryKind};

use crate::{
    case::{Case, FILES, Verdict, case},
    check::{eq, expect_kind, that},
    fixture::Fixture,
    fixture_files::{all, at_most, below},
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
        hidden,
        "glob/hidden",
        "Hidden entries count when asked for: by option, by name, or by a literal dot.",
        FILES
    ),
    case!(
        ignored,
        "glob/ignored",
        "What ignore files exclude counts when asked for: by option or by name.",
        FILES
    ),
    case!(
        dialect_of_ignore,
        "glob/ignore-files-as-git-reads-them",
        "Anchors, directories, negation, deeper files and .ignore work as documented.",
        FILES
    ),
    case!(
        by_name,
        "glob/without-a-wildcard-names-a-path",
        "A glob without a wildcard finds its path, whatever it is called.",
        FILES
    ),
    case!(
        limits,
        "glob/limit-and-total",
        "The first limit paths are given, and total counts all: at, above and below the limit.",
        FILES
    ),
    case!(
        order,
        "glob/order",
        "Paths come in byte order of the whole path, across directories.",
        FILES
    ),
    case!(
        base,
        "glob/base",
        "Patterns are relative to the base, paths to the root; the base's errors are a path's.",
        FILES
    ),
    case!(
        odd,
        "glob/signs-in-names",
        "Names that hold glob signs are found by escaped signs, and matched by wildcards.",
        FILES
    ),
    case!(
        kinds,
        "glob/kinds",
        "Files and directories are found and told apart.",
        FILES
    ),
    case!(
        hostile,
        "glob/hostile-patterns-end",
        "A pattern made to take for ever ends, with an answer or an error.",
        FILES
    ),
];

async fn tree(f: &Fixture, paths: &[&str]) -> Verdict {
    for path in paths {
        f.put(path, "").await?;
    }
    Ok(())
}

const NONE: [&str; 0] = [];

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

async fn hidden(f: &Fixture) -> Verdict {
    tree(f, &[".a", ".d/b", "c/.e", "c/f", ".d/.g"]).await?;
    for (pattern, right) in [
        ("*", &["c"][..]),
        ("**", &["c", "c/f"]),
        ("**/b", &[]),
        (".*", &[".a", ".d"]),
        (".d/*", &[".d/b"]),
        (".d/**", &[".d/b"]),
        (".d/.*", &[".d/.g"]),
        ("**/.*", &[".a", ".d", "c/.e"]),
        (".a", &[".a"]),
        ("c/.e", &["c/.e"]),
        ("[.]a", &[]),
        ("?a", &[]),
    ] {
        eq(pattern, f.found(pattern).await?, right)?;
    }
    let from = |base: &str| below(base);
    eq(
        "a hidden base",
        f.found_in("*", from(".d")).await?,
        [".d/b"],
    )?;
    let every = [".a", ".d", ".d/.g", ".d/b", "c", "c/.e", "c/f"];
    eq("all", f.found_in("**", all()).await?, every)
}

async fn ignored(f: &Fixture) -> Verdict {
    f.put(".gitignore", "dist/\n*.log\n").await?;
    tree(
        f,
        &[
            "dist/app.js",
            "dist/sub/x.js",
            ".cfg/a.txt",
            "a.log",
            "src/b.log",
            "src/c",
        ],
    )
    .await?;
    for (pattern, right) in [
        ("**/*", &["src", "src/c"][..]),
        ("**", &["src", "src/c"]),
        ("*", &["src"]),
        ("dist", &["dist"]),
        ("dist/app.js", &["dist/app.js"]),
        ("dist/*.js", &["dist/app.js"]),
        ("dist/**", &["dist/app.js", "dist/sub", "dist/sub/x.js"]),
        ("a.log", &["a.log"]),
        ("*.log", &[]),
        ("src/*.log", &[]),
        ("src/b.log", &["src/b.log"]),
        ("{dist,src}/*", &["src/c"]),
    ] {
        eq(pattern, f.found(pattern).await?, right)?;
    }
    eq(
        "an ignored base",
        f.found_in("*.js", below("dist")).await?,
        ["dist/app.js"],
    )?;
    let shown = ScopeOptions {
        ignored: true,
        ..ScopeOptions::default()
    };
    let right = ["dist/app.js", "dist/sub/x.js"];
    eq("with ignored", f.found_in("**/*.js", shown).await?, right)
}

async fn dialect_of_ignore(f: &Fixture) -> Verdict {
    let rules =
        "# a comment\n/top\nbuild/\n*.tmp\n!keep.tmp\n\\#odd\ndoc/*.txt\n**/deep/x\ntrail  \n";
    f.put(".gitignore", rules).await?;
    f.put("d/.gitignore", "!back.tmp\nonly\r\n").await?;
    f.put("e/.gitignore", "one\n!two\n").await?;
    f.put("e/.ignore", "!one\ntwo\n").await?;
    tree(
        f,
        &[
            "top",
            "d/top",
            "build/x",
            "d/build",
            "a.tmp",
            "keep.tmp",
            "d/back.tmp",
            "d/a.tmp",
            "#odd",
            "doc/a.txt",
            "doc/sub/b.txt",
            "only",
            "d/only",
            "q/deep/x",
            "q/deep/y",
            "trail",
            "e/one",
            "e/two",
        ],
    )
    .await?;
    let right = [
        "d",
        "d/back.tmp",
        "d/build",
        "d/top",
        "doc",
        "doc/sub",
        "doc/sub/b.txt",
        "e",
        "e/one",
        "keep.tmp",
        "only",
        "q",
        "q/deep",
        "q/deep/y",
    ];
    eq("**", f.found("**").await?, right)?;
    // The files above a base count for it too.
    eq(
        "below d",
        f.found_in("*", below("d")).await?,
        ["d/back.tmp", "d/build", "d/top"],
    )
}

async fn by_name(f: &Fixture) -> Verdict {
    f.put(".gitignore", "*\n").await?;
    tree(f, &["a", ".h/b", "d/.x/y z"]).await?;
    for path in ["a", ".h/b", "d/.x/y z", ".gitignore", "d", "d/.x", "./a"] {
        let right = path.trim_start_matches("./");
        eq(path, f.found(path).await?, [right])?;
    }
    eq("none", f.found("none").await?, NONE)?;
    eq("none/deep", f.found("none/deep").await?, NONE)?;
    eq("a/below", f.found("a/below").await?, NONE)
}

async fn limits(f: &Fixture) -> Verdict {
    tree(f, &["b", "a", "c", "d/a"]).await?;
    for (limit, right) in [
        (0, &[][..]),
        (1, &["a"]),
        (2, &["a", "b"]),
        (3, &["a", "b", "c"]),
        (4, &["a", "b", "c", "d"]),
        (5, &["a", "b", "c", "d", "d/a"]),
        (6, &["a", "b", "c", "d", "d/a"]),
        (u32::MAX, &["a", "b", "c", "d", "d/a"]),
    ] {
        let found = f.glob("**", at_most(limit)).await?;
        let paths: Vec<_> = found.paths.iter().map(|p| p.path.text.as_str()).collect();
        eq(&format!("limit {limit}"), paths, right)?;
        eq("the total", found.total, 5)?;
    }
    Ok(())
}

async fn order(f: &Fixture) -> Verdict {
    // `-` and `.` come before `/`, and letters after it.
    let mut paths = ["d/x", "d-e", "d.e", "d0", "da", "D/x", "\u{e9}"];
    tree(f, &paths).await?;
    paths.sort_unstable();
    let mut right: Vec<&str> = paths.to_vec();
    right.extend(["d", "D"]);
    right.sort_unstable();
    eq("**", f.found("**").await?, right)
}

async fn base(f: &Fixture) -> Verdict {
    tree(f, &["a", "d/a", "d/e/a"]).await?;
    eq("*", f.found_in("*", below("d")).await?, ["d/a", "d/e"])?;
    eq("e/a", f.found_in("e/a", below("d/")).await?, ["d/e/a"])?;
    eq("d/a", f.found_in("d/a", below("d")).await?, NONE)?;
    let none = f.glob("*", below("none")).await;
    expect_kind("nothing there", none, ErrorKind::NotFound)?;
    let file = f.glob("*", below("a")).await;
    expect_kind("a file", file, ErrorKind::NotADirectory)
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

async fn kinds(f: &Fixture) -> Verdict {
    tree(f, &["a", "d/b"]).await?;
    let found = f.glob("**", below(".")).await?;
    let kinds: Vec<_> = found
        .paths
        .iter()
        .map(|found| (found.path.text.as_str(), found.kind))
        .collect();
    let right = [
        ("a", EntryKind::File),
        ("d", EntryKind::Directory),
        ("d/b", EntryKind::File),
    ];
    eq("the kinds", kinds, right)
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
