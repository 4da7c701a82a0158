//! `search`: the lines that match a pattern.

mod collected;
mod content;
mod filter;
mod lines;
mod pattern;

use std::os::fd::OwnedFd;

use belljar_contract::{
    Context, GuestPath, Query, Scope, Stop,
    files::{SearchResult, Skipped},
};
use rustix::io::Errno;

pub use self::content::{ContentSearch, Entered, Passage};
use self::{
    collected::Collected,
    filter::{Filter, Passed},
    lines::{Looked, Reader},
    pattern::LinePattern,
};
use super::{
    Workspace,
    dialect::Scratch,
    fault::Fault,
    glob::shown_path,
    place::Place,
    resolution::{Resolved, resolve},
    status::{Kind, Status},
    visible::Visible,
    walk::{Base, Met, Verdict, Visitor, open_file, walk},
};

/// Finds lines.
pub(super) fn search(
    workspace: &Workspace,
    context: &Context,
    query: &Query,
    scope: &Scope,
) -> Result<SearchResult, Fault> {
    let pattern = LinePattern::new(query)?;
    let filter = Filter::new(query, scope.hidden)?;
    let visible = Visible::new(scope)?;
    let root = &workspace.root;
    let mut searcher = Searcher {
        pattern: &pattern,
        filter: &filter,
        visible: &visible,
        context_lines: usize::try_from(query.context).unwrap_or(usize::MAX),
        collected: Collected::new(scope.limit),
        real_base: Vec::new(),
        shown_base: &scope.base,
    };
    let mut skipped = Skipped::default();
    match resolve(root, &scope.base, None)? {
        Resolved::Missing { .. } => return Err(Fault::Missing),
        Resolved::Entry { .. } if scope.base.must_be_directory() => {
            return Err(Fault::NotDirectory);
        }
        Resolved::Entry { names, status, .. }
            if !visible.counts(&names.join(&b'/'), status.kind) =>
        {
            return Err(Fault::Missing);
        }
        Resolved::Entry { status, .. } if status.kind != Kind::File => skipped.special += 1,
        Resolved::Entry {
            parent,
            name,
            names,
            ..
        } => {
            // What cannot be read is the caller's to know when it is all that was asked for.
            Place {
                parent: parent.clone(),
                name: name.clone(),
            }
            .open(rustix::fs::OFlags::RDONLY)?;
            searcher.real_base = names.join(&b'/');
            let path = searcher.real_base.clone();
            let mut worker = searcher.worker();
            searcher.look(&mut worker, context, &parent, &name, &path)?;
            skipped += worker.skipped;
        }
        Resolved::Directory { handle, names } => {
            searcher.real_base = names.join(&b'/');
            let base = Base {
                root,
                handle,
                names,
                with_rules: !scope.ignored,
            };
            for worker in walk(&base, filter.start(), &searcher, context)? {
                skipped += worker.skipped;
            }
        }
    }
    let (matches, more) = searcher.collected.into_matches();
    Ok(SearchResult {
        matches,
        more,
        skipped,
    })
}

struct Searcher<'a> {
    pattern: &'a LinePattern,
    filter: &'a Filter,
    visible: &'a Visible,
    context_lines: usize,
    collected: Collected,
    real_base: Vec<u8>,
    shown_base: &'a GuestPath,
}

struct Worker {
    scratch: Scratch,
    reader: Reader,
    pattern: LinePattern,
    skipped: Skipped,
}

impl Visitor for Searcher<'_> {
    type Below = Passed;
    type Worker = Worker;

    // The first paths are looked at first, so that a small limit soon rules out the rest.
    const SORTED: bool = true;

    fn worker(&self) -> Worker {
        Worker {
            scratch: Scratch::default(),
            reader: Reader::new(),
            // A regular expression's memory is not shared by threads.
            pattern: self.pattern.clone(),
            skipped: Skipped::default(),
        }
    }

    fn matters(&self, _worker: &mut Worker, path: &[u8]) -> bool {
        if path.len() <= self.real_base.len() {
            return true;
        }
        // Everything below begins so.
        let mut first = shown_path(&self.real_base, self.shown_base, path);
        first.push(b'/');
        self.collected.wants(&first)
    }

    fn meet(
        &self,
        worker: &mut Worker,
        context: &Context,
        below: &Passed,
        met: &Met<'_>,
    ) -> Result<Verdict<Passed>, Stop> {
        let text = String::from_utf8_lossy(met.name);
        let is_directory = met.kind == Kind::Directory;
        let passes = self
            .filter
            .pass(below, &text, is_directory, &mut worker.scratch, || {
                context.check()
            })?;
        let counts = match met.kind {
            Kind::Directory => passes.enters.is_some(),
            Kind::File | Kind::Other => passes.looks,
            Kind::Link => passes.meets,
        };
        if !counts
            || (!passes.by_name && met.is_ignored())
            || !self.visible.counts(met.path, met.kind)
        {
            return Ok(Verdict::Leave);
        }
        match met.kind {
            Kind::File => return Ok(Verdict::Look),
            Kind::Directory => return Ok(passes.enters.map_or(Verdict::Leave, Verdict::Enter)),
            Kind::Link => worker.skipped.links += 1,
            Kind::Other => worker.skipped.special += 1,
        }
        Ok(Verdict::Leave)
    }

    fn look(
        &self,
        worker: &mut Worker,
        context: &Context,
        directory: &OwnedFd,
        name: &[u8],
        path: &[u8],
    ) -> Result<(), Fault> {
        let shown = shown_path(&self.real_base, self.shown_base, path);
        if !self.collected.wants(&shown) {
            return Ok(());
        }
        let file = match open_file(directory, name) {
            Ok(file) => file,
            Err(Errno::NOENT) => return Ok(()),
            Err(Errno::LOOP) => {
                worker.skipped.links += 1;
                return Ok(());
            }
            Err(Errno::NXIO | Errno::NODEV) => {
                worker.skipped.special += 1;
                return Ok(());
            }
            Err(errno @ (Errno::MFILE | Errno::NFILE | Errno::NOMEM)) => return Err(errno.into()),
            Err(_) => {
                worker.skipped.unreadable += 1;
                return Ok(());
            }
        };
        let status = Status::of(&file)?;
        if status.kind != Kind::File {
            worker.skipped.special += 1;
            return Ok(());
        }
        let most = self.collected.limit().saturating_add(1);
        let looked = worker.reader.look(
            context,
            |buffer| rustix::io::read(&file, buffer),
            status.size,
            &worker.pattern,
            self.context_lines,
            most,
        )?;
        match looked {
            Looked::Lines(lines) => self.collected.add(&shown, lines),
            Looked::Binary => worker.skipped.binary += 1,
            Looked::Unreadable => worker.skipped.unreadable += 1,
        }
        Ok(())
    }

    fn skipped<'w>(&self, worker: &'w mut Worker) -> &'w mut Skipped {
        &mut worker.skipped
    }
}
