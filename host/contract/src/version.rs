//! Versions of a file's content.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The longest version, in bytes: room for any digest with a prefix, and a bound on what a
/// guest can make the host keep.
pub const MAX_VERSION_BYTES: usize = 128;

/// The text is not a version: empty, over [`MAX_VERSION_BYTES`], or not printable ASCII.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a version is 1 to {MAX_VERSION_BYTES} printable ASCII characters, as an earlier call gave it"
)]
pub struct VersionError;

/// The content of a file at a moment: opaque, compared for equality only.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Version(Box<str>);

impl Version {
    /// Parses a version that came from a backend.
    ///
    /// # Errors
    /// [`VersionError`] when the text cannot be a version.
    pub fn parse(text: &str) -> Result<Self, VersionError> {
        let fits = (1..=MAX_VERSION_BYTES).contains(&text.len());
        if fits && text.bytes().all(|byte| byte.is_ascii_graphic()) {
            Ok(Self(text.into()))
        } else {
            Err(VersionError)
        }
    }

    /// The version's text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Version({})", self.0)
    }
}

impl From<Version> for String {
    fn from(version: Version) -> Self {
        version.0.into()
    }
}

impl TryFrom<String> for Version {
    type Error = VersionError;

    fn try_from(text: String) -> Result<Self, VersionError> {
        Self::parse(&text)
    }
}

/// What must be true of a target before it is changed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Expected {
    /// Anything: create it, or replace what is there.
    #[default]
    Any,
    /// Nothing is there.
    Absent,
    /// A file is there in this version.
    Version(Version),
}
