//! What the functions of `files` take and give. `files.wit` documents each.

use serde::{Deserialize, Serialize};

use crate::version::{Expected, Version};

/// A whole file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Content {
    /// Every byte of it.
    #[serde(with = "crate::bytes")]
    pub bytes: Vec<u8>,
    /// Its version.
    pub version: Version,
}

/// A part of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chunk {
    /// From the offset on; shorter than asked for only where the file ends.
    #[serde(with = "crate::bytes")]
    pub bytes: Vec<u8>,
    /// The size of the whole file, in bytes.
    pub size: u64,
    /// The version of the whole file.
    pub version: Version,
}

/// How `write` and `append` treat what is there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct WriteOptions {
    /// What must be there.
    pub expected: Expected,
    /// Make the missing parent directories.
    pub make_parents: bool,
    /// Give the file execute permission wherever it has read permission.
    pub executable: bool,
}

/// How `replace` replaces.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct ReplaceOptions {
    /// What must be there.
    pub expected: Expected,
    /// Every occurrence, left to right, not overlapping; otherwise exactly one.
    pub all: bool,
}

/// What `replace` did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Replaced {
    /// Occurrences replaced.
    pub count: u64,
    /// The new version.
    pub version: Version,
}

/// A name as the file system has it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Name {
    /// The name, with U+FFFD for each byte sequence that is not UTF-8.
    pub text: String,
    /// The exact bytes, where the name is not UTF-8.
    #[serde(with = "crate::bytes::option")]
    pub raw: Option<Vec<u8>>,
}

impl Name {
    /// Makes a name from a file system's bytes.
    ///
    /// ```
    /// use belljar_contract::files::Name;
    ///
    /// assert_eq!(Name::from_bytes(b"a".to_vec()).raw, None);
    /// let odd = Name::from_bytes(b"a\xff".to_vec());
    /// assert_eq!((odd.text.as_str(), odd.raw), ("a\u{fffd}", Some(b"a\xff".to_vec())));
    /// ```
    #[must_use]
    pub fn from_bytes(bytes: Vec<u8>) -> Self {
        match String::from_utf8(bytes) {
            Ok(text) => Self { text, raw: None },
            Err(error) => {
                let raw = error.into_bytes();
                Self {
                    text: String::from_utf8_lossy(&raw).into_owned(),
                    raw: Some(raw),
                }
            }
        }
    }

    /// The exact bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.raw.as_deref().unwrap_or(self.text.as_bytes())
    }
}

impl From<&str> for Name {
    fn from(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            raw: None,
        }
    }
}

/// What a directory entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link; only listings and walks report it.
    Link,
    /// A FIFO, a socket, or a device.
    Other,
}

/// A directory entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Its name in the directory.
    pub name: Name,
    /// What it is.
    pub kind: EntryKind,
    /// In bytes, for files.
    pub size: Option<u64>,
}

/// A directory's entries, in the byte order of their names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listing {
    /// The first of them.
    pub entries: Vec<Entry>,
    /// All there are.
    pub total: u64,
}

/// What a walk did not look at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    /// Links met below the base.
    pub links: u64,
    /// Files with a NUL byte.
    pub binary: u64,
    /// Directories and files that the system did not let us read.
    pub unreadable: u64,
    /// FIFOs, sockets and devices.
    pub special: u64,
}

impl std::ops::AddAssign for Skipped {
    fn add_assign(&mut self, other: Self) {
        self.links += other.links;
        self.binary += other.binary;
        self.unreadable += other.unreadable;
        self.special += other.special;
    }
}

/// A path that a pattern matches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// Relative to the root.
    pub path: Name,
    /// What it is.
    pub kind: EntryKind,
}

/// What `glob` found, in the byte order of the paths.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GlobResult {
    /// The first of them.
    pub paths: Vec<Found>,
    /// All there are.
    pub total: u64,
    /// What the walk did not look at.
    pub skipped: Skipped,
}

/// How a search pattern is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Syntax {
    /// Every character stands for itself.
    #[default]
    Literal,
    /// A regular expression.
    Regex,
}

/// A line of a file, as text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// Without its line end, cut after [`MAX_LINE_BYTES`].
    pub text: String,
    /// Whether U+FFFD stands for bytes that are not UTF-8.
    pub lossy: bool,
    /// Bytes cut from the end.
    pub dropped: u64,
}

/// The most bytes of a line that `search` gives: a minified file's one line would
/// fill a model's context.
pub const MAX_LINE_BYTES: usize = 2000;
/// The most context lines on each side of a match.
pub const MAX_CONTEXT_LINES: u32 = 100;

impl Line {
    /// Makes a line from a file's bytes: without its line end (LF or CRLF), cut at a
    /// character's edge.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Self {
        // A CR at the file's end, without LF, is the line's.
        let bytes = bytes
            .strip_suffix(b"\n")
            .map_or(bytes, |line| line.strip_suffix(b"\r").unwrap_or(line));
        let mut end = bytes.len().min(MAX_LINE_BYTES);
        // A character is at most 4 bytes; do not search further back in what is not text.
        let floor = end.saturating_sub(3);
        while end < bytes.len() && end > floor && bytes[end] & 0xC0 == 0x80 {
            end -= 1;
        }
        let text = String::from_utf8_lossy(&bytes[..end]);
        Self {
            lossy: std::str::from_utf8(&bytes[..end]).is_err(),
            text: text.into_owned(),
            dropped: (bytes.len() - end) as u64,
        }
    }
}

/// A matching line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Match {
    /// The file, relative to the root.
    pub path: Name,
    /// From 1.
    pub line_number: u64,
    /// Where the line begins in the file, in bytes from 0.
    pub offset: u64,
    /// The line.
    pub line: Line,
    /// Lines before it.
    pub before: Vec<Line>,
    /// Lines after it.
    pub after: Vec<Line>,
}

/// What `search` found, in the byte order of the paths, then by line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SearchResult {
    /// The first of them.
    pub matches: Vec<Match>,
    /// There are more.
    pub more: bool,
    /// What the walk did not look at.
    pub skipped: Skipped,
}

/// What a path is, links resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Info {
    /// What it is; never a link.
    pub kind: EntryKind,
    /// In bytes; 0 for what is not a file.
    pub size: u64,
    /// Nanoseconds since 1970-01-01T00:00:00Z, negative before.
    pub modified: i64,
    /// The permission bits; 0 where the backend has none.
    pub mode: u32,
}
