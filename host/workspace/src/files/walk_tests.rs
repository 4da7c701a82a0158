//! What of `glob` and `search` cannot be seen through the contract, or needs more than one thread.

use std::{os::unix::fs::symlink, path::Path};

use belljar_contract::{
    Context, ErrorKind, GuestPath, Pattern, Query, Request, Response, Scope,
    files::{GlobResult, SearchResult, Syntax},
    session::Limits,
};
use tempfile::TempDir;

use super::Workspace;

#[expect(clippy::disallowed_methods, reason = "a test makes its own files")]
fn write(path: &Path, bytes: &[u8]) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, bytes).unwrap();
}

struct Tree {
    directory: TempDir,
    workspace: Workspace,
}

impl Tree {
    fn new(files: &[(&str, &str)]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        for (path, content) in files {
            write(&directory.path().join(path), content.as_bytes());
        }
        let workspace = Workspace::open_ambient(directory.path(), &Limits::default()).unwrap();
        Self {
            directory,
            workspace,
        }
    }

    fn without_openat2(self) -> Self {
        let Workspace { root, file_bytes } = self.workspace;
        Self {
            directory: self.directory,
            workspace: Workspace {
                root: root.without_openat2(),
                file_bytes,
            },
        }
    }

    fn glob(&self, pattern: &str, scope: Scope) -> Result<GlobResult, ErrorKind> {
        let pattern = Pattern::parse(pattern).unwrap();
        match self
            .workspace
            .call(&Context::new(), Request::Glob { pattern, scope })
        {
            Ok(Response::Glob(result)) => Ok(result),
            Ok(other) => panic!("{other:?}"),
            Err(error) => Err(error.kind),
        }
    }

    fn search(&self, query: Query, scope: Scope) -> Result<SearchResult, ErrorKind> {
        match self
            .workspace
            .call(&Context::new(), Request::Search { query, scope })
        {
            Ok(Response::Search(result)) => Ok(result),
            Ok(other) => panic!("{other:?}"),
            Err(error) => Err(error.kind),
        }
    }

    fn lines(&self, query: Query) -> Vec<String> {
        shown(&self.search(query, scope(".", 1000)).unwrap())
    }
}

fn scope(base: &str, limit: u32) -> Scope {
    Scope {
        base: GuestPath::parse(base, "/").unwrap(),
        hidden: false,
        ignored: false,
        limit,
        within: Vec::new(),
    }
}

fn regex(pattern: &str) -> Query {
    Query {
        pattern: pattern.to_owned(),
        syntax: Syntax::Regex,
        ignore_case: false,
        include: Vec::new(),
        exclude: Vec::new(),
        context: 0,
    }
}

fn paths(result: &GlobResult) -> Vec<&str> {
    result
        .paths
        .iter()
        .map(|found| found.path.text.as_str())
        .collect()
}

fn shown(result: &SearchResult) -> Vec<String> {
    result
        .matches
        .iter()
        .map(|found| format!("{}:{}", found.path.text, found.line_number))
        .collect()
}

/// Enough directories, and enough files in one, for several threads.
fn wide() -> Tree {
    let mut files = Vec::new();
    for directory in 0..60 {
        for file in 0..5 {
            files.push(format!("d{directory:02}/e/f{file}.txt"));
        }
    }
    for file in 0..700 {
        files.push(format!("flat/f{file:03}.txt"));
    }
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|path| (path.as_str(), "x\nword\nword\n"))
        .collect();
    Tree::new(&files)
}

#[test]
fn several_threads_give_one_answer() {
    for tree in [wide(), wide().without_openat2()] {
        let all = tree.glob("**/*.txt", scope(".", 10_000)).unwrap();
        assert_eq!((all.total, all.paths.len()), (1000, 1000));
        assert!(all.paths.is_sorted_by(|a, b| a.path.text < b.path.text));
        let found = tree.search(regex("word"), scope(".", 10_000)).unwrap();
        assert_eq!((found.matches.len(), found.more), (2000, false));
        for limit in [0, 1, 2, 3, 599, 1999, 2000, 2001] {
            let first = tree.search(regex("word"), scope(".", limit)).unwrap();
            assert_eq!(first.matches, found.matches[..2000.min(limit as usize)]);
            assert_eq!(first.more, limit < 2000, "{limit}");
            let first = tree.glob("**/*.txt", scope(".", limit)).unwrap();
            assert_eq!(
                (first.total, &first.paths[..]),
                (1000, &all.paths[..1000.min(limit as usize)])
            );
        }
    }
}

#[test]
fn a_stopped_walk_ends() {
    let tree = wide();
    let context = Context::new();
    context.cancellation().cancel();
    let base = scope(".", 10);
    let pattern = Pattern::parse("**").unwrap();
    assert!(matches!(
        super::glob::glob(&tree.workspace, &context, &pattern, &base),
        Err(super::fault::Fault::Stopped(_))
    ));
    assert!(matches!(
        super::search::search(&tree.workspace, &context, &regex("word"), &base),
        Err(super::fault::Fault::Stopped(_))
    ));
}

#[test]
fn what_is_not_within_is_in_no_result_and_in_no_number() {
    let tree = Tree::new(&[
        ("open/a.txt", "word\nword"),
        ("open/sub/b.txt", "word"),
        ("shut/c.txt", "word"),
        ("shut/binary", "\0"),
        ("open.txt", "word"),
    ]);
    symlink("c.txt", tree.directory.path().join("shut/link")).unwrap();
    let globs = |texts: &[&str]| {
        texts
            .iter()
            .map(|text| Pattern::parse(text).unwrap())
            .collect()
    };
    let within = |limit: u32, lists: &[&[&str]]| Scope {
        within: lists.iter().map(|list| globs(list)).collect(),
        ..scope(".", limit)
    };
    let open: &[&[&str]] = &[&["open/**"]];
    let found = tree.glob("**", within(10, open)).unwrap();
    let seen = ["open", "open/a.txt", "open/sub", "open/sub/b.txt"];
    assert_eq!((paths(&found), found.total), (seen.to_vec(), 4));
    assert_eq!(found.skipped, Default::default());
    let found = tree.glob("{open/**,shut/c*}", within(3, open)).unwrap();
    assert_eq!((found.paths.len(), found.total), (3, 3));
    let named = tree.glob("shut/link", within(10, open)).unwrap();
    assert_eq!((named.total, named.skipped.links), (0, 0));

    let mut query = regex("word");
    query.include = globs(&["**"]);
    let found = tree.search(query.clone(), within(3, open)).unwrap();
    let seen = ["open/a.txt:1", "open/a.txt:2", "open/sub/b.txt:1"];
    assert_eq!(
        (shown(&found), found.more),
        (seen.map(str::to_owned).to_vec(), false)
    );
    assert_eq!(found.skipped, Default::default());
    // Of two lists each must have it.
    let both: &[&[&str]] = &[&["open/**"], &["**/b*", "*.txt"]];
    let found = tree.search(query, within(10, both)).unwrap();
    assert_eq!(shown(&found), ["open/sub/b.txt:1"]);
}

#[test]
fn globs_that_take_long_are_stopped_in_between() {
    let names: Vec<String> = (0..200)
        .map(|n| format!("{}{n}", "a".repeat(200)))
        .collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "")).collect();
    let tree = Tree::new(&files);
    let slow = Pattern::parse(&format!("{}b", "*a".repeat(2000))).unwrap();
    let mut query = regex("word");
    query.include = vec![slow.clone(); 256];
    let context = || Context::new().with_timeout(std::time::Duration::from_millis(20));
    let started = context().now();
    assert!(matches!(
        super::search::search(&tree.workspace, &context(), &query, &scope(".", 10)),
        Err(super::fault::Fault::Stopped(_))
    ));
    assert!(matches!(
        super::glob::glob(&tree.workspace, &context(), &slow, &scope(".", 10)),
        Err(super::fault::Fault::Stopped(_))
    ));
    // Without a look in between the first alone takes minutes.
    assert!(context().now() - started < std::time::Duration::from_secs(10));
}

#[test]
fn an_ignore_file_whose_patterns_are_too_large_together_is_counted() {
    let line = |n: usize| format!("{}b{n}\n", "*a".repeat(100));
    let patterns: String = (0..2500).map(line).collect();
    let tree = Tree::new(&[(".gitignore", &patterns), ("a.txt", "")]);
    let found = tree.glob("*", scope(".", 10)).unwrap();
    assert_eq!(paths(&found), ["a.txt"]);
    assert_eq!(found.skipped.unreadable, 1);
}

#[test]
fn links_are_counted_and_followed_only_as_a_beginning() {
    let tree = Tree::new(&[
        ("real/a.txt", "word"),
        ("real/.gitignore", "b.*"),
        ("real/b.txt", "word"),
        ("c.txt", ""),
    ]);
    symlink("real", tree.directory.path().join("link")).unwrap();
    symlink("nothing", tree.directory.path().join("real/dangling.txt")).unwrap();
    symlink("/etc", tree.directory.path().join("out")).unwrap();
    let found = tree.glob("link/*.txt", scope(".", 10)).unwrap();
    assert_eq!(
        (paths(&found), found.skipped.links),
        (vec!["link/a.txt", "link/dangling.txt"], 1)
    );
    let found = tree.glob("*.txt", scope("link", 10)).unwrap();
    assert_eq!(paths(&found), ["link/a.txt", "link/dangling.txt"]);
    let found = tree.glob("**/*.txt", scope(".", 10)).unwrap();
    assert_eq!(
        (paths(&found), found.skipped.links),
        (vec!["c.txt", "real/a.txt", "real/dangling.txt"], 3)
    );
    assert_eq!(paths(&tree.glob("link", scope(".", 10)).unwrap()), ["link"]);
    assert_eq!(
        tree.glob("out/*", scope(".", 10)),
        Err(ErrorKind::AccessDenied)
    );
    assert_eq!(
        tree.glob("*", scope("out", 10)),
        Err(ErrorKind::AccessDenied)
    );
    assert_eq!(
        shown(&tree.search(regex("word"), scope("link", 10)).unwrap()),
        ["link/a.txt:1"]
    );
    let found = tree.search(regex("word"), scope(".", 10)).unwrap();
    assert_eq!(
        (shown(&found), found.skipped.links),
        (vec!["real/a.txt:1".to_owned()], 3)
    );
}

#[test]
fn ignore_files_are_read_through_handles_and_links_to_them_are_not() {
    let tree = Tree::new(&[
        ("a.txt", ""),
        ("b.txt", ""),
        ("rules", "a.txt\n"),
        ("d/a.txt", ""),
    ]);
    symlink("rules", tree.directory.path().join(".gitignore")).unwrap();
    write(
        &tree.directory.path().join("d/.ignore"),
        b"\xef\xbb\xbf/a.txt\r\n[bad\n",
    );
    assert_eq!(
        paths(&tree.glob("**/?.txt", scope(".", 10)).unwrap()),
        ["a.txt", "b.txt"]
    );
}

#[test]
fn a_tree_deeper_than_a_path_is_walked() {
    let tree = Tree::new(&[]);
    let mut current =
        cap_std::fs::Dir::open_ambient_dir(tree.directory.path(), cap_std::ambient_authority())
            .unwrap();
    let name = "d".repeat(200);
    for _ in 0..60 {
        current.create_dir(&name).unwrap();
        current = current.open_dir(&name).unwrap();
    }
    current.write("end.txt", "word").unwrap();
    assert_eq!(tree.glob("**/end.txt", scope(".", 10)).unwrap().total, 1);
    assert_eq!(tree.lines(regex("word")).len(), 1);
    let tree = tree.without_openat2();
    assert_eq!(tree.glob("**/end.txt", scope(".", 10)).unwrap().total, 1);
    let request = Request::Remove {
        path: GuestPath::parse(&name, "/").unwrap(),
        recursive: true,
    };
    tree.workspace.call(&Context::new(), request).unwrap();
}

#[test]
fn each_line_is_looked_at_alone() {
    let tree = Tree::new(&[("a", "foo\r\nbar\rfoo\n\r\nfoo\r\r\n\nlast\r")]);
    for (pattern, right) in [
        ("foo$", &["a:1", "a:2"][..]),
        ("^foo", &["a:1", "a:4"]),
        ("^$", &["a:3", "a:5"]),
        (r"r.f", &["a:2"]),
        (r"foo\s", &["a:4"]),
        (r"foo\r$", &["a:4"]),
        (r"last$", &[]),
        (r"last\r$", &["a:6"]),
        (r"\Abar", &["a:2"]),
        (r"foo\b", &["a:1", "a:2", "a:4"]),
        (r"o\n?$", &["a:1", "a:2"]),
        (r"[^a]oo", &["a:1", "a:2", "a:4"]),
        (r"(?-u:\xff)", &[]),
        ("foo|\n", &["a:1", "a:2", "a:4"]),
    ] {
        assert_eq!(tree.lines(regex(pattern)), right, "{pattern}");
    }
    for pattern in [
        "\n",
        "foo\n",
        r"foo\nbar",
        r"[\n]",
        "(",
        r"a{1000}{1000}",
        r"(?=a)",
        r"(a)\1",
    ] {
        let refused = tree.search(regex(pattern), scope(".", 1));
        assert_eq!(refused, Err(ErrorKind::InvalidArgument), "{pattern}");
    }
    let last = tree.search(regex("last"), scope(".", 1)).unwrap();
    assert_eq!(last.matches[0].line.text, "last\r");
    let literal = |pattern: &str| Query {
        syntax: Syntax::Literal,
        ..regex(pattern)
    };
    assert_eq!(tree.lines(literal("foo\r")), ["a:4"]);
    assert_eq!(tree.lines(literal("\rfoo")), ["a:2"]);
    assert_eq!(
        tree.search(literal("a\nb"), scope(".", 1)),
        Err(ErrorKind::InvalidArgument)
    );
}

#[test]
fn context_reaches_over_the_pieces_that_are_read() {
    // Lines of 1 KiB: a piece's edge falls between any two of them.
    let lines: Vec<String> = (0..1000)
        .map(|number| format!("{number:04} {}\n", "x".repeat(1018)))
        .collect();
    let tree = Tree::new(&[("a", &lines.concat())]);
    let query = Query {
        context: 3,
        ..regex("^(0126|0127|0128|0129|0255|0256|0000|0999) ")
    };
    let found = tree.search(query, scope(".", 100)).unwrap();
    assert_eq!(found.matches.len(), 8);
    let number = |line: &belljar_contract::files::Line| line.text[..4].parse::<u64>().unwrap();
    for found in &found.matches {
        let at = number(&found.line);
        assert_eq!((found.line_number, found.offset), (at + 1, at * 1024));
        let before: Vec<_> = found.before.iter().map(number).collect();
        let after: Vec<_> = found.after.iter().map(number).collect();
        assert_eq!(before, (at.saturating_sub(3)..at).collect::<Vec<_>>());
        assert_eq!(after, (at + 1..(at + 4).min(1000)).collect::<Vec<_>>());
    }
}

#[test]
fn a_nul_after_matches_takes_them_back_and_a_long_line_is_cut() {
    let long = "y".repeat(1 << 20);
    let text = format!("word\n{long}word\nword{long}\n");
    let tree = Tree::new(&[("a", &text), ("b", &format!("{text}\0"))]);
    let found = tree.search(regex("word"), scope(".", 100)).unwrap();
    assert_eq!(
        (shown(&found), found.skipped.binary),
        (
            vec!["a:1".to_owned(), "a:2".to_owned(), "a:3".to_owned()],
            1
        )
    );
    assert_eq!(found.matches[1].line.dropped, (1 << 20) + 4 - 2000);
}

#[test]
fn filters_name_hidden_and_ignored_files() {
    let tree = Tree::new(&[
        (".gitignore", "dist/\n*.log\n"),
        ("dist/app.js", "word"),
        ("dist/b.log", "word"),
        (".github/ci.yml", "word"),
        (".env", "word"),
        ("src/.env", "word"),
        ("src/a.rs", "word"),
        ("src/a.log", "word"),
        ("src/gen/b.rs", "word"),
    ]);
    let with = |include: &[&str], exclude: &[&str]| {
        let globs = |texts: &[&str]| {
            texts
                .iter()
                .map(|text| Pattern::parse(text).unwrap())
                .collect()
        };
        tree.lines(Query {
            include: globs(include),
            exclude: globs(exclude),
            ..regex("word")
        })
    };
    assert_eq!(with(&[], &[]), ["src/a.rs:1", "src/gen/b.rs:1"]);
    assert_eq!(with(&["*.rs"], &["gen"]), ["src/a.rs:1"]);
    assert_eq!(with(&["src/*.rs"], &[]), ["src/a.rs:1"]);
    assert_eq!(with(&[".env"], &[]), [".env:1", "src/.env:1"]);
    assert_eq!(with(&[".github/**"], &[]), [".github/ci.yml:1"]);
    assert_eq!(with(&["dist/**"], &[]), ["dist/app.js:1"]);
    assert_eq!(with(&["dist/b.log"], &[]), ["dist/b.log:1"]);
    assert_eq!(with(&["*.log"], &[]), [""; 0]);
    assert_eq!(with(&[], &["src/gen/"]), ["src/a.rs:1"]);
}
