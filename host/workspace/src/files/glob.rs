//! `glob`: the paths that match a pattern.

use std::collections::BinaryHeap;

use belljar_contract::{
    Context, GuestPath, Pattern, Scope, Stop,
    files::{Found, GlobResult, Name, Skipped},
};

use super::{
    Workspace,
    dialect::{Glob, GlobError, Scratch, State},
    fault::Fault,
    place::Place,
    resolution::{Resolved, resolve},
    status::Kind,
    visible::Visible,
    walk::{Base, Met, Verdict, Visitor, walk},
};

/// Finds the paths below the scope's base that match.
pub(super) fn glob(
    workspace: &Workspace,
    context: &Context,
    pattern: &Pattern,
    scope: &Scope,
) -> Result<GlobResult, Fault> {
    let glob = compile(pattern, Glob::new)?;
    let visible = Visible::new(scope)?;
    let root = &workspace.root;
    let (mut handle, mut names) = match resolve(root, &scope.base, None)? {
        Resolved::Directory { handle, names } => (handle, names),
        Resolved::Entry { .. } => return Err(Fault::NotDirectory),
        Resolved::Missing { .. } => return Err(Fault::Missing),
    };
    let Some(shown) = below(&scope.base, glob.literal())? else {
        return Ok(GlobResult::default());
    };
    if glob.is_literal() {
        return Ok(match root.place(&shown) {
            Ok(place) => one(&glob, &visible, &shown, place, scope.limit)?,
            Err(fault) if is_nothing(&fault) => GlobResult::default(),
            Err(fault) => return Err(fault),
        });
    }
    if !glob.literal().is_empty() {
        match resolve(root, &shown, None) {
            Ok(Resolved::Directory {
                handle: deeper,
                names: longer,
            }) => (handle, names) = (deeper, longer),
            Ok(Resolved::Entry { .. } | Resolved::Missing { .. }) => {
                return Ok(GlobResult::default());
            }
            Err(fault) if is_nothing(&fault) => return Ok(GlobResult::default()),
            Err(fault) => return Err(fault),
        }
    }
    let mut state = glob.start();
    for name in glob.literal() {
        match glob.step(&state, name, true, &mut Scratch::default()).below {
            Some(below) => state = below,
            None => return Ok(GlobResult::default()),
        }
    }
    let finder = Finder {
        glob: &glob,
        visible: &visible,
        hidden: scope.hidden,
        limit: usize::try_from(scope.limit).unwrap_or(usize::MAX),
    };
    let base = Base {
        root,
        handle,
        with_rules: !scope.ignored,
        names,
    };
    let real = base.names.join(&b'/');
    let workers = walk(&base, state, &finder, context)?;
    Ok(merge(workers, finder.limit, &real, &shown))
}

/// Compiles a pattern, or says what is wrong with it.
pub(super) fn compile(
    pattern: &Pattern,
    how: impl FnOnce(&str) -> Result<Glob, GlobError>,
) -> Result<Glob, Fault> {
    how(pattern.as_str())
        .map_err(|error| Fault::BadPattern(format!("the glob {:?}: {error}", pattern.as_str())))
}

/// Whether a path that leads nowhere is an empty answer.
const fn is_nothing(fault: &Fault) -> bool {
    use rustix::io::Errno;
    matches!(
        fault,
        Fault::Missing
            | Fault::DanglingLink
            | Fault::NotDirectory
            | Fault::System(Errno::NOENT | Errno::NOTDIR)
    )
}

/// The path of a pattern's literal beginning, which is bound as the base is; none when nothing can have
/// it.
fn below(base: &GuestPath, literal: &[String]) -> Result<Option<GuestPath>, Fault> {
    if literal.is_empty() {
        return Ok(Some(base.clone()));
    }
    let mut text = base.to_string();
    for name in literal {
        if name.contains('\0') {
            return Ok(None);
        }
        text.push('/');
        text.push_str(name);
    }
    let path =
        GuestPath::parse(&text, "/").map_err(|error| Fault::BadPattern(error.to_string()))?;
    Ok(Some(if base.no_links() {
        path.without_links()
    } else {
        path
    }))
}

/// The answer of a pattern that names one path.
fn one(
    glob: &Glob,
    visible: &Visible,
    path: &GuestPath,
    place: Option<Place>,
    limit: u32,
) -> Result<GlobResult, Fault> {
    let kind = match place {
        None => Some(Kind::Directory),
        Some(place) => place.status()?.map(|status| status.kind),
    };
    let kind = kind
        .filter(|kind| *kind == Kind::Directory || !glob.directories_only())
        .filter(|kind| visible.counts(path.as_str().as_bytes(), *kind));
    let skipped = Skipped {
        links: u64::from(kind == Some(Kind::Link)),
        ..Skipped::default()
    };
    let paths: Vec<Found> = kind
        .map(|kind| Found {
            path: Name::from(path.to_string().as_str()),
            kind,
        })
        .into_iter()
        .collect();
    Ok(GlobResult {
        total: paths.len() as u64,
        paths: paths.into_iter().take(limit.min(1) as usize).collect(),
        skipped,
    })
}

/// A path from the workspace's root as the caller would spell it: below the base as it was given.
pub(super) fn shown_path(real_base: &[u8], shown_base: &GuestPath, path: &[u8]) -> Vec<u8> {
    let rest = path.get(real_base.len()..).unwrap_or_default();
    let rest = rest.strip_prefix(b"/").unwrap_or(rest);
    super::walk::join(shown_base.as_str().as_bytes(), rest)
}

fn merge(workers: Vec<Worker>, limit: usize, real: &[u8], shown: &GuestPath) -> GlobResult {
    let mut result = GlobResult::default();
    let mut found = Vec::new();
    for worker in workers {
        result.total += worker.total;
        result.skipped += worker.skipped;
        found.extend(worker.found);
    }
    found.sort_unstable();
    found.truncate(limit);
    result.paths = found
        .into_iter()
        .map(|Candidate { path, kind }| Found {
            path: Name::from_bytes(shown_path(real, shown, &path)),
            kind,
        })
        .collect();
    result
}

/// A path that matches; ordered by the path alone, of which there is one.
struct Candidate {
    path: Vec<u8>,
    kind: Kind,
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.path == other.path
    }
}

impl Eq for Candidate {}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.path.cmp(&other.path)
    }
}

struct Finder<'a> {
    glob: &'a Glob,
    visible: &'a Visible,
    hidden: bool,
    limit: usize,
}

#[derive(Default)]
struct Worker {
    scratch: Scratch,
    /// The first paths so far, the last of them on top.
    found: BinaryHeap<Candidate>,
    total: u64,
    skipped: Skipped,
}

impl Worker {
    fn take(&mut self, path: &[u8], kind: Kind, limit: usize) {
        self.total += 1;
        let candidate = || Candidate {
            path: path.to_vec(),
            kind,
        };
        if self.found.len() < limit {
            self.found.push(candidate());
        } else if let Some(mut last) = self.found.peek_mut()
            && path < last.path.as_slice()
        {
            *last = candidate();
        }
    }
}

impl Visitor for Finder<'_> {
    type Below = State;
    type Worker = Worker;

    const SORTED: bool = false;

    fn worker(&self) -> Worker {
        Worker::default()
    }

    fn matters(&self, _worker: &mut Worker, _path: &[u8]) -> bool {
        true
    }

    fn meet(
        &self,
        worker: &mut Worker,
        context: &Context,
        below: &State,
        met: &Met<'_>,
    ) -> Result<Verdict<State>, Stop> {
        if worker.scratch.is_due() {
            context.check()?;
        }
        let text = String::from_utf8_lossy(met.name);
        let step = self
            .glob
            .step(below, &text, self.hidden, &mut worker.scratch);
        let matches =
            step.matches && (met.kind == Kind::Directory || !self.glob.directories_only());
        // A link counts wherever the walk meets it: what is behind it is not in the answer.
        let is_link = met.kind == Kind::Link && (self.hidden || !met.name.starts_with(b"."));
        let enters = step.below.filter(|_| met.kind == Kind::Directory);
        if !(matches || is_link || enters.is_some())
            || met.is_ignored()
            || !self.visible.counts(met.path, met.kind)
        {
            return Ok(Verdict::Leave);
        }
        if is_link || (matches && met.kind == Kind::Link) {
            worker.skipped.links += 1;
        }
        if matches {
            worker.take(met.path, met.kind, self.limit);
        }
        Ok(enters.map_or(Verdict::Leave, Verdict::Enter))
    }

    fn look(
        &self,
        _worker: &mut Worker,
        _context: &Context,
        _directory: &std::os::fd::OwnedFd,
        _name: &[u8],
        _path: &[u8],
    ) -> Result<(), Fault> {
        Ok(())
    }

    fn skipped<'w>(&self, worker: &'w mut Worker) -> &'w mut Skipped {
        &mut worker.skipped
    }
}
