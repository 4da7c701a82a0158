//! `read`: a file's lines, numbered.
//!
//! Each line is its number, a tab, and its text, so that a model can name lines and still copy the text.
//! Line ends are not shown; what is special about them is said at the end.
//!
//! Of a file that is shown up to some line before its last, the last byte is not fetched: the host takes what is
//! fetched for read, and who has seen a part may not overwrite the whole.

use std::fmt::Write as _;

use belljar_guest::{
    Error, ErrorKind, Operation, ToolError,
    files::{self, EntryKind},
    session, tool,
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{advice::advise, shown};

/// Lines shown when the call does not say: most source files whole.
const DEFAULT_LINES: u64 = 2000;
/// Bytes shown at most, whatever the call says: what a model can use of one answer.
const MAX_SHOWN_BYTES: usize = 200_000;
/// How much of a file that is too large for one read is fetched at a time.
const RANGE_BYTES: u64 = 1 << 20;

/// What to read.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Read {
    /// The file, relative to the workspace's root.
    path: String,
    /// The first line to show, from 1.
    #[serde(default)]
    start_line: Option<u64>,
    /// How many lines to show at most; 2000 when absent.
    #[serde(default)]
    lines: Option<u64>,
}

/// Reads a text file. Each line is shown as its number, a tab, and its text. Long files are
/// shown in parts: give start_line and lines. Read a file before you edit it, and to its end
/// before you overwrite it.
#[tool(read_only, idempotent, needs(read))]
pub(crate) fn read(args: Read) -> Result<String, ToolError> {
    let first = args.start_line.unwrap_or(1);
    let most = args.lines.unwrap_or(DEFAULT_LINES);
    if first == 0 || most == 0 {
        let message = "start_line and lines count from 1";
        return Err(ToolError::of(ErrorKind::InvalidArgument, message));
    }
    let mut page = Page::new(first, most);
    match fetch(&args.path, &mut page) {
        Err(error) if error.kind == ErrorKind::TooLarge => in_ranges(&args.path, &mut page),
        fetched => fetched,
    }
    .map_err(advise)?;
    page.finish(&args.path)
}

/// Reads a file, all of it or all but its last byte.
fn fetch(path: &str, page: &mut Page) -> Result<(), Error> {
    let info = files::stat(path)?;
    // What is no file, reading refuses with its own words.
    if info.kind != EntryKind::File || info.size < 2 {
        let content = files::read(path)?;
        page.size = content.bytes.len() as u64;
        page.take(&content.bytes);
        page.complete = true;
        return Ok(());
    }
    let end = info.size - 1;
    let head = files::read_range(path, 0, end)?;
    page.size = head.size;
    page.take(&head.bytes);
    if head.size <= end {
        // It has become shorter, and this was all.
        page.complete = true;
    } else if !page.full() {
        let last = files::read_range(path, end, 1)?;
        if last.version != head.version {
            return Err(changed(path));
        }
        page.take(&last.bytes);
        page.complete = last.size == info.size;
    } else if head.size == info.size {
        page.count_last();
    }
    Ok(())
}

/// Reads a file that is too large for one read, until the page is full.
fn in_ranges(path: &str, page: &mut Page) -> Result<(), Error> {
    let most = session::describe().limits.file_bytes.min(RANGE_BYTES);
    let mut offset = 0;
    let mut version = None;
    while !page.full() {
        let chunk = files::read_range(path, offset, most)?;
        if version.get_or_insert_with(|| chunk.version.clone()) != &chunk.version {
            return Err(changed(path));
        }
        page.size = chunk.size;
        if chunk.bytes.is_empty() {
            page.complete = true;
            break;
        }
        offset += chunk.bytes.len() as u64;
        page.take(&chunk.bytes);
    }
    Ok(())
}

fn changed(path: &str) -> Error {
    let message = "the file changed while it was read; read it again";
    Error::new(ErrorKind::Stale, Operation::ReadRange, message).at(path)
}

/// The lines that are shown, as they come.
struct Page {
    first: u64,
    most: u64,
    text: String,
    /// Lines shown.
    shown: u64,
    /// Lines that were seen.
    seen: u64,
    /// All lines were seen, or counted.
    complete: bool,
    /// Bytes of the whole file.
    size: u64,
    /// There is a NUL.
    binary: bool,
    /// The beginning of a line whose end has not come.
    open: Vec<u8>,
    /// Bytes of the open line that were not kept.
    dropped: u64,
    crlf: u64,
    lossy: bool,
    mark: bool,
    /// The last line has no line end.
    unended: bool,
}

impl Page {
    const fn new(first: u64, most: u64) -> Self {
        Self {
            first,
            most,
            text: String::new(),
            shown: 0,
            seen: 0,
            complete: false,
            size: 0,
            binary: false,
            open: Vec::new(),
            dropped: 0,
            crlf: 0,
            lossy: false,
            mark: false,
            unended: false,
        }
    }

    fn full(&self) -> bool {
        self.shown >= self.most || self.text.len() >= MAX_SHOWN_BYTES
    }

    fn take(&mut self, bytes: &[u8]) {
        if self.seen == 0 && self.open.is_empty() && bytes.starts_with(b"\xEF\xBB\xBF") {
            self.mark = true;
        }
        self.binary |= bytes.contains(&0);
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.hold(part);
            if part.ends_with(b"\n") {
                self.line();
            }
        }
    }

    /// Keeps the beginning of the open line: more than is ever shown, and no more.
    fn hold(&mut self, part: &[u8]) {
        const MOST: usize = 64 << 10;
        let room = MOST.saturating_sub(self.open.len());
        let kept = part.len().min(room);
        self.open.extend_from_slice(&part[..kept]);
        self.dropped += (part.len() - kept) as u64;
    }

    /// Counts the line that the file's last byte ends, whatever byte that is.
    fn count_last(&mut self) {
        self.open.clear();
        self.dropped = 0;
        self.seen += 1;
        self.complete = true;
        // How it ends is not known, and counts for nothing.
        self.unended = true;
    }

    fn line(&mut self) {
        self.seen += 1;
        let bytes = std::mem::take(&mut self.open);
        let dropped = std::mem::take(&mut self.dropped);
        if bytes.ends_with(b"\r\n") {
            self.crlf += 1;
        }
        self.unended = dropped == 0 && !bytes.ends_with(b"\n");
        if self.seen < self.first || self.full() {
            return;
        }
        let bytes = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        let text = String::from_utf8_lossy(bytes);
        self.lossy |= matches!(text, std::borrow::Cow::Owned(_)) && dropped == 0;
        let text = if self.seen == 1 {
            text.strip_prefix('\u{feff}').unwrap_or(&text)
        } else {
            &text
        };
        // Writing to a string does not fail.
        let _ = writeln!(self.text, "{}\t{}", self.seen, shown::line(text, dropped));
        self.shown += 1;
    }

    fn finish(mut self, path: &str) -> Result<String, ToolError> {
        if self.binary {
            let size = shown::count(self.size, "byte");
            let message = format!("{path}: a binary file of {size}, not text");
            return Err(ToolError::of(ErrorKind::NotUtf8, message));
        }
        // Of a file that was not seen to its end, the open line is not a line yet.
        if self.complete && !self.open.is_empty() {
            self.line();
        }
        if self.seen == 0 {
            return Ok("[the file is empty]".to_owned());
        }
        if self.shown == 0 {
            let lines = shown::count(self.seen, "line");
            let message = format!("{path}: the file has {lines}; start_line is past its end");
            return Err(ToolError::of(ErrorKind::InvalidArgument, message));
        }
        let mut notes = Vec::new();
        let last = self.first + self.shown - 1;
        let more = last < self.seen || !self.complete;
        if more || self.first > 1 {
            let mut note = format!("lines {}-{last}", self.first);
            if self.complete {
                let _ = write!(note, " of {}", self.seen);
            }
            if more {
                let _ = write!(note, "; go on with start_line {}", last + 1);
            }
            notes.push(note);
        }
        if self.crlf == self.seen || (self.crlf > 0 && self.crlf + 1 == self.seen && self.unended) {
            notes.push("lines end with CRLF".to_owned());
        } else if self.crlf > 0 {
            let mixed = format!("{} of {} lines end with CRLF", self.crlf, self.seen);
            notes.push(mixed);
        }
        if self.mark {
            notes.push("begins with a byte order mark".to_owned());
        }
        if self.unended && last == self.seen {
            notes.push("no line end after the last line".to_owned());
        }
        if self.lossy {
            notes.push("not UTF-8 throughout; \u{fffd} stands for what is not".to_owned());
        }
        if !notes.is_empty() {
            let _ = write!(self.text, "[{}]", notes.join("; "));
        }
        Ok(self.text)
    }
}

#[cfg(test)]
mod tests {
    use belljar_guest::testing::{MemorySandbox, with_sandbox};

    use super::*;

    fn page(content: &[u8], start_line: u64, lines: u64) -> Result<String, ToolError> {
        let memory = MemorySandbox::new().file("f", content);
        let args = Read {
            path: "f".into(),
            start_line: Some(start_line),
            lines: Some(lines),
        };
        with_sandbox(&memory, || read(args))
    }

    #[test]
    fn lines_are_numbered() {
        assert_eq!(page(b"a\n\nb\n", 1, 10).unwrap(), "1\ta\n2\t\n3\tb\n");
        assert_eq!(page(b"", 1, 10).unwrap(), "[the file is empty]");
    }

    #[test]
    fn a_part_says_where_to_go_on() {
        assert_eq!(
            page(b"a\nb\nc\nd\n", 2, 2).unwrap(),
            "2\tb\n3\tc\n[lines 2-3 of 4; go on with start_line 4]"
        );
        assert_eq!(page(b"a\nb\n", 2, 2).unwrap(), "2\tb\n[lines 2-2 of 2]");
        let past = page(b"a\n", 2, 1).unwrap_err();
        assert_eq!(past.kind, Some(ErrorKind::InvalidArgument));
        assert_eq!(
            page(b"a\n", 0, 1).unwrap_err().kind,
            Some(ErrorKind::InvalidArgument)
        );
    }

    #[test]
    fn what_comes_after_a_part_is_counted() {
        for (content, lines) in [
            (&b"a\nb"[..], 2),
            (b"a\n\n", 2),
            (b"a\nb\nc", 3),
            (b"a\nb\n\n", 3),
        ] {
            assert_eq!(
                page(content, 1, 1).unwrap(),
                format!("1\ta\n[lines 1-1 of {lines}; go on with start_line 2]")
            );
        }
        assert_eq!(
            page(b"a\r\nb\r\nc\r\n", 1, 1).unwrap(),
            "1\ta\n[lines 1-1 of 3; go on with start_line 2; lines end with CRLF]"
        );
    }

    #[test]
    fn what_is_special_about_the_text_is_said() {
        assert_eq!(
            page(b"\xEF\xBB\xBFa\r\nb", 1, 9).unwrap(),
            "1\ta\n2\tb\n[lines end with CRLF; begins with a byte order mark; no line end after the last line]"
        );
        assert!(page(b"a\r\nb\n", 1, 9).unwrap().contains("1 of 2 lines"));
        assert!(page(b"a\xff\n", 1, 9).unwrap().contains("not UTF-8"));
        let binary = page(b"a\0", 1, 9).unwrap_err();
        assert_eq!(binary.kind, Some(ErrorKind::NotUtf8));
    }

    #[test]
    fn a_file_over_the_limit_is_read_in_ranges() {
        let line = format!("{}\n", "x".repeat(99));
        let memory = MemorySandbox::new()
            .limits(|limits| limits.file_bytes = 10_000)
            .file("big", line.repeat(2000));
        let args = Read {
            path: "big".into(),
            start_line: Some(1500),
            lines: Some(1),
        };
        let text = with_sandbox(&memory, || read(args)).unwrap();
        assert!(
            text.starts_with(&format!("1500\t{}", &line[..99])),
            "{text}"
        );
        assert!(text.contains("go on with start_line 1501"));
    }
}
