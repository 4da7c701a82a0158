//! Paths and patterns as the contract has them: parsed once, at the edge.
//!
//! A [`GuestPath`] is never a path of the host. Its text is normal (no `.`, `..`, `//`, no
//! leading or trailing slash) and relative to the workspace's root, so that a policy and the engine
//! judge the same text. `semantics.md`, "Paths", is the rule this module implements.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error::ErrorKind;

/// The longest path, in bytes: Linux's `PATH_MAX`, which every backend can hold.
pub const MAX_PATH_BYTES: usize = 4096;
/// The longest component, in bytes: `NAME_MAX` of the usual file systems.
pub const MAX_NAME_BYTES: usize = 255;

/// Why a text is not a path or pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum PathError {
    #[error("the path is empty; use . for the root")]
    Empty,
    #[error("the path has a NUL character")]
    Nul,
    #[error("the path is longer than {MAX_PATH_BYTES} bytes")]
    TooLong,
    #[error("a name in the path is longer than {MAX_NAME_BYTES} bytes")]
    NameTooLong,
    #[error("the path leaves the workspace")]
    Leaves,
    #[error("the pattern is empty")]
    EmptyPattern,
    #[error("the pattern has a NUL character")]
    NulPattern,
    #[error("the pattern is longer than {MAX_PATH_BYTES} bytes")]
    PatternTooLong,
    #[error("the pattern is absolute or has ..; give it relative to the base")]
    PatternLeaves,
}

impl PathError {
    /// The contract's kind for this error.
    #[must_use]
    pub const fn kind(self) -> ErrorKind {
        match self {
            Self::Empty
            | Self::Nul
            | Self::EmptyPattern
            | Self::NulPattern
            | Self::PatternLeaves => ErrorKind::InvalidArgument,
            Self::TooLong | Self::NameTooLong | Self::PatternTooLong => ErrorKind::TooLarge,
            Self::Leaves => ErrorKind::AccessDenied,
        }
    }
}

/// A path below the workspace's root.
///
/// ```
/// use belljar_contract::GuestPath;
///
/// let path = GuestPath::parse("/workspace/./src//a/../lib.rs", "/workspace")?;
/// assert_eq!(path.as_str(), "src/lib.rs");
/// assert!(GuestPath::parse("/workspace/dir/", "/workspace")?.must_be_directory());
/// assert!(GuestPath::parse("../x", "/workspace").is_err());
/// # Ok::<(), belljar_contract::PathError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct GuestPath {
    text: String,
    must_be_directory: bool,
    no_links: bool,
}

impl GuestPath {
    /// The workspace's root.
    #[must_use]
    pub const fn root() -> Self {
        Self {
            text: String::new(),
            must_be_directory: true,
            no_links: false,
        }
    }

    /// Parses a path that is relative, or absolute below `root`. `.`, `..` and `//` are
    /// resolved by text, before any link is.
    ///
    /// # Errors
    /// [`PathError`] when the text is empty, has a NUL, is too long, or leaves the root.
    pub fn parse(text: &str, root: &str) -> Result<Self, PathError> {
        if text.is_empty() {
            return Err(PathError::Empty);
        }
        if text.contains('\0') {
            return Err(PathError::Nul);
        }
        if text.len() > MAX_PATH_BYTES {
            return Err(PathError::TooLong);
        }
        let mut parts: Vec<&str> = Vec::new();
        for part in text.split('/') {
            match part {
                "" | "." => {}
                ".." if parts.pop().is_none() && !text.starts_with('/') => {
                    return Err(PathError::Leaves);
                }
                ".." => {}
                name if name.len() > MAX_NAME_BYTES => return Err(PathError::NameTooLong),
                name => parts.push(name),
            }
        }
        let mut rest = parts.as_slice();
        if text.starts_with('/') {
            for name in root.split('/').filter(|name| !name.is_empty()) {
                match rest.split_first() {
                    Some((first, tail)) if *first == name => rest = tail,
                    _ => return Err(PathError::Leaves),
                }
            }
        }
        let must_be_directory =
            rest.is_empty() || matches!(text.rsplit('/').next(), Some("" | "." | ".."));
        Ok(Self {
            text: rest.join("/"),
            must_be_directory,
            no_links: false,
        })
    }

    /// The path relative to the root; empty for the root itself.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether the caller said, by a trailing slash or dot, that this is a directory.
    #[must_use]
    pub const fn must_be_directory(&self) -> bool {
        self.must_be_directory
    }

    /// Whether this is the root.
    #[must_use]
    pub const fn is_root(&self) -> bool {
        self.text.is_empty()
    }

    /// The last name; none for the root.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.text.rsplit('/').next().filter(|name| !name.is_empty())
    }

    /// The directory that holds it; none for the root.
    #[must_use]
    pub fn parent(&self) -> Option<Self> {
        let name = self.name()?;
        let text = self.text[..self.text.len() - name.len()]
            .trim_end_matches('/')
            .to_owned();
        Some(Self {
            text,
            must_be_directory: true,
            no_links: self.no_links,
        })
    }

    /// The same path, to be resolved without following a link: where one would be
    /// followed, the answer is `access-denied`. As a scope's base it also binds the
    /// literal beginning of the pattern.
    ///
    /// A layer that judged a resolved path asks with it, so that a link that is put on the way
    /// after the judgement leads nowhere.
    #[must_use]
    pub fn without_links(mut self) -> Self {
        self.no_links = true;
        self
    }

    /// Whether no link may be followed on the way to this path, nor at its end.
    #[must_use]
    pub const fn no_links(&self) -> bool {
        self.no_links
    }

    /// The same path, as one that must be a directory.
    #[must_use]
    pub fn into_directory(mut self) -> Self {
        self.must_be_directory = true;
        self
    }

    /// The path of an entry in this directory.
    ///
    /// # Errors
    /// [`PathError`] when the name is empty, `.`, `..`, has `/` or NUL, or is too long.
    pub fn join(&self, name: &str) -> Result<Self, PathError> {
        match name {
            "" | "." => return Err(PathError::Empty),
            ".." => return Err(PathError::Leaves),
            _ if name.contains('/') => return Err(PathError::Leaves),
            _ if name.contains('\0') => return Err(PathError::Nul),
            _ if name.len() > MAX_NAME_BYTES => return Err(PathError::NameTooLong),
            _ if self.text.len() + 1 + name.len() > MAX_PATH_BYTES => {
                return Err(PathError::TooLong);
            }
            _ => {}
        }
        let text = if self.is_root() {
            name.to_owned()
        } else {
            format!("{}/{name}", self.text)
        };
        Ok(Self {
            text,
            must_be_directory: false,
            no_links: self.no_links,
        })
    }

    /// The names from the root on.
    pub fn names(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.text.split('/').filter(|name| !name.is_empty())
    }

    /// Whether this path is `ancestor` or below it.
    #[must_use]
    pub fn starts_with(&self, ancestor: &Self) -> bool {
        ancestor.is_root()
            || self
                .text
                .strip_prefix(&ancestor.text)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

impl fmt::Display for GuestPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_root() { "." } else { &self.text })
    }
}

impl fmt::Debug for GuestPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.to_string())
    }
}

/// What begins the text of a path that is without links, between processes: no relative path
/// begins so, and who does not know it refuses the path instead of following links.
const NO_LINKS: &str = "//";

impl From<GuestPath> for String {
    fn from(path: GuestPath) -> Self {
        let mark = if path.no_links { NO_LINKS } else { "" };
        let slash = if path.must_be_directory && !path.is_root() {
            "/"
        } else {
            ""
        };
        format!("{mark}{path}{slash}")
    }
}

impl TryFrom<String> for GuestPath {
    type Error = PathError;

    /// Reads a path from another process: relative only.
    fn try_from(text: String) -> Result<Self, PathError> {
        let (rest, no_links) = match text.strip_prefix(NO_LINKS) {
            Some(rest) => (rest, true),
            None => (text.as_str(), false),
        };
        if rest.starts_with('/') {
            return Err(PathError::Leaves);
        }
        let path = Self::parse(rest, "/")?;
        Ok(Self { no_links, ..path })
    }
}

/// A glob pattern that has the form of one: not empty, no NUL, relative, without `..`. Whether
/// the dialect accepts it, the engine says.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Pattern(String);

impl Pattern {
    /// Parses a pattern.
    ///
    /// # Errors
    /// [`PathError`] when the text has not the form of a pattern.
    pub fn parse(text: &str) -> Result<Self, PathError> {
        if text.is_empty() {
            return Err(PathError::EmptyPattern);
        }
        if text.contains('\0') {
            return Err(PathError::NulPattern);
        }
        if text.len() > MAX_PATH_BYTES {
            return Err(PathError::PatternTooLong);
        }
        if text.starts_with('/') || text.split('/').any(|part| part == "..") {
            return Err(PathError::PatternLeaves);
        }
        Ok(Self(text.to_owned()))
    }

    /// The pattern's text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<Pattern> for String {
    fn from(pattern: Pattern) -> Self {
        pattern.0
    }
}

impl TryFrom<String> for Pattern {
    type Error = PathError;

    fn try_from(text: String) -> Result<Self, PathError> {
        Self::parse(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<String, PathError> {
        GuestPath::parse(text, "/workspace").map(String::from)
    }

    #[test]
    fn each_spelling_has_one_answer() {
        for (text, right) in [
            ("a", Ok("a")),
            (".", Ok(".")),
            ("./", Ok(".")),
            ("a/", Ok("a/")),
            ("a/.", Ok("a/")),
            ("a//b", Ok("a/b")),
            ("a/..", Ok(".")),
            ("a/b/..", Ok("a/")),
            ("a/../b", Ok("b")),
            ("-rf", Ok("-rf")),
            ("/workspace", Ok(".")),
            ("/workspace/a", Ok("a")),
            ("//workspace//a", Ok("a")),
            ("/x/../workspace/a", Ok("a")),
            ("/../workspace/a", Ok("a")),
            ("~", Ok("~")),
            ("", Err(PathError::Empty)),
            ("a\0b", Err(PathError::Nul)),
            ("..", Err(PathError::Leaves)),
            ("a/../../b", Err(PathError::Leaves)),
            ("/", Err(PathError::Leaves)),
            ("/workspace2", Err(PathError::Leaves)),
            ("/workspace/..", Err(PathError::Leaves)),
            ("/etc/passwd", Err(PathError::Leaves)),
        ] {
            assert_eq!(parse(text), right.map(String::from), "{text:?}");
        }
        assert_eq!(parse(&"a/".repeat(2500)), Err(PathError::TooLong));
        assert_eq!(parse(&"a".repeat(256)), Err(PathError::NameTooLong));
    }

    proptest::proptest! {
        #[test]
        fn a_parsed_path_is_normal_and_parses_to_itself(text in "[a./~ -]{1,40}") {
            if let Ok(path) = GuestPath::parse(&text, "/workspace") {
                assert!(path.names().all(|name| name != "." && name != ".."));
                assert_eq!(GuestPath::try_from(String::from(path.clone())), Ok(path.clone()));
                let marked = path.without_links();
                assert_eq!(GuestPath::try_from(String::from(marked.clone())), Ok(marked));
            }
        }
    }
}
