//! A search with its options.

use belljar_contract::{
    QueryOptions, ScopeOptions,
    files::{SearchResult, Syntax},
};

use crate::Result;

/// Finds lines in files.
///
/// ```
/// use belljar_guest::{files::Search, testing};
///
/// let memory = testing::MemorySandbox::new().file("a.rs", "fn one() {}\nfn two() {}\n");
/// let found = testing::with_sandbox(&memory, || {
///     Search::regex(r"fn t\w+").include("*.rs").limit(10).run()
/// })?;
/// assert_eq!((found.matches.len(), found.more), (1, false));
/// assert_eq!(found.matches[0].line_number, 2);
/// # Ok::<(), belljar_guest::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "a search does nothing until it is run"]
pub struct Search {
    query: QueryOptions,
    scope: ScopeOptions,
}

impl Search {
    /// Begins with a text that stands for itself.
    pub fn literal(pattern: impl Into<String>) -> Self {
        Self::new(pattern.into(), Syntax::Literal)
    }

    /// Begins with a regular expression.
    pub fn regex(pattern: impl Into<String>) -> Self {
        Self::new(pattern.into(), Syntax::Regex)
    }

    fn new(pattern: String, syntax: Syntax) -> Self {
        Self {
            query: QueryOptions {
                pattern,
                syntax,
                ..QueryOptions::default()
            },
            scope: ScopeOptions::default(),
        }
    }

    /// Whether upper and lower case are the same.
    pub const fn ignore_case(mut self, yes: bool) -> Self {
        self.query.ignore_case = yes;
        self
    }

    /// Looks only at files that match this glob, or another one given so.
    pub fn include(mut self, glob: impl Into<String>) -> Self {
        self.query.include.push(glob.into());
        self
    }

    /// Does not look at what matches this glob.
    pub fn exclude(mut self, glob: impl Into<String>) -> Self {
        self.query.exclude.push(glob.into());
        self
    }

    /// Gives this many lines before and after each match too.
    pub const fn context(mut self, lines: u32) -> Self {
        self.query.context = lines;
        self
    }

    /// Begins at this directory or file.
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

    /// Gives at most this many matching lines.
    pub const fn limit(mut self, lines: u32) -> Self {
        self.scope.limit = Some(lines);
        self
    }

    /// Finds them.
    ///
    /// # Errors
    /// As `files.search`.
    pub fn run(self) -> Result<SearchResult> {
        super::search(self.query, self.scope)
    }
}
