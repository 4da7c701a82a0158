//! Links that stay in the workspace, in every operation.

use belljar_contract::{ErrorKind, Expected, files::EntryKind};

use crate::{
    case::{Case, LINKS, ROOT_LINKS, Verdict, case},
    check::{eq, expect_kind, that},
    fixture::Fixture,
    fixture_files::below,
};

pub(super) const CASES: &[Case] = &[
    case!(
        followed,
        "links/are-followed",
        "read, read-range, stat, list and resolve go through links, one after the other too.",
        LINKS
    ),
    case!(
        listed,
        "links/are-listed-as-links",
        "list and glob tell links, to files, to directories and to nothing.",
        LINKS
    ),
    case!(
        dangling,
        "links/to-nothing",
        "Through a link to nothing every operation is not-found, and creates nothing.",
        LINKS
    ),
    case!(
        parents_to_nothing,
        "links/to-nothing-as-a-parent",
        "make-parents and make-directory create nothing through a link to nothing.",
        LINKS
    ),
    case!(
        loops,
        "links/in-a-loop",
        "A loop of links is access-denied, at once.",
        LINKS
    ),
    case!(
        forty,
        "links/forty-and-one-more",
        "A way of 40 links is followed; one of 41 is access-denied.",
        LINKS
    ),
    case!(
        resolve,
        "files.resolve/with-links",
        "resolve gives the path without links; a missing last name stays; a dangling link is not-found.",
        LINKS
    ),
    case!(
        base,
        "links/as-a-base",
        "A base that is a link is followed; links met below it are counted and not entered.",
        LINKS
    ),
    case!(
        to_the_root,
        "links/to-the-root",
        "A link to the root is the root.",
        ROOT_LINKS
    ),
];

async fn followed(f: &Fixture) -> Verdict {
    f.put("d/a", "content").await?;
    f.symlink("d/a", "one").await?;
    f.symlink("one", "two").await?;
    f.symlink("d", "dir").await?;
    for path in ["one", "two", "dir/a", "dir/../two"] {
        f.holds(path, "content").await?;
        let chunk = f.read_range(path, 3, 4).await?;
        eq(path, chunk.bytes.as_slice(), b"tent")?;
        let info = f.stat(path).await?;
        eq(path, (info.kind, info.size), (EntryKind::File, 7))?;
    }
    eq("dir", f.stat("dir").await?.kind, EntryKind::Directory)?;
    eq("names", f.names("dir").await?, ["a"])
}

async fn listed(f: &Fixture) -> Verdict {
    f.put("file", "x").await?;
    f.make_directory("dir").await?;
    f.symlink("file", "l1").await?;
    f.symlink("dir", "l2").await?;
    f.symlink("nothing", "l3").await?;
    let listing = f.list(".").await?;
    let kinds: Vec<_> = listing
        .entries
        .iter()
        .map(|entry| (entry.name.text.as_str(), entry.kind, entry.size))
        .collect();
    let right = [
        ("dir", EntryKind::Directory, None),
        ("file", EntryKind::File, Some(1)),
        ("l1", EntryKind::Link, None),
        ("l2", EntryKind::Link, None),
        ("l3", EntryKind::Link, None),
    ];
    eq("list", kinds, right)?;
    let globbed = f.glob("l*", below(".")).await?;
    that(
        globbed.total == 3
            && globbed
                .paths
                .iter()
                .all(|found| found.kind == EntryKind::Link),
        "glob does not tell the links",
    )
}

async fn dangling(f: &Fixture) -> Verdict {
    f.put("a", "x").await?;
    f.symlink("nothing", "link").await?;
    f.symlink("none/deep", "deep").await?;
    for link in ["link", "deep"] {
        expect_kind("read", f.read(link).await, ErrorKind::NotFound)?;
        let range = f.read_range(link, 0, 1).await;
        expect_kind("read-range", range, ErrorKind::NotFound)?;
        expect_kind("stat", f.stat(link).await, ErrorKind::NotFound)?;
        expect_kind("list", f.list(link).await, ErrorKind::NotFound)?;
        expect_kind("resolve", f.resolve(link).await, ErrorKind::NotFound)?;
        let written = f.write(link, "y", Expected::Any).await;
        expect_kind("write", written, ErrorKind::NotFound)?;
        let appended = f.append(link, "y", Expected::Any).await;
        expect_kind("append", appended, ErrorKind::NotFound)?;
        let replaced = f.replace(link, "x", "y").await;
        expect_kind("replace", replaced, ErrorKind::NotFound)?;
        let copied = f.copy("a", link, Expected::Any).await;
        expect_kind("copy onto", copied, ErrorKind::NotFound)?;
        let copied = f.copy(link, "b", Expected::Any).await;
        expect_kind("copy from", copied, ErrorKind::NotFound)?;
        let globbed = f.glob("*", below(link)).await;
        expect_kind("glob's base", globbed, ErrorKind::NotFound)?;
    }
    eq("the names", f.names(".").await?, ["a", "deep", "link"])
}

async fn parents_to_nothing(f: &Fixture) -> Verdict {
    f.symlink("nothing", "link").await?;
    let put = f.put("link/sub/a", "x").await;
    expect_kind("write", put, ErrorKind::NotFound)?;
    let below = f.make_directory("link/sub").await;
    expect_kind("make-directory below it", below, ErrorKind::NotFound)?;
    let itself = f.make_directory("link").await;
    expect_kind("make-directory at it", itself, ErrorKind::AlreadyExists)?;
    eq("the names", f.names(".").await?, ["link"])
}

async fn loops(f: &Fixture) -> Verdict {
    f.symlink("self", "self").await?;
    f.symlink("b", "a").await?;
    f.symlink("a", "b").await?;
    for path in ["self", "a", "a/x", "self/"] {
        expect_kind(path, f.read(path).await, ErrorKind::AccessDenied)?;
        expect_kind(path, f.stat(path).await, ErrorKind::AccessDenied)?;
        let written = f.write(path, "x", Expected::Any).await;
        expect_kind(path, written, ErrorKind::AccessDenied)?;
        expect_kind(path, f.list(path).await, ErrorKind::AccessDenied)?;
        expect_kind(path, f.resolve(path).await, ErrorKind::AccessDenied)?;
    }
    // They are links like others to what does not follow them.
    f.rename("a", "c", Expected::Any).await?;
    f.remove("self", false).await?;
    eq("the names", f.names(".").await?, ["b", "c"])
}

async fn forty(f: &Fixture) -> Verdict {
    f.put("l0", "end").await?;
    for index in 1..=41 {
        f.symlink(&format!("l{}", index - 1), &format!("l{index}"))
            .await?;
    }
    f.holds("l40", "end").await?;
    expect_kind("41 links", f.read("l41").await, ErrorKind::AccessDenied)
}

async fn resolve(f: &Fixture) -> Verdict {
    f.put("d/a", "x").await?;
    f.symlink("d", "l").await?;
    f.symlink("l/a", "ll").await?;
    for (path, right) in [
        (".", "."),
        ("d", "d"),
        ("l", "d"),
        ("l/", "d"),
        ("l/a", "d/a"),
        ("ll", "d/a"),
        ("l/new", "d/new"),
        ("new", "new"),
        ("./d//a", "d/a"),
    ] {
        eq(path, f.resolve(path).await?, right)?;
    }
    let parent = f.resolve("none/new").await;
    expect_kind("a missing parent", parent, ErrorKind::NotFound)?;
    let through = f.resolve("d/a/new").await;
    expect_kind("through a file", through, ErrorKind::NotADirectory)
}

async fn base(f: &Fixture) -> Verdict {
    f.put("real/a.txt", "word\n").await?;
    f.symlink("real", "link").await?;
    f.symlink("a.txt", "real/again").await?;
    // Paths are told as the base was spelt.
    let found = f.lines("word", below("link")).await?;
    eq("search from it", found, ["link/a.txt:1"])?;
    let all = f.glob("**/*.txt", below(".")).await?;
    eq("glob does not enter", all.total, 1)?;
    eq("links met", all.skipped.links, 2)?;
    eq("through it", f.found("link/*.txt").await?, ["link/a.txt"])
}

async fn to_the_root(f: &Fixture) -> Verdict {
    f.put("a", "x").await?;
    f.make_directory("d").await?;
    f.symlink("..", "d/up").await?;
    f.symlink(".", "here").await?;
    f.holds("d/up/a", "x").await?;
    f.holds("here/d/up/here/a", "x").await?;
    eq("resolved", f.resolve("d/up").await?, ".")?;
    eq("names", f.names("d/up").await?, ["a", "d", "here"])
}
