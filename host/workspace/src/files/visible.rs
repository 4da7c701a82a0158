//! Which paths a scope lets count at all: what layers above leave of the tree.

use belljar_contract::{Pattern, Scope};

use super::{dialect::Glob, fault::Fault, glob::compile, status::Kind};

/// The lists of a scope's `within`, compiled.
pub(super) struct Visible(Vec<Vec<Glob>>);

impl Visible {
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
    pub(super) fn counts(&self, path: &[u8], kind: Kind) -> bool {
        if self.0.is_empty() {
            return true;
        }
        let text = String::from_utf8_lossy(path);
        let counts = |glob: &Glob| {
            glob.is_match(&text, true) || (kind == Kind::Directory && glob.may_match_below(&text))
        };
        self.0.iter().all(|list| list.iter().any(counts))
    }
}
