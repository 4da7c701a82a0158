//! Reading a file line by line, many lines at a time.

use std::collections::VecDeque;

use belljar_contract::{Context, files::Line};
use memchr::{memchr, memchr_iter, memrchr};
use rustix::io::Errno;

use super::pattern::LinePattern;
use crate::files::fault::Fault;

/// What is read at once. Most source files are smaller.
const PIECE: usize = 128 << 10;
/// The longest line that is looked at. A file with a longer one counts as unreadable: it would take
/// more memory than a search may.
const LONGEST_LINE: usize = 64 << 20;
/// The memory that the matches of one answer may take.
pub(super) const MOST_BYTES: usize = 64 << 20;

/// A matching line, without its file.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) number: u64,
    pub(super) offset: u64,
    pub(super) line: Line,
    pub(super) before: Vec<Line>,
    pub(super) after: Vec<Line>,
    /// About what it takes of memory.
    pub(super) bytes: usize,
}

impl Found {
    fn count(line: &Line) -> usize {
        line.text.len() + size_of::<Line>()
    }
}

/// What became of a file.
pub(super) enum Looked {
    Lines(Vec<Found>),
    /// It has a NUL byte.
    Binary,
    Unreadable,
}

/// Memory for reading, kept from one file to the next.
pub(super) struct Reader {
    buffer: Vec<u8>,
}

/// One file's search, between two pieces.
struct Search<'a> {
    pattern: &'a LinePattern,
    context: usize,
    most: usize,
    found: Vec<Found>,
    bytes: usize,
    /// The number of the line that the piece begins with, from 1.
    number: u64,
    /// Where the piece begins in the file.
    offset: u64,
    /// The last lines before the piece.
    last: VecDeque<Line>,
    /// The matches, from this one on, that still miss lines after them.
    open: usize,
}

impl Reader {
    pub(super) const fn new() -> Self {
        Self { buffer: Vec::new() }
    }

    /// Finds at most `most` lines of a file of about this size, which `read` gives piece by piece.
    pub(super) fn look(
        &mut self,
        context: &Context,
        mut read: impl FnMut(&mut [u8]) -> Result<usize, Errno>,
        size: u64,
        pattern: &LinePattern,
        context_lines: usize,
        most: usize,
    ) -> Result<Looked, Fault> {
        if self.buffer.len() > 2 * PIECE {
            self.buffer = Vec::new();
        }
        if self.buffer.len() < PIECE {
            self.buffer.resize(PIECE, 0);
        }
        let mut search = Search {
            pattern,
            context: context_lines,
            most,
            found: Vec::new(),
            bytes: 0,
            number: 1,
            offset: 0,
            last: VecDeque::new(),
            open: 0,
        };
        let mut filled = 0;
        let mut total = 0_u64;
        loop {
            let count = match read(&mut self.buffer[filled..]) {
                Ok(count) => count,
                Err(Errno::INTR) => continue,
                Err(_) => return Ok(Looked::Unreadable),
            };
            if memchr(0, &self.buffer[filled..filled + count]).is_some() {
                return Ok(Looked::Binary);
            }
            filled += count;
            total += count as u64;
            // A regular file gives less than was asked for only at its end; it may have grown since its
            // size was asked for, and then there is more.
            let at_end = count == 0 || (total == size && filled < self.buffer.len());
            let end = if at_end {
                filled
            } else {
                memrchr(b'\n', &self.buffer[..filled]).map_or(0, |at| at + 1)
            };
            search.piece(&self.buffer[..end], at_end);
            if at_end || search.is_full() {
                return Ok(Looked::Lines(search.found));
            }
            context.check()?;
            self.buffer.copy_within(end..filled, 0);
            filled -= end;
            if filled == self.buffer.len() {
                if filled >= LONGEST_LINE {
                    return Ok(Looked::Unreadable);
                }
                self.buffer.resize(filled * 2, 0);
            }
        }
    }
}

impl Search<'_> {
    /// Whether there is no need to look on.
    fn is_full(&self) -> bool {
        self.found.len() >= self.most || self.bytes > MOST_BYTES
    }

    /// Looks at whole lines.
    fn piece(&mut self, piece: &[u8], at_end: bool) {
        if self.context > 0 {
            self.fill_open(piece);
        }
        let mut position = 0;
        let mut counted = 0;
        while position < piece.len() && !self.is_full() {
            let Some(at) = self.pattern.candidate(&piece[position..]) else {
                break;
            };
            let at = position + at;
            if at >= piece.len() {
                break;
            }
            let start =
                memrchr(b'\n', &piece[position..at]).map_or(position, |lf| position + lf + 1);
            let end = line_end(piece, at);
            position = end;
            let (line, has_carriage_return) = without_end(&piece[start..end]);
            if !self.pattern.is_match(line, has_carriage_return) {
                continue;
            }
            self.number += newlines(&piece[counted..start]);
            counted = start;
            self.take(piece, start, end, at_end);
        }
        self.number += newlines(&piece[counted..]);
        self.offset += piece.len() as u64;
        if self.context > 0 && !at_end {
            self.keep_last(piece);
        }
    }

    fn take(&mut self, piece: &[u8], start: usize, end: usize, at_end: bool) {
        let mut found = Found {
            number: self.number,
            offset: self.offset + start as u64,
            line: Line::from_bytes(&piece[start..end]),
            before: self.lines_before(piece, start),
            ..Found::default()
        };
        let mut next = end;
        while found.after.len() < self.context && next < piece.len() {
            let end = line_end(piece, next);
            found.after.push(Line::from_bytes(&piece[next..end]));
            next = end;
        }
        found.bytes = size_of::<Found>()
            + found
                .before
                .iter()
                .chain(&found.after)
                .chain([&found.line])
                .map(Found::count)
                .sum::<usize>();
        self.bytes += found.bytes;
        let complete = at_end || found.after.len() == self.context;
        if complete && self.open == self.found.len() {
            self.open += 1;
        }
        self.found.push(found);
    }

    fn lines_before(&self, piece: &[u8], start: usize) -> Vec<Line> {
        let mut lines = VecDeque::new();
        let mut end = start;
        while lines.len() < self.context && end > 0 {
            let start = memrchr(b'\n', &piece[..end - 1]).map_or(0, |lf| lf + 1);
            lines.push_front(Line::from_bytes(&piece[start..end]));
            end = start;
        }
        for line in self.last.iter().rev() {
            if lines.len() == self.context {
                break;
            }
            lines.push_front(line.clone());
        }
        lines.into()
    }

    /// Gives the first lines of a piece to the matches before it that miss them.
    fn fill_open(&mut self, piece: &[u8]) {
        let mut next = 0;
        while self.open < self.found.len() && next < piece.len() {
            let end = line_end(piece, next);
            let line = Line::from_bytes(&piece[next..end]);
            next = end;
            for found in &mut self.found[self.open..] {
                if found.after.len() < self.context {
                    found.bytes += Found::count(&line);
                    self.bytes += Found::count(&line);
                    found.after.push(line.clone());
                }
            }
            // Matches are in order: the first of them has its lines first.
            while self
                .found
                .get(self.open)
                .is_some_and(|found| found.after.len() == self.context)
            {
                self.open += 1;
            }
        }
    }

    fn keep_last(&mut self, piece: &[u8]) {
        let lines = self.lines_before(piece, piece.len());
        self.last = lines.into();
    }
}

/// Where the line ends that has the byte at `at`, its LF included.
fn line_end(piece: &[u8], at: usize) -> usize {
    memchr(b'\n', &piece[at..]).map_or(piece.len(), |lf| at + lf + 1)
}

/// A line without LF or CRLF, and whether it had CR.
fn without_end(line: &[u8]) -> (&[u8], bool) {
    match line.strip_suffix(b"\n") {
        None => (line, false),
        Some(line) => match line.strip_suffix(b"\r") {
            None => (line, false),
            Some(line) => (line, true),
        },
    }
}

fn newlines(bytes: &[u8]) -> u64 {
    memchr_iter(b'\n', bytes).count() as u64
}
