//! Asked, got, gap: a row a guarantee.

use belljar_protocol::facts::Facts;

use super::super::{
    ContainerEngine, ContainerOptions, ContainerUser, Gap, Guarantee, HostUser,
    arguments::Surroundings, guarantee, options::NO_NETWORK,
};
use crate::backends::{
    Row,
    doctor::{
        Finding, judged, limits, listed,
        mounts::{self, Places},
        network,
        status::{self, Status},
    },
};

/// What is expected of a container, beside its options.
#[derive(Clone, Debug)]
pub(in super::super) struct Expected {
    /// What cannot be had, as was known before the start.
    pub(in super::super) gaps: Vec<Gap>,
    /// Whether a shell serves, and no resident.
    by_shell: bool,
    /// Whose rights processes have, and of which group; none when only the image knows.
    user: Option<(u32, Option<u32>)>,
}

impl Expected {
    pub(in super::super) fn new(
        options: &ContainerOptions,
        surroundings: &Surroundings,
        gaps: Vec<Gap>,
    ) -> Self {
        let user = match (options.effective_user(), surroundings.host_user) {
            // Root in the container is the caller on the host.
            (ContainerUser::Host, Some(_)) if surroundings.info.rootless => Some((0, Some(0))),
            (ContainerUser::Host, Some(HostUser { uid, gid })) => Some((uid, Some(gid))),
            (ContainerUser::Named(name), _) => numbers(&name),
            (ContainerUser::Host, None) | (ContainerUser::Image, _) => None,
        };
        let by_shell = gaps.iter().any(|gap| gap.guarantee == Guarantee::Resident);
        Self {
            gaps,
            by_shell,
            user,
        }
    }
}

/// `UID` or `UID:GID`; what a name stands for, only the image knows.
fn numbers(name: &str) -> Option<(u32, Option<u32>)> {
    match name.split_once(':') {
        Some((user, group)) => Some((user.parse().ok()?, Some(group.parse().ok()?))),
        None => Some((name.parse().ok()?, None)),
    }
}

/// Every guarantee, and what was asked of the workspace, of `/tmp` and of binds.
pub(in super::super) fn rows(
    options: &ContainerOptions,
    expected: &Expected,
    facts: &Facts,
) -> Vec<Row> {
    let guarantees = Guarantee::ALL.into_iter();
    let mut rows: Vec<Row> = guarantees
        .map(|guarantee| row(options, expected, facts, guarantee))
        .collect();
    let asked = match options.writable {
        true => "it can be written",
        false => "it can only be read",
    };
    let mut also = |name: &str, asked: String, finding| {
        rows.push(judged(name, asked, true, None, finding, false));
    };
    also(
        "workspace",
        asked.to_owned(),
        mounts::workspace(facts, &places(options)),
    );
    also(
        "tmp",
        "it can be written".to_owned(),
        mounts::tmp(facts, &places(options)),
    );
    if !options.binds.is_empty() {
        let asked = options.binds.iter().map(|bind| match bind.writable {
            true => format!("{} writable", bind.container),
            false => format!("{} read-only", bind.container),
        });
        let asked: Vec<String> = asked.collect();
        let asked = listed(asked.iter().map(String::as_str));
        let binds = options.binds.iter();
        let binds = binds.map(|bind| (bind.container.as_str(), bind.writable));
        also("binds", asked, mounts::binds(facts, binds));
    }
    rows
}

/// Where a container of these options is to be written.
fn places(options: &ContainerOptions) -> Places<'_> {
    let binds = options.binds.iter();
    Places {
        workspace: &options.cwd,
        writable: options.writable,
        scratch: options.workspace.is_none().then_some(options.scratch_bytes),
        tmp: options.tmp_bytes,
        others: binds.map(|bind| bind.container.as_str()).collect(),
        workspace_refused: "it belongs to somebody else than user in [sandbox.container], or a rule of the host's keeps it from containers (SELinux: chcon -Rt container_file_t)",
        tmp_refused: "it belongs to somebody else than user in [sandbox.container]",
    }
}

/// The guarantees that are required, and that these facts do not show.
pub(in super::super) fn unmet(
    options: &ContainerOptions,
    expected: &Expected,
    facts: &Facts,
) -> Vec<Gap> {
    let required = options.require.iter().copied();
    let rows = required.map(|guarantee| (guarantee, row(options, expected, facts, guarantee)));
    rows.filter(|(_, row)| row.fails())
        .map(|(guarantee, row)| Gap {
            guarantee,
            message: match row.gap {
                Some(gap) => format!("from inside: {gap} ({})", row.got),
                None => format!("from inside: {}", row.got),
            },
        })
        .collect()
}

fn row(
    options: &ContainerOptions,
    expected: &Expected,
    facts: &Facts,
    guarantee: Guarantee,
) -> Row {
    let required = options.require.contains(&guarantee);
    let is_asked = match guarantee {
        // Another user than the caller was asked for, too, when it is named.
        Guarantee::HostUser if !required && expected.user.is_some() => true,
        guarantee => guarantee::asked(options, guarantee),
    };
    let gap = expected.gaps.iter().find(|gap| gap.guarantee == guarantee);
    judged(
        guarantee.as_str(),
        asked(options, expected, guarantee),
        is_asked,
        gap,
        found(options, expected, facts, guarantee),
        required,
    )
}

fn asked(options: &ContainerOptions, expected: &Expected, guarantee: Guarantee) -> String {
    let at_most = |number: Option<u64>, unit: &str| match number {
        Some(number) => format!("at most {number}{unit}"),
        None => "no limit".to_owned(),
    };
    let text = match guarantee {
        Guarantee::NoNewPrivileges => "on",
        Guarantee::Capabilities if options.cap_add.is_empty() => "none",
        Guarantee::Capabilities => return listed(options.cap_add.iter().map(String::as_str)),
        Guarantee::Seccomp => "a filter",
        Guarantee::PidsLimit => return at_most(options.pids_limit.map(Into::into), ""),
        Guarantee::MemoryLimit => return at_most(options.memory, " bytes"),
        Guarantee::CpuLimit => {
            let millis = options.cpu_millis.map(Into::into);
            return at_most(millis, " thousandths of a processor");
        }
        Guarantee::ReadonlyRootfs if options.readonly_rootfs => "read-only",
        Guarantee::ReadonlyRootfs => "writable",
        Guarantee::ScratchSize => {
            let tmp = format!("/tmp {} bytes", options.tmp_bytes);
            return match options.workspace {
                None => format!("{} {} bytes, {tmp}", options.cwd, options.scratch_bytes),
                Some(_) => tmp,
            };
        }
        Guarantee::NoNetwork if options.network == NO_NETWORK => "no network",
        Guarantee::NoNetwork => return format!("the network {}", options.network),
        Guarantee::HostUser => {
            return match (expected.user, options.effective_user()) {
                (Some((user, Some(group))), _) => format!("user {user}, group {group}"),
                (Some((user, None)), _) => format!("user {user}"),
                (None, ContainerUser::Named(name)) => format!("user {name}"),
                (None, ContainerUser::Host | ContainerUser::Image) => "the image's user".to_owned(),
            };
        }
        Guarantee::PullPolicy => options.pull.as_str(),
        Guarantee::NoLog | Guarantee::NoImageVolumes => "none",
        Guarantee::Resident => "process 1",
        Guarantee::EndsWithOwner => "with its owner",
    };
    text.to_owned()
}

fn found(
    options: &ContainerOptions,
    expected: &Expected,
    facts: &Facts,
    guarantee: Guarantee,
) -> Finding {
    let status = Status::new(&facts.status);
    match guarantee {
        Guarantee::NoNewPrivileges => status::no_new_privileges(status),
        Guarantee::Capabilities => status::capabilities(status, &options.cap_add),
        Guarantee::Seccomp => status::seccomp(status),
        Guarantee::PidsLimit => limits::pids(facts, options.pids_limit),
        Guarantee::MemoryLimit => limits::memory(facts, options.memory),
        Guarantee::CpuLimit => limits::cpus(facts, options.cpu_millis),
        Guarantee::ReadonlyRootfs => mounts::readonly_root(facts, &places(options)),
        Guarantee::ScratchSize => mounts::sizes(facts, &places(options)),
        Guarantee::NoNetwork => network::no_network(facts),
        Guarantee::HostUser => status::user(status, expected.user),
        Guarantee::PullPolicy => Finding::invisible("as the engine was told"),
        Guarantee::NoLog => Finding::invisible("as the engine was told"),
        Guarantee::NoImageVolumes => mounts::image_volumes(facts, &places(options)),
        Guarantee::Resident if expected.by_shell => {
            Finding::broken("an exec for each program", "no resident runs")
        }
        Guarantee::EndsWithOwner if expected.by_shell => {
            Finding::invisible("the image's shell waits for its owner's end")
        }
        Guarantee::Resident => process_1(options, facts, {
            let machine = listed([facts.machine.as_str()]);
            format!("process {} on {machine}", facts.pid)
        }),
        Guarantee::EndsWithOwner => process_1(
            options,
            facts,
            "the container ends with its resident".to_owned(),
        ),
    }
}

/// When process 1 ends, so does its container, with all that is in it.
fn process_1(options: &ContainerOptions, facts: &Facts, got: String) -> Finding {
    match (facts.pid, options.engine) {
        (0, _) => Finding::unknown(),
        (1, _) => Finding::holds(got),
        // It has a process of its own before ours, in a virtual machine a container.
        (_, ContainerEngine::Apple) => Finding::invisible(got),
        (pid, ContainerEngine::Docker | ContainerEngine::Podman) => Finding::broken(
            format!("process {pid}"),
            "another program is process 1, and the container ends with that",
        ),
    }
}
