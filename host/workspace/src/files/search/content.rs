//! A search in content that is held in memory, for other implementations of the contract: the same
//! patterns, filters and lines as the walk's, without a file system.

use belljar_contract::{
    Context, Operation, Query, Result, Scope,
    files::{Match, Name},
};

use super::{
    filter::{Filter, Passed},
    lines::{Looked, Reader},
    pattern::LinePattern,
};
use crate::files::{dialect::Scratch, fault::Fault};

/// A compiled query.
///
/// ```
/// use belljar_contract::{Context, GuestPath, Query, Scope, files::Syntax};
/// use belljar_workspace::files::ContentSearch;
///
/// let query = Query {
///     pattern: "b+".into(),
///     syntax: Syntax::Regex,
///     ignore_case: false,
///     include: Vec::new(),
///     exclude: Vec::new(),
///     context: 0,
/// };
/// let scope = Scope { base: GuestPath::root(), hidden: false, ignored: false, limit: 10, within: vec![] };
/// let search = ContentSearch::new(&query, &scope)?;
/// let found = search.look(&Context::new(), &"a.txt".into(), b"a\nbb\n", 10)?;
/// assert_eq!(found.map(|found| found[0].line_number), Some(2));
/// # Ok::<(), belljar_contract::Error>(())
/// ```
pub struct ContentSearch {
    pattern: LinePattern,
    filter: Filter,
    context_lines: usize,
    scope: Scope,
}

impl std::fmt::Debug for ContentSearch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ContentSearch")
            .field("scope", &self.scope)
            .finish_non_exhaustive()
    }
}

/// What the query's globs make of a directory.
#[derive(Clone)]
pub struct Entered(Passed);

impl std::fmt::Debug for Entered {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Entered").finish_non_exhaustive()
    }
}

/// What the query's globs, and whether hidden names count, make of an entry.
#[derive(Clone, Debug)]
pub struct Passage {
    /// It is looked at, if it is a file.
    pub looks: bool,
    /// It is entered, if it is a directory.
    pub enters: Option<Entered>,
    /// It is neither hidden nor excluded: a link counts as met.
    pub meets: bool,
    /// It counts even when it is ignored, because a glob names it.
    pub by_name: bool,
}

impl ContentSearch {
    /// Compiles a query.
    ///
    /// # Errors
    /// `invalid-argument` for a pattern or a glob that does not parse.
    pub fn new(query: &Query, scope: &Scope) -> Result<Self> {
        let compile = || -> Result<Self, Fault> {
            Ok(Self {
                pattern: LinePattern::new(query)?,
                filter: Filter::new(query, scope.hidden)?,
                context_lines: usize::try_from(query.context).unwrap_or(usize::MAX),
                scope: scope.clone(),
            })
        };
        compile().map_err(|fault| fault.at(Operation::Search, &scope.base))
    }

    /// The scope's base, where a walk begins.
    #[must_use]
    pub fn start(&self) -> Entered {
        Entered(self.filter.start())
    }

    /// Goes on by one name.
    #[must_use]
    pub fn pass(
        &self,
        above: &Entered,
        name: &str,
        is_directory: bool,
        scratch: &mut Scratch,
    ) -> Passage {
        let always = || Ok::<_, std::convert::Infallible>(());
        let Ok(passes) = self
            .filter
            .pass(&above.0, name, is_directory, scratch, always);
        Passage {
            looks: passes.looks,
            enters: passes.enters.map(Entered),
            meets: passes.meets,
            by_name: passes.by_name,
        }
    }

    /// Finds at most `most` lines of a file's content; none when it is binary.
    ///
    /// # Errors
    /// `cancelled` or `timed-out`.
    pub fn look(
        &self,
        context: &Context,
        path: &Name,
        content: &[u8],
        most: usize,
    ) -> Result<Option<Vec<Match>>> {
        let mut rest = content;
        let read = |buffer: &mut [u8]| {
            let count = buffer.len().min(rest.len());
            let (first, more) = rest.split_at(count);
            buffer[..count].copy_from_slice(first);
            rest = more;
            Ok(count)
        };
        let looked = Reader::new()
            .look(
                context,
                read,
                content.len() as u64,
                &self.pattern,
                self.context_lines,
                most,
            )
            .map_err(|fault| fault.at(Operation::Search, &self.scope.base))?;
        let lines = match looked {
            Looked::Lines(lines) => lines,
            Looked::Binary | Looked::Unreadable => return Ok(None),
        };
        let matches = lines.into_iter().map(|found| Match {
            path: path.clone(),
            line_number: found.number,
            offset: found.offset,
            line: found.line,
            before: found.before,
            after: found.after,
        });
        Ok(Some(matches.collect()))
    }
}
