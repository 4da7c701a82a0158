//! How long the files engine takes, beside what people would use instead: `std::fs::read`, and the whole
//! processes `fdfind` and `rg` (Debian's fd-find and ripgrep; left out where they are not installed).
//!
//! `cargo bench -p belljar-workspace --bench files` prints a table. The ratio is of the medians of
//! runs that took turns.
#![expect(clippy::print_stdout, reason = "it is a program that prints a table")]
#![expect(
    clippy::disallowed_methods,
    reason = "it makes its own files, and measures what is banned elsewhere"
)]

use std::{
    fmt::Write as _,
    hint::black_box,
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use belljar_contract::{
    Context, GuestPath, Pattern, Query, Request, Response, Scope, files::Syntax, session::Limits,
};
use belljar_workspace::files::Workspace;

/// 100 × 20 directories of 50 files.
const TREE: (usize, usize, usize) = (100, 20, 50);
const ROUNDS: usize = 9;

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let directory = tempfile::tempdir()?;
    let root = directory.path();
    make_tree(root)?;
    let workspace = Workspace::open_ambient(root, &Limits::default())?;
    println!("{:<44}{:>12}{:>12}{:>8}", "", "engine", "other", "ratio");
    read(&workspace, root)?;
    globs(&workspace, root)?;
    searches(&workspace, root)
}

fn make_tree(root: &Path) -> Result<(), Failure> {
    let kinds = ["rs", "md", "txt", "py"];
    std::fs::write(root.join(".ignore"), "*.log\ntarget/\n")?;
    for top in 0..TREE.0 {
        for middle in 0..TREE.1 {
            let directory = root.join(format!("module_{top}/part_{middle}"));
            std::fs::create_dir_all(&directory)?;
            for file in 0..TREE.2 {
                let mut text = String::new();
                for line in 0..40 {
                    writeln!(
                        text,
                        "    let value_{line} = compute(module_{top}, {file});"
                    )?;
                }
                if file == 7 && middle == 3 {
                    text.push_str("// the needle is here\n");
                }
                let name = format!("file_{file}.{}", kinds[file % kinds.len()]);
                std::fs::write(directory.join(name), text)?;
            }
        }
    }
    std::fs::write(root.join("kibibyte"), [b'x'; 1024])?;
    Ok(())
}

/// Lets both take turns and prints their medians. `other` gives none where it cannot be had.
fn compare(
    what: &str,
    times: u32,
    mut engine: impl FnMut() -> Result<(), Failure>,
    mut other: impl FnMut() -> Result<bool, Failure>,
) -> Result<(), Failure> {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    engine()?;
    let has_other = other()?;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        for _ in 0..times {
            engine()?;
        }
        ours.push(start.elapsed() / times);
        if has_other {
            let start = Instant::now();
            for _ in 0..times {
                other()?;
            }
            theirs.push(start.elapsed() / times);
        }
    }
    let ours = median(&mut ours);
    print!("{what:<44}{:>12}", format!("{ours:.1?}"));
    if has_other {
        let theirs = median(&mut theirs);
        let ratio = ours.as_secs_f64() / theirs.as_secs_f64();
        println!("{:>12}{ratio:>8.2}", format!("{theirs:.1?}"));
    } else {
        println!("{:>12}", "not there");
    }
    Ok(())
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn ask(workspace: &Workspace, request: Request) -> Result<Response, Failure> {
    Ok(workspace.call(&Context::new(), request)?)
}

fn read(workspace: &Workspace, root: &Path) -> Result<(), Failure> {
    for (what, name) in [
        ("read 1 KiB, at the root", "kibibyte"),
        (
            "read 2 KiB, two directories down",
            "module_1/part_1/file_1.md",
        ),
    ] {
        let path = GuestPath::parse(name, "/")?;
        let host = root.join(name);
        compare(
            what,
            20_000,
            || {
                black_box(ask(workspace, Request::Read { path: path.clone() })?);
                Ok(())
            },
            || {
                black_box(std::fs::read(&host)?);
                Ok(true)
            },
        )?;
    }
    Ok(())
}

fn run(program: &str, arguments: &[&str], root: &Path) -> Result<bool, Failure> {
    let status = Command::new(program)
        .args(arguments)
        .arg(root)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status();
    match status {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error.into()),
    }
}

fn scope(limit: u32) -> Scope {
    Scope {
        base: GuestPath::root(),
        hidden: false,
        ignored: false,
        limit,
        within: Vec::new(),
    }
}

fn globs(workspace: &Workspace, root: &Path) -> Result<(), Failure> {
    for (pattern, theirs) in [
        ("**/*.rs", &["--glob", "*.rs"][..]),
        ("**", &["--glob", "*"]),
        (
            "**/part_3/file_7.*",
            &["--full-path", "/part_3/file_7\\.[^/]*$"],
        ),
    ] {
        let parsed = Pattern::parse(pattern)?;
        compare(
            &format!("glob {pattern} of 100,000 files"),
            1,
            || {
                let request = Request::Glob {
                    pattern: parsed.clone(),
                    scope: scope(u32::MAX),
                };
                black_box(ask(workspace, request)?);
                Ok(())
            },
            || run("fdfind", theirs, root),
        )?;
    }
    Ok(())
}

fn searches(workspace: &Workspace, root: &Path) -> Result<(), Failure> {
    for (what, pattern, syntax, limit) in [
        (
            "literal, 100 lines",
            "the needle",
            Syntax::Literal,
            u32::MAX,
        ),
        (
            "expression, 100 lines",
            r"\bneedle\s+is\b",
            Syntax::Regex,
            u32::MAX,
        ),
        (
            "expression, no line",
            r"^fn [a-z]+_\d+\(",
            Syntax::Regex,
            u32::MAX,
        ),
        ("100,000 lines", "value_17 ", Syntax::Literal, u32::MAX),
        (
            "the first 100 of 100,000 lines",
            "value_17 ",
            Syntax::Literal,
            100,
        ),
    ] {
        let query = Query {
            pattern: pattern.to_owned(),
            syntax,
            ignore_case: false,
            include: Vec::new(),
            exclude: Vec::new(),
            context: 0,
        };
        let fixed = if syntax == Syntax::Literal {
            "-F"
        } else {
            "-e"
        };
        compare(
            &format!("search: {what}"),
            1,
            || {
                let request = Request::Search {
                    query: query.clone(),
                    scope: scope(limit),
                };
                black_box(ask(workspace, request)?);
                Ok(())
            },
            || {
                run(
                    "rg",
                    &["--line-number", "--with-filename", fixed, pattern],
                    root,
                )
            },
        )?;
    }
    Ok(())
}
