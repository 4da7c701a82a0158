//! What is wrong with a configuration, and what was changed in reading it.

use std::{fmt, io, path::PathBuf};

use super::position::Position;

/// A configuration that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("the configuration {} cannot be read", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file is larger than a configuration can be.
    #[error("the configuration {} is over {most} bytes", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The most bytes that are read.
        most: u64,
    },
    /// Something in it is wrong.
    #[error("{}", Listed { file: file.as_ref(), problems })]
    Invalid {
        /// The file, where there is one.
        file: Option<PathBuf>,
        /// Every problem that was found, in the order of the text; not empty.
        problems: Vec<Problem>,
    },
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// The key in question, from the top: `tools.coding.allow`; empty for the whole text.
    pub key: String,
    /// Where it stands in the file, if it came from one.
    pub position: Option<Position>,
    /// What is wrong with it.
    pub kind: ProblemKind,
}

impl Problem {
    /// A key that is needed, in a configuration from code.
    pub(super) fn missing(key: &str, what: &'static str) -> Self {
        Self {
            key: key.to_owned(),
            position: None,
            kind: ProblemKind::Missing(what),
        }
    }
}

/// What is wrong with a key.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ProblemKind {
    /// The text is not TOML.
    #[error("{0}")]
    Syntax(String),
    /// There is no such key.
    #[error("unknown key{}", Meant(nearest.as_ref()))]
    UnknownKey {
        /// The known key that was probably meant.
        nearest: Option<String>,
    },
    /// The value is of another type.
    #[error("expected {expected}, found {found}")]
    WrongType {
        /// The type that is needed.
        expected: String,
        /// The type that is there.
        found: &'static str,
    },
    /// The value is none of those that are known.
    #[error("{value:?} is none of {}{}", expected.join(", "), Meant(nearest.as_ref()))]
    UnknownValue {
        /// What is there.
        value: String,
        /// What is known.
        expected: Vec<String>,
        /// The known value that was probably meant.
        nearest: Option<String>,
    },
    /// The value is of the right type and cannot be used.
    #[error("{0}")]
    BadValue(String),
    /// The key is needed.
    #[error("missing; {0}")]
    Missing(&'static str),
    /// The value is known, and this build lacks what it names.
    #[error("the {backend} backend is not in this build; it has {}", has.join(" and "))]
    BackendNotBuilt {
        /// The backend that was asked for.
        backend: &'static str,
        /// The backends that there are.
        has: Vec<&'static str>,
    },
    /// The file is for another version of the program.
    #[error("this program reads version {known} of the configuration, and the file says {found}")]
    Version {
        /// What is read.
        known: i64,
        /// What is there.
        found: i64,
    },
    /// The grant fits no tool.
    #[error("this grant fits no tool{}; there {}", Meant(nearest.as_ref()), There(loaded))]
    GrantWithoutTool {
        /// The tools that were loaded.
        loaded: Vec<String>,
        /// The tool that was probably meant.
        nearest: Option<String>,
    },
}

impl Problem {
    /// The known name that was probably meant.
    #[must_use]
    pub fn nearest(&self) -> Option<&str> {
        match &self.kind {
            ProblemKind::UnknownKey { nearest }
            | ProblemKind::UnknownValue { nearest, .. }
            | ProblemKind::GrantWithoutTool { nearest, .. } => nearest.as_deref(),
            ProblemKind::Syntax(_)
            | ProblemKind::WrongType { .. }
            | ProblemKind::BadValue(_)
            | ProblemKind::Missing(_)
            | ProblemKind::BackendNotBuilt { .. }
            | ProblemKind::Version { .. } => None,
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.key.is_empty() {
            write!(f, "{}: ", self.key)?;
        }
        self.kind.fmt(f)
    }
}

/// A change that was made to what the file says, or a part of it that was not looked at.
#[derive(Clone, Debug, PartialEq)]
pub struct Notice {
    /// The key in question.
    pub key: String,
    /// Where it stands in the file, if it came from one.
    pub position: Option<Position>,
    /// A lower-case fragment for people.
    pub message: String,
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(position) = self.position {
            write!(f, "{position}: ")?;
        }
        write!(f, "{}: {}", self.key, self.message)
    }
}

/// One line for each problem, as compilers write them.
struct Listed<'a> {
    file: Option<&'a PathBuf>,
    problems: &'a [Problem],
}

impl fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            match self.file {
                Some(file) => write!(f, "{}:", file.display())?,
                None => f.write_str("configuration:")?,
            }
            match problem.position {
                Some(position) => write!(f, "{position}: {problem}")?,
                None => write!(f, " {problem}")?,
            }
        }
        Ok(())
    }
}

struct Meant<'a>(Option<&'a String>);

impl fmt::Display for Meant<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(nearest) => write!(f, ", did you mean {nearest}?"),
            None => Ok(()),
        }
    }
}

struct There<'a>(&'a [String]);

impl fmt::Display for There<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            [] => f.write_str("is none"),
            loaded => write!(f, "are {}", loaded.join(", ")),
        }
    }
}
