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
            let orphans = self.look_at_orphans(procfs);
            let mut registry = registry::lock();
            for (stat, marker) in orphans {
                let pid = stat.pid;
                if registry.is_leader(pid) {
                    continue;
                }
                let owner = self.owner(procfs, &registry, &stat, marker.as_deref(), launch);
                if stat.zombie {
                    // Orphans are reaped while the registry is locked: this one is still the same.
                    if (owner != Owner::Unknown || self.owns_all_children)
                        && procfs.stat(pid).is_some_and(|now| now == stat)
                    {
                        let _ = rustix::process::waitpid(Pid::from_raw(pid), WaitOptions::NOHANG);
                        registry.forget(pid);
                    }
                    let is_anothers =
                        matches!(owner, Owner::Launch(leader) if launch != Some(leader));
                    if owner != Owner::Unknown && !is_anothers {
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
            note(leader, &census.alive);
        }
        let found = census.alive.len();
        census
            .alive
            .retain(|stat| !stat.zombie || launch == Some(stat.pid));
        census.ending += found - census.alive.len();
        census.alive.retain(|stat| !stat.zombie);
        if !self.gets_orphans() {
            // What ends leaves us nothing, and whoever gets it reaps it at leisure.
            census.ending = 0;
        }
        census
    }

    /// The children of ours that are no leaders, with the markers of those that nothing else tells of. Markers take
    /// their time, so the registry is not locked meanwhile.
    fn look_at_orphans(&self, procfs: &Procfs) -> Vec<(Stat, Option<String>)> {
        let mut orphans = procfs.orphans();
        {
            let registry = registry::lock();
            orphans.retain(|pid| !registry.is_leader(*pid));
        }
        orphans
            .into_iter()
            .filter_map(|pid| procfs.stat(pid))
            .filter(|stat| stat.parent == procfs.own())
            .map(|stat| {
                let is_told = stat.zombie || told(&registry::lock(), &stat).is_some();
                let marker = if is_told {
                    None
                } else {
                    procfs.marker(stat.pid)
                };
                (stat, marker)
            })
            .collect()
    }

    /// Finds what descends from a leader, which waits for nobody.
    pub(super) fn descendants(&self, leader: &Leader) -> Vec<Stat> {
        let Some(procfs) = &self.procfs else {
            return Vec::new();
        };
        let leader = super::number(leader);
        let mut found = below(procfs, procfs.stat(leader).into_iter().collect());
        note(leader, &found);
        found.retain(|stat| !stat.zombie);
        found
    }

    fn owner(
        &self,
        procfs: &Procfs,
        registry: &Registry,
        stat: &Stat,
        marker: Option<&str>,
        launch: Option<i32>,
    ) -> Owner {
        if let Some(leader) = told(registry, stat) {
            return Owner::Launch(leader);
        }
        if let Some(marker) = marker {
            if let Some(leader) = registry.marked(marker) {
                return Owner::Launch(leader);
            }
            if marker::is_ours(marker) {
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

/// The leader of the launch that an orphan was seen in, or whose group or session it is in.
fn told(registry: &Registry, stat: &Stat) -> Option<i32> {
    registry.seen(stat.pid, stat.start).or_else(|| {
        [stat.group, stat.session]
            .into_iter()
            .find(|number| registry.is_leader(*number))
    })
}

/// Remembers what was found of a launch, for when it has lost its parents.
fn note(leader: i32, found: &[Stat]) {
    let mut registry = registry::lock();
    if registry.is_leader(leader) {
        for stat in found.iter().filter(|stat| stat.pid != leader) {
            registry.note(stat.pid, stat.start, leader);
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
