//! What one thread of a walk does: it takes a directory, meets its entries, and shares what comes of it.

use std::{
    os::fd::{AsFd, OwnedFd},
    sync::Arc,
};

use belljar_contract::Context;
use rustix::io::Errno;

use super::{
    Base, Met, Rules, Verdict, Visitor, ignoring, join,
    queue::{Job, Queue},
};
use crate::files::{
    fault::Fault,
    platform::{EntryBuffer, for_each_entry},
    root::reopen_to_read,
    status::Kind,
};

/// The files of a directory that are one thread's work; more are shared.
const BATCH: usize = 128;
/// What a call of the system takes as a path, with room for the end.
const LONGEST_PATH: usize = 4000;

/// A walk, shared by its threads.
pub(super) struct Walk<'a, V: Visitor> {
    pub(super) base: &'a Base<'a>,
    /// The base's path from the root.
    pub(super) base_path: Vec<u8>,
    pub(super) visitor: &'a V,
    pub(super) context: &'a Context,
    pub(super) queue: Queue<V::Below>,
}

/// A directory's entries, in one piece of memory that is used again and again.
#[derive(Default)]
struct Entries {
    names: Vec<u8>,
    /// Where each begins and ends, and what it is.
    list: Vec<(usize, usize, Kind)>,
}

impl<V: Visitor> Walk<'_, V> {
    /// Takes jobs until none is left. `start` is told how much waits.
    pub(super) fn work(&self, mut worker: V::Worker, start: &mut dyn FnMut(usize)) -> V::Worker {
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
            Err(errno) => return self.unreadable(worker, path, errno),
        };
        let present = match self.fill(&directory, buffer, entries) {
            Ok(present) => present,
            Err(Fault::System(errno)) => return self.unreadable(worker, path, errno),
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
            match self.visitor.meet(worker, self.context, below, &met)? {
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

    /// Counts a directory that the system does not let us read. That it cannot do more is not of the
    /// directory, and the base is all that was asked for.
    fn unreadable(&self, worker: &mut V::Worker, path: &[u8], errno: Errno) -> Result<(), Fault> {
        match errno {
            errno if path == self.base_path => Err(errno.into()),
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
            return reopen_to_read(self.base.handle.as_fd());
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
