//! `list`, `stat`, `make-directory` and `remove`.

use belljar_contract::{ErrorKind, Expected, files::EntryKind};

use super::files_write::ODD_NAMES;
use crate::{
    case::{Case, FILES, MODES, RUN_FILES, Verdict, case},
    check::{eq, expect_kind, that},
    fixture::Fixture,
    outside::Filling,
};

pub(super) const CASES: &[Case] = &[
    case!(
        list_order,
        "files.list/in-byte-order",
        "Every entry but . and .. is listed, hidden ones too, in the byte order of the names.",
        FILES
    ),
    case!(
        list_limit,
        "files.list/limit-and-total",
        "A limit gives the first entries and the total of all, at, above and below it.",
        FILES
    ),
    case!(
        list_many,
        "files.list/a-thousand-entries",
        "A thousand entries are listed with their kinds and sizes.",
        FILES
    ),
    case!(
        list_ignored,
        "files.list/what-is-ignored",
        "Ignore files change nothing of a listing.",
        FILES
    ),
    case!(
        list_errors,
        "files.list/errors",
        "Nothing there is not-found, a file is not-a-directory.",
        FILES
    ),
    case!(
        list_odd,
        "files.list/odd-names-are-framed",
        "A newline in a name does not make two entries.",
        FILES
    ),
    case!(
        stat_kinds,
        "files.stat/files-and-directories",
        "A file has its size, a directory 0, and both a time that is now.",
        FILES
    ),
    case!(
        stat_modes,
        "files.stat/mode-bits",
        "The mode is the permission bits alone, without the file's type.",
        MODES
    ),
    case!(
        stat_errors,
        "files.stat/errors",
        "Nothing there is not-found, a path through a file not-a-directory.",
        FILES
    ),
    case!(
        stat_time,
        "files.stat/the-time-moves-with-a-change",
        "The modification time is not before the one of an earlier change.",
        FILES
    ),
    case!(
        stat_sees_processes,
        "files.stat/sees-what-processes-set",
        "A time before 1970 and one far ahead, set by a process, are told exactly.",
        RUN_FILES
    ),
    case!(
        make,
        "files.make-directory/with-parents",
        "Missing parents are made; a directory that is there is success.",
        FILES
    ),
    case!(
        make_errors,
        "files.make-directory/errors",
        "A file at the path is already-exists, one on the way not-a-directory.",
        FILES
    ),
    case!(
        make_at_once,
        "files.make-directory/at-once",
        "Eight that make one deep directory at once all succeed.",
        FILES
    ),
    case!(
        remove_file,
        "files.remove/files-and-empty-directories",
        "A file goes, and an empty directory, without recursive and with it.",
        FILES
    ),
    case!(
        remove_tree,
        "files.remove/trees",
        "A directory with entries is not-empty without recursive, and goes with it, hidden ones too.",
        FILES
    ),
    case!(
        remove_errors,
        "files.remove/errors",
        "Nothing there is not-found, recursive or not; a slash on a file is not-a-directory.",
        FILES
    ),
    case!(
        remove_at_once,
        "files.remove/at-once",
        "Of eight that remove one file at once, one does, and the rest find nothing.",
        FILES
    ),
];

async fn list_order(f: &Fixture) -> Verdict {
    let mut names = [
        "b",
        "a",
        "B",
        "_",
        ".hidden",
        "a.b",
        "a b",
        "\u{e9}",
        "\u{1f980}",
        "10",
        "9",
    ];
    for name in names {
        f.put(name, "").await?;
    }
    names.sort_unstable();
    eq("the names", f.names(".").await?, names)?;
    f.make_directory("empty").await?;
    eq("nothing", f.names("empty").await?, Vec::<String>::new())
}

async fn list_limit(f: &Fixture) -> Verdict {
    for name in ["c", "a", "b"] {
        f.put(&format!("d/{name}"), "").await?;
    }
    for (limit, right) in [
        (Some(0), &[][..]),
        (Some(1), &["a"]),
        (Some(2), &["a", "b"]),
        (Some(3), &["a", "b", "c"]),
        (Some(4), &["a", "b", "c"]),
        (Some(u32::MAX), &["a", "b", "c"]),
        (None, &["a", "b", "c"]),
    ] {
        let listing = f.sandbox.list(&f.path("d"), limit).await?;
        let names: Vec<_> = listing
            .entries
            .iter()
            .map(|e| e.name.text.as_str())
            .collect();
        eq(&format!("limit {limit:?}"), names, right)?;
        eq("the total", listing.total, 3)?;
    }
    Ok(())
}

async fn list_many(f: &Fixture) -> Verdict {
    let fillings = (0..1000).map(|index| Filling {
        name: format!("{index:04}"),
        size: (index % 10 != 0).then_some(index),
    });
    f.fill("d", &fillings.collect::<Vec<_>>()).await?;
    let listing = f.list("d").await?;
    eq("the total", listing.total, 1000)?;
    for (index, entry) in listing.entries.iter().enumerate() {
        let right = match index % 10 {
            0 => (format!("{index:04}"), EntryKind::Directory, None),
            _ => (format!("{index:04}"), EntryKind::File, Some(index as u64)),
        };
        eq(
            "an entry",
            (entry.name.text.clone(), entry.kind, entry.size),
            right,
        )?;
    }
    eq("entries", listing.entries.len(), 1000)
}

async fn list_ignored(f: &Fixture) -> Verdict {
    f.put(".gitignore", "*\n").await?;
    f.put("a", "").await?;
    eq("the names", f.names(".").await?, [".gitignore", "a"])
}

async fn list_errors(f: &Fixture) -> Verdict {
    f.put("a", "").await?;
    expect_kind("none", f.list("none").await, ErrorKind::NotFound)?;
    expect_kind("a", f.list("a").await, ErrorKind::NotADirectory)?;
    expect_kind("a/b", f.list("a/b").await, ErrorKind::NotADirectory)
}

async fn list_odd(f: &Fixture) -> Verdict {
    for name in ODD_NAMES {
        f.put(&format!("d/{name}"), "").await?;
    }
    let listing = f.list("d").await?;
    eq("the total", listing.total, ODD_NAMES.len() as u64)?;
    let mut right = ODD_NAMES.to_vec();
    right.sort_unstable();
    eq("the names", f.names("d").await?, right)?;
    let marked = listing.entries.iter().any(|entry| entry.name.raw.is_some());
    that(!marked, "a name that is UTF-8 has raw bytes")
}

async fn stat_kinds(f: &Fixture) -> Verdict {
    f.put("d/a", "four").await?;
    let (file, directory) = (f.stat("d/a").await?, f.stat("d").await?);
    eq("the file", (file.kind, file.size), (EntryKind::File, 4))?;
    let right = (EntryKind::Directory, 0);
    eq("the directory", (directory.kind, directory.size), right)?;
    // 2020 to 2100: that it is a time, in nanoseconds.
    let sane = 1_577_836_800_000_000_000..4_102_444_800_000_000_000;
    that(sane.contains(&file.modified), "the file's time is not now")?;
    that(
        sane.contains(&directory.modified),
        "the directory's time is not now",
    )
}

async fn stat_modes(f: &Fixture) -> Verdict {
    f.put("a", "x").await?;
    eq("a file", f.stat("a").await?.mode, 0o644)?;
    f.make_directory("d").await?;
    eq("a directory", f.stat("d").await?.mode, 0o755)
}

async fn stat_errors(f: &Fixture) -> Verdict {
    f.put("a", "").await?;
    expect_kind("none", f.stat("none").await, ErrorKind::NotFound)?;
    expect_kind("none/b", f.stat("none/b").await, ErrorKind::NotFound)?;
    expect_kind("a/b", f.stat("a/b").await, ErrorKind::NotADirectory)
}

async fn stat_time(f: &Fixture) -> Verdict {
    f.put("a", "1").await?;
    let first = f.stat("a").await?.modified;
    f.put("a", "2").await?;
    that(f.stat("a").await?.modified >= first, "time went back")
}

async fn stat_sees_processes(f: &Fixture) -> Verdict {
    f.put("a", "x").await?;
    let touched = f.sh("TZ=UTC0 touch -t 196001020304.05 a").await?;
    if !touched.outcome.success() {
        return Err(crate::Failure::unmet("touch -t does not set 1960 here"));
    }
    let right = -315_521_755_000_000_000;
    eq("1960", f.stat("a").await?.modified, right)
}

async fn make(f: &Fixture) -> Verdict {
    f.make_directory("a/b/c").await?;
    f.make_directory("a/b/c").await?;
    f.make_directory("a/b/").await?;
    f.make_directory("a/./x/").await?;
    eq("the names", f.names("a").await?, ["b", "x"])?;
    eq("c", f.stat("a/b/c").await?.kind, EntryKind::Directory)
}

async fn make_errors(f: &Fixture) -> Verdict {
    f.put("a", "x").await?;
    expect_kind("a", f.make_directory("a").await, ErrorKind::AlreadyExists)?;
    let below = f.make_directory("a/b/c").await;
    expect_kind("a/b/c", below, ErrorKind::NotADirectory)?;
    f.holds("a", "x").await
}

async fn make_at_once(f: &Fixture) -> Verdict {
    f.at_once(8, |index, f| async move {
        f.make_directory("a/b/c/d").await?;
        f.write(&format!("a/b/c/d/{index}"), "", Expected::Absent)
            .await?;
        Ok(())
    })
    .await?;
    eq("files", f.names("a/b/c/d").await?.len(), 8)
}

async fn remove_file(f: &Fixture) -> Verdict {
    for recursive in [false, true] {
        f.put("a", "x").await?;
        f.make_directory("d").await?;
        f.make_directory("e").await?;
        f.remove("a", recursive).await?;
        f.remove("d", recursive).await?;
        f.remove("e/", recursive).await?;
        eq("the names", f.names(".").await?, Vec::<String>::new())?;
    }
    Ok(())
}

async fn remove_tree(f: &Fixture) -> Verdict {
    f.put("d/e/f", "x").await?;
    f.put("d/.hidden/g", "y").await?;
    f.put("d/.gitignore", "*").await?;
    expect_kind("d", f.remove("d", false).await, ErrorKind::NotEmpty)?;
    f.holds("d/e/f", "x").await?;
    f.remove("d", true).await?;
    eq("the names", f.names(".").await?, Vec::<String>::new())
}

async fn remove_errors(f: &Fixture) -> Verdict {
    f.put("a", "x").await?;
    for recursive in [false, true] {
        let none = f.remove("none", recursive).await;
        expect_kind("none", none, ErrorKind::NotFound)?;
        let parent = f.remove("none/b", recursive).await;
        expect_kind("none/b", parent, ErrorKind::NotFound)?;
        let through = f.remove("a/b", recursive).await;
        expect_kind("a/b", through, ErrorKind::NotADirectory)?;
        let slash = f.remove("a/", recursive).await;
        expect_kind("a/", slash, ErrorKind::NotADirectory)?;
    }
    f.holds("a", "x").await
}

async fn remove_at_once(f: &Fixture) -> Verdict {
    f.put("a", "x").await?;
    let done = f
        .at_once(8, |_, f| async move {
            match f.remove("a", false).await {
                Ok(()) => Ok(1),
                Err(error) if error.kind == ErrorKind::NotFound => Ok(0),
                Err(error) => Err(error.into()),
            }
        })
        .await?;
    eq("removals", done.iter().sum::<i32>(), 1)
}
