//! The walk below a directory, by as many threads as pay.
//!
//! It opens each directory by its names beneath the base's handle, none of them a link, and holds no more
//! handles than threads: what waits is a path. What counts (hidden, ignored, matching) is the visitor's
//! and the rules' to say; links are never entered.

mod ignoring;
mod queue;
mod work;

use std::{os::fd::OwnedFd, sync::Arc};

use belljar_contract::{Context, Stop, files::Skipped};
use rustix::{
    fs::{self, Mode, OFlags},
    io::Errno,
};

pub use self::ignoring::Rules as IgnoreRules;
pub(crate) use self::ignoring::Rules;
use self::{
    queue::{Job, Queue},
    work::Walk,
};
use super::{fault::Fault, resolution::Names, root::Root, status::Kind};

/// The most threads of one walk: more wait for each other and for the disk.
const MAX_THREADS: usize = 8;
/// How much must wait before it pays to start threads.
const WAITING_FOR_THREADS: usize = 12;

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

    /// Says what is done with an entry; looks whether to go on when that takes long.
    fn meet(
        &self,
        worker: &mut Self::Worker,
        context: &Context,
        below: &Self::Below,
        met: &Met<'_>,
    ) -> Result<Verdict<Self::Below>, Stop>;

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

/// Opens a regular file that a listing named: never a link, and nothing that blocks.
pub(super) fn open_file(directory: &OwnedFd, name: &[u8]) -> Result<OwnedFd, Errno> {
    let flags =
        OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    fs::openat(directory, name, flags, Mode::empty())
}

/// A path below another; either may be empty.
pub(super) fn join(above: &[u8], name: &[u8]) -> Vec<u8> {
    let mut path = Vec::with_capacity(above.len() + name.len() + 1);
    path.extend_from_slice(above);
    if !above.is_empty() && !name.is_empty() {
        path.push(b'/');
    }
    path.extend_from_slice(name);
    path
}
