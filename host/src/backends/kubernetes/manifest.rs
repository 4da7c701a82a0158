//! The Pod of a session, by pure functions of its options.
//!
//! What is said here is said whole: nothing is left to a default of the cluster's that confines.

use std::collections::BTreeMap;

use k8s_openapi::{
    api::core::v1::{
        Capabilities, Container, EmptyDirVolumeSource, EnvVar, LocalObjectReference, Pod,
        PodDNSConfig, PodSecurityContext, PodSpec, ResourceRequirements, SeccompProfile,
        SecurityContext, Toleration, Volume, VolumeMount,
    },
    apimachinery::pkg::{api::resource::Quantity, apis::meta::v1::ObjectMeta},
};

use super::{KubernetesOptions, PodResident, marks::Marks, validate::seconds};
use crate::backends::PullPolicy;

/// The name of the container in which the session is.
pub(super) const CONTAINER: &str = "session";

/// The volume for what is ours in a Pod, where something is.
pub(super) const OURS: &str = "/belljar";

/// Where process 1 waits for its session. In `/tmp`, since that is always there and this container's alone.
pub(super) const SOCKET: &str = "/tmp/.belljar";

/// Where the resident is once another image's container has copied it.
const COPIED: &str = "/belljar/belljar-resident";

/// The most that is ours in a Pod: a resident, and one that is being written.
const OURS_BYTES: u64 = 64 << 20;

/// What a container's own layer and its log may take beside the volumes.
const LAYER_BYTES: u64 = 64 << 20;

/// Process 1 until there is a resident, which it becomes: looks for it as long as one may take to come.
///
/// The arguments are where to look, the socket, and the seconds. What is not yet whole and checked is not executable.
const KEEPER: &str = r#"nap=1 left=$3
sleep 0.05 2>/dev/null && { nap=0.05; left=$(($3 * 20)); }
while [ "$left" -gt 0 ]; do
	for program in "$1"/*; do
		[ -f "$program" ] && [ -x "$program" ] && exec "$program" await "$2" "$3"
	done
	sleep "$nap"
	left=$((left - 1))
done"#;

/// How the exec stream of a session begins.
pub(super) fn exec(options: &KubernetesOptions) -> Vec<String> {
    let program = match &options.resident {
        PodResident::Copy => return vec!["sh".to_owned()],
        PodResident::Image { path } => path,
        PodResident::Init { .. } => COPIED,
    };
    let seconds = wait(options).to_string();
    [program, "attach", SOCKET, &seconds]
        .map(str::to_owned)
        .to_vec()
}

/// The arguments of a resident that was copied over the stream.
pub(super) fn attach(options: &KubernetesOptions) -> String {
    format!("attach {SOCKET} {}", wait(options))
}

/// How long process 1 waits for its session: as long as a start may take.
fn wait(options: &KubernetesOptions) -> i64 {
    seconds(options.start_timeout).max(1)
}

/// The Pod of a session.
pub(super) fn pod(options: &KubernetesOptions, name: &str, marks: &Marks) -> Pod {
    Pod {
        metadata: ObjectMeta {
            name: Some(name.to_owned()),
            labels: Some(marks.labels()),
            annotations: Some(marks.annotations()),
            ..ObjectMeta::default()
        },
        spec: Some(spec(options)),
        status: None,
    }
}

fn spec(options: &KubernetesOptions) -> PodSpec {
    let (policy, config) = match options.dns {
        true => ("ClusterFirst", None),
        // Without a policy a Pod is told the cluster's; one that is none must name a server.
        false => (
            "None",
            Some(PodDNSConfig {
                nameservers: Some(vec!["127.0.0.1".to_owned()]),
                ..PodDNSConfig::default()
            }),
        ),
    };
    let secrets = options.pull_secrets.iter();
    let secrets = secrets.map(|name| LocalObjectReference { name: name.clone() });
    PodSpec {
        // A process that ended is a session that ended.
        restart_policy: Some("Never".to_owned()),
        active_deadline_seconds: Some(seconds(options.lifetime)),
        // Whoever ends a Pod has nothing to wait for: its session is over.
        termination_grace_period_seconds: Some(1),
        automount_service_account_token: Some(false),
        enable_service_links: Some(false),
        host_network: Some(false),
        host_pid: Some(false),
        host_ipc: Some(false),
        share_process_namespace: Some(false),
        dns_policy: Some(policy.to_owned()),
        dns_config: config,
        runtime_class_name: options.runtime_class.clone(),
        node_selector: Some(options.node_selector.clone()).filter(|labels| !labels.is_empty()),
        tolerations: tolerations(options),
        image_pull_secrets: Some(secrets.collect::<Vec<_>>()).filter(|names| !names.is_empty()),
        security_context: Some(PodSecurityContext {
            run_as_non_root: Some(options.user != 0),
            run_as_user: Some(options.user.into()),
            run_as_group: Some(options.group.into()),
            // Its volumes are the Pod's own, and open to all in it. A group of theirs would be inherited, as a bit in the
            // mode, by every directory that is made there.
            fs_group: None,
            seccomp_profile: Some(seccomp()),
            ..PodSecurityContext::default()
        }),
        init_containers: init(options).map(|container| vec![container]),
        containers: vec![session(options)],
        volumes: Some(volumes(options)),
        ..PodSpec::default()
    }
}

fn tolerations(options: &KubernetesOptions) -> Option<Vec<Toleration>> {
    let asked = options.tolerations.iter().map(|one| Toleration {
        key: Some(one.key.clone()),
        operator: Some(
            if one.value.is_some() {
                "Equal"
            } else {
                "Exists"
            }
            .to_owned(),
        ),
        value: one.value.clone(),
        effect: one.effect.clone(),
        toleration_seconds: None,
    });
    // The session is lost with its node, and nobody waits for that to come back.
    let lost = ["not-ready", "unreachable"].map(|taint| Toleration {
        key: Some(format!("node.kubernetes.io/{taint}")),
        operator: Some("Exists".to_owned()),
        effect: Some("NoExecute".to_owned()),
        toleration_seconds: Some(0),
        value: None,
    });
    Some(asked.chain(lost).collect())
}

fn session(options: &KubernetesOptions) -> Container {
    let seconds = wait(options).to_string();
    let command: Vec<&str> = match &options.resident {
        PodResident::Copy => {
            vec!["sh", "-c", KEEPER, "belljar", RESIDENTS, SOCKET, &seconds]
        }
        PodResident::Image { path } => vec![path, "await", SOCKET, &seconds],
        PodResident::Init { .. } => vec![COPIED, "await", SOCKET, &seconds],
    };
    let mut mounts = vec![mount("workspace", &options.cwd), mount("tmp", "/tmp")];
    match options.resident {
        PodResident::Image { .. } => {}
        PodResident::Copy => mounts.push(mount("belljar", OURS)),
        PodResident::Init { .. } => mounts.push(VolumeMount {
            read_only: Some(true),
            ..mount("belljar", OURS)
        }),
    }
    Container {
        name: CONTAINER.to_owned(),
        image: Some(options.image.clone()),
        image_pull_policy: Some(pull(options.pull)),
        command: Some(command.into_iter().map(str::to_owned).collect()),
        // What an image says runs is nothing that runs here.
        args: Some(Vec::new()),
        working_dir: Some("/".to_owned()),
        env: Some(vec![EnvVar {
            name: "HOME".to_owned(),
            value: Some("/tmp".to_owned()),
            ..EnvVar::default()
        }]),
        resources: Some(resources(options)),
        security_context: Some(security(options)),
        volume_mounts: Some(mounts),
        stdin: Some(false),
        tty: Some(false),
        ..Container::default()
    }
}

/// Where the shell that is given a resident puts it; see `install.sh`.
const RESIDENTS: &str = "/belljar/belljar/residents";

fn init(options: &KubernetesOptions) -> Option<Container> {
    let PodResident::Init { image, path } = &options.resident else {
        return None;
    };
    Some(Container {
        name: "resident".to_owned(),
        image: Some(image.clone()),
        image_pull_policy: Some(pull(options.pull)),
        command: Some([path, "copy", COPIED].map(str::to_owned).to_vec()),
        args: Some(Vec::new()),
        working_dir: Some("/".to_owned()),
        resources: Some(resources(options)),
        security_context: Some(SecurityContext {
            read_only_root_filesystem: Some(true),
            ..security(options)
        }),
        volume_mounts: Some(vec![mount("belljar", OURS)]),
        ..Container::default()
    })
}

fn security(options: &KubernetesOptions) -> SecurityContext {
    SecurityContext {
        privileged: Some(false),
        allow_privilege_escalation: Some(false),
        read_only_root_filesystem: Some(options.readonly_rootfs),
        run_as_non_root: Some(options.user != 0),
        run_as_user: Some(options.user.into()),
        run_as_group: Some(options.group.into()),
        capabilities: Some(Capabilities {
            add: None,
            drop: Some(vec!["ALL".to_owned()]),
        }),
        seccomp_profile: Some(seccomp()),
        ..SecurityContext::default()
    }
}

fn seccomp() -> SeccompProfile {
    SeccompProfile {
        type_: "RuntimeDefault".to_owned(),
        localhost_profile: None,
    }
}

/// What is the most is reserved too: so the Pod is evicted last, and a node is never promised twice.
fn resources(options: &KubernetesOptions) -> ResourceRequirements {
    let storage = options
        .workspace_bytes
        .saturating_add(options.tmp_bytes)
        .saturating_add(OURS_BYTES + LAYER_BYTES);
    let all = [
        ("memory", options.memory.map(|bytes| bytes.to_string())),
        ("cpu", options.cpu_millis.map(|millis| format!("{millis}m"))),
        ("ephemeral-storage", Some(storage.to_string())),
    ];
    let all = all.into_iter();
    let all: BTreeMap<String, Quantity> = all
        .filter_map(|(name, amount)| Some((name.to_owned(), Quantity(amount?))))
        .collect();
    ResourceRequirements {
        limits: Some(all.clone()),
        requests: Some(all),
        claims: None,
    }
}

fn volumes(options: &KubernetesOptions) -> Vec<Volume> {
    let mut volumes = vec![
        volume("workspace", options.workspace_bytes),
        volume("tmp", options.tmp_bytes),
    ];
    if !matches!(options.resident, PodResident::Image { .. }) {
        volumes.push(volume("belljar", OURS_BYTES));
    }
    volumes
}

fn volume(name: &str, bytes: u64) -> Volume {
    Volume {
        name: name.to_owned(),
        empty_dir: Some(EmptyDirVolumeSource {
            medium: None,
            size_limit: Some(Quantity(bytes.to_string())),
        }),
        ..Volume::default()
    }
}

fn mount(volume: &str, path: &str) -> VolumeMount {
    VolumeMount {
        name: volume.to_owned(),
        mount_path: path.to_owned(),
        ..VolumeMount::default()
    }
}

fn pull(policy: PullPolicy) -> String {
    match policy {
        PullPolicy::Missing => "IfNotPresent",
        PullPolicy::Always => "Always",
        PullPolicy::Never => "Never",
    }
    .to_owned()
}

#[cfg(test)]
#[path = "manifest_tests.rs"]
mod tests;
