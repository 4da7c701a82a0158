//! Lists of globs, as rules for paths.

use belljar_contract::{MAX_FILTERS, PathError, Pattern};

use super::glob::{Glob, GlobError};

/// Why a list of globs is not one of rules.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyError {
    /// The text has not the form of a pattern.
    #[error("the glob {glob:?} cannot be used")]
    Form {
        /// The glob.
        glob: String,
        /// What is wrong with it.
        source: PathError,
    },
    /// The text is not a glob.
    #[error("the glob {glob:?} cannot be used: {reason}")]
    Glob {
        /// The glob.
        glob: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// There are too many.
    #[error("more than {MAX_FILTERS} globs")]
    TooMany,
}

/// Paths, as a list of globs: in it is what matches one of them.
///
/// The dialect is the contract's. Globs are relative to the workspace's root; a directory's
/// content is `dir/**`, and that does not stand for the directory itself.
///
/// ```
/// use belljar::layers::Rules;
///
/// let rules = Rules::new(["src/**", "*.md"])?;
/// assert!(rules.matches("src/a/b.rs") && rules.matches("README.md"));
/// assert!(!rules.matches("docs/README.md"));
/// # Ok::<(), belljar::layers::PolicyError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Rules {
    texts: Vec<String>,
    globs: Vec<Glob>,
}

impl Rules {
    /// Parses globs. An empty list matches nothing.
    ///
    /// # Errors
    /// [`PolicyError`] for a text that is not a glob, and for too many.
    pub fn new<T: AsRef<str>>(globs: impl IntoIterator<Item = T>) -> Result<Self, PolicyError> {
        let mut rules = Self {
            texts: Vec::new(),
            globs: Vec::new(),
        };
        for text in globs {
            let text = text.as_ref();
            if rules.texts.len() == MAX_FILTERS {
                return Err(PolicyError::TooMany);
            }
            let glob = || text.chars().take(200).collect();
            if let Err(source) = Pattern::parse(text) {
                return Err(PolicyError::Form {
                    glob: glob(),
                    source,
                });
            }
            match Glob::parse_all(text) {
                Ok(parsed) => rules.globs.extend(parsed),
                Err(GlobError(reason)) => {
                    return Err(PolicyError::Glob {
                        glob: glob(),
                        reason,
                    });
                }
            }
            rules.texts.push(text.to_owned());
        }
        Ok(rules)
    }

    /// The globs as they were written.
    #[must_use]
    pub fn globs(&self) -> &[String] {
        &self.texts
    }

    /// Whether a path matches.
    #[must_use]
    pub fn matches(&self, path: &str) -> bool {
        self.globs.iter().any(|glob| glob.matches(path))
    }

    /// Whether something below a directory may match, so that one must see the directory to find it.
    pub(super) fn may_match_below(&self, directory: &str) -> bool {
        self.globs
            .iter()
            .any(|glob| glob.may_match_below(directory))
    }

    /// Whether everything below a directory matches, whatever it is called.
    pub(super) fn covers(&self, directory: &str) -> bool {
        self.globs.iter().any(|glob| glob.covers(directory))
    }
}

impl PartialEq for Rules {
    /// Compares the texts: they decide the rest.
    fn eq(&self, other: &Self) -> bool {
        self.texts == other.texts
    }
}

impl Eq for Rules {}
