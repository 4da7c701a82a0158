//! `/proc/self/status`: whose rights a process has, and which.

use std::collections::BTreeSet;

use belljar_protocol::facts::Told;

use super::{Finding, listed};

/// The kernel's capabilities, each at the place of its bit (linux/capability.h).
const CAPABILITIES: [&str; 41] = [
    "CHOWN",
    "DAC_OVERRIDE",
    "DAC_READ_SEARCH",
    "FOWNER",
    "FSETID",
    "KILL",
    "SETGID",
    "SETUID",
    "SETPCAP",
    "LINUX_IMMUTABLE",
    "NET_BIND_SERVICE",
    "NET_BROADCAST",
    "NET_ADMIN",
    "NET_RAW",
    "IPC_LOCK",
    "IPC_OWNER",
    "SYS_MODULE",
    "SYS_RAWIO",
    "SYS_CHROOT",
    "SYS_PTRACE",
    "SYS_PACCT",
    "SYS_ADMIN",
    "SYS_BOOT",
    "SYS_NICE",
    "SYS_RESOURCE",
    "SYS_TIME",
    "SYS_TTY_CONFIG",
    "MKNOD",
    "LEASE",
    "AUDIT_WRITE",
    "AUDIT_CONTROL",
    "SETFCAP",
    "MAC_OVERRIDE",
    "MAC_ADMIN",
    "SYSLOG",
    "WAKE_ALARM",
    "BLOCK_SUSPEND",
    "AUDIT_READ",
    "PERFMON",
    "BPF",
    "CHECKPOINT_RESTORE",
];

/// The sets that a program can have a capability in.
const SETS: [&str; 5] = ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"];

/// The mode of a filter (seccomp(2)).
const SECCOMP_FILTER: u64 = 2;

/// What the file says; what it does not say, or says otherwise than the kernel does, is none.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Status<'a>(Option<&'a str>);

impl<'a> Status<'a> {
    pub(in super::super) fn new(told: &'a Told) -> Self {
        match told {
            Told::Text(text) => Self(Some(text)),
            Told::Unknown | Told::Absent => Self(None),
        }
    }

    fn field(self, name: &str) -> Option<&'a str> {
        let line = |line: &'a str| line.strip_prefix(name)?.strip_prefix(':');
        self.0?.lines().find_map(line).map(str::trim)
    }

    fn number(self, name: &str) -> Option<u64> {
        self.field(name)?.parse().ok()
    }

    /// Real, effective, saved, and for files.
    fn ids(self, name: &str) -> Option<[u32; 4]> {
        let ids = self.field(name)?.split_ascii_whitespace();
        let ids: Vec<u32> = ids.map(str::parse).collect::<Result<_, _>>().ok()?;
        ids.try_into().ok()
    }

    fn set(self, name: &str) -> Option<u64> {
        u64::from_str_radix(self.field(name)?, 16).ok()
    }
}

pub(in super::super) fn no_new_privileges(status: Status<'_>) -> Finding {
    match status.number("NoNewPrivs") {
        Some(1) => Finding::holds("on"),
        Some(_) => Finding::broken("off", "a program can get more rights than its caller has"),
        None => Finding::unknown(),
    }
}

pub(in super::super) fn seccomp(status: Status<'_>) -> Finding {
    match status.number("Seccomp") {
        Some(SECCOMP_FILTER) => Finding::holds("a filter"),
        Some(mode) => Finding::broken(format!("mode {mode}"), "no system call is filtered"),
        None => Finding::unknown(),
    }
}

/// Fewer capabilities than were given back are no gap: an engine gives a user who is not root none.
pub(in super::super) fn capabilities(status: Status<'_>, given: &BTreeSet<String>) -> Finding {
    let sets: Option<Vec<u64>> = SETS.iter().map(|name| status.set(name)).collect();
    let Some(sets) = sets else {
        return Finding::unknown();
    };
    let allowed = given.iter().map(|name| mask(name)).fold(0, |a, b| a | b);
    let had = sets.iter().fold(0, |a, b| a | b);
    let got = match had {
        0 => "none".to_owned(),
        had => names(had),
    };
    match had & !allowed {
        0 => Finding::holds(got),
        more => Finding::broken(got, format!("{} was not given back", names(more))),
    }
}

/// `user` and, where one was asked for, `group`.
pub(in super::super) fn user(status: Status<'_>, expected: Option<(u32, Option<u32>)>) -> Finding {
    let (Some(uids), Some(gids)) = (status.ids("Uid"), status.ids("Gid")) else {
        return Finding::unknown();
    };
    let groups = status.field("Groups").unwrap_or_default();
    let mut got = format!("user {}, group {}", uids[0], gids[0]);
    if !groups.is_empty() {
        got.push_str(&format!(
            ", also in {}",
            listed(groups.split_ascii_whitespace())
        ));
    }
    let Some((user, group)) = expected else {
        return Finding::holds(got);
    };
    let other_user = uids.iter().any(|uid| *uid != user);
    let other_group = group.is_some_and(|group| gids.iter().any(|gid| *gid != group));
    match other_user || other_group {
        true => Finding::broken(got, "processes run as somebody else"),
        false => Finding::holds(got),
    }
}

/// The bits of a capability as an operator spells it; an unknown one has none, so that it excuses none.
fn mask(name: &str) -> u64 {
    let name = name.to_ascii_uppercase();
    let name = name.strip_prefix("CAP_").unwrap_or(&name);
    if name == "ALL" {
        return u64::MAX;
    }
    let bit = CAPABILITIES.iter().position(|known| *known == name);
    bit.map_or(0, |bit| 1 << bit)
}

fn names(set: u64) -> String {
    let known = CAPABILITIES.iter().enumerate();
    let mut names: Vec<&str> = known
        .filter(|(bit, _)| set & (1 << bit) != 0)
        .map(|(_, name)| *name)
        .collect();
    if set >> CAPABILITIES.len() != 0 {
        names.push("others");
    }
    listed(names)
}
