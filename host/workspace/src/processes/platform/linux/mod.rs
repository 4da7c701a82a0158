//! Linux: all of a process is found, also what left its process group and its session.
//!
//! This operating-system process is made a *child subreaper*: whoever loses its parent below it becomes its
//! child. So all of a launch descends from the leader, or from a child of ours that is no leader, an
//! *orphan*. An orphan's launch is told by its marker in `/proc/PID/environ`, by its process
//! group or session, or by having been seen below the leader before.

mod census;
mod memory;
mod procfs;
mod registry;
mod subreaper;

use std::{
    collections::BTreeSet,
    io,
    os::fd::{AsRawFd, BorrowedFd, OwnedFd},
    path::PathBuf,
    process::{Child, Command},
};

use rustix::{
    event::EventfdFlags,
    io::Errno,
    process::{Pid, PidfdFlags, Signal, WaitOptions},
};

use self::{
    memory::MemoryEvents,
    procfs::{Procfs, Stat},
    subreaper::Subreaper,
};
use super::{super::leader::Leader, Left};

/// How often what was seen below is stopped anew before all of it is killed. Each time it is a
/// generation of forks further; what is in the process group cannot fork out of it.
const FREEZE_ROUNDS: u32 = 16;

/// What this system offers to find and to end the processes of a launch.
#[derive(Debug)]
pub(in super::super) struct Platform {
    /// None where `/proc` is not mounted, or is that of other processes.
    procfs: Option<Procfs>,
    /// None where the system refuses.
    subreaper: Option<Subreaper>,
    /// None where nothing tells that memory ran out.
    memory: Option<MemoryEvents>,
    owns_all_children: bool,
}

/// What was stopped before it is killed: number and start.
#[derive(Debug, Default)]
pub(in super::super) struct Frozen(BTreeSet<(i32, u64)>);

impl Platform {
    /// # Ambient authority
    /// It changes this operating-system process: it becomes a child subreaper, and where all its children are
    /// ours, they inherit none of its open files.
    pub(in super::super) fn open(owns_all_children: bool) -> Self {
        if owns_all_children {
            // Who started us may have left files open for us, which are not for what we start.
            close_fds::set_fds_cloexec_threadsafe(3, &[]);
        }
        Self {
            procfs: Procfs::open().ok(),
            subreaper: Subreaper::set().ok(),
            memory: MemoryEvents::open_ambient(),
            owns_all_children,
        }
    }

    #[cfg(test)]
    pub(in super::super) fn without_children_files(mut self) -> Self {
        self.procfs = self.procfs.map(Procfs::without_children_files);
        self
    }

    /// What is weaker here than the contract says.
    pub(in super::super) fn gaps(&self) -> Vec<&'static str> {
        let mut gaps = Vec::new();
        if self.procfs.is_none() {
            gaps.push(
                "a program that leaves its process group outlives its call: /proc is missing",
            );
        }
        if self.subreaper.is_none() {
            gaps.push("a program that leaves its process group may outlive its call: this process cannot be a child subreaper");
        }
        if !self.owns_all_children {
            if self
                .procfs
                .as_ref()
                .is_none_or(Procfs::has_inheritable_files)
            {
                gaps.push(
                    "programs inherit files that this process has open without close-on-exec",
                );
            }
            gaps.push("a program that leaves its session, loses its parent and clears its environment may outlive its call: it cannot be told from the application's own children");
        }
        gaps
    }

    /// Whether what loses its parent becomes a child of ours.
    fn gets_orphans(&self) -> bool {
        self.subreaper.is_some()
    }

    /// How many processes were killed so far because memory ran out; none where nothing tells.
    pub(in super::super) fn memory_kills(&self) -> Option<u64> {
        self.memory.as_ref()?.kills()
    }

    /// Spawns a program whose environment has the marker.
    pub(in super::super) fn spawn(
        &self,
        command: &mut Command,
        marker: String,
    ) -> io::Result<(Child, Leader)> {
        // A child that is not registered yet must not be seen among the orphans. It is only where orphans
        // come to the thread that makes it.
        let is_seen = self
            .procfs
            .as_ref()
            .is_some_and(Procfs::shows_children_of_this_thread);
        let _spawning = is_seen.then(registry::spawning);
        let child = command.spawn()?;
        let pid = Pid::from_child(&child);
        registry::lock().add(pid.as_raw_nonzero().get(), marker);
        if let (Some(_), Some(procfs)) = (&self.memory, &self.procfs) {
            procfs.prefer_to_kill(pid.as_raw_nonzero().get());
        }
        Ok((child, Leader::new(pid)))
    }

    /// A descriptor that is readable when the program has ended; none on an old system.
    pub(in super::super) fn watch(&self, leader: &Leader) -> Option<OwnedFd> {
        rustix::process::pidfd_open(leader.pid(), PidfdFlags::empty()).ok()
    }

    /// Sends a signal to all of it.
    pub(in super::super) fn signal_all(&self, leader: &Leader, signal: Signal) {
        // A census waits for programs that are being spawned elsewhere; most of it need not. Who is whose
        // child is remembered before the first of them ends.
        let group = number(leader);
        let mut sent = BTreeSet::new();
        let descendants = self.descendants(leader);
        leader.signal_group(signal);
        let mut send = |members: Vec<Stat>| {
            for member in members.iter().filter(|member| member.group != group) {
                if sent.insert((member.pid, member.start)) {
                    self.send(member, signal);
                }
            }
        };
        send(descendants);
        send(self.census(Some(leader)).alive);
    }

    /// Whether nothing is left of a launch whose leader has ended.
    pub(in super::super) fn is_alone(&self, leader: &Leader) -> bool {
        let Some(procfs) = &self.procfs else {
            return false;
        };
        if !self.gets_orphans() {
            // What is left may be anybody's child.
            return false;
        }
        // Whatever is left is a child of ours by now, or below one. Usually there is none.
        let orphans = procfs.orphans();
        if registry::lock().are_leaders(&orphans) {
            return true;
        }
        let census = self.census(Some(leader));
        census.alive.is_empty() && census.ending == 0
    }

    /// Kills all of it, and says what is left.
    pub(in super::super) fn kill_all(&self, leader: &Leader, frozen: &mut Frozen) -> Left {
        self.kill(Some(leader), frozen)
    }

    /// Kills what belongs to no launch, and says what is left.
    pub(in super::super) fn kill_strays(&self, frozen: &mut Frozen) -> Left {
        self.kill(None, frozen)
    }

    fn kill(&self, leader: Option<&Leader>, frozen: &mut Frozen) -> Left {
        if self.procfs.is_none() {
            let Some(leader) = leader else {
                return Left::Nothing;
            };
            leader.signal_group(Signal::KILL);
            return if has_ended(leader) {
                Left::Nothing
            } else {
                Left::Some(1)
            };
        }
        let mut members = Vec::new();
        let mut ending = 0;
        // What is stopped cannot fork: after it is stable, all is known, and parents are still there to
        // tell whose children are whose.
        for _ in 0..FREEZE_ROUNDS {
            let census = self.census(leader);
            members = census.alive;
            ending += census.ending;
            if members.is_empty() && census.ending == 0 {
                if let (Some(leader), false) = (leader, self.gets_orphans()) {
                    // What has lost its parent is not found below us, and may be in the group.
                    leader.signal_group(Signal::KILL);
                }
                return Left::Nothing;
            }
            let mut stable = !members.is_empty();
            for member in &members {
                if frozen.0.insert((member.pid, member.start)) {
                    stable = false;
                    self.send(member, Signal::STOP);
                }
            }
            if stable {
                break;
            }
        }
        if let Some(leader) = leader {
            leader.signal_group(Signal::KILL);
        }
        for member in &members {
            self.send(member, Signal::KILL);
        }
        Left::Some(members.len() + ending)
    }

    /// Reaps the leader, which has ended.
    pub(in super::super) fn reap(&self, leader: &Leader) {
        let mut status = leader.status();
        if status.is_some() {
            return;
        }
        let mut registry = registry::lock();
        match rustix::process::waitpid(Some(leader.pid()), WaitOptions::NOHANG) {
            Ok(Some((_, ended))) => {
                *status = Some(ended);
                registry.remove(number(leader));
            }
            // Somebody else has reaped it.
            Err(Errno::CHILD) => registry.remove(number(leader)),
            // It cannot be killed, yet.
            Ok(None) | Err(_) => registry.abandon(number(leader)),
        }
    }

    /// Reaps what was left to us, and learns whose orphans there are.
    pub(in super::super) fn sweep(&self) {
        let Some(procfs) = &self.procfs else { return };
        let orphans = procfs.orphans();
        let unknown = {
            let mut registry = registry::lock();
            registry.reap_abandoned();
            !registry.are_leaders(&orphans)
        };
        if unknown {
            self.census(None);
        }
    }

    /// Sends a signal to this very process, and to no other that has its number by now.
    fn send(&self, to: &Stat, signal: Signal) {
        let (Some(procfs), Some(pid)) = (&self.procfs, Pid::from_raw(to.pid)) else {
            return;
        };
        let pidfd = rustix::process::pidfd_open(pid, PidfdFlags::empty());
        if procfs.stat(to.pid).is_none_or(|now| now.start != to.start) {
            return;
        }
        // It may have become another user's, or be gone: the next census tells.
        let _ = match pidfd {
            Ok(pidfd) => rustix::process::pidfd_send_signal(pidfd, signal),
            Err(Errno::SRCH) => Ok(()),
            Err(_) => rustix::process::kill_process(pid, signal),
        };
    }
}

/// A path that means the directory of a descriptor, whatever happens to its name.
pub(in super::super) fn directory_path(directory: BorrowedFd<'_>) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", directory.as_raw_fd()))
}

/// A descriptor to poll, and the one that makes it readable: the same.
pub(in super::super) fn wake_descriptors() -> io::Result<(OwnedFd, Option<OwnedFd>)> {
    let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
    Ok((rustix::event::eventfd(0, flags)?, None))
}

fn number(leader: &Leader) -> i32 {
    leader.pid().as_raw_nonzero().get()
}

/// Whether it has ended, without reaping it.
fn has_ended(leader: &Leader) -> bool {
    use rustix::process::{WaitId, WaitIdOptions};
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    !matches!(
        rustix::process::waitid(WaitId::Pid(leader.pid()), options),
        Ok(None)
    )
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::CommandExt as _;

    use super::*;

    #[test]
    fn all_is_found_without_lists_of_children() {
        for listed in [true, false] {
            let mut platform = Platform::open(false);
            if !listed {
                platform = platform.without_children_files();
            }
            let mut command = Command::new("/bin/sh");
            let marker = super::super::super::marker::marker();
            command
                .args([
                    "-c",
                    "(setsid sleep 1000 &); setsid sleep 1000 & sleep 1000",
                ])
                .env(super::super::super::marker::VARIABLE, &marker)
                .process_group(0);
            let (_child, leader) = platform
                .spawn(&mut command, marker)
                .expect("a shell starts");
            // The shell and three sleeps.
            while platform.census(Some(&leader)).alive.len() < 4 {
                std::thread::yield_now();
            }
            assert!(!platform.is_alone(&leader));
            let mut frozen = Frozen::default();
            while platform.kill_all(&leader, &mut frozen) != Left::Nothing {
                std::thread::yield_now();
            }
            assert!(frozen.0.len() >= 4);
            assert!(platform.is_alone(&leader));
            platform.reap(&leader);
            let status = leader.status().expect("it was reaped");
            assert_eq!(status.terminating_signal(), Some(9));
        }
    }
}
