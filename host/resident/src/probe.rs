//! What this process sees of itself and of what it runs in.
//!
//! Everything is read as the kernel says it, and bounded; what it means is the host's to say. It leaves
//! nothing behind: where the system can make a file without a name, no name is ever seen.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read as _},
    path::Path,
};

use belljar_protocol::facts::{
    Attempt, Facts, LimitFile, MAX_LIMITS, MAX_TEXT_BYTES, MAX_WORD_BYTES, Told,
};
use rustix::{
    fs::{CWD, Mode, OFlags, openat},
    io::Errno,
};

/// The files of limits, by the controller that has them in the first version of cgroups.
const LIMITS: [(&str, &str); 8] = [
    ("", "pids.max"),
    ("", "memory.max"),
    ("", "memory.swap.max"),
    ("", "cpu.max"),
    ("pids", "pids.max"),
    ("memory", "memory.limit_in_bytes"),
    ("memory", "memory.memsw.limit_in_bytes"),
    ("cpu", "cpu.cfs_quota_us"),
];
const CPU_PERIOD: (&str, &str) = ("cpu", "cpu.cfs_period_us");

/// Where cgroups are, wherever there are any.
const CGROUPS: &str = "/sys/fs/cgroup";

/// Looks, in a session of this workspace.
pub(crate) fn facts(workspace: &str) -> Facts {
    Facts {
        pid: std::process::id(),
        machine: machine(),
        status: text("/proc/self/status"),
        mounts: text("/proc/self/mountinfo"),
        interfaces: text("/proc/self/net/dev"),
        routes: text("/proc/self/net/route"),
        ipv6_routes: text("/proc/self/net/ipv6_route"),
        limits: limits(),
        root: attempt("/"),
        workspace: attempt(workspace),
        tmp: attempt("/tmp"),
    }
}

/// The machine's architecture; from older kernels only that of this program.
fn machine() -> String {
    let of_kernel = word("/proc/sys/kernel/arch");
    of_kernel.unwrap_or_else(|| std::env::consts::ARCH.to_owned())
}

/// The limits of this process's own cgroup.
///
/// A container usually sees its cgroup as the root of all; where it sees the host's, its own is where
/// the kernel says.
fn limits() -> Vec<LimitFile> {
    let Told::Text(cgroups) = text("/proc/self/cgroup") else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for (controller, name) in LIMITS.into_iter().chain([CPU_PERIOD]) {
        let own = own_cgroup(&cgroups, controller);
        for cgroup in ["", own]
            .into_iter()
            .take(if own.is_empty() { 1 } else { 2 })
        {
            let folder = match controller {
                "" => CGROUPS.to_owned(),
                controller => format!("{CGROUPS}/{controller}"),
            };
            let path = format!("{folder}{cgroup}/{name}");
            if let Some(text) = word(&path).filter(|_| path.len() <= MAX_WORD_BYTES) {
                found.push(LimitFile { path, text });
            }
        }
    }
    found.truncate(MAX_LIMITS);
    found
}

/// Where the kernel says that this process is, below a controller's root; empty at the root, and where it
/// is outside what is seen.
fn own_cgroup<'a>(cgroups: &'a str, controller: &str) -> &'a str {
    let place = cgroups.lines().find_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let controllers = parts.next()?;
        (controllers.split(',').any(|one| one == controller)).then(|| parts.next())?
    });
    match place {
        Some(place) if place != "/" && !place.split('/').any(|part| part == "..") => place,
        _ => "",
    }
}

fn text(path: &str) -> Told {
    match read(path, MAX_TEXT_BYTES) {
        Ok(Some(text)) => Told::Text(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Told::Absent,
        Ok(None) | Err(_) => Told::Unknown,
    }
}

fn word(path: &str) -> Option<String> {
    let text = read(path, MAX_WORD_BYTES).ok()??;
    Some(text.trim().to_owned())
}

/// A file's text; none when it is longer than that.
#[expect(
    clippy::disallowed_methods,
    reason = "these are the kernel's files, and no workspace's"
)]
fn read(path: &str, most: usize) -> io::Result<Option<String>> {
    let mut bytes = Vec::new();
    File::open(path)?
        .take(most as u64 + 1)
        .read_to_end(&mut bytes)?;
    // What is replaced becomes longer.
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Ok(Some(text).filter(|text| text.len() <= most))
}

/// Whether a file can be made in a directory.
fn attempt(directory: &str) -> Attempt {
    let nameless = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    let made = match openat(CWD, directory, nameless, Mode::RUSR) {
        // There are file systems and kernels that cannot.
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL) => named(Path::new(directory)),
        made => made.map(drop).map_err(io::Error::from),
    };
    match made {
        Ok(()) => Attempt::Possible,
        Err(error) => {
            let mut reason = error.to_string();
            // It is the system's own, and short and plain.
            reason.truncate(reason.floor_char_boundary(MAX_WORD_BYTES));
            Attempt::Refused(reason)
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the attempt is made where any program would make it"
)]
fn named(directory: &Path) -> io::Result<()> {
    let path = directory.join(format!(".belljar-probe-{}", std::process::id()));
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&path)?;
    std::fs::remove_file(&path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_cgroup_is_the_controllers() {
        let cgroups = "8:pids:/docker/1\n2:cpu,cpuacct:/docker/2\n1:name=systemd:/\n0::/a:b\n";
        assert_eq!(own_cgroup(cgroups, "pids"), "/docker/1");
        assert_eq!(own_cgroup(cgroups, "cpu"), "/docker/2");
        assert_eq!(own_cgroup(cgroups, "memory"), "");
        assert_eq!(own_cgroup(cgroups, ""), "/a:b");
        assert_eq!(own_cgroup("0::/", ""), "");
        assert_eq!(own_cgroup("0::/../..", ""), "");
        assert_eq!(own_cgroup("nonsense", ""), "");
    }

    #[test]
    fn an_attempt_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().to_str().unwrap();
        assert_eq!(attempt(path), Attempt::Possible);
        named(folder.path()).unwrap();
        assert_eq!(folder.path().read_dir().unwrap().count(), 0);
        let nowhere = format!("{path}/nowhere");
        assert!(matches!(attempt(&nowhere), Attempt::Refused(_)));
    }

    #[test]
    fn what_is_told_is_bounded() {
        let facts = facts("/");
        assert!(facts.are_bounded());
        assert_eq!(facts.pid, std::process::id());
        assert!(matches!(facts.status, Told::Text(text) if text.contains("CapBnd:")));
        assert!(matches!(facts.mounts, Told::Text(_)));
        assert_eq!(text("/proc/self/nothing"), Told::Absent);
        assert_eq!(read("/dev/zero", 10).unwrap(), None);
    }
}
