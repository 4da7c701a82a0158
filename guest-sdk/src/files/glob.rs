//! A glob with its options.

use belljar_contract::{ScopeOptions, files::GlobResult};

use crate::Result;

/// Finds paths by a pattern.
///
/// ```
/// use belljar_guest::{files::Glob, testing};
///
/// let memory = testing::MemorySandbox::new().file("src/a.rs", "").file("b.md", "");
/// let found = testing::with_sandbox(&memory, || Glob::new("**/*.rs").run())?;
/// assert_eq!(found.paths[0].path.text, "src/a.rs");
/// assert_eq!(found.total, 1);
/// # Ok::<(), belljar_guest::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "a glob does nothing until it is run"]
pub struct Glob {
    pattern: String,
    scope: ScopeOptions,
}

impl Glob {
    /// Begins with a pattern in the contract's dialect, over the whole workspace.
    pub fn new(pattern: impl Into<String>) -> Self {
        Self {
            pattern: pattern.into(),
            scope: ScopeOptions::default(),
        }
    }

    /// Begins at this directory; the pattern is relative to it.
    pub fn base(mut self, path: impl Into<String>) -> Self {
        self.scope.base = Some(path.into());
        self
    }

    /// Whether entries whose name begins with `.` count.
    pub const fn hidden(mut self, yes: bool) -> Self {
        self.scope.hidden = yes;
        self
    }

    /// Whether entries that ignore files exclude count.
    pub const fn ignored(mut self, yes: bool) -> Self {
        self.scope.ignored = yes;
        self
    }

    /// Gives at most this many paths.
    pub const fn limit(mut self, paths: u32) -> Self {
        self.scope.limit = Some(paths);
        self
    }

    /// Finds them.
    ///
    /// # Errors
    /// As `files.glob`.
    pub fn run(self) -> Result<GlobResult> {
        super::glob(&self.pattern, self.scope)
    }
}
