//! Who belongs to a launch, now.

use std::collections::BTreeSet;

use rustix::process::{Pid, WaitOptions};

use super::{
    Platform,
    procfs::{Procfs, Stat},
    registry::{self, Registry},
};
use crate::processes::{leader::Leader, marker};

/// How many processes are looked at: more than a system has.
const MOST: usize = 1 << 22;

/// What a census found.
#[derive(Debug, Default)]
pub(super) struct Census {
    /// What lives. Of no launch in particular: what belongs to none that lives.
    pub(super) alive: Vec<Stat>,
    /// How many ended at this very moment: they were reaped, which may have left us more, or will be by the next
    /// census.
    pub(super) ending: usize,
}

/// Whose an orphan is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    /// Of the launch with this leader.
    Launch(i32),
    /// Of a launch that is over.
    Past,
    /// It says nothing; no launch that lives can have started it, and nobody else starts anything here.
    Nobody,
    /// Of a launch that cannot be told, or the application's own.
    Unknown,
}

impl Platform {
    /// Finds what lives of a launch, or what belongs to none, and reaps what does not live.
    pub(super) fn census(&self, launch: Option<&Leader>) -> Census {
        let Some(procfs) = &self.procfs else {
            return Census::default();
        };
        let launch = launch.map(super::number);
        let mut census = Census::default();
        let mut roots = Vec::new();
        {
            let _judging = registry::judging();
            let orphans = procfs.orphans();
            let mut registry = registry::lock();
            for pid in orphans {
                if registry.is_leader(pid) {
                    continue;
                }
                let Some(stat) = procfs.stat(pid).filter(|stat| stat.parent == procfs.own()) else {
                    continue;
                };
                let owner = self.owner(procfs, &registry, &stat, launch);
                if stat.zombie {
                    if owner != Owner::Unknown || self.owns_all_children {
                        let _ = rustix::process::waitpid(Pid::from_raw(pid), WaitOptions::NOHANG);
                        registry.forget(pid);
                        census.ending += 1;
                    }
                    continue;
                }
                match owner {
                    Owner::Launch(leader) => {
                        registry.note(pid, stat.start, leader);
                        if launch == Some(leader) {
                            roots.push(stat);
                        }
                    }
                    Owner::Past | Owner::Nobody => roots.push(stat),
                    Owner::Unknown => {}
                }
            }
            if let Some(leader) = launch {
                roots.extend(procfs.stat(leader));
                for (pid, start) in registry.members(leader) {
                    match procfs.stat(pid) {
                        Some(stat) if stat.start == start => roots.push(stat),
                        _ => registry.forget(pid),
                    }
                }
            }
        }
        census.alive = below(procfs, roots);
        if let Some(leader) = launch {
            let mut registry = registry::lock();
            if registry.is_leader(leader) {
                for stat in census.alive.iter().filter(|stat| stat.pid != leader) {
                    registry.note(stat.pid, stat.start, leader);
                }
            }
        }
        let found = census.alive.len();
        census
            .alive
            .retain(|stat| !stat.zombie || launch == Some(stat.pid));
        census.ending += found - census.alive.len();
        census.alive.retain(|stat| !stat.zombie);
        census
    }

    fn owner(
        &self,
        procfs: &Procfs,
        registry: &Registry,
        stat: &Stat,
        launch: Option<i32>,
    ) -> Owner {
        if let Some(leader) = registry.seen(stat.pid, stat.start) {
            return Owner::Launch(leader);
        }
        for number in [stat.group, stat.session] {
            if registry.is_leader(number) {
                return Owner::Launch(number);
            }
        }
        if !stat.zombie
            && let Some(marker) = procfs.marker(stat.pid)
        {
            if let Some(leader) = registry.marked(&marker) {
                return Owner::Launch(leader);
            }
            if marker::is_ours(&marker) {
                return Owner::Past;
            }
        }
        // A launch can only have started what is younger than its leader.
        let may_be_anothers = || {
            registry
                .leaders()
                .filter(|leader| launch != Some(*leader))
                .filter_map(|leader| procfs.stat(leader))
                .any(|leader| leader.start <= stat.start)
        };
        if self.owns_all_children && !may_be_anothers() {
            Owner::Nobody
        } else {
            Owner::Unknown
        }
    }
}

/// The roots and all below them, each once.
fn below(procfs: &Procfs, roots: Vec<Stat>) -> Vec<Stat> {
    let children = procfs.look();
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    let mut next = roots;
    while let Some(stat) = next.pop() {
        if found.len() >= MOST || !seen.insert(stat.pid) {
            continue;
        }
        found.push(stat);
        if !stat.zombie {
            let below = procfs.children(stat.pid, &children);
            // Its number may have become another's since it was listed.
            next.extend(
                below
                    .into_iter()
                    .filter_map(|pid| procfs.stat(pid))
                    .filter(|child| child.parent == stat.pid),
            );
        }
    }
    found
}
