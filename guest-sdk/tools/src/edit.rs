//! `edit`: texts of a file replaced by others, all or none.
//!
//! The edits are applied in order to what was read, and written only if the file is
//! still in the version that was read. Everything is bytes: line ends and a byte order mark stay as they are, and
//! a near match is never taken, only shown.

use belljar_guest::{ErrorKind, ToolError, files, tool};
use memchr::memmem;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{advice::advise, shown};

/// What to edit, and how.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Edit {
    /// The file, relative to the workspace's root.
    path: String,
    /// The edits, applied in order; each sees what the ones before it did.
    edits: Vec<Replacement>,
}

/// One edit.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Replacement {
    /// The text to replace, exactly as it is in the file, with its indentation, without the
    /// line numbers that read shows. It must occur exactly once, unless all is set.
    old: String,
    /// The text to put in its place.
    new: String,
    /// Replace every occurrence.
    #[serde(default)]
    all: bool,
}

/// Edits a file by replacing exact texts. All edits are made, or, when one does not fit, none.
#[tool(destructive, needs(read, write))]
pub(crate) fn edit(args: Edit) -> Result<String, ToolError> {
    if args.edits.is_empty() {
        let message = "there are no edits";
        return Err(ToolError::of(ErrorKind::InvalidArgument, message));
    }
    let files::Content { bytes, version } = files::read(&args.path).map_err(advise)?;
    let crlf = memmem::find(&bytes, b"\r\n").is_some();
    let mut text = bytes;
    let mut replaced = 0;
    for (index, edit) in args.edits.iter().enumerate() {
        let (changed, count) = apply(&text, edit).map_err(|error| {
            let place = if args.edits.len() == 1 {
                String::new()
            } else {
                format!(" (edit {} of {})", index + 1, args.edits.len())
            };
            ToolError {
                message: format!(
                    "{}{place}: {}; nothing was changed",
                    args.path, error.message
                ),
                kind: error.kind,
            }
        })?;
        text = changed;
        replaced += count;
    }
    files::write_with(&args.path, &text, files::expecting(version)).map_err(advise)?;
    let bare = |edit: &Replacement| {
        memmem::find_iter(edit.new.as_bytes(), b"\n").count()
            > memmem::find_iter(edit.new.as_bytes(), b"\r\n").count()
    };
    let note = if crlf && args.edits.iter().any(bare) {
        "\n[the file has lines that end with CRLF, and the new text has some that end with LF]"
    } else {
        ""
    };
    let count = shown::count(replaced, "replacement");
    Ok(format!("edited {}: {count}{note}", args.path))
}

/// The text after an edit, and how many occurrences were replaced.
fn apply(text: &[u8], edit: &Replacement) -> Result<(Vec<u8>, u64), ToolError> {
    let (old, new) = (edit.old.as_bytes(), edit.new.as_bytes());
    if old.is_empty() {
        let message = "the text to replace is empty; to write a whole file use write";
        return Err(ToolError::of(ErrorKind::InvalidArgument, message));
    }
    if old == new {
        let message = "the old and the new text are the same";
        return Err(ToolError::of(ErrorKind::InvalidArgument, message));
    }
    let finder = memmem::Finder::new(old);
    let places: Vec<usize> = finder.find_iter(text).collect();
    let Some(first) = places.first().copied() else {
        return Err(ToolError::of(ErrorKind::NoMatch, no_match(text, &edit.old)));
    };
    // Occurrences may overlap, and then the iterator has seen only one of them.
    let overlaps = finder.find(&text[first + 1..]).is_some();
    if !edit.all && overlaps {
        let mut lines: Vec<usize> = places
            .iter()
            .take(10)
            .map(|place| line_number(text, *place))
            .collect();
        lines.dedup();
        let lines: Vec<String> = lines.iter().map(usize::to_string).collect();
        let message = format!(
            "the text to replace occurs more than once (line {}); give more of the lines around it, or set all",
            lines.join(", ")
        );
        return Err(ToolError::of(ErrorKind::SeveralMatches, message));
    }
    let mut changed = Vec::with_capacity(text.len());
    let mut from = 0;
    for place in &places {
        changed.extend_from_slice(&text[from..*place]);
        changed.extend_from_slice(new);
        from = place + old.len();
    }
    changed.extend_from_slice(&text[from..]);
    Ok((changed, places.len() as u64))
}

fn line_number(text: &[u8], offset: usize) -> usize {
    memchr::memchr_iter(b'\n', &text[..offset]).count() + 1
}

/// Why nothing matched, with what is near.
fn no_match(text: &[u8], old: &str) -> String {
    let said = "the text to replace does not occur";
    let unix = old.replace("\r\n", "\n");
    let text_unix = without_cr(text);
    if memmem::find(&text_unix, unix.as_bytes()).is_some() {
        return if memmem::find(text, b"\r\n").is_some() {
            format!(
                "{said}: only the line ends differ; the file has CRLF, so give \\r\\n in old and new"
            )
        } else {
            format!(
                "{said}: only the line ends differ; the file has LF, so give \\n in old and new"
            )
        };
    }
    let squeeze = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let wanted = old.lines().map(squeeze).find(|line| !line.is_empty());
    let near = wanted.and_then(|wanted| {
        String::from_utf8_lossy(text)
            .lines()
            .enumerate()
            .find(|(_, line)| squeeze(line) == wanted)
            .map(|(index, line)| (index + 1, line.to_owned()))
    });
    match near {
        Some((number, line)) => format!(
            "{said}; line {number} is near, compare indentation and what follows: {:?}",
            shown::line(&line, 0)
        ),
        None => format!("{said}; read the file and give the text exactly as it is there"),
    }
}

fn without_cr(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut from = 0;
    for place in memmem::find_iter(text, b"\r\n") {
        out.extend_from_slice(&text[from..place]);
        from = place + 1;
    }
    out.extend_from_slice(&text[from..]);
    out
}

#[cfg(test)]
mod tests {
    use belljar_guest::testing::{MemorySandbox, with_sandbox};

    use super::*;

    fn run(content: &[u8], edits: &[(&str, &str, bool)]) -> (Result<String, ToolError>, Vec<u8>) {
        let memory = MemorySandbox::new().file("f", content);
        let edits = edits.iter().map(|(old, new, all)| Replacement {
            old: (*old).into(),
            new: (*new).into(),
            all: *all,
        });
        let args = Edit {
            path: "f".into(),
            edits: edits.collect(),
        };
        let answer = with_sandbox(&memory, || edit(args));
        (answer, memory.bytes("f").unwrap())
    }

    #[test]
    fn edits_see_the_ones_before_them() {
        let (answer, after) = run(
            b"a b b",
            &[("a", "c", false), ("c b", "d", false), ("b", "$&", true)],
        );
        assert_eq!(answer.unwrap(), "edited f: 3 replacements");
        assert_eq!(after, b"d $&");
    }

    #[test]
    fn one_that_does_not_fit_undoes_all() {
        for (edits, kind) in [
            (
                [("a", "x", false), ("gone", "y", false)],
                ErrorKind::NoMatch,
            ),
            (
                [("a", "x", false), ("b", "y", false)],
                ErrorKind::SeveralMatches,
            ),
            (
                [("a", "x", false), ("", "y", false)],
                ErrorKind::InvalidArgument,
            ),
            (
                [("a", "x", false), ("b", "b", true)],
                ErrorKind::InvalidArgument,
            ),
        ] {
            let (answer, after) = run(b"a b b", &edits);
            assert_eq!(answer.unwrap_err().kind, Some(kind));
            assert_eq!(after, b"a b b");
        }
        let (answer, _) = run(b"a", &[]);
        assert_eq!(answer.unwrap_err().kind, Some(ErrorKind::InvalidArgument));
    }

    #[test]
    fn overlapping_occurrences_are_several() {
        let (answer, _) = run(b"aaa", &[("aa", "b", false)]);
        assert_eq!(answer.unwrap_err().kind, Some(ErrorKind::SeveralMatches));
        let (_, after) = run(b"aaa", &[("aa", "b", true)]);
        assert_eq!(after, b"ba");
    }

    #[test]
    fn line_ends_and_a_mark_survive() {
        let (answer, after) = run(b"\xEF\xBB\xBFone\r\ntwo", &[("one", "1\n", false)]);
        assert_eq!(after, b"\xEF\xBB\xBF1\n\r\ntwo");
        assert!(answer.unwrap().contains("CRLF"));
        let (answer, after) = run(b"a\xff\r\n", &[("a", "b", false)]);
        assert_eq!(
            (answer.unwrap().as_str(), after.as_slice()),
            ("edited f: 1 replacement", &b"b\xff\r\n"[..])
        );
    }

    #[test]
    fn what_is_near_is_told_and_never_taken() {
        let (answer, after) = run(b"one\r\ntwo\r\n", &[("one\ntwo", "x", false)]);
        assert!(answer.unwrap_err().message.contains("CRLF"));
        assert_eq!(after, b"one\r\ntwo\r\n");
        let (answer, _) = run(b"one\ntwo\n", &[("one\r\ntwo", "x", false)]);
        assert!(answer.unwrap_err().message.contains("LF"));
        let (answer, _) = run(b"alpha\n   beta\n", &[("    beta", "x", false)]);
        assert!(answer.unwrap_err().message.contains("line 2"));
    }
}
