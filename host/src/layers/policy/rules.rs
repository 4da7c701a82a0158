//! Lists of globs, as rules for paths.

use belljar_contract::{MAX_FILTERS, PathError, Pattern};
use belljar_workspace::files::{Glob, GlobError, Scratch};

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
    #[error("the glob {glob:?} cannot be used")]
    Glob {
        /// The glob.
        glob: String,
        /// What is wrong with it.
        source: GlobError,
    },
    /// The glob is for directories only, which a rule, that is about a path, cannot be.
    #[error("the glob {glob:?} ends with a slash; what is in a directory is dir/**")]
    Directory {
        /// The glob.
        glob: String,
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
/// assert!(!rules.matches("docs/README.md") && !rules.matches("src"));
/// # Ok::<(), belljar::layers::PolicyError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Rules {
    texts: Vec<String>,
    rules: Vec<Rule>,
}

#[derive(Clone, Debug)]
struct Rule {
    glob: Glob,
    whole: Whole,
}

/// The directories below which everything matches.
#[derive(Clone, Debug)]
enum Whole {
    /// None that can be told.
    None,
    /// Those that match this, and all below them.
    Within(Glob),
    /// All.
    All,
}

impl Rules {
    /// Parses globs. An empty list matches nothing.
    ///
    /// # Errors
    /// [`PolicyError`] for a text that is not a glob, and for too many.
    pub fn new<T: AsRef<str>>(globs: impl IntoIterator<Item = T>) -> Result<Self, PolicyError> {
        let mut rules = Self::default();
        for text in globs {
            let text = text.as_ref();
            if rules.texts.len() == MAX_FILTERS {
                return Err(PolicyError::TooMany);
            }
            rules.rules.push(Rule::new(text)?);
            rules.texts.push(text.to_owned());
        }
        Ok(rules)
    }

    /// The globs as they were written.
    #[must_use]
    pub fn globs(&self) -> &[String] {
        &self.texts
    }

    /// The globs in the contract's form.
    pub(super) fn patterns(&self) -> Vec<Pattern> {
        // All of them have this form, or there were no rules; a text without it would match nothing.
        let parse = |text: &String| Pattern::parse(text).ok();
        self.texts.iter().filter_map(parse).collect()
    }

    /// Whether a path, normal and relative to the root, matches.
    #[must_use]
    pub fn matches(&self, path: &str) -> bool {
        // The root is below no pattern.
        !path.is_empty() && self.rules.iter().any(|rule| rule.glob.is_match(path, true))
    }

    /// Whether something below a directory may match, so that one must see the directory to find it.
    pub(super) fn may_match_below(&self, directory: &str) -> bool {
        let below = |rule: &Rule| rule.glob.may_match_below(directory);
        self.rules.iter().any(below)
    }

    /// Whether everything below a directory matches, whatever it is called. A rule that says so in
    /// another way than by `/**` at its end is not seen: the answer is then no.
    pub(super) fn covers(&self, directory: &str) -> bool {
        self.rules.iter().any(|rule| match &rule.whole {
            Whole::None => false,
            Whole::All => true,
            Whole::Within(glob) => {
                let mut scratch = Scratch::default();
                let mut state = glob.start();
                for name in names(directory) {
                    let step = glob.step(&state, name, true, &mut scratch);
                    if step.matches {
                        return true;
                    }
                    match step.below {
                        Some(below) => state = below,
                        None => return false,
                    }
                }
                false
            }
        })
    }
}

impl PartialEq for Rules {
    /// Compares the texts: they decide the rest.
    fn eq(&self, other: &Self) -> bool {
        self.texts == other.texts
    }
}

impl Eq for Rules {}

impl Rule {
    fn new(text: &str) -> Result<Self, PolicyError> {
        let shown = || text.chars().take(200).collect::<String>();
        if let Err(source) = Pattern::parse(text) {
            let glob = shown();
            return Err(PolicyError::Form { glob, source });
        }
        let glob = match Glob::new(text) {
            Ok(glob) if glob.directories_only() => {
                return Err(PolicyError::Directory { glob: shown() });
            }
            Ok(glob) => glob,
            Err(source) => {
                let glob = shown();
                return Err(PolicyError::Glob { glob, source });
            }
        };
        let mut start = text;
        while let Some(rest) = start.strip_prefix("./") {
            start = rest.trim_start_matches('/');
        }
        let whole = match start.strip_suffix("/**") {
            _ if start == "**" => Whole::All,
            Some("**") => Whole::All,
            // What is cut off may be no glob of its own, as after a backslash.
            Some(within) => Glob::new(within).map_or(Whole::None, Whole::Within),
            None => Whole::None,
        };
        Ok(Self { glob, whole })
    }
}

fn names(directory: &str) -> impl Iterator<Item = &str> {
    directory.split('/').filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(globs: &[&str]) -> Rules {
        Rules::new(globs).expect("globs")
    }

    #[test]
    fn directories() {
        let below = rules(&["src/**"]);
        assert!(below.matches("src/.hidden") && !below.matches("src") && !below.matches(""));
        assert!(below.may_match_below("") && below.may_match_below("src/a"));
        assert!(!below.may_match_below("docs"));
        assert!(below.covers("src") && below.covers("src/a") && !below.covers(""));
        assert!(!below.covers("srcx") && !below.covers("a/src"));

        let files = rules(&["src/*.rs"]);
        assert!(files.may_match_below("src") && !files.may_match_below("src/a.rs"));
        assert!(!files.covers("src"));

        let anywhere = rules(&["**/x", "**/y/**", "{m,n}/**"]);
        assert!(!anywhere.covers("a/x") && anywhere.covers("a/y/b") && anywhere.covers("n"));
        for all in ["**", "./**", "**/**", ".//**"] {
            assert!(rules(&[all]).covers(""), "{all}");
        }
        // Where one star stands for one name, nothing is covered whole.
        for some in ["*", "a/*", "a\\/**b", "{a/**,b}"] {
            let rules = Rules::new([some]);
            assert!(
                rules.is_err() || !rules.is_ok_and(|rules| rules.covers("a")),
                "{some}"
            );
        }
        let none = rules(&[]);
        assert!(!none.matches("a") && !none.may_match_below("") && !none.covers("a"));
    }

    #[test]
    fn what_is_no_rule() {
        for glob in ["", "/a", "../a", "a/", "[a", "a**", "\0"] {
            assert!(Rules::new([glob]).is_err(), "{glob:?}");
        }
        assert!(Rules::new(vec!["a"; MAX_FILTERS]).is_ok());
        assert_eq!(
            Rules::new(vec!["a"; MAX_FILTERS + 1]),
            Err(PolicyError::TooMany)
        );
    }
}
