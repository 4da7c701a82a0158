//! The walk below a directory, by as many threads as pay.
//!
//! It opens each directory by its names beneath the base's handle, none of them a link, and holds no more
//! handles than threads: what waits is a path. What counts (hidden, ignored, matching) is the visitor's
//! and the rules' to say; links are never entered.

mod ignoring;
mod queue;

use std::{
    os::fd::{AsFd, OwnedFd},
    sync::Arc,
};

use belljar_contract::{Context, files::Skipped};
use rustix::{
    fs::{self, Mode, OFlags},
    io::Errno,
};

pub(crate) use self::ignoring::Rules;
use self::queue::{Job, Queue};
use super::{
    fault::Fault,
    platform::{EntryBuffer, for_each_entry},
    resolution::Names,
    root::Root,
    status::Kind,
};

/// The most threads of one walk: more wait for each other and for the disk.
const MAX_THREADS: usize = 8;
/// The files of a directory that are one thread's work; more are shared.
const BATCH: usize = 128;
/// How much must wait before it pays to start threads.
const WAITING_FOR_THREADS: usize = 12;
/// What a call of the system takes as a path, with room for the end.
const LONGEST_PATH: usize = 4000;

/// What is done with an entry.
pub(super) enum Verdict<B> {
    /// Nothing.
    Leave,
    /// The file's content is looked at.
    Look,
    /// The directory is walked.
    Enter(B),
}

/// An entry that the walk met.
pub(super) struct Met<'a> {
    /// From the workspace's root.
    pub(super) path: &'a [u8],
    pub(super) name: &'a [u8],
    pub(super) kind: Kind,
    rules: Option<&'a Rules>,
}

impl Met<'_> {
    /// Whether an ignore file excludes it.
    pub(super) fn is_ignored(&self) -> bool {
        self.rules
            .is_some_and(|rules| rules.exclude(self.path, self.kind == Kind::Directory))
    }
}

/// What is to be done on a walk. One for all threads; each has a `Worker` of its own.
pub(super) trait Visitor: Sync {
    /// What is known of a directory before it is opened.
    type Below: Send;
    type Worker: Send;

    fn worker(&self) -> Self::Worker;

    /// Whether a directory, by its path, may still matter.
    fn matters(&self, worker: &mut Self::Worker, path: &[u8]) -> bool;

    /// Whether entries are met by name; else in no order.
    const SORTED: bool;

    fn meet(
        &self,
        worker: &mut Self::Worker,
        below: &Self::Below,
        met: &Met<'_>,
    ) -> Verdict<Self::Below>;

    /// Looks at a file.
    fn look(
        &self,
        worker: &mut Self::Worker,
        context: &Context,
        directory: &OwnedFd,
        name: &[u8],
        path: &[u8],
    ) -> Result<(), Fault>;

    fn skipped<'w>(&self, worker: &'w mut Self::Worker) -> &'w mut Skipped;
}

/// Where a walk begins.
pub(super) struct Base<'a> {
    pub(super) root: &'a Root,
    pub(super) handle: Arc<OwnedFd>,
    /// From the root, without links.
    pub(super) names: Names,
    /// Whether ignore files count.
    pub(super) with_rules: bool,
}

struct Walk<'a, V: Visitor> {
    base: &'a Base<'a>,
    /// The base's path from the root.
    base_path: Vec<u8>,
    visitor: &'a V,
    context: &'a Context,
    queue: Queue<V::Below>,
}

/// Walks below the base, and gives each thread's worker back.
pub(super) fn walk<V: Visitor>(
    base: &Base<'_>,
    below: V::Below,
    visitor: &V,
    context: &Context,
) -> Result<Vec<V::Worker>, Fault> {
    let mut first = visitor.worker();
    let rules = if base.with_rules {
        let (rules, unreadable) = rules_above(base)?;
        visitor.skipped(&mut first).unreadable += unreadable;
        rules
    } else {
        None
    };
    let base_path = base.names.join(&b'/');
    let walk = Walk {
        base,
        visitor,
        context,
        queue: Queue::new(Job::Directory {
            path: base_path.clone(),
            below,
            rules,
        }),
        base_path,
    };
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let (first, others) = std::thread::scope(|scope| {
        let mut others = Vec::new();
        let mut start = |waiting: usize| {
            if waiting < WAITING_FOR_THREADS || !others.is_empty() {
                return;
            }
            for _ in 1..threads.min(MAX_THREADS) {
                let walk = &walk;
                let work = move || walk.work(walk.visitor.worker(), &mut |_| {});
                // Without another thread this one does all.
                if let Ok(handle) = std::thread::Builder::new()
                    .name("belljar-walk".into())
                    .spawn_scoped(scope, work)
                {
                    others.push(handle);
                }
            }
        };
        let first = walk.work(first, &mut start);
        let others: Vec<_> = others
            .into_iter()
            .map(std::thread::ScopedJoinHandle::join)
            .collect();
        (first, others)
    });
    if let Some(fault) = walk.queue.into_fault() {
        return Err(fault);
    }
    let mut workers = vec![first];
    for other in others {
        match other {
            Ok(worker) => workers.push(worker),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
    Ok(workers)
}

/// The ignore files from the root down to the base's parent.
fn rules_above(base: &Base<'_>) -> Result<(Option<Arc<Rules>>, u64), Fault> {
    let mut rules = None;
    let mut unreadable = 0;
    let mut directory = base.root.handle();
    let mut path = Vec::new();
    for name in &base.names {
        let (with_these, failed) = Rules::load(&directory, &path, [true; 2], rules);
        rules = with_these;
        unreadable += failed;
        directory = base.root.descend(&directory, std::slice::from_ref(name))?;
        if !path.is_empty() {
            path.push(b'/');
        }
        path.extend_from_slice(name);
    }
    Ok((rules, unreadable))
}

/// A directory's entries, in one piece of memory that is used again and again.
#[derive(Default)]
struct Entries {
    names: Vec<u8>,
    /// Where each begins and ends, and what it is.
    list: Vec<(usize, usize, Kind)>,
}

impl<V: Visitor> Walk<'_, V> {
    fn work(&self, mut worker: V::Worker, start: &mut dyn FnMut(usize)) -> V::Worker {
        let mut buffer = EntryBuffer::new();
        let mut entries = Entries::default();
        while let Some(job) = self.queue.next() {
            let done = self
                .context
                .check()
                .map_err(Fault::from)
                .and_then(|()| match job.get() {
                    Job::Directory { path, below, rules } => self.directory(
                        &mut worker,
                        (path, below, rules.as_ref()),
                        (&mut buffer, &mut entries),
                        start,
                    ),
                    Job::Files {
                        directory,
                        path,
                        names,
                    } => names
                        .iter()
                        .try_for_each(|name| self.look(&mut worker, directory, path, name)),
                });
            if let Err(fault) = done {
                self.queue.stop(fault);
            }
        }
        worker
    }

    fn look(
        &self,
        worker: &mut V::Worker,
        directory: &OwnedFd,
        above: &[u8],
        name: &[u8],
    ) -> Result<(), Fault> {
        self.context.check()?;
        let path = join(above, name);
        self.visitor
            .look(worker, self.context, directory, name, &path)
    }

    fn directory(
        &self,
        worker: &mut V::Worker,
        (path, below, rules): (&[u8], &V::Below, Option<&Arc<Rules>>),
        (buffer, entries): (&mut EntryBuffer, &mut Entries),
        start: &mut dyn FnMut(usize),
    ) -> Result<(), Fault> {
        if !self.visitor.matters(worker, path) {
            return Ok(());
        }
        let directory = match self.open(path) {
            Ok(directory) => directory,
            // It is not there any more, or not as a directory.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::XDEV) => return Ok(()),
            Err(errno) => return self.unreadable(worker, errno),
        };
        let present = match self.fill(&directory, buffer, entries) {
            Ok(present) => present,
            Err(Fault::System(errno)) => return self.unreadable(worker, errno),
            Err(fault) => return Err(fault),
        };
        let (rules, unreadable) = if self.base.with_rules {
            Rules::load(&directory, path, present, rules.cloned())
        } else {
            (None, 0)
        };
        self.visitor.skipped(worker).unreadable += unreadable;
        let mut met_path = path.to_vec();
        if !met_path.is_empty() {
            met_path.push(b'/');
        }
        let above = met_path.len();
        let mut directories = Vec::new();
        let mut files = Vec::new();
        for (index, &(from, to, kind)) in entries.list.iter().enumerate() {
            if index % 256 == 255 {
                self.context.check()?;
            }
            let name = &entries.names[from..to];
            met_path.truncate(above);
            met_path.extend_from_slice(name);
            let met = Met {
                path: &met_path,
                name,
                kind,
                rules: rules.as_deref(),
            };
            match self.visitor.meet(worker, below, &met) {
                Verdict::Leave => {}
                Verdict::Look => files.push(index),
                Verdict::Enter(below) => directories.push(Job::Directory {
                    path: met_path.clone(),
                    below,
                    rules: rules.clone(),
                }),
            }
        }
        // What is pushed last is taken first.
        directories.reverse();
        let name = |index: &usize| {
            let (from, to, _) = entries.list[*index];
            &entries.names[from..to]
        };
        if files.len() <= BATCH {
            start(self.queue.push(directories));
            return files
                .iter()
                .try_for_each(|file| self.look(worker, &directory, path, name(file)));
        }
        let (directory, path) = (Arc::new(directory), Arc::<[u8]>::from(path));
        let batches = files.chunks(BATCH).rev().map(|batch| Job::Files {
            directory: Arc::clone(&directory),
            path: Arc::clone(&path),
            names: batch.iter().map(|file| name(file).to_vec()).collect(),
        });
        start(self.queue.push(directories.into_iter().chain(batches)));
        Ok(())
    }

    /// Reads a directory; says which ignore files are there.
    fn fill(
        &self,
        directory: &OwnedFd,
        buffer: &mut EntryBuffer,
        entries: &mut Entries,
    ) -> Result<[bool; 2], Fault> {
        entries.names.clear();
        entries.list.clear();
        let mut present = [false; 2];
        for_each_entry(directory, buffer, |name, kind| {
            if entries.list.len() % 4096 == 4095 {
                self.context.check()?;
            }
            for (present, known) in present.iter_mut().zip(ignoring::NAMES) {
                *present |= name == known;
            }
            let from = entries.names.len();
            entries.names.extend_from_slice(name);
            entries.list.push((from, entries.names.len(), kind));
            Ok::<_, Fault>(())
        })?;
        if V::SORTED {
            let names = &entries.names;
            entries
                .list
                .sort_unstable_by(|a, b| names[a.0..a.1].cmp(&names[b.0..b.1]));
        }
        Ok(present)
    }

    /// Counts what the system does not let us read. That it cannot do more is not of the file.
    fn unreadable(&self, worker: &mut V::Worker, errno: Errno) -> Result<(), Fault> {
        match errno {
            Errno::MFILE | Errno::NFILE | Errno::NOMEM => Err(errno.into()),
            _ => {
                self.visitor.skipped(worker).unreadable += 1;
                Ok(())
            }
        }
    }

    /// Opens a directory by its path from the workspace's root, beneath the base.
    fn open(&self, path: &[u8]) -> Result<OwnedFd, Errno> {
        let mut rest = path.get(self.base_path.len()..).unwrap_or_default();
        rest = rest.strip_prefix(b"/").unwrap_or(rest);
        if rest.is_empty() {
            return super::root::reopen_to_read(self.base.handle.as_fd());
        }
        let mut above = None;
        loop {
            let (part, more) = self.base.root.split_for_opening(rest, LONGEST_PATH);
            let from = above.as_ref().map_or(self.base.handle.as_fd(), AsFd::as_fd);
            let opened = self.base.root.open_real_directory(from, part)?;
            if more.is_empty() {
                return Ok(opened);
            }
            rest = more;
            above = Some(opened);
        }
    }
}

/// Opens a regular file that a listing named: never a link, and nothing that blocks.
pub(super) fn open_file(directory: &OwnedFd, name: &[u8]) -> Result<OwnedFd, Errno> {
    let flags =
        OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    fs::openat(directory, name, flags, Mode::empty())
}

pub(super) fn join(above: &[u8], name: &[u8]) -> Vec<u8> {
    let mut path = Vec::with_capacity(above.len() + name.len() + 1);
    if !above.is_empty() {
        path.extend_from_slice(above);
        path.push(b'/');
    }
    path.extend_from_slice(name);
    path
}
