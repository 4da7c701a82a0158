//! Files of the workspace: the functions of the contract's `files`, and builders for those with
//! many options.
//!
//! A path is relative to the workspace's root, or absolute below the root that
//! [`session::describe`](crate::session::describe) gives. Content is bytes, and nothing is translated. A change can be made to
//! depend on the version that an earlier call gave, so that nobody's work is lost:
//!
//! ```
//! use belljar_guest::{ErrorKind, files, testing};
//!
//! let memory = testing::MemorySandbox::new().file("a.txt", "one\n");
//! testing::with_sandbox(&memory, || {
//!     let before = files::read("a.txt")?;
//!     files::write("a.txt", "somebody else's\n")?;
//!     let late = files::write_with("a.txt", "mine\n", files::expecting(before.version));
//!     assert_eq!(late.unwrap_err().kind, ErrorKind::Stale);
//!     Ok::<(), belljar_guest::Error>(())
//! })?;
//! # Ok::<(), belljar_guest::Error>(())
//! ```

mod glob;
mod search;

pub use belljar_contract::files::{
    Chunk, Content, Entry, EntryKind, Found, GlobResult, Info, Line, Listing, MAX_CONTEXT_LINES,
    MAX_LINE_BYTES, Match, Name, ReplaceOptions, Replaced, SearchResult, Skipped, Syntax,
    WriteOptions,
};
pub use belljar_contract::{Expected, QueryOptions, ScopeOptions, Version};

pub use self::{glob::Glob, search::Search};
use crate::{Error, ErrorKind, Operation, Result, imports};

/// Reads a whole file.
///
/// # Errors
/// As `files.read`.
pub fn read(path: &str) -> Result<Content> {
    imports::read(path)
}

/// Reads a whole file as text.
///
/// # Errors
/// As [`read`], and `not-utf8`; the message says where.
///
/// ```
/// use belljar_guest::{ErrorKind, files, testing};
///
/// let memory = testing::MemorySandbox::new().file("odd", b"ab\xff");
/// let error = testing::with_sandbox(&memory, || files::read_text("odd")).unwrap_err();
/// assert_eq!(error.kind, ErrorKind::NotUtf8);
/// ```
pub fn read_text(path: &str) -> Result<String> {
    text(path, read(path)?.bytes)
}

/// Makes text of a file's content.
///
/// # Errors
/// `not-utf8`; the message says where.
pub fn text(path: &str, bytes: Vec<u8>) -> Result<String> {
    String::from_utf8(bytes).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        let message = format!("not UTF-8 text: the byte at offset {offset} is not part of any");
        Error::new(ErrorKind::NotUtf8, Operation::Read, message)
            .at(path)
            .because(error.utf8_error())
    })
}

/// Reads at most `length` bytes from `offset` on.
///
/// # Errors
/// As `files.read-range`.
pub fn read_range(path: &str, offset: u64, length: u64) -> Result<Chunk> {
    imports::read_range(path, offset, length)
}

/// Makes `bytes` the content of a file, whatever was there.
///
/// # Errors
/// As `files.write`.
pub fn write(path: &str, bytes: impl AsRef<[u8]>) -> Result<Version> {
    write_with(path, bytes, WriteOptions::default())
}

/// Makes `bytes` the content of a file.
///
/// # Errors
/// As `files.write`.
pub fn write_with(path: &str, bytes: impl AsRef<[u8]>, options: WriteOptions) -> Result<Version> {
    imports::write(path, bytes.as_ref(), options)
}

/// Options for a change of a file that must still be in this version.
#[must_use]
pub fn expecting(version: Version) -> WriteOptions {
    WriteOptions {
        expected: Expected::Version(version),
        ..WriteOptions::default()
    }
}

/// Adds `bytes` at the end of a file, which is created when absent.
///
/// # Errors
/// As `files.append`.
pub fn append(path: &str, bytes: impl AsRef<[u8]>) -> Result<Version> {
    append_with(path, bytes, WriteOptions::default())
}

/// Adds `bytes` at the end of a file.
///
/// # Errors
/// As `files.append`.
pub fn append_with(path: &str, bytes: impl AsRef<[u8]>, options: WriteOptions) -> Result<Version> {
    imports::append(path, bytes.as_ref(), options)
}

/// Replaces `old`, which must occur exactly once, by `new`.
///
/// # Errors
/// As `files.replace`.
pub fn replace(path: &str, old: impl AsRef<[u8]>, new: impl AsRef<[u8]>) -> Result<Replaced> {
    replace_with(path, old, new, ReplaceOptions::default())
}

/// Replaces `old` by `new`.
///
/// # Errors
/// As `files.replace`.
pub fn replace_with(
    path: &str,
    old: impl AsRef<[u8]>,
    new: impl AsRef<[u8]>,
    options: ReplaceOptions,
) -> Result<Replaced> {
    imports::replace(path, old.as_ref(), new.as_ref(), options)
}

/// Lists a directory: the first `limit` entries (the session's limit when none), and how many
/// there are.
///
/// # Errors
/// As `files.list`.
pub fn list(path: &str, limit: impl Into<Option<u32>>) -> Result<Listing> {
    imports::list(path, limit.into())
}

/// Finds paths by a pattern; [`Glob`] is the same with a name for each option.
///
/// # Errors
/// As `files.glob`.
pub fn glob(pattern: &str, scope: ScopeOptions) -> Result<GlobResult> {
    imports::glob(pattern, scope)
}

/// Finds lines; [`Search`] is the same with a name for each option.
///
/// # Errors
/// As `files.search`.
pub fn search(query: QueryOptions, scope: ScopeOptions) -> Result<SearchResult> {
    imports::search(query, scope)
}

/// Says what a path is, links resolved.
///
/// # Errors
/// As `files.stat`.
pub fn stat(path: &str) -> Result<Info> {
    imports::stat(path)
}

/// Whether there is anything at a path, links resolved.
///
/// # Errors
/// As `files.stat`, but for `not-found`, which is the answer.
pub fn exists(path: &str) -> Result<bool> {
    match stat(path) {
        Ok(_) => Ok(true),
        Err(error) if error.kind == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Gives the path with every link resolved, relative to the root, `.` for the root.
///
/// # Errors
/// As `files.resolve`.
pub fn resolve(path: &str) -> Result<String> {
    imports::resolve(path)
}

/// Makes a directory and its missing parents.
///
/// # Errors
/// As `files.make-directory`.
pub fn make_directory(path: &str) -> Result<()> {
    imports::make_directory(path)
}

/// Removes a file, a link, or an empty directory.
///
/// # Errors
/// As `files.remove`.
pub fn remove(path: &str) -> Result<()> {
    imports::remove(path, false)
}

/// Removes a file, a link, or a directory with all that is in it.
///
/// # Errors
/// As `files.remove`.
pub fn remove_all(path: &str) -> Result<()> {
    imports::remove(path, true)
}

/// Moves a file, link or directory.
///
/// # Errors
/// As `files.rename`.
pub fn rename(source: &str, target: &str, destination: Expected) -> Result<()> {
    imports::rename(source, target, destination)
}

/// Copies a file's content and mode.
///
/// # Errors
/// As `files.copy`.
pub fn copy(source: &str, target: &str, destination: Expected) -> Result<Version> {
    imports::copy(source, target, destination)
}
