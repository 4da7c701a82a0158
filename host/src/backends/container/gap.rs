//! What was asked for and an engine cannot give, each under a stable name.

use std::fmt;

use super::{
    ContainerEngine, ContainerOptions, ContainerUser, PullPolicy, ResidentChoice,
    info::{EngineInfo, ImageInfo},
    options::NO_NETWORK,
};

/// Something that a container guarantees when it is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
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
    /// The scratch and `/tmp` have a size.
    ScratchSize,
    /// There is no network.
    NoNetwork,
    /// What is made in a bound workspace belongs to the caller.
    HostUser,
    /// No registry is asked for the image.
    PullPolicy,
    /// What the container prints is not stored on the host.
    NoLog,
    /// The image brings no writable volumes of its own.
    NoImageVolumes,
    /// The program that serves the contract runs in the container.
    Resident,
    /// The container ends when its owner does.
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

/// Something that was asked for, or is always asked for, and cannot be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// What is missing.
    pub guarantee: Guarantee,
    /// A lower-case fragment for people.
    pub message: String,
}

impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.guarantee, self.message)
    }
}

/// What of the options this engine cannot give, before anything is started; without an `image`, what it
/// brings counts as the worst.
pub(super) fn gaps(
    options: &ContainerOptions,
    info: &EngineInfo,
    image: Option<&ImageInfo>,
) -> Vec<Gap> {
    let mut gaps = Vec::new();
    match options.engine {
        ContainerEngine::Docker => {
            lacking(options, info, &mut gaps);
            volumes(options.engine, image, &mut gaps);
        }
        ContainerEngine::Podman => lacking(options, info, &mut gaps),
        ContainerEngine::Apple => {
            apple(options, &mut gaps);
            volumes(options.engine, image, &mut gaps);
        }
    }
    if options.resident == ResidentChoice::Off {
        let message = "there is none: every operation is an exec of its own, by the image's own shell and utilities, which a process in the container may replace";
        gap(&mut gaps, Guarantee::Resident, message);
    }
    gaps
}

/// Podman can leave an image's volumes out; the others make each, writable and without a size.
fn volumes(engine: ContainerEngine, image: Option<&ImageInfo>, gaps: &mut Vec<Gap>) {
    let message = match image {
        None => format!("{engine} makes a volume without a size for each VOLUME of the image"),
        Some(image) if image.volumes.is_empty() => return,
        Some(image) => format!(
            "{engine} makes volumes of the image without a size: {}",
            image.volumes.join(", ")
        ),
    };
    gap(gaps, Guarantee::NoImageVolumes, message);
}

/// The guarantees that are required and missing, or that the configuration does not even ask for.
pub(super) fn unmet(options: &ContainerOptions, gaps: &[Gap]) -> Vec<Gap> {
    let missing = |guarantee: Guarantee| {
        let known = gaps.iter().find(|gap| gap.guarantee == guarantee);
        let not_asked = || Gap {
            guarantee,
            message: "the configuration requires it and does not ask for it".to_owned(),
        };
        let known = known.cloned();
        known.or_else(|| (!asked(options, guarantee)).then(not_asked))
    };
    options
        .require
        .iter()
        .copied()
        .filter_map(missing)
        .collect()
}

fn gap(gaps: &mut Vec<Gap>, guarantee: Guarantee, message: impl Into<String>) {
    gaps.push(Gap {
        guarantee,
        message: message.into(),
    });
}

/// What an engine says that its machine lacks.
fn lacking(options: &ContainerOptions, info: &EngineInfo, gaps: &mut Vec<Gap>) {
    // Rootless engines ignore a limit whose cgroup controller was not delegated to them, and say nothing.
    let limits = [
        (
            options.pids_limit.is_some(),
            info.limits_pids,
            Guarantee::PidsLimit,
            "pids",
        ),
        (
            options.memory.is_some(),
            info.limits_memory,
            Guarantee::MemoryLimit,
            "memory",
        ),
        (
            options.cpu_millis.is_some(),
            info.limits_cpus,
            Guarantee::CpuLimit,
            "cpu",
        ),
    ];
    for (asked, held, guarantee, controller) in limits {
        if asked && held == Some(false) {
            let message = format!("{} has no cgroup controller {controller}", options.engine);
            gap(gaps, guarantee, message);
        }
    }
    if options.pids_limit.is_none() {
        gap(
            gaps,
            Guarantee::PidsLimit,
            "the configuration asks for none",
        );
    }
    if !options.readonly_rootfs {
        gap(
            gaps,
            Guarantee::ReadonlyRootfs,
            "the configuration asks for a writable root, which has no size",
        );
    }
    if info.seccomp == Some(false) {
        let message = format!("{} filters no system calls on its machine", options.engine);
        gap(gaps, Guarantee::Seccomp, message);
    }
    if options.effective_user() == ContainerUser::Host && info.remaps_users {
        let message = "the daemon maps every user to one that owns nothing here, so what is made in the workspace does not belong to its owner";
        gap(gaps, Guarantee::HostUser, message);
    }
}

fn apple(options: &ContainerOptions, gaps: &mut Vec<Gap>) {
    let cannot = "Apple's container has no option for it";
    gap(gaps, Guarantee::NoNewPrivileges, cannot);
    gap(gaps, Guarantee::PidsLimit, cannot);
    gap(gaps, Guarantee::Seccomp, cannot);
    gap(gaps, Guarantee::NoLog, cannot);
    if options.readonly_rootfs {
        let message = "Apple's container has no writable tmpfs under a read-only root, so the root is writable";
        gap(gaps, Guarantee::ReadonlyRootfs, message);
    } else {
        gap(
            gaps,
            Guarantee::ReadonlyRootfs,
            "the configuration asks for a writable root",
        );
    }
    let message = "Apple's container gives scratch and /tmp no size";
    gap(gaps, Guarantee::ScratchSize, message);
    if options.pull != PullPolicy::Missing {
        let message = "Apple's container pulls an image when it is missing, and at no other time";
        gap(gaps, Guarantee::PullPolicy, message);
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
    use super::*;

    fn names(options: &ContainerOptions, info: &EngineInfo) -> Vec<&'static str> {
        gaps(options, info, Some(&ImageInfo::default()))
            .iter()
            .map(|gap| gap.guarantee.as_str())
            .collect()
    }

    fn on(engine: ContainerEngine) -> ContainerOptions {
        ContainerOptions {
            engine,
            memory: Some(1 << 30),
            cpu_millis: Some(500),
            ..ContainerOptions::new("debian:12")
        }
    }

    #[test]
    fn an_engine_that_can_has_no_gaps_but_its_own() {
        let able = EngineInfo {
            limits_pids: Some(true),
            limits_memory: Some(true),
            limits_cpus: Some(true),
            seccomp: Some(true),
            ..EngineInfo::default()
        };
        assert!(names(&on(ContainerEngine::Docker), &able).is_empty());
        assert!(names(&on(ContainerEngine::Podman), &able).is_empty());
    }

    #[test]
    fn volumes_of_an_image_are_told_where_they_cannot_be_left_out() {
        let volume = ImageInfo {
            volumes: vec!["/data".into()],
            ..ImageInfo::default()
        };
        let told = |engine, image: Option<&ImageInfo>| {
            let gaps = gaps(&on(engine), &EngineInfo::default(), image);
            let named = |gap: &Gap| gap.guarantee == Guarantee::NoImageVolumes;
            gaps.iter().any(named)
        };
        for engine in ContainerEngine::ALL {
            let can = engine == ContainerEngine::Podman;
            assert_eq!(told(engine, Some(&volume)), !can);
            assert_eq!(told(engine, None), !can);
            assert!(!told(engine, Some(&ImageInfo::default())));
        }
    }

    #[test]
    fn limits_that_cannot_be_set_are_told() {
        let unable = EngineInfo {
            limits_pids: Some(false),
            limits_memory: Some(false),
            limits_cpus: Some(false),
            seccomp: Some(false),
            ..EngineInfo::default()
        };
        let options = on(ContainerEngine::Podman);
        let right = ["pids-limit", "memory-limit", "cpu-limit", "seccomp"];
        assert_eq!(names(&options, &unable), right);
        // What is not asked for is not missing.
        let modest = ContainerOptions {
            memory: None,
            cpu_millis: None,
            ..options
        };
        assert_eq!(names(&modest, &unable), ["pids-limit", "seccomp"]);
    }

    #[test]
    fn what_the_operator_gave_away_is_told() {
        let options = ContainerOptions {
            pids_limit: None,
            readonly_rootfs: false,
            ..on(ContainerEngine::Podman)
        };
        let gaps = names(&options, &EngineInfo::default());
        assert_eq!(gaps, ["pids-limit", "readonly-rootfs"]);
    }

    #[test]
    fn apple_lacks_the_three_and_says_so() {
        let gaps = names(&on(ContainerEngine::Apple), &EngineInfo::default());
        for name in ["no-new-privileges", "pids-limit", "readonly-rootfs"] {
            assert!(gaps.contains(&name), "{gaps:?}");
        }
        assert!(!gaps.contains(&"pull-policy"));
        let never = ContainerOptions {
            pull: PullPolicy::Never,
            ..on(ContainerEngine::Apple)
        };
        assert!(names(&never, &EngineInfo::default()).contains(&"pull-policy"));
    }

    #[test]
    fn a_workspace_on_a_daemon_that_remaps_is_not_the_callers() {
        let remaps = EngineInfo {
            remaps_users: true,
            ..EngineInfo::default()
        };
        let bound = ContainerOptions {
            workspace: Some("/srv/work".into()),
            ..on(ContainerEngine::Docker)
        };
        assert!(names(&bound, &remaps).contains(&"host-user"));
        assert!(!names(&on(ContainerEngine::Docker), &remaps).contains(&"host-user"));
    }

    #[test]
    fn only_what_is_required_stops_a_session() {
        let mut options = on(ContainerEngine::Apple);
        let found = gaps(&options, &EngineInfo::default(), None);
        assert!(unmet(&options, &found).is_empty());
        options.require.insert(Guarantee::NoNewPrivileges);
        options.require.insert(Guarantee::NoNetwork);
        let unmet = unmet(&options, &found);
        assert_eq!(unmet.len(), 1);
        assert_eq!(unmet[0].guarantee, Guarantee::NoNewPrivileges);
    }

    #[test]
    fn what_is_required_must_be_asked_for() {
        let mut options = ContainerOptions::new("debian:12");
        options.require = [Guarantee::MemoryLimit, Guarantee::Seccomp].into();
        let unmet = unmet(&options, &[]);
        assert_eq!(unmet.len(), 1);
        assert_eq!(unmet[0].guarantee, Guarantee::MemoryLimit);
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
