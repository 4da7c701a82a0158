//! Which paths a scope lets count at all: what layers above leave of the tree.

use belljar_contract::{Error, Operation, Pattern, Scope, files::EntryKind};

use super::{dialect::Glob, fault::Fault, glob::compile};

/// The lists of a scope's `within`, compiled.
///
/// ```
/// use belljar_contract::{GuestPath, Operation, Pattern, Scope, files::EntryKind};
/// use belljar_workspace::files::Visible;
///
/// let scope = Scope {
///     base: GuestPath::root(),
///     hidden: false,
///     ignored: false,
///     limit: 10,
///     within: vec![vec![Pattern::parse("src/**")?]],
/// };
/// let visible = Visible::of(&scope, Operation::Glob)?;
/// assert!(visible.counts(b"src/lib.rs", EntryKind::File));
/// assert!(visible.counts(b"src", EntryKind::Directory));
/// assert!(!visible.counts(b"README.md", EntryKind::File));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Visible(Vec<Vec<Glob>>);

impl Visible {
    /// Compiles a scope's lists.
    ///
    /// # Errors
    /// `invalid-argument` for a pattern that does not parse.
    pub fn of(scope: &Scope, operation: Operation) -> Result<Self, Error> {
        Self::new(scope).map_err(|fault| fault.at(operation, &scope.base))
    }

    pub(super) fn new(scope: &Scope) -> Result<Self, Fault> {
        let list = |patterns: &Vec<Pattern>| {
            let globs = patterns.iter().map(|pattern| compile(pattern, Glob::new));
            globs.collect::<Result<Vec<_>, Fault>>()
        };
        Ok(Self(
            scope.within.iter().map(list).collect::<Result<_, _>>()?,
        ))
    }

    /// Whether what has this path from the root counts. A directory also does when something below it may.
    #[must_use]
    pub fn counts(&self, path: &[u8], kind: EntryKind) -> bool {
        if self.0.is_empty() {
            return true;
        }
        let text = String::from_utf8_lossy(path);
        let counts = |glob: &Glob| {
            glob.is_match(&text, true)
                || (kind == EntryKind::Directory && glob.may_match_below(&text))
        };
        self.0.iter().all(|list| list.iter().any(counts))
    }
}
