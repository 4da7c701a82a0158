//! What was asked for and an engine cannot give, each under a stable name.

use std::fmt;

use super::{
    ContainerEngine, ContainerOptions, ContainerUser, Guarantee, PullPolicy,
    guarantee::asked,
    info::{EngineInfo, ImageInfo},
};

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

#[cfg(test)]
#[path = "gap_tests.rs"]
mod tests;
