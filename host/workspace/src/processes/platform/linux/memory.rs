//! What the kernel tells of memory that ran out.
//!
//! A container is a control group with a limit. When its memory runs out, the kernel kills one of its
//! processes and counts that. A process that dies by SIGKILL while the count goes up ran out of memory, as
//! far as anyone can tell: of two that die at the same moment by different causes both are told so.

use std::os::fd::OwnedFd;

use rustix::{
    fs::{CWD, Mode, OFlags},
    io::Errno,
};

/// The files of a control group as a container sees its own: with cgroup version 2, and 1.
const PLACES: [Place; 2] = [
    Place {
        limit: c"/sys/fs/cgroup/memory.max",
        events: c"/sys/fs/cgroup/memory.events",
    },
    Place {
        limit: c"/sys/fs/cgroup/memory/memory.limit_in_bytes",
        events: c"/sys/fs/cgroup/memory/memory.oom_control",
    },
];
/// More than such a file has.
const MAX_FILE_BYTES: usize = 4096;
/// A limit that version 1 shows where there is none is next to this.
const NO_LIMIT: u64 = i64::MAX as u64 - (1 << 20);

struct Place {
    limit: &'static std::ffi::CStr,
    events: &'static std::ffi::CStr,
}

/// Counts what was killed in this process's control group because memory ran out.
#[derive(Debug)]
pub(super) struct MemoryEvents(OwnedFd);

impl MemoryEvents {
    /// None where this process's control group has no limit of its own, or cannot be seen: on a host the
    /// count would be that of everything.
    ///
    /// # Ambient authority
    /// The kernel's view of this process's control group.
    pub(super) fn open_ambient() -> Option<Self> {
        let place = PLACES.iter().find(|place| {
            let limit = open(place.limit).and_then(|file| read(&file));
            limit.is_ok_and(|limit| is_limited(&limit))
        })?;
        let events = Self(open(place.events).ok()?);
        events.kills().map(|_| events)
    }

    /// How many were killed since the group was made.
    pub(super) fn kills(&self) -> Option<u64> {
        count(&read(&self.0).ok()?)
    }
}

fn open(path: &std::ffi::CStr) -> Result<OwnedFd, Errno> {
    rustix::fs::openat(CWD, path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
}

fn read(file: &OwnedFd) -> Result<String, Errno> {
    let mut bytes = [0; MAX_FILE_BYTES];
    let count = rustix::io::pread(file, &mut bytes, 0)?;
    Ok(String::from_utf8_lossy(&bytes[..count]).into_owned())
}

fn is_limited(limit: &str) -> bool {
    // `max` is no number.
    limit
        .trim()
        .parse()
        .is_ok_and(|limit: u64| limit < NO_LIMIT)
}

/// The count in either version's file.
fn count(events: &str) -> Option<u64> {
    let count = events
        .lines()
        .find_map(|line| line.strip_prefix("oom_kill "));
    count?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_versions_are_read() {
        let two = "low 0\nhigh 0\nmax 12\noom 3\noom_kill 2\noom_group_kill 0\n";
        let one = "oom_kill_disable 0\nunder_oom 0\noom_kill 7\n";
        assert_eq!((count(two), count(one)), (Some(2), Some(7)));
        assert_eq!(count("oom_kill_disable 0\nunder_oom 0\n"), None);
    }

    #[test]
    fn no_limit_is_none() {
        assert!(is_limited("67108864\n"));
        assert!(!is_limited("max\n") && !is_limited("9223372036854771712\n"));
    }
}
