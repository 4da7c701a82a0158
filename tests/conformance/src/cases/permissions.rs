//! Mode bits: what survives, and what the system does not permit.

use super::special::word;
use belljar_contract::{ErrorKind, Expected, files::WriteOptions};

use crate::{
    case::{CHMOD, Case, Verdict, case},
    check::{Failure, eq, expect_kind},
    fixture::Fixture,
    fixture_files::all,
};

pub(super) const CASES: &[Case] = &[
    case!(
        modes_kept,
        "modes/survive-every-change",
        "write, append and replace keep the mode bits of an existing file.",
        CHMOD
    ),
    case!(
        executable_by_read,
        "modes/executable-goes-by-read",
        "executable adds x where there is r, and nowhere else.",
        CHMOD
    ),
    case!(
        read_only_file,
        "permissions/a-file-that-must-not-be-written",
        "A file without the owner's write bit is not changed, whoever runs the host; it can go.",
        CHMOD
    ),
    case!(
        unreadable_file,
        "permissions/a-file-that-cannot-be-read",
        "A file that the system does not let us read is access-denied, and search counts it.",
        CHMOD
    ),
    case!(
        closed_directory,
        "permissions/a-closed-directory",
        "What lies in a directory that may not be entered is access-denied, never not-found.",
        CHMOD
    ),
    case!(
        locked_directory,
        "permissions/a-directory-that-must-not-be-changed",
        "Nothing is made, removed or moved in a directory without write permission.",
        CHMOD
    ),
];

async fn permissions(f: &Fixture) -> Verdict {
    if f.outside.permissions_bind().await? {
        return Ok(());
    }
    Err(Failure::unmet(
        "the sandbox runs as root, whom mode bits do not bind",
    ))
}

async fn modes_kept(f: &Fixture) -> Verdict {
    for mode in [0o600, 0o644, 0o755, 0o640, 0o777] {
        f.put("a", "x").await?;
        f.chmod("a", mode).await?;
        f.write("a", "xy", Expected::Any).await?;
        eq("after write", f.stat("a").await?.mode, mode)?;
        f.append("a", "z", Expected::Any).await?;
        eq("after append", f.stat("a").await?.mode, mode)?;
        f.replace("a", "xyz", "w").await?;
        eq("after replace", f.stat("a").await?.mode, mode)?;
        f.holds("a", "w").await?;
    }
    Ok(())
}

async fn executable_by_read(f: &Fixture) -> Verdict {
    let options = || WriteOptions {
        executable: true,
        ..WriteOptions::default()
    };
    for (mode, right) in [
        (0o600, 0o700),
        (0o640, 0o750),
        (0o666, 0o777),
        (0o604, 0o705),
    ] {
        f.put("a", "x").await?;
        f.chmod("a", mode).await?;
        f.write_with("a", "y", options()).await?;
        eq("the mode", f.stat("a").await?.mode, right)?;
    }
    Ok(())
}

async fn read_only_file(f: &Fixture) -> Verdict {
    f.put("a", "x").await?;
    f.put("b", "other").await?;
    for mode in [0o444, 0o555, 0o466] {
        f.chmod("a", mode).await?;
        let denied = ErrorKind::AccessDenied;
        expect_kind("write", f.write("a", "y", Expected::Any).await, denied)?;
        expect_kind("append", f.append("a", "y", Expected::Any).await, denied)?;
        expect_kind("replace", f.replace("a", "x", "y").await, denied)?;
        expect_kind("copy onto", f.copy("b", "a", Expected::Any).await, denied)?;
        eq("the mode", f.stat("a").await?.mode, mode)?;
    }
    f.chmod("a", 0o444).await?;
    f.holds("a", "x").await?;
    eq("the names", f.names(".").await?, ["a", "b"])?;
    f.rename("a", "c", Expected::Any).await?;
    f.remove("c", false).await.map_err(Failure::from)
}

async fn unreadable_file(f: &Fixture) -> Verdict {
    permissions(f).await?;
    f.put("a", "word").await?;
    f.put("b", "word").await?;
    f.chmod("a", 0o200).await?;
    expect_kind("read", f.read("a").await, ErrorKind::AccessDenied)?;
    let range = f.read_range("a", 0, 1).await;
    expect_kind("read-range", range, ErrorKind::AccessDenied)?;
    let copied = f.copy("a", "c", Expected::Any).await;
    expect_kind("copy", copied, ErrorKind::AccessDenied)?;
    eq("stat", f.stat("a").await?.size, 4)?;
    let found = f.search(word(), all()).await?;
    eq(
        "unreadable",
        (found.matches.len(), found.skipped.unreadable),
        (1, 1),
    )
}

async fn closed_directory(f: &Fixture) -> Verdict {
    permissions(f).await?;
    f.put("d/a", "word").await?;
    f.put("b", "word").await?;
    f.chmod("d", 0o000).await?;
    let result = async {
        let denied = ErrorKind::AccessDenied;
        expect_kind("read", f.read("d/a").await, denied)?;
        expect_kind("nothing there", f.read("d/none").await, denied)?;
        expect_kind("stat", f.stat("d/a").await, denied)?;
        expect_kind("list", f.list("d").await, denied)?;
        let written = f.write("d/new", "x", Expected::Any).await;
        expect_kind("write", written, denied)?;
        let found = f.search(word(), all()).await?;
        eq(
            "unreadable",
            (found.matches.len(), found.skipped.unreadable),
            (1, 1),
        )
    }
    .await;
    f.chmod("d", 0o755).await?;
    result
}

async fn locked_directory(f: &Fixture) -> Verdict {
    permissions(f).await?;
    f.put("d/a", "x").await?;
    f.chmod("d", 0o555).await?;
    let result = async {
        let denied = ErrorKind::AccessDenied;
        let new = f.write("d/new", "x", Expected::Any).await;
        expect_kind("a new file", new, denied)?;
        expect_kind("remove", f.remove("d/a", false).await, denied)?;
        let moved = f.rename("d/a", "b", Expected::Any).await;
        expect_kind("rename", moved, denied)?;
        let made = f.make_directory("d/e").await;
        expect_kind("make-directory", made, denied)?;
        f.holds("d/a", "x").await
    }
    .await;
    f.chmod("d", 0o755).await?;
    result
}
