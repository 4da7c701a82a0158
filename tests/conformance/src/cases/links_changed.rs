//! Links under changes, and with dots and slashes.

use belljar_contract::{ErrorKind, Expected, files::EntryKind};

use crate::{
    case::{Case, LINKS, Verdict, case},
    check::{eq, expect_kind},
    fixture::Fixture,
};

pub(super) const CASES: &[Case] = &[
    case!(
        changed_through,
        "links/are-changed-through",
        "write, append, replace and copy change the file that a link points to; the link stays.",
        LINKS
    ),
    case!(
        removed_itself,
        "links/are-removed-themselves",
        "remove removes a link and leaves what it points to, a directory with recursive too.",
        LINKS
    ),
    case!(
        renamed_itself,
        "links/are-renamed-themselves",
        "rename moves a link itself, and replaces a link at the target.",
        LINKS
    ),
    case!(
        make_directory_on_link,
        "files.make-directory/at-a-link",
        "A link to a directory is success, a link to a file already-exists.",
        LINKS
    ),
    case!(
        slash,
        "links/with-a-trailing-slash",
        "A slash after a link to a file is not-a-directory, after one to a directory it is that.",
        LINKS
    ),
    case!(
        text_dots,
        "links/dots-are-removed-by-text-first",
        "a/../b is b, also when a is a link elsewhere or is not there.",
        LINKS
    ),
    case!(
        inner_dots,
        "links/whose-text-goes-up-and-stays-inside",
        "A link whose text goes up and stays in the workspace is followed.",
        LINKS
    ),
];

async fn changed_through(f: &Fixture) -> Verdict {
    f.put("real", "0").await?;
    f.put("other", "copied").await?;
    f.symlink("real", "link").await?;
    f.write("link", "one", Expected::Any).await?;
    f.holds("real", "one").await?;
    f.append("link", "two", Expected::Any).await?;
    f.holds("real", "onetwo").await?;
    f.replace("link", "two", "2").await?;
    f.holds("real", "one2").await?;
    f.copy("other", "link", Expected::Any).await?;
    f.holds("real", "copied").await?;
    f.put("real", "source").await?;
    f.copy("link", "new", Expected::Any).await?;
    f.holds("new", "source").await?;
    eq("the link", f.kind("link").await?, Some(EntryKind::Link))?;
    eq("the copy", f.kind("new").await?, Some(EntryKind::File))?;
    eq(
        "names",
        f.names(".").await?,
        ["link", "new", "other", "real"],
    )
}

async fn removed_itself(f: &Fixture) -> Verdict {
    f.put("a", "x").await?;
    f.put("d/b", "y").await?;
    f.symlink("a", "file").await?;
    f.symlink("d", "dir").await?;
    f.symlink("nothing", "dangling").await?;
    f.remove("file", false).await?;
    f.remove("dangling", true).await?;
    let slash = f.remove("dir/", true).await;
    expect_kind("with a slash", slash, ErrorKind::NotADirectory)?;
    f.remove("dir", true).await?;
    eq("the names", f.names(".").await?, ["a", "d"])?;
    f.holds("a", "x").await?;
    f.holds("d/b", "y").await?;
    // A link inside a tree goes, what it points to stays.
    f.make_directory("tree/sub").await?;
    f.symlink("../../d", "tree/sub/link").await?;
    f.symlink("../a", "tree/link").await?;
    f.remove("tree", true).await?;
    eq("the names", f.names(".").await?, ["a", "d"])?;
    f.holds("d/b", "y").await
}

async fn renamed_itself(f: &Fixture) -> Verdict {
    f.put("a", "x").await?;
    f.put("b", "y").await?;
    f.make_directory("d").await?;
    f.symlink("a", "link").await?;
    f.rename("link", "moved", Expected::Any).await?;
    eq("moved", f.kind("moved").await?, Some(EntryKind::Link))?;
    f.holds("moved", "x").await?;
    f.rename("b", "moved", Expected::Any).await?;
    eq("replaced", f.kind("moved").await?, Some(EntryKind::File))?;
    f.holds("moved", "y").await?;
    f.holds("a", "x").await?;
    f.symlink("d", "dir").await?;
    f.rename("dir", "dir2", Expected::Any).await?;
    eq(
        "a link to a directory",
        f.kind("dir2").await?,
        Some(EntryKind::Link),
    )?;
    f.symlink("none", "dangling").await?;
    f.rename("dangling", "gone", Expected::Absent).await?;
    eq(
        "a dangling link",
        f.kind("gone").await?,
        Some(EntryKind::Link),
    )
}

async fn make_directory_on_link(f: &Fixture) -> Verdict {
    f.make_directory("d").await?;
    f.put("a", "x").await?;
    f.symlink("d", "ld").await?;
    f.symlink("a", "la").await?;
    f.make_directory("ld").await?;
    f.make_directory("ld/sub").await?;
    eq("names", f.names("d").await?, ["sub"])?;
    expect_kind("la", f.make_directory("la").await, ErrorKind::AlreadyExists)?;
    let below = f.make_directory("la/sub").await;
    expect_kind("la/sub", below, ErrorKind::NotADirectory)
}

async fn slash(f: &Fixture) -> Verdict {
    f.put("file", "x").await?;
    f.put("dir/a", "y").await?;
    f.symlink("file", "lf").await?;
    f.symlink("dir", "ld").await?;
    for path in ["file/", "file/.", "lf/", "lf/.", "file//"] {
        expect_kind(path, f.stat(path).await, ErrorKind::NotADirectory)?;
        expect_kind(path, f.read(path).await, ErrorKind::NotADirectory)?;
        expect_kind(path, f.list(path).await, ErrorKind::NotADirectory)?;
    }
    for path in ["dir/", "dir/.", "ld/", "ld/."] {
        eq(path, f.stat(path).await?.kind, EntryKind::Directory)?;
        expect_kind(path, f.read(path).await, ErrorKind::IsADirectory)?;
        eq(path, f.names(path).await?, ["a"])?;
    }
    Ok(())
}

async fn text_dots(f: &Fixture) -> Verdict {
    f.put("b", "here").await?;
    f.put("x/b", "there").await?;
    f.make_directory("x/y").await?;
    f.symlink("x/y", "a").await?;
    f.holds("a/../b", "here").await?;
    f.holds("none/../b", "here").await?;
    f.holds("b/../b", "here").await
}

async fn inner_dots(f: &Fixture) -> Verdict {
    f.put("x/target", "in").await?;
    f.make_directory("y/z").await?;
    f.symlink("../../x/target", "y/z/link").await?;
    f.symlink("./../y/./z//link", "x/around").await?;
    f.holds("y/z/link", "in").await?;
    f.holds("x/around", "in").await?;
    eq("resolved", f.resolve("x/around").await?, "x/target")
}
