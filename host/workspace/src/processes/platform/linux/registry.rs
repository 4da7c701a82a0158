//! The launches of this operating-system process, of all its sessions, and what is known to belong to them.
//!
//! It is one for the whole process because children are: a session must not take another's leader for an
//! orphan.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard},
};

use rustix::process::{Pid, WaitOptions};

static SPAWNING: RwLock<()> = RwLock::new(());
static REGISTRY: Mutex<Registry> = Mutex::new(Registry {
    launches: BTreeMap::new(),
    members: BTreeMap::new(),
});

/// Held from before a child is made until it is registered, where it could be taken for an orphan meanwhile.
pub(super) fn spawning() -> RwLockWriteGuard<'static, ()> {
    SPAWNING.write().unwrap_or_else(PoisonError::into_inner)
}

/// Held while orphans are judged.
pub(super) fn judging() -> RwLockReadGuard<'static, ()> {
    SPAWNING.read().unwrap_or_else(PoisonError::into_inner)
}

pub(super) fn lock() -> MutexGuard<'static, Registry> {
    REGISTRY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What is known, by process number.
#[derive(Debug)]
pub(super) struct Registry {
    /// The launches whose leader is not reaped.
    launches: BTreeMap<i32, Known>,
    /// Others that were seen: when they started, and the leader of their launch.
    members: BTreeMap<i32, (u64, i32)>,
}

#[derive(Debug)]
struct Known {
    marker: String,
    /// Nobody waits for it any more; it is reaped when it ends at last.
    abandoned: bool,
}

impl Registry {
    pub(super) fn add(&mut self, leader: i32, marker: String) {
        let abandoned = false;
        self.launches.insert(leader, Known { marker, abandoned });
    }

    pub(super) fn remove(&mut self, leader: i32) {
        self.launches.remove(&leader);
        self.members.retain(|_, (_, of)| *of != leader);
    }

    pub(super) fn abandon(&mut self, leader: i32) {
        if let Some(known) = self.launches.get_mut(&leader) {
            known.abandoned = true;
        }
    }

    /// Reaps the abandoned leaders that have ended since.
    pub(super) fn reap_abandoned(&mut self) {
        let abandoned: Vec<i32> = self
            .launches
            .iter()
            .filter_map(|(leader, known)| known.abandoned.then_some(*leader))
            .collect();
        for leader in abandoned {
            if !matches!(
                rustix::process::waitpid(Pid::from_raw(leader), WaitOptions::NOHANG),
                Ok(None)
            ) {
                self.remove(leader);
            }
        }
    }

    pub(super) fn is_leader(&self, pid: i32) -> bool {
        self.launches.contains_key(&pid)
    }

    pub(super) fn are_leaders(&self, pids: &[i32]) -> bool {
        pids.iter().all(|pid| self.is_leader(*pid))
    }

    pub(super) fn leaders(&self) -> impl Iterator<Item = i32> {
        self.launches.keys().copied()
    }

    /// The leader of the launch that has this marker.
    pub(super) fn marked(&self, marker: &str) -> Option<i32> {
        self.launches
            .iter()
            .find(|(_, known)| known.marker == marker)
            .map(|(leader, _)| *leader)
    }

    /// Notes that a process belongs to a launch.
    pub(super) fn note(&mut self, pid: i32, start: u64, leader: i32) {
        self.members.insert(pid, (start, leader));
    }

    /// Forgets a process that is gone.
    pub(super) fn forget(&mut self, pid: i32) {
        self.members.remove(&pid);
    }

    /// The leader of the launch that this process was seen in.
    pub(super) fn seen(&self, pid: i32, start: u64) -> Option<i32> {
        self.members
            .get(&pid)
            .filter(|(then, _)| *then == start)
            .map(|(_, leader)| *leader)
    }

    /// What was seen of a launch: number and start.
    pub(super) fn members(&self, leader: i32) -> Vec<(i32, u64)> {
        self.members
            .iter()
            .filter(|(_, (_, of))| *of == leader)
            .map(|(pid, (start, _))| (*pid, *start))
            .collect()
    }
}
