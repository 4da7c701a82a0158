//! What a Pod gives of what was asked of it, as its resident sees it.

use belljar_contract::{Backend as _, Context};
use belljar_protocol::facts::Facts;

use super::{KubernetesOptions, PodResident, backend::KubernetesBackend, gap, manifest::OURS};
use crate::backends::{
    ExamineError, Gap, Guarantee, Report, Row,
    doctor::{
        Finding, judged, limits,
        mounts::{self, Places},
        network,
        status::{self, Status},
    },
};

/// A file of the node's, for a container's last words: every container has it, and it can be written.
const LAST_WORDS: &str = "/dev/termination-log";

impl KubernetesOptions {
    /// Starts a Pod, asks its resident what it sees, removes it, and judges. It starts whatever is required, so that the
    /// report can say what is missing.
    ///
    /// # Ambient authority
    /// As [`open_ambient`](Self::open_ambient).
    ///
    /// # Errors
    /// [`ExamineError`] when the session does not open, the Pod does not start or cannot be removed.
    pub async fn examine_ambient(self, context: &Context) -> Result<Report, ExamineError> {
        let mut options = self;
        let require = std::mem::take(&mut options.require);
        let (starter, description) = options.clone().prepare_ambient()?;
        options.require = require;
        let session = KubernetesBackend::new(starter, description, None);
        let probed = session.probe(context).await;
        let closed = session.close().await;
        let facts = probed?;
        closed?;
        Ok(Report {
            backend: session.describe().backend.clone(),
            rows: rows(&options, &facts),
            fall_back: Vec::new(),
        })
    }
}

/// Every guarantee, and what was asked of the workspace and of `/tmp`.
fn rows(options: &KubernetesOptions, facts: &Facts) -> Vec<Row> {
    let guarantees = Guarantee::ALL.into_iter();
    let mut rows: Vec<Row> = guarantees
        .map(|guarantee| row(options, facts, guarantee))
        .collect();
    let writable = match options.writable {
        true => "it can be written",
        false => "it can only be read",
    };
    let places = places(options);
    let mut also = |name: &str, asked: &str, finding| {
        rows.push(judged(name, asked.to_owned(), true, None, finding, false));
    };
    also("workspace", writable, mounts::workspace(facts, &places));
    also("tmp", "it can be written", mounts::tmp(facts, &places));
    rows
}

/// The guarantees that are required, and that these facts do not show.
pub(super) fn unmet(options: &KubernetesOptions, facts: &Facts) -> Vec<Gap> {
    let required = options.require.iter().copied();
    let rows = required.map(|guarantee| (guarantee, row(options, facts, guarantee)));
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

fn row(options: &KubernetesOptions, facts: &Facts, guarantee: Guarantee) -> Row {
    let gap = gap::known(options, guarantee);
    judged(
        guarantee.as_str(),
        asked(options, guarantee),
        gap::asked(options, guarantee),
        gap.as_ref(),
        found(options, facts, guarantee),
        options.require.contains(&guarantee),
    )
}

fn places(options: &KubernetesOptions) -> Places<'_> {
    let mut others = vec![LAST_WORDS];
    // It is mounted to be written, and belongs to root.
    if options.user != 0 {
        others.push("/etc/hosts");
    }
    if options.resident == PodResident::Copy {
        others.push(OURS);
    }
    Places {
        workspace: &options.cwd,
        writable: options.writable,
        scratch: Some(options.workspace_bytes),
        tmp: options.tmp_bytes,
        others,
        workspace_refused: "its volume is not open to user in [sandbox.kubernetes]",
        tmp_refused: "its volume is not open to user in [sandbox.kubernetes]",
    }
}

fn asked(options: &KubernetesOptions, guarantee: Guarantee) -> String {
    let at_most = |number: Option<u64>, unit: &str| match number {
        Some(number) => format!("at most {number}{unit}"),
        None => "no limit".to_owned(),
    };
    let text = match guarantee {
        Guarantee::NoNewPrivileges => "on",
        Guarantee::Seccomp => "a filter",
        Guarantee::PidsLimit => "the node's limit",
        Guarantee::MemoryLimit => return at_most(options.memory, " bytes"),
        Guarantee::CpuLimit => {
            let millis = options.cpu_millis.map(Into::into);
            return at_most(millis, " thousandths of a processor");
        }
        Guarantee::ReadonlyRootfs if options.readonly_rootfs => "read-only",
        Guarantee::ReadonlyRootfs => "writable",
        Guarantee::ScratchSize => {
            let (workspace, tmp) = (options.workspace_bytes, options.tmp_bytes);
            return format!("{} {workspace} bytes, /tmp {tmp} bytes", options.cwd);
        }
        Guarantee::NoNetwork => "the cluster's",
        Guarantee::HostUser => return format!("user {}, group {}", options.user, options.group),
        Guarantee::PullPolicy => options.pull.as_str(),
        Guarantee::Capabilities | Guarantee::NoLog | Guarantee::NoImageVolumes => "none",
        Guarantee::Resident => "process 1",
        Guarantee::EndsWithOwner => "with its owner",
    };
    text.to_owned()
}

fn found(options: &KubernetesOptions, facts: &Facts, guarantee: Guarantee) -> Finding {
    let status = Status::new(&facts.status);
    let places = places(options);
    match guarantee {
        Guarantee::NoNewPrivileges => status::no_new_privileges(status),
        Guarantee::Capabilities => status::capabilities(status, &Default::default()),
        Guarantee::Seccomp => status::seccomp(status),
        // Whatever the limit is: there is one.
        Guarantee::PidsLimit => limits::pids(facts, Some(u32::MAX)),
        // Swap is the node's, and Kubernetes gives Pods none unless a node says otherwise.
        Guarantee::MemoryLimit => limits::memory_alone(facts, options.memory),
        Guarantee::CpuLimit => limits::cpus(facts, options.cpu_millis),
        Guarantee::ReadonlyRootfs => mounts::readonly_root(facts, &places),
        Guarantee::ScratchSize => Finding::invisible("as the node was told"),
        Guarantee::NoNetwork => network::no_network(facts),
        Guarantee::HostUser => status::user(status, Some((options.user, Some(options.group)))),
        Guarantee::PullPolicy => Finding::invisible("as the node was told"),
        Guarantee::NoLog => Finding::invisible("as the node keeps it"),
        Guarantee::NoImageVolumes => mounts::image_volumes(facts, &places),
        Guarantee::Resident | Guarantee::EndsWithOwner => match facts.pid {
            0 => Finding::unknown(),
            1 => Finding::holds("process 1"),
            pid => Finding::broken(
                format!("process {pid}"),
                "another program is process 1, and the Pod ends with that",
            ),
        },
    }
}

#[cfg(test)]
mod tests {
    use belljar_protocol::facts::{Attempt, LimitFile, Told};

    use super::*;
    use crate::backends::Standing;

    /// As a Pod of Kubernetes 1.20 tells it, cut down to what counts.
    fn facts() -> Facts {
        let limit = |path: &str, text: &str| LimitFile {
            path: path.to_owned(),
            text: text.to_owned(),
        };
        Facts {
            pid: 1,
            status: Told::Text(
                "Uid:\t65532\t65532\t65532\t65532\nGid:\t65532\t65532\t65532\t65532\nGroups:\t\nCapInh:\t0000000000000000\nCapPrm:\t0000000000000000\nCapEff:\t0000000000000000\nCapBnd:\t0000000000000000\nCapAmb:\t0000000000000000\nNoNewPrivs:\t1\nSeccomp:\t2\n"
                    .into(),
            ),
            mounts: Told::Text(
                "1 0 0:1 / / ro - overlay overlay rw\n2 1 0:2 /w /workspace rw - ext4 /dev/vda rw\n3 1 0:2 /t /tmp rw - ext4 /dev/vda rw\n4 1 0:2 /b /belljar rw - ext4 /dev/vda rw\n5 1 0:2 /l /dev/termination-log rw - ext4 /dev/vda rw\n6 1 0:2 /h /etc/hosts rw - ext4 /dev/vda rw\n"
                    .into(),
            ),
            limits: vec![
                limit("/sys/fs/cgroup/memory/memory.limit_in_bytes", "1073741824"),
                limit("/sys/fs/cgroup/memory/memory.memsw.limit_in_bytes", "9223372036854771712"),
                limit("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "100000"),
                limit("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000"),
                limit("/sys/fs/cgroup/pids/pids.max", "max"),
            ],
            root: Attempt::Refused("no".into()),
            workspace: Attempt::Possible,
            tmp: Attempt::Possible,
            ..Facts::default()
        }
    }

    fn standing(options: &KubernetesOptions, facts: &Facts, guarantee: &str) -> Standing {
        let rows = rows(options, facts);
        let row = rows.iter().find(|row| row.guarantee == guarantee);
        row.expect("each has a row").standing
    }

    #[test]
    fn what_a_pod_gives_is_seen_to_hold() {
        let options = KubernetesOptions::new("i");
        for guarantee in [
            "no-new-privileges",
            "capabilities",
            "seccomp",
            "memory-limit",
            "cpu-limit",
            "readonly-rootfs",
            "no-image-volumes",
            "resident",
            "ends-with-owner",
            "workspace",
            "tmp",
        ] {
            let standing = standing(&options, &facts(), guarantee);
            assert_eq!(standing, Standing::Held, "{guarantee}");
        }
    }

    #[test]
    fn what_is_the_cluster_s_to_give_is_missing() {
        let options = KubernetesOptions::new("i");
        for guarantee in ["scratch-size", "no-log"] {
            let standing = standing(&options, &facts(), guarantee);
            assert_eq!(standing, Standing::Missing, "{guarantee}");
        }
        assert_eq!(
            standing(&options, &facts(), "no-network"),
            Standing::NotAsked
        );
    }

    #[test]
    fn a_required_limit_of_processes_is_the_node_s_and_must_be_seen() {
        let mut options = KubernetesOptions::new("i");
        options.require.insert(Guarantee::PidsLimit);
        assert_eq!(unmet(&options, &facts()).len(), 1);
        let mut limited = facts();
        limited.limits[4].text = "512".into();
        assert_eq!(unmet(&options, &limited), []);
    }

    #[test]
    fn what_is_other_than_asked_contradicts() {
        let options = KubernetesOptions::new("i");
        let weak = Facts {
            pid: 7,
            root: Attempt::Possible,
            ..facts()
        };
        for guarantee in ["resident", "readonly-rootfs"] {
            let standing = standing(&options, &weak, guarantee);
            assert_eq!(standing, Standing::Contradicted, "{guarantee}");
        }
        let unlimited = Facts {
            limits: Vec::new(),
            ..facts()
        };
        assert_eq!(
            standing(&options, &unlimited, "memory-limit"),
            Standing::Unseen
        );
    }
}
