//! The fall-back for systems that are not Linux: a process is its process group, and what leaves the group
//! is not found.
#![cfg_attr(
    target_os = "linux",
    expect(dead_code, reason = "on Linux it is only compiled, for its tests")
)]

use std::{
    io,
    os::fd::{AsRawFd, BorrowedFd, OwnedFd},
    path::PathBuf,
    process::{Child, Command},
};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, WaitOptions};

use super::{super::leader::Leader, Left};

/// What this system offers to find and to end the processes of a launch.
#[derive(Debug)]
pub(in super::super) struct Platform {}

/// What was stopped before it was killed; nothing here.
#[derive(Debug, Default)]
pub(in super::super) struct Frozen {}

impl Platform {
    pub(in super::super) const fn open(owns_all_children: bool) -> Self {
        let _ = owns_all_children;
        Self {}
    }

    /// What is weaker here than the contract says.
    pub(in super::super) fn gaps(&self) -> Vec<&'static str> {
        vec![
            "a program that leaves its process group outlives its call: this system cannot find it",
        ]
    }

    /// How many processes were killed so far because memory ran out; nothing tells here.
    pub(in super::super) const fn memory_kills(&self) -> Option<u64> {
        None
    }

    /// Spawns a program whose environment has the marker.
    pub(in super::super) fn spawn(
        &self,
        command: &mut Command,
        marker: String,
    ) -> io::Result<(Child, Leader)> {
        let child = command.spawn()?;
        let _ = marker;
        let leader = Leader::new(Pid::from_child(&child));
        Ok((child, leader))
    }

    /// A descriptor that is readable when the program has ended.
    pub(in super::super) fn watch(&self, leader: &Leader) -> Option<OwnedFd> {
        let _ = leader;
        None
    }

    /// Sends a signal to all of it.
    pub(in super::super) fn signal_all(&self, leader: &Leader, signal: Signal) {
        leader.signal_group(signal);
    }

    /// Whether nothing is left of a launch whose leader has ended. A group that has only its zombie leader
    /// looks like any other, so the answer is no.
    pub(in super::super) fn is_alone(&self, leader: &Leader) -> bool {
        let _ = leader;
        false
    }

    /// Kills all of it, and says what is left.
    pub(in super::super) fn kill_all(&self, leader: &Leader, frozen: &mut Frozen) -> Left {
        let _ = frozen;
        leader.signal_group(Signal::KILL);
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        match rustix::process::waitid(WaitId::Pid(leader.pid()), options) {
            Ok(None) => Left::Some(1),
            Ok(Some(_)) | Err(_) => Left::Nothing,
        }
    }

    /// Reaps the leader, which has ended.
    pub(in super::super) fn reap(&self, leader: &Leader) {
        let mut status = leader.status();
        if status.is_none()
            && let Ok(Some((_, ended))) =
                rustix::process::waitpid(Some(leader.pid()), WaitOptions::NOHANG)
        {
            *status = Some(ended);
        }
    }

    /// Reaps what was left to us.
    pub(in super::super) fn sweep(&self) {}

    /// Kills what belongs to no launch, and says what is left.
    pub(in super::super) fn kill_strays(&self, frozen: &mut Frozen) -> Left {
        let _ = frozen;
        Left::Nothing
    }
}

/// A path that means the directory of a descriptor, whatever happens to its name.
pub(in super::super) fn directory_path(directory: BorrowedFd<'_>) -> PathBuf {
    PathBuf::from(format!("/dev/fd/{}", directory.as_raw_fd()))
}

/// A descriptor to poll, and the one that makes it readable.
pub(in super::super) fn wake_descriptors() -> io::Result<(OwnedFd, Option<OwnedFd>)> {
    let (readable, writable) = rustix::pipe::pipe()?;
    for end in [&readable, &writable] {
        rustix::io::fcntl_setfd(end, rustix::io::FdFlags::CLOEXEC)?;
        rustix::io::ioctl_fionbio(end, true)?;
    }
    Ok((readable, Some(writable)))
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::CommandExt as _;

    use super::*;

    #[test]
    fn a_group_is_ended_and_reaped() {
        let platform = Platform::open(false);
        let mut command = Command::new("/bin/sh");
        command
            .args(["-c", "sleep 1000 & sleep 1000"])
            .process_group(0);
        let (_child, leader) = platform
            .spawn(&mut command, "marker".into())
            .expect("a shell starts");
        let mut frozen = Frozen::default();
        while platform.kill_all(&leader, &mut frozen) != Left::Nothing {
            std::thread::yield_now();
        }
        platform.reap(&leader);
        let status = leader.status().expect("it was reaped");
        assert_eq!(status.terminating_signal(), Some(9));
    }
}
