//! What a container guarantees, each under a stable name, and whether it is asked for.
//!
//! The guarantees' documentation is also what the schema of a configuration shows.

use std::fmt;

use super::{ContainerOptions, ContainerUser, PullPolicy, options::NO_NETWORK};

/// Something that a container guarantees.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    serde::Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Guarantee {
    /// No program gets more rights than its caller has.
    NoNewPrivileges,
    /// There are no capabilities but those that were given back.
    Capabilities,
    /// The engine's filter of system calls is in force.
    Seccomp,
    /// The number of processes is limited.
    PidsLimit,
    /// Memory is limited.
    MemoryLimit,
    /// Processor time is limited.
    CpuLimit,
    /// The root is read-only.
    ReadonlyRootfs,
    /// The scratch and /tmp have a size.
    ScratchSize,
    /// There is no network.
    NoNetwork,
    /// What is made in the workspace belongs to the user who calls.
    HostUser,
    /// The image is fetched when the configuration says so, and at no other time.
    PullPolicy,
    /// What the container prints is not stored on this machine.
    NoLog,
    /// The image brings no writable volumes of its own.
    NoImageVolumes,
    /// The program that serves the contract runs in the container.
    Resident,
    /// The container ends when the program that opened it does.
    EndsWithOwner,
}

impl Guarantee {
    /// Every guarantee.
    pub const ALL: [Self; 15] = [
        Self::NoNewPrivileges,
        Self::Capabilities,
        Self::Seccomp,
        Self::PidsLimit,
        Self::MemoryLimit,
        Self::CpuLimit,
        Self::ReadonlyRootfs,
        Self::ScratchSize,
        Self::NoNetwork,
        Self::HostUser,
        Self::PullPolicy,
        Self::NoLog,
        Self::NoImageVolumes,
        Self::Resident,
        Self::EndsWithOwner,
    ];

    /// The guarantee's stable name, as `require` has it.
    ///
    /// ```
    /// assert_eq!(belljar::backends::Guarantee::PidsLimit.as_str(), "pids-limit");
    /// ```
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NoNewPrivileges => "no-new-privileges",
            Self::Capabilities => "capabilities",
            Self::Seccomp => "seccomp",
            Self::PidsLimit => "pids-limit",
            Self::MemoryLimit => "memory-limit",
            Self::CpuLimit => "cpu-limit",
            Self::ReadonlyRootfs => "readonly-rootfs",
            Self::ScratchSize => "scratch-size",
            Self::NoNetwork => "no-network",
            Self::HostUser => "host-user",
            Self::PullPolicy => "pull-policy",
            Self::NoLog => "no-log",
            Self::NoImageVolumes => "no-image-volumes",
            Self::Resident => "resident",
            Self::EndsWithOwner => "ends-with-owner",
        }
    }
}

impl fmt::Display for Guarantee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Whether a guarantee is asked for at all: what is not asked for is no gap when it is missing.
pub(super) fn asked(options: &ContainerOptions, guarantee: Guarantee) -> bool {
    match guarantee {
        Guarantee::MemoryLimit => options.memory.is_some(),
        Guarantee::CpuLimit => options.cpu_millis.is_some(),
        Guarantee::PidsLimit => options.pids_limit.is_some(),
        Guarantee::ReadonlyRootfs => options.readonly_rootfs,
        Guarantee::NoNetwork => options.network == NO_NETWORK,
        Guarantee::HostUser => options.effective_user() == ContainerUser::Host,
        Guarantee::PullPolicy => options.pull != PullPolicy::Missing,
        Guarantee::NoNewPrivileges
        | Guarantee::Capabilities
        | Guarantee::Seccomp
        | Guarantee::ScratchSize
        | Guarantee::NoLog
        | Guarantee::NoImageVolumes
        | Guarantee::Resident
        | Guarantee::EndsWithOwner => true,
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize as _;

    use super::*;

    #[test]
    fn each_is_read_by_its_name() {
        for guarantee in Guarantee::ALL {
            let name = serde_json::Value::from(guarantee.as_str());
            assert_eq!(Guarantee::deserialize(name).ok(), Some(guarantee));
        }
    }

    #[test]
    fn names_are_distinct_and_each_is_asked_or_not() {
        let names: std::collections::BTreeSet<_> =
            Guarantee::ALL.iter().map(|one| one.as_str()).collect();
        assert_eq!(names.len(), Guarantee::ALL.len());
        let plain = ContainerOptions::new("debian:12");
        assert!(asked(&plain, Guarantee::NoNetwork) && !asked(&plain, Guarantee::MemoryLimit));
    }
}
