//! What counts for `glob`: hidden, ignored, the base, limits and order.

use super::glob::{NONE, tree};
use belljar_contract::{ErrorKind, ScopeOptions, files::EntryKind};

use crate::{
    case::{Case, FILES, Verdict, case},
    check::{eq, expect_kind},
    fixture::Fixture,
    fixture_files::{all, at_most, below},
};

pub(super) const CASES: &[Case] = &[
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
        kinds,
        "glob/kinds",
        "Files and directories are found and told apart.",
        FILES
    ),
];

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
