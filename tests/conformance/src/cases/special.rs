//! Mode bits, permissions, FIFOs, sockets, hard links, and names that are not UTF-8.

use std::time::Duration;

use belljar_contract::{
    ErrorKind, Expected,
    files::{EntryKind, Name},
};

use crate::{
    case::{Case, LINKS, RAW_NAMES, SPECIAL, Verdict, case},
    check::{Failure, eq, expect_kind, that},
    fixture::Fixture,
    fixture_files::below,
};

pub(super) const CASES: &[Case] = &[
    case!(
        fifo,
        "special/a-fifo-in-every-operation",
        "A FIFO is not-a-file at once; stat says other; list shows it; the session stays usable.",
        SPECIAL
    ),
    case!(
        fifo_moves,
        "special/a-fifo-can-be-moved-and-removed",
        "rename and remove work on a FIFO, and a file may replace it.",
        SPECIAL
    ),
    case!(
        fifo_search,
        "special/search-skips-a-fifo",
        "search skips a FIFO and counts it as special, and finds what lies around it.",
        SPECIAL
    ),
    case!(
        socket,
        "special/a-socket",
        "A socket is treated as a FIFO is.",
        SPECIAL
    ),
    case!(
        hard_links,
        "special/hard-links",
        "A file with two names is read by both; a change through one is whole.",
        LINKS
    ),
    case!(
        raw_listed,
        "raw-names/are-listed-and-marked",
        "A name that is not UTF-8 is listed, with U+FFFD in its text and its bytes beside.",
        RAW_NAMES
    ),
    case!(
        raw_found,
        "raw-names/are-globbed-and-searched-by-their-text",
        "glob and search match the text of such a path and give its bytes.",
        RAW_NAMES
    ),
    case!(
        raw_removed,
        "raw-names/go-with-their-directory",
        "Removing the directory recursively removes them; their text names nothing.",
        RAW_NAMES
    ),
];

pub(super) fn word() -> belljar_contract::QueryOptions {
    belljar_contract::QueryOptions {
        pattern: "word".to_owned(),
        ..Default::default()
    }
}

/// Requires a path that is neither file nor directory to be refused as one.
async fn not_a_file(f: &Fixture, path: &str) -> Verdict {
    let kind = ErrorKind::NotAFile;
    f.put("a", "x").await?;
    expect_kind("read", f.read(path).await, kind)?;
    expect_kind("read-range", f.read_range(path, 0, 1).await, kind)?;
    expect_kind("write", f.write(path, "x", Expected::Any).await, kind)?;
    expect_kind("append", f.append(path, "x", Expected::Any).await, kind)?;
    expect_kind("replace", f.replace(path, "x", "y").await, kind)?;
    expect_kind("copy from", f.copy(path, "b", Expected::Any).await, kind)?;
    expect_kind("copy to", f.copy("a", path, Expected::Any).await, kind)?;
    expect_kind("list", f.list(path).await, ErrorKind::NotADirectory)?;
    let made = f.make_directory(path).await;
    expect_kind("make-directory", made, ErrorKind::AlreadyExists)?;
    let deeper = f.read(&format!("{path}/x")).await;
    expect_kind("below it", deeper, ErrorKind::NotADirectory)?;
    let info = f.stat(path).await?;
    eq("stat", (info.kind, info.size), (EntryKind::Other, 0))?;
    eq("list", f.kind(path).await?, Some(EntryKind::Other))?;
    eq("resolve", f.resolve(path).await?, path)?;
    let found = f.glob(path, below(".")).await?;
    eq(
        "glob",
        found.paths.first().map(|found| found.kind),
        Some(EntryKind::Other),
    )?;
    f.absent("b").await?;
    f.holds("a", "x").await
}

async fn fifo(f: &Fixture) -> Verdict {
    f.mkfifo("pipe").await?;
    f.put("a", "x").await?;
    let began = f.context().now();
    f.holds("a", "x").await?;
    let one = f.context().now().saturating_sub(began);
    let began = f.context().now();
    not_a_file(f, "pipe").await?;
    let took = f.context().now().saturating_sub(began);
    // Some twenty functions, each by up to three programs where there is no other way.
    let most = Duration::from_secs(5).saturating_add(one * 60);
    that(took < most, "something waited for the FIFO")
}

async fn fifo_moves(f: &Fixture) -> Verdict {
    f.mkfifo("pipe").await?;
    f.rename("pipe", "moved", Expected::Any).await?;
    eq("moved", f.kind("moved").await?, Some(EntryKind::Other))?;
    f.remove("moved", false).await?;
    f.mkfifo("d").await?;
    f.remove("d", true).await?;
    f.make_directory("tree").await?;
    f.mkfifo("tree/pipe").await?;
    f.remove("tree", true).await?;
    eq("the names", f.names(".").await?, Vec::<String>::new())
}

async fn fifo_search(f: &Fixture) -> Verdict {
    f.put("d/a", "word\n").await?;
    f.mkfifo("d/pipe").await?;
    f.put("d/z", "word\n").await?;
    let found = f.search(word(), below("d")).await?;
    eq(
        "found",
        (found.matches.len(), found.skipped.special),
        (2, 1),
    )?;
    eq("glob", f.found("d/*").await?, ["d/a", "d/pipe", "d/z"])
}

async fn socket(f: &Fixture) -> Verdict {
    f.outside.mksocket(&f.path("socket")).await?;
    not_a_file(f, "socket").await?;
    f.rename("socket", "moved", Expected::Any).await?;
    f.remove("moved", false).await.map_err(Failure::from)
}

async fn hard_links(f: &Fixture) -> Verdict {
    f.put("a", "one").await?;
    f.outside.hard_link(&f.path("a"), &f.path("b")).await?;
    f.holds("b", "one").await?;
    eq(
        "versions",
        f.read("a").await?.version,
        f.read("b").await?.version,
    )?;
    f.write("a", "two", Expected::Any).await?;
    f.holds("a", "two").await?;
    // Which of the two contents the other name has depends on how a write is atomic.
    let bytes = f.read("b").await?.bytes;
    that(
        bytes == b"one" || bytes == b"two",
        "the other name has half of it",
    )
}

async fn raw_listed(f: &Fixture) -> Verdict {
    f.write_raw(b"b\xffc", b"x").await?;
    f.put("b", "").await?;
    f.put("c", "").await?;
    let listing = f.list(".").await?;
    let names: Vec<Name> = listing
        .entries
        .into_iter()
        .map(|entry| entry.name)
        .collect();
    let right = [
        Name::from("b"),
        Name::from_bytes(b"b\xffc".to_vec()),
        Name::from("c"),
    ];
    eq("the names", names, right)?;
    eq("the total", listing.total, 3)
}

async fn raw_found(f: &Fixture) -> Verdict {
    f.make_directory("d").await?;
    f.write_raw(b"d/\xfe.txt", b"word\n").await?;
    f.write_raw(b"d/\xc3", b"word\n").await?;
    let found = f.glob("**/\u{fffd}.txt", below(".")).await?;
    let paths: Vec<Name> = found.paths.into_iter().map(|found| found.path).collect();
    eq("glob", paths, [Name::from_bytes(b"d/\xfe.txt".to_vec())])?;
    let found = f.search(word(), below("d")).await?;
    let paths: Vec<Name> = found.matches.into_iter().map(|found| found.path).collect();
    let right = [
        Name::from_bytes(b"d/\xc3".to_vec()),
        Name::from_bytes(b"d/\xfe.txt".to_vec()),
    ];
    eq("search", paths, right)
}

async fn raw_removed(f: &Fixture) -> Verdict {
    f.make_directory("d").await?;
    f.write_raw(b"d/\xff", b"x").await?;
    let named = f.read("d/\u{fffd}").await;
    expect_kind("by its text", named, ErrorKind::NotFound)?;
    expect_kind("d", f.remove("d", false).await, ErrorKind::NotEmpty)?;
    f.remove("d", true).await?;
    eq("the names", f.names(".").await?, Vec::<String>::new())
}
