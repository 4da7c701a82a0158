//! The lines that `search` gives: their ends, their bytes, their length.

use super::search::literal_of;
use belljar_contract::{
    QueryOptions,
    files::{MAX_CONTEXT_LINES, MAX_LINE_BYTES},
};

use crate::{
    case::{Case, FILES, Verdict, case},
    check::eq,
    fixture::Fixture,
    fixture_files::below,
};

pub(super) const CASES: &[Case] = &[
    case!(
        context,
        "search/context",
        "Context lines stand around each match, fewer at the file's edges, repeated between near ones.",
        FILES
    ),
    case!(
        binary,
        "search/binary-files",
        "A file with a NUL byte is skipped and counted, and has no matches.",
        FILES
    ),
    case!(
        not_utf8,
        "search/what-is-not-utf-8",
        "A line that is not UTF-8 is found by its bytes, and marked as lossy.",
        FILES
    ),
    case!(
        line_ends,
        "search/line-ends",
        "LF and CRLF are not part of a line, a lone CR is; the last line needs none.",
        FILES
    ),
    case!(
        mark,
        "search/a-byte-order-mark",
        "A byte order mark is three bytes of the first line and hides nothing of it.",
        FILES
    ),
    case!(
        long_lines,
        "search/long-lines",
        "A long line is cut at a character's edge, and the bytes cut are counted.",
        FILES
    ),
    case!(
        block_edges,
        "search/across-block-edges",
        "A match that lies across a block's edge is found.",
        FILES
    ),
];

async fn context(f: &Fixture) -> Verdict {
    f.put("a", "1\nword 2\n3\r\nword 4\n5\n6\n7").await?;
    let query = QueryOptions {
        context: 2,
        ..literal_of("word")
    };
    let found = f.search(query, below(".")).await?;
    let texts = |lines: &[belljar_contract::files::Line]| -> Vec<String> {
        lines.iter().map(|line| line.text.clone()).collect()
    };
    let got: Vec<_> = found
        .matches
        .iter()
        .map(|m| (texts(&m.before), m.line.text.clone(), texts(&m.after)))
        .collect();
    let owned = |lines: &[&str]| -> Vec<String> { lines.iter().map(ToString::to_string).collect() };
    let right = [
        (owned(&["1"]), "word 2".to_owned(), owned(&["3", "word 4"])),
        (
            owned(&["word 2", "3"]),
            "word 4".to_owned(),
            owned(&["5", "6"]),
        ),
    ];
    eq("the matches", got, right)?;
    let most = QueryOptions {
        context: MAX_CONTEXT_LINES,
        ..literal_of("7")
    };
    let found = f.search(most, below(".")).await?;
    let around = found
        .matches
        .first()
        .map(|m| (m.before.len(), m.after.len()));
    eq("the most context", around, Some((6, 0)))
}

async fn binary(f: &Fixture) -> Verdict {
    f.put("a", b"word\n\0\n").await?;
    f.put("b", b"\0").await?;
    f.put("c", "word\n").await?;
    f.put("d", "").await?;
    let found = f.search(literal_of("word"), below(".")).await?;
    eq("matches", found.matches.len(), 1)?;
    eq("binary", found.skipped.binary, 2)?;
    // Far into a file that has shown no match yet.
    f.remove("a", false).await?;
    f.put("a", [vec![b'x'; 300_000], b"\nword\0\n".to_vec()].concat())
        .await?;
    let found = f.search(literal_of("word"), below(".")).await?;
    eq(
        "after a late NUL",
        (found.matches.len(), found.skipped.binary),
        (1, 2),
    )
}

async fn not_utf8(f: &Fixture) -> Verdict {
    f.put("a", b"caf\xe9 word\nplain word\n\xff\xff\n").await?;
    let found = f.search(literal_of("word"), below(".")).await?;
    let got: Vec<_> = found
        .matches
        .iter()
        .map(|m| (m.line.text.as_str(), m.line.lossy))
        .collect();
    let right = [("caf\u{fffd} word", true), ("plain word", false)];
    eq("the lines", got, right)
}

async fn line_ends(f: &Fixture) -> Verdict {
    f.put("a", "one\r\ntwo\rthree\nfour\r\n\r\nend").await?;
    for (pattern, right) in [
        ("^one$", &["a:1"][..]),
        ("three$", &["a:2"]),
        ("^four$", &["a:3"]),
        ("^$", &["a:4"]),
        ("^end$", &["a:5"]),
    ] {
        eq(pattern, f.lines_like(pattern, below(".")).await?, right)?;
    }
    f.put("b", "x\n").await?;
    eq(
        "no line after the last LF",
        f.lines_like("^$", below("b")).await?,
        [""; 0],
    )
}

async fn mark(f: &Fixture) -> Verdict {
    f.put("a", "\u{feff}const v = 1;\n").await?;
    let found = f.search(literal_of("const v"), below(".")).await?;
    let got: Vec<_> = found
        .matches
        .iter()
        .map(|m| (m.line_number, m.offset))
        .collect();
    eq("the match", got, [(1, 0)])?;
    eq(
        "its text",
        found.matches[0].line.text.as_str(),
        "\u{feff}const v = 1;",
    )
}

async fn long_lines(f: &Fixture) -> Verdict {
    let line = format!(
        "word{}\u{754c}{}",
        "x".repeat(MAX_LINE_BYTES - 5),
        "y".repeat(500)
    );
    f.put("a", format!("{line}\nword\n")).await?;
    let found = f.search(literal_of("word"), below(".")).await?;
    let got: Vec<_> = found
        .matches
        .iter()
        .map(|m| (m.line.text.len(), m.line.dropped, m.line.lossy))
        .collect();
    eq(
        "the lines",
        got,
        [(MAX_LINE_BYTES - 1, 503, false), (4, 0, false)],
    )?;
    // The match may be in the part that is cut.
    eq("yyy", f.lines("yyy", below(".")).await?, ["a:1"])
}

async fn block_edges(f: &Fixture) -> Verdict {
    for edge in [4096, 8192, 65_536, 131_072] {
        let text = format!("{}\nneedle\u{754c}\n", "x".repeat(edge - 4));
        f.put("a", text).await?;
        let pattern = "needle\u{754c}";
        eq("the match", f.lines(pattern, below(".")).await?, ["a:2"])?;
        f.put("a", format!("{}needle", "x".repeat(edge - 3)))
            .await?;
        eq("in one line", f.lines("needle", below(".")).await?, ["a:1"])?;
    }
    Ok(())
}
