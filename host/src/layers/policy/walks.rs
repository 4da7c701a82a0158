//! What of files a policy lets a tool see.
//!
//! A walk is told which paths count, so that nothing else is looked at, and results are judged all the same.
//! Where they are cut by a limit, more is asked for below than the caller wants, and what may
//! not be seen is left out before the cut. A total is of what may be seen; where even the session's own
//! limit cut the answer, it is at least one more than what was found.

use belljar_contract::{
    Context, Error, ErrorKind, GuestPath, Operation, Pattern, Request, Response, Result, Scope,
    files::{EntryKind, GlobResult, Listing, Name, SearchResult},
};

use super::{
    Rules,
    backend::{PolicyBackend, denied},
    beginning::{escaped, literal_beginning},
    locate::{Located, hidden, may_see, may_use},
};

impl PolicyBackend {
    /// Looks at what may be looked at.
    pub(super) async fn look(&self, context: &Context, request: Request) -> Result<Response> {
        let operation = request.operation();
        match request {
            Request::Read { path } => {
                let at = self.seen(context, operation, &path).await?;
                let path = at.real.clone();
                self.ask_at(context, Request::Read { path }, &[&at]).await
            }
            Request::ReadRange {
                path,
                offset,
                length,
            } => {
                let at = self.seen(context, operation, &path).await?;
                let path = at.real.clone();
                let request = Request::ReadRange {
                    path,
                    offset,
                    length,
                };
                self.ask_at(context, request, &[&at]).await
            }
            Request::Stat { path } => {
                let at = self.seen(context, operation, &path).await?;
                let path = at.real.clone();
                self.ask_at(context, Request::Stat { path }, &[&at]).await
            }
            Request::Resolve { path } => {
                let at = self.seen(context, operation, &path).await?;
                // Asked once more, for the error that a missing part has.
                let path = at.real.clone();
                self.ask_at(context, Request::Resolve { path }, &[&at])
                    .await?;
                Ok(Response::Path(plain(operation, &at.real)?))
            }
            Request::List { path, limit } => self.list(context, &path, limit).await,
            Request::Glob { pattern, scope } => self.glob(context, pattern, scope).await,
            Request::Search { query, scope } => {
                let at = self.seen(context, operation, &scope.base).await?;
                let limit = scope.limit;
                let scope = self.scope(scope, &at);
                let request = Request::Search { query, scope };
                match self.ask_at(context, request, &[&at]).await? {
                    Response::Search(result) => {
                        // The rules are about where a path leads.
                        let mut result = self.cut_search(result, limit);
                        for found in &mut result.matches {
                            respell(&mut found.path, at.real.as_str(), at.asked.as_str());
                        }
                        Ok(Response::Search(result))
                    }
                    other => Ok(other),
                }
            }
            // Every other request does more than look, and does not come here.
            _ => Err(denied(operation, "do this")),
        }
    }

    fn rules(&self) -> Option<&Rules> {
        self.policy.read_paths.as_ref()
    }

    /// Something that is to be seen. Where only a directory may be, the backend is asked for one: a
    /// directory shows the error that it has, and anything else is as if it were not there.
    pub(super) async fn seen(
        &self,
        context: &Context,
        operation: Operation,
        path: &GuestPath,
    ) -> Result<Located> {
        let rules = self.rules();
        let may = |path: &str| may_see(rules, path);
        let mut at = self.locate(context, operation, path, may).await?;
        self.must(operation, &at, may(at.real.as_str()))?;
        if let Some(error) = at.dangling.take() {
            let real = at.real.as_str();
            let ends = real.match_indices('/').map(|(end, _)| end);
            let mut ways = ends.chain([real.len()]);
            let known = ways.all(|end| may_use(rules, &real[..end]));
            // It tells that there is a file on the way.
            let hide = error.kind == ErrorKind::NotADirectory && !known;
            return Err(if hide { hidden(error) } else { error });
        }
        if !may_use(rules, at.real.as_str()) {
            at.only_directory = true;
            at.real = at.real.into_directory();
        }
        Ok(at)
    }

    fn most(&self) -> u32 {
        self.below.describe().limits.results
    }

    /// The scope below: what may not be seen is in no result, and in no number of the answer either, as how
    /// many there are, and whether there are more, would tell what is in it.
    fn scope(&self, mut scope: Scope, base: &Located) -> Scope {
        scope.within.extend(self.rules().map(Rules::patterns));
        Scope {
            base: base.real.clone(),
            limit: self.most().max(scope.limit),
            ..scope
        }
    }

    async fn list(&self, context: &Context, path: &GuestPath, limit: u32) -> Result<Response> {
        let at = self.seen(context, Operation::List, path).await?;
        let request = Request::List {
            path: at.real.clone(),
            limit: self.most().max(limit),
        };
        let listing = match self.ask_at(context, request, &[&at]).await? {
            Response::Listing(listing) => listing,
            other => return Ok(other),
        };
        let Listing { mut entries, total } = listing;
        let cut = total > entries.len() as u64;
        entries.retain(|entry| {
            let name = &entry.name.text;
            match at.real.is_root() {
                true => self.shows(name, entry.kind),
                false => self.shows(&format!("{}/{name}", at.real.as_str()), entry.kind),
            }
        });
        let total = entries.len() as u64 + u64::from(cut);
        entries.truncate(limit as usize);
        Ok(Response::Listing(Listing { entries, total }))
    }

    async fn glob(&self, context: &Context, pattern: Pattern, scope: Scope) -> Result<Response> {
        let operation = Operation::Glob;
        let at = self.seen(context, operation, &scope.base).await?;
        let limit = scope.limit;
        let scope = self.scope(scope, &at);
        let (pattern, scope, spelt) = self.straighten(context, pattern, scope).await?;
        let request = Request::Glob { pattern, scope };
        let GlobResult {
            mut paths,
            total,
            skipped,
        } = match self.ask_at(context, request, &[&at]).await? {
            Response::Glob(result) => result,
            other => return Ok(other),
        };
        let cut = total > paths.len() as u64;
        paths.retain(|found| self.shows(&found.path.text, found.kind));
        let total = paths.len() as u64 + u64::from(cut);
        if spelt.is_some() || at.real.as_str() != at.asked.as_str() {
            for found in &mut paths {
                if let Some((real, asked)) = &spelt {
                    respell(&mut found.path, real, asked);
                }
                respell(&mut found.path, at.real.as_str(), at.asked.as_str());
            }
            paths.sort_by(|one, other| one.path.as_bytes().cmp(other.path.as_bytes()));
        }
        paths.truncate(limit as usize);
        Ok(Response::Glob(GlobResult {
            paths,
            total,
            skipped,
        }))
    }

    /// Replaces a literal beginning that leads through links by where it leads, and says which text
    /// stands for which in the results.
    async fn straighten(
        &self,
        context: &Context,
        pattern: Pattern,
        scope: Scope,
    ) -> Result<(Pattern, Scope, Option<(String, String)>)> {
        let operation = Operation::Glob;
        let (names, rest) = literal_beginning(pattern.as_str());
        let mut asked = scope.base.clone();
        for name in &names {
            match asked.join(name) {
                Ok(longer) => asked = longer,
                // The engine answers for a name that cannot be.
                Err(_) => return Ok((pattern, scope, None)),
            }
        }
        // It may lead through links, to where the rules then judge it.
        let followed = plain(operation, &asked)?;
        let real = match self.resolve(context, operation, &followed).await {
            Ok(real) if real.as_str() != asked.as_str() => real,
            _ => return Ok((pattern, scope, None)),
        };
        let text = match real.is_root() {
            true => rest,
            false => format!("{}/{rest}", escaped(real.as_str())),
        };
        let pattern = Pattern::parse(&text).map_err(|error| {
            Error::new(error.kind(), operation, error.to_string()).because(error)
        })?;
        let scope = Scope {
            base: GuestPath::root().without_links(),
            ..scope
        };
        let spelt = (real.as_str().to_owned(), asked.as_str().to_owned());
        Ok((pattern, scope, Some(spelt)))
    }

    fn cut_search(&self, mut result: SearchResult, limit: u32) -> SearchResult {
        result
            .matches
            .retain(|found| may_use(self.rules(), &found.path.text));
        result.more |= result.matches.len() > limit as usize;
        result.matches.truncate(limit as usize);
        result
    }

    fn shows(&self, path: &str, kind: EntryKind) -> bool {
        match kind {
            EntryKind::Directory => may_see(self.rules(), path),
            EntryKind::File | EntryKind::Link | EntryKind::Other => may_use(self.rules(), path),
        }
    }
}

/// The path without what a layer added to it.
fn plain(operation: Operation, path: &GuestPath) -> Result<GuestPath> {
    GuestPath::try_from(path.to_string())
        .map_err(|error| Error::new(error.kind(), operation, error.to_string()).because(error))
}

/// Tells a path below `real` as it is below `asked`, which leads there.
fn respell(name: &mut Name, real: &str, asked: &str) {
    if real == asked {
        return;
    }
    let respelt = |path: &[u8]| -> Option<Vec<u8>> {
        let rest = path.strip_prefix(real.as_bytes())?;
        let rest = match (real, rest) {
            ("", rest) => rest,
            // A file that is the base itself.
            (_, []) => return Some(asked.as_bytes().to_vec()),
            (_, rest) => rest.strip_prefix(b"/")?,
        };
        match asked {
            "" => Some(rest.to_vec()),
            asked => Some([asked.as_bytes(), b"/", rest].concat()),
        }
    };
    if let Some(path) = respelt(name.as_bytes()) {
        *name = Name::from_bytes(path);
    }
}
