//! Ways out of the workspace, in every position and every operation; none leads there.

use belljar_contract::{ErrorKind, Expected, QueryOptions, ScopeOptions, files::WriteOptions};

use crate::{
    case::{Case, FILES, LINKS, RUN_FILES, RUN_LINKS, Verdict, case},
    check::{Failure, eq, expect_kind, same_bytes, that},
    fixture::Fixture,
    fixture_files::{all, below, is},
    fixture_processes::argv,
    outside::SECRET,
};

pub(super) const CASES: &[Case] = &[
    case!(
        dots,
        "escapes/by-dots",
        "A path that goes above the root is access-denied in every operation.",
        FILES
    ),
    case!(
        absolute,
        "escapes/by-an-absolute-path",
        "An absolute path that is not below the root is access-denied in every operation.",
        FILES
    ),
    case!(
        absolute_link,
        "escapes/by-a-link-to-a-file",
        "A link whose text is absolute is access-denied in every operation.",
        LINKS
    ),
    case!(
        relative_link,
        "escapes/by-a-link-that-goes-up",
        "A link that goes above the root is access-denied in every operation.",
        LINKS
    ),
    case!(
        parent_link,
        "escapes/by-a-link-as-a-parent",
        "A link to a directory outside is access-denied as a parent in every operation.",
        LINKS
    ),
    case!(
        chained,
        "escapes/by-a-chain-of-links",
        "A link to a link that leaves is access-denied, and so is a link behind such a parent.",
        LINKS
    ),
    case!(
        absolute_to_root,
        "escapes/an-absolute-link-is-never-taken-as-inside",
        "A link with the root's own absolute path, or / alone, is access-denied.",
        LINKS
    ),
    case!(
        dangling_out,
        "escapes/by-a-link-to-nothing-outside",
        "A write through a link to a name outside that is not there creates nothing there.",
        LINKS
    ),
    case!(
        walks,
        "escapes/walks-do-not-leave",
        "glob, search and recursive removal meet links that leave and do not follow them.",
        LINKS
    ),
    case!(
        globs,
        "escapes/by-a-glob",
        "A pattern that is absolute or has a part .. is invalid-argument; spaces do not split it.",
        FILES
    ),
    case!(
        working_directory,
        "escapes/by-a-working-directory",
        "A working directory outside is access-denied, and nothing runs.",
        RUN_FILES
    ),
    case!(
        working_directory_link,
        "escapes/by-a-working-directory-through-a-link",
        "A working directory through a link that leaves is access-denied.",
        RUN_LINKS
    ),
];

/// Requires every operation on a path to be denied.
async fn denied(f: &Fixture, path: &str) -> Verdict {
    let denied = ErrorKind::AccessDenied;
    let s = &f.sandbox;
    let plain = WriteOptions::default;
    let any = || Expected::Any;
    let base = || ScopeOptions {
        base: Some(path.to_owned()),
        ..all()
    };
    let word = || QueryOptions {
        pattern: "workspace".to_owned(),
        ..QueryOptions::default()
    };
    let inside = f.path("inside");
    f.put("inside", "x").await?;
    let what = |operation: &str| format!("{operation} {path:?}");
    expect_kind(&what("read"), s.read(path).await, denied)?;
    expect_kind(&what("read-range"), s.read_range(path, 0, 9).await, denied)?;
    expect_kind(&what("stat"), s.stat(path).await, denied)?;
    expect_kind(&what("list"), s.list(path, None).await, denied)?;
    expect_kind(&what("resolve"), s.resolve(path).await, denied)?;
    expect_kind(&what("write"), s.write(path, "x", plain()).await, denied)?;
    expect_kind(&what("append"), s.append(path, "x", plain()).await, denied)?;
    let replaced = s.replace(path, "outside", "x", Default::default()).await;
    expect_kind(&what("replace"), replaced, denied)?;
    expect_kind(
        &what("copy from"),
        s.copy(path, &f.path("new"), any()).await,
        denied,
    )?;
    expect_kind(&what("copy to"), s.copy(&inside, path, any()).await, denied)?;
    expect_kind(&what("glob"), s.glob("*", base()).await, denied)?;
    expect_kind(&what("search"), s.search(word(), base()).await, denied)?;
    f.absent("new").await
}

/// Requires what does not follow a last link to be denied too.
async fn denied_to_move(f: &Fixture, path: &str) -> Verdict {
    let denied = ErrorKind::AccessDenied;
    let s = &f.sandbox;
    let what = |operation: &str| format!("{operation} {path:?}");
    expect_kind(&what("remove"), s.remove(path, true).await, denied)?;
    let moved = s.rename(path, &f.path("new"), Expected::Any).await;
    expect_kind(&what("rename from"), moved, denied)?;
    f.put("inside", "x").await?;
    let moved = s.rename(&f.path("inside"), path, Expected::Any).await;
    expect_kind(&what("rename to"), moved, denied)?;
    expect_kind(
        &what("make-directory"),
        s.make_directory(path).await,
        denied,
    )?;
    f.absent("new").await?;
    f.holds("inside", "x").await
}

/// Requires the outside to be as it was.
pub(super) async fn unharmed(f: &Fixture) -> Verdict {
    let (names, secret) = f.outside.outside_now().await?;
    eq("the names outside", names, ["secret.txt", "sub"])?;
    same_bytes("the secret", &secret, SECRET)
}

/// Enough steps up for every root.
fn up() -> String {
    "../".repeat(60)
}

async fn dots(f: &Fixture) -> Verdict {
    let path = |tail: &str| format!("{}{tail}", up());
    for path in [path("etc/passwd"), path("x"), format!("a/b/{}", up())] {
        denied(f, &path).await?;
        denied_to_move(f, &path).await?;
    }
    Ok(())
}

async fn absolute(f: &Fixture) -> Verdict {
    let root = f.sandbox.describe().root.clone();
    let root = root.trim_end_matches('/');
    if root.is_empty() {
        return Err(Failure::unmet("the root is /, and nothing is outside"));
    }
    for path in [
        "/".to_owned(),
        "/etc/passwd".to_owned(),
        format!("{root}x"),
        format!("{root}/.."),
        format!("{root}/../x"),
        format!("//{root}/a/../../etc"),
    ] {
        denied(f, &path).await?;
        denied_to_move(f, &path).await?;
    }
    Ok(())
}

async fn absolute_link(f: &Fixture) -> Verdict {
    let outside = f.outside.outside_directory().await?;
    f.symlink(&format!("{outside}/secret.txt"), "link").await?;
    f.symlink(&outside, "dir").await?;
    denied(f, &f.path("link")).await?;
    denied(f, &f.path("dir")).await?;
    unharmed(f).await
}

async fn relative_link(f: &Fixture) -> Verdict {
    let outside = f.outside.outside_directory().await?;
    let text = format!("{}{}/secret.txt", up(), outside.trim_start_matches('/'));
    f.symlink(&text, "link").await?;
    f.make_directory("d").await?;
    f.symlink(up().trim_end_matches('/'), "d/top").await?;
    denied(f, &f.path("link")).await?;
    denied(f, &f.path("d/top")).await?;
    unharmed(f).await
}

async fn parent_link(f: &Fixture) -> Verdict {
    let outside = f.outside.outside_directory().await?;
    f.symlink(&outside, "abs").await?;
    let text = format!("{}{}", up(), outside.trim_start_matches('/'));
    f.symlink(&text, "rel").await?;
    for path in [
        "abs/secret.txt",
        "rel/secret.txt",
        "abs/sub",
        "rel/sub/",
        "abs/new",
    ] {
        let path = f.path(path);
        denied(f, &path).await?;
        denied_to_move(f, &path).await?;
    }
    let put = f.put("abs/new/deep", "x").await;
    expect_kind("make-parents", put, ErrorKind::AccessDenied)?;
    unharmed(f).await
}

async fn chained(f: &Fixture) -> Verdict {
    let outside = f.outside.outside_directory().await?;
    f.symlink(&outside, "one").await?;
    f.symlink("one", "two").await?;
    f.symlink("two/secret.txt", "three").await?;
    denied(f, &f.path("two")).await?;
    denied(f, &f.path("two/secret.txt")).await?;
    denied(f, &f.path("three")).await?;
    unharmed(f).await
}

async fn absolute_to_root(f: &Fixture) -> Verdict {
    f.put("a", "x").await?;
    f.symlink(&f.absolute("a"), "own").await?;
    f.symlink("/", "slash").await?;
    f.symlink("/a", "below").await?;
    for path in ["own", "slash", "slash/a", "below"] {
        denied(f, &f.path(path)).await?;
    }
    f.holds("a", "x").await
}

async fn dangling_out(f: &Fixture) -> Verdict {
    let outside = f.outside.outside_directory().await?;
    f.symlink(&format!("{outside}/created"), "link").await?;
    denied(f, &f.path("link")).await?;
    unharmed(f).await
}

async fn walks(f: &Fixture) -> Verdict {
    let outside = f.outside.outside_directory().await?;
    f.put("d/inside", "in the workspace\n").await?;
    f.symlink(&outside, "d/dir").await?;
    f.symlink(&format!("{outside}/secret.txt"), "d/file")
        .await?;
    eq(
        "glob",
        f.found("**").await?,
        ["d", "d/dir", "d/file", "d/inside"],
    )?;
    eq("search", f.lines("workspace", all()).await?, ["d/inside:1"])?;
    let literal = f.glob("d/dir/secret.txt", all()).await;
    let literal_is_safe = is(&literal, ErrorKind::AccessDenied)
        || literal.as_ref().is_ok_and(|found| found.paths.is_empty());
    that(
        literal_is_safe,
        "a glob's literal beginning left the workspace",
    )?;
    f.remove("d", true).await?;
    unharmed(f).await
}

async fn globs(f: &Fixture) -> Verdict {
    f.put("x", "").await?;
    f.put("my dir/a.rb", "").await?;
    for pattern in ["/etc/*", "../*", "a/../../*", "x/..", "..", "/"] {
        let found = f.glob(pattern, below(".")).await;
        expect_kind(pattern, found, ErrorKind::InvalidArgument)?;
    }
    for pattern in ["x /etc/*", "x;ls", "$(ls)", "x\n/etc/*", "-x", "~/*"] {
        eq(pattern, f.found(pattern).await?, Vec::<String>::new())?;
    }
    eq(
        "my dir/*.rb",
        f.found("my dir/*.rb").await?,
        ["my dir/a.rb"],
    )
}

async fn nowhere(f: &Fixture, directory: String) -> Verdict {
    let options = belljar_contract::RunOptions {
        directory: Some(directory.clone()),
        ..Default::default()
    };
    // Not in the case's directory: the path is taken as it is.
    let ran = f.sandbox.run(argv(&["pwd"]), options).await;
    expect_kind(&directory, ran, ErrorKind::AccessDenied)
}

async fn working_directory(f: &Fixture) -> Verdict {
    nowhere(f, up()).await?;
    nowhere(f, "/".to_owned()).await?;
    nowhere(f, "/etc".to_owned()).await
}

async fn working_directory_link(f: &Fixture) -> Verdict {
    let outside = f.outside.outside_directory().await?;
    f.symlink(&outside, "link").await?;
    nowhere(f, f.path("link")).await?;
    nowhere(f, f.path("link/sub")).await
}
