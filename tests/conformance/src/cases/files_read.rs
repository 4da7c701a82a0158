//! `read` and `read-range`: bytes, ranges, sizes.

use belljar_contract::ErrorKind;

use crate::{
    case::{Case, FILES, Verdict, case},
    check::{eq, expect_kind, same_bytes, that},
    fixture::Fixture,
};

pub(super) const CASES: &[Case] = &[
    case!(
        every_byte,
        "files.read/every-byte-survives",
        "Content is bytes: all 256 values come back in their order.",
        FILES
    ),
    case!(
        text_is_not_translated,
        "files.read/text-is-not-translated",
        "CRLF, a byte order mark, a missing last newline and a NUL survive.",
        FILES
    ),
    case!(
        empty,
        "files.read/an-empty-file",
        "An empty file reads as no bytes, whole and in ranges.",
        FILES
    ),
    case!(
        missing,
        "files.read/nothing-there",
        "A file that is not there is not-found, whole and in ranges.",
        FILES
    ),
    case!(
        directory,
        "files.read/a-directory",
        "A directory has no content: is-a-directory, whole and in ranges.",
        FILES
    ),
    case!(
        parent_is_file,
        "files.read/a-parent-that-is-a-file",
        "A path through a file is not-a-directory.",
        FILES
    ),
    case!(
        sizes,
        "files.read/no-size-step",
        "Contents of sizes at and around block, pipe and argument limits come back whole.",
        FILES
    ),
    case!(
        range_edges,
        "files.read-range/at-its-edges",
        "A range is clipped at the file's end and only there; offsets at and past it give nothing.",
        FILES
    ),
    case!(
        range_zero,
        "files.read-range/of-nothing-gives-size-and-version",
        "Length 0 gives no bytes, the file's size, and the version that read gives.",
        FILES
    ),
    case!(
        range_in_character,
        "files.read-range/inside-a-character",
        "A range may begin and end inside a character.",
        FILES
    ),
    case!(
        range_blocks,
        "files.read-range/a-character-across-a-block-edge",
        "A character that lies across a block's edge comes back whole.",
        FILES
    ),
    case!(
        range_whole,
        "files.read-range/parts-make-the-whole",
        "Ranges one after the other give the file.",
        FILES
    ),
    case!(
        range_errors,
        "files.read-range/too-long",
        "A length over the session's limit is too-large, and the limit itself is not.",
        FILES
    ),
    case!(
        range_far,
        "files.read-range/a-far-offset",
        "The largest offset is past the end and gives nothing.",
        FILES
    ),
];

async fn every_byte(f: &Fixture) -> Verdict {
    let bytes: Vec<u8> = (0..=255).collect();
    f.put("a", bytes.clone()).await?;
    f.holds("a", &bytes).await
}

async fn text_is_not_translated(f: &Fixture) -> Verdict {
    for bytes in [
        &b"one\r\ntwo\r\n"[..],
        b"\xef\xbb\xbfconst v = 1;",
        b"no newline at the end",
        b"a\0b\n\0",
        b"\r",
        b"\n",
        b"\xff\xfe\x00",
        b"mixed\nends\r\nof lines\r",
    ] {
        f.put("a", bytes).await?;
        f.holds("a", bytes).await?;
    }
    Ok(())
}

async fn empty(f: &Fixture) -> Verdict {
    f.put("a", "").await?;
    f.holds("a", "").await?;
    let chunk = f.read_range("a", 0, 10).await?;
    eq("the range", (chunk.bytes.len(), chunk.size), (0, 0))
}

async fn missing(f: &Fixture) -> Verdict {
    expect_kind("read", f.read("none").await, ErrorKind::NotFound)?;
    let range = f.read_range("none", 0, 0).await;
    expect_kind("read-range", range, ErrorKind::NotFound)?;
    let deep = f.read("none/of/these").await;
    expect_kind("read below nothing", deep, ErrorKind::NotFound)
}

async fn directory(f: &Fixture) -> Verdict {
    f.make_directory("d").await?;
    expect_kind("read", f.read("d").await, ErrorKind::IsADirectory)?;
    let range = f.read_range("d", 0, 1).await;
    expect_kind("read-range", range, ErrorKind::IsADirectory)?;
    let slash = f.read("d/").await;
    expect_kind("read with a slash", slash, ErrorKind::IsADirectory)
}

async fn parent_is_file(f: &Fixture) -> Verdict {
    f.put("a", "x").await?;
    let read = f.read("a/b").await;
    expect_kind("read a/b", read, ErrorKind::NotADirectory)?;
    let range = f.read_range("a/b/c", 0, 1).await;
    expect_kind("read-range a/b/c", range, ErrorKind::NotADirectory)
}

/// Bytes in which each position can be told from its neighbours.
pub(super) fn pattern(size: usize) -> Vec<u8> {
    (0..size)
        .map(|index| u8::try_from((index * 31 + index / 251) % 256).unwrap_or_default())
        .collect()
}

async fn sizes(f: &Fixture) -> Verdict {
    for size in [
        0, 1, 4095, 4096, 4097, 65_535, 65_536, 65_537, 98_304, 98_305, 131_071, 131_072, 131_073,
        786_432, 3_145_728,
    ] {
        let bytes = pattern(size);
        f.put("a", bytes.clone()).await?;
        f.holds("a", &bytes).await?;
        eq("stat's size", f.stat("a").await?.size, size as u64)?;
    }
    Ok(())
}

async fn range_edges(f: &Fixture) -> Verdict {
    f.put("a", "0123456789").await?;
    for (offset, length, right) in [
        (0, 10, "0123456789"),
        (0, 11, "0123456789"),
        (0, 3, "012"),
        (3, 4, "3456"),
        (9, 1, "9"),
        (9, 5, "9"),
        (10, 1, ""),
        (11, 1, ""),
        (4, 0, ""),
    ] {
        let chunk = f.read_range("a", offset, length).await?;
        let what = format!("{length} bytes from {offset} on");
        same_bytes(&what, &chunk.bytes, right.as_bytes())?;
        eq("the size", chunk.size, 10)?;
    }
    Ok(())
}

async fn range_zero(f: &Fixture) -> Verdict {
    let written = f.put("a", "some content").await?;
    let chunk = f.read_range("a", 0, 0).await?;
    that(chunk.bytes.is_empty(), "there are bytes")?;
    eq("the size", chunk.size, 12)?;
    eq("the version", &chunk.version, &written)?;
    eq("read's version", f.read("a").await?.version, written)
}

async fn range_in_character(f: &Fixture) -> Verdict {
    f.put("a", "\u{754c}\u{754c}").await?;
    let chunk = f.read_range("a", 1, 4).await?;
    same_bytes("bytes 1 to 4", &chunk.bytes, b"\x95\x8c\xe7\x95")
}

async fn range_blocks(f: &Fixture) -> Verdict {
    for edge in [1024, 4096, 8192, 65_536] {
        let first = format!("{}\u{754c}", "a".repeat(edge - 1));
        f.put("a", format!("{first}\n")).await?;
        let length = first.len() as u64;
        let chunk = f.read_range("a", 0, length).await?;
        same_bytes("the first line", &chunk.bytes, first.as_bytes())?;
        let last = format!("\u{754c}{}\nend", "a".repeat(edge - 6));
        f.put("b", format!("skip\n{last}")).await?;
        let chunk = f.read_range("b", 5, last.len() as u64 + 9).await?;
        same_bytes("the last lines", &chunk.bytes, last.as_bytes())?;
    }
    Ok(())
}

async fn range_whole(f: &Fixture) -> Verdict {
    let bytes = pattern(200_001);
    let version = f.put("a", bytes.clone()).await?;
    let mut read = Vec::new();
    for step in 0..4u64 {
        let chunk = f.read_range("a", step * 65_536, 65_536).await?;
        eq("a range's version", &chunk.version, &version)?;
        eq("a range's size", chunk.size, 200_001)?;
        read.extend(chunk.bytes);
    }
    same_bytes("the ranges together", &read, &bytes)
}

async fn range_errors(f: &Fixture) -> Verdict {
    f.put("a", "x").await?;
    let most = f.sandbox.describe().limits.file_bytes;
    f.read_range("a", 0, most).await?;
    let over = f.read_range("a", 0, most + 1).await;
    expect_kind("one more", over, ErrorKind::TooLarge)?;
    let most = f.read_range("a", 0, u64::MAX).await;
    expect_kind("the largest", most, ErrorKind::TooLarge)
}

async fn range_far(f: &Fixture) -> Verdict {
    f.put("a", "x").await?;
    for offset in [i64::MAX.unsigned_abs(), u64::MAX] {
        let chunk = f.read_range("a", offset, 10).await?;
        eq("the range", (chunk.bytes.len(), chunk.size), (0, 1))?;
    }
    Ok(())
}
