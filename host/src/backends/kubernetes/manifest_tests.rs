//! The Pod, knob by knob.

use serde_json::{Value, json};

use super::{super::PodToleration, *};

fn marks() -> Marks {
    Marks {
        session: "5e55".into(),
        owner: None,
        ready: false,
        lease: 7,
    }
}

/// The Pod as the cluster is told it.
fn made(change: impl FnOnce(&mut KubernetesOptions)) -> Value {
    let mut options = KubernetesOptions::new("debian:12");
    change(&mut options);
    let pod = pod(&options, "belljar-5e55", &marks());
    serde_json::to_value(pod).expect("it is JSON")
}

fn plain() -> Value {
    made(|_| {})
}

#[test]
fn a_plain_pod_is_this_and_nothing_else() {
    let resources = json!({
        "cpu": "1000m",
        "memory": "1073741824",
        "ephemeral-storage": (1_u64 << 30 | 256 << 20 | 128 << 20).to_string(),
    });
    let right = json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": "belljar-5e55",
            "labels": {
                "app.kubernetes.io/managed-by": "belljar",
                "app.kubernetes.io/version": env!("CARGO_PKG_VERSION"),
                "belljar.session": "5e55",
                "belljar.state": "taken",
            },
            "annotations": { "belljar.owner": "", "belljar.lease": "7" },
        },
        "spec": {
            "restartPolicy": "Never",
            "activeDeadlineSeconds": 86_400,
            "terminationGracePeriodSeconds": 1,
            "automountServiceAccountToken": false,
            "enableServiceLinks": false,
            "hostNetwork": false,
            "hostPID": false,
            "hostIPC": false,
            "shareProcessNamespace": false,
            "dnsPolicy": "None",
            "dnsConfig": { "nameservers": ["127.0.0.1"] },
            "securityContext": {
                "runAsNonRoot": true,
                "runAsUser": 65_532,
                "runAsGroup": 65_532,
                "seccompProfile": { "type": "RuntimeDefault" },
            },
            "tolerations": [
                {
                    "key": "node.kubernetes.io/not-ready",
                    "operator": "Exists",
                    "effect": "NoExecute",
                    "tolerationSeconds": 0,
                },
                {
                    "key": "node.kubernetes.io/unreachable",
                    "operator": "Exists",
                    "effect": "NoExecute",
                    "tolerationSeconds": 0,
                },
            ],
            "containers": [{
                "name": "session",
                "image": "debian:12",
                "imagePullPolicy": "IfNotPresent",
                "command": ["sh", "-c", KEEPER, "belljar", "/belljar/belljar/residents", "/tmp/.belljar", "120"],
                "args": [],
                "workingDir": "/",
                "env": [{ "name": "HOME", "value": "/tmp" }],
                "resources": { "limits": resources, "requests": resources },
                "securityContext": {
                    "privileged": false,
                    "allowPrivilegeEscalation": false,
                    "readOnlyRootFilesystem": true,
                    "runAsNonRoot": true,
                    "runAsUser": 65_532,
                    "runAsGroup": 65_532,
                    "capabilities": { "drop": ["ALL"] },
                    "seccompProfile": { "type": "RuntimeDefault" },
                },
                "stdin": false,
                "tty": false,
                "volumeMounts": [
                    { "name": "workspace", "mountPath": "/workspace" },
                    { "name": "tmp", "mountPath": "/tmp" },
                    { "name": "belljar", "mountPath": "/belljar" },
                ],
            }],
            "volumes": [
                { "name": "workspace", "emptyDir": { "sizeLimit": "1073741824" } },
                { "name": "tmp", "emptyDir": { "sizeLimit": "268435456" } },
                { "name": "belljar", "emptyDir": { "sizeLimit": "67108864" } },
            ],
        },
    });
    assert_eq!(plain(), right);
}

/// What is at a place of the Pod when one thing was said.
fn at(place: &str, change: impl FnOnce(&mut KubernetesOptions)) -> Value {
    let made = made(change);
    made.pointer(place).cloned().unwrap_or(Value::Null)
}

#[test]
fn where_it_may_run() {
    let class = at("/spec/runtimeClassName", |o| {
        o.runtime_class = Some("gvisor".into())
    });
    assert_eq!(class, json!("gvisor"));
    let selector = at("/spec/nodeSelector", |o| {
        o.node_selector.insert("pool".into(), "tools".into());
    });
    assert_eq!(selector, json!({ "pool": "tools" }));
    let toleration = |value: Option<&str>| {
        at("/spec/tolerations/0", |o| {
            o.tolerations.push(PodToleration {
                key: "tools".into(),
                value: value.map(str::to_owned),
                effect: None,
            });
        })
    };
    assert_eq!(
        toleration(None),
        json!({ "key": "tools", "operator": "Exists" })
    );
    let with_value = json!({ "key": "tools", "operator": "Equal", "value": "yes" });
    assert_eq!(toleration(Some("yes")), with_value);
}

#[test]
fn images_and_who_fetches_them() {
    for (policy, name) in [
        (PullPolicy::Missing, "IfNotPresent"),
        (PullPolicy::Always, "Always"),
        (PullPolicy::Never, "Never"),
    ] {
        let told = at("/spec/containers/0/imagePullPolicy", |o| o.pull = policy);
        assert_eq!(told, json!(name));
    }
    let secrets = at("/spec/imagePullSecrets", |o| {
        o.pull_secrets = vec!["registry".into()]
    });
    assert_eq!(secrets, json!([{ "name": "registry" }]));
}

#[test]
fn limits_are_reserved_and_may_be_the_namespace_s() {
    let limits = |change: fn(&mut KubernetesOptions)| {
        let made = made(change);
        let resources = &made["spec"]["containers"][0]["resources"];
        assert_eq!(resources["limits"], resources["requests"]);
        resources["limits"].clone()
    };
    let smaller = limits(|o| {
        (o.memory, o.cpu_millis) = (Some(1 << 26), Some(250));
        (o.workspace_bytes, o.tmp_bytes) = (1 << 20, 1 << 20);
    });
    let storage = (130_u64 << 20).to_string();
    let right = json!({ "cpu": "250m", "memory": "67108864", "ephemeral-storage": storage });
    assert_eq!(smaller, right);
    let none = limits(|o| (o.memory, o.cpu_millis) = (None, None));
    assert_eq!(none.as_object().map(serde_json::Map::len), Some(1));
    let sizes = made(|o| (o.workspace_bytes, o.tmp_bytes) = (1 << 20, 1 << 21));
    let size = |at: usize| sizes["spec"]["volumes"][at]["emptyDir"]["sizeLimit"].clone();
    assert_eq!((size(0), size(1)), (json!("1048576"), json!("2097152")));
}

#[test]
fn whose_rights_processes_have() {
    let made = made(|o| (o.user, o.group) = (0, 5));
    for place in [
        "/spec/securityContext",
        "/spec/containers/0/securityContext",
    ] {
        let context = made.pointer(place).expect("it is there");
        let told = ["runAsNonRoot", "runAsUser", "runAsGroup"].map(|key| context[key].clone());
        assert_eq!(told, [json!(false), json!(0), json!(5)], "{place}");
    }
}

#[test]
fn what_else_confines_can_be_left_out() {
    let place = "/spec/containers/0/securityContext/readOnlyRootFilesystem";
    assert_eq!(at(place, |o| o.readonly_rootfs = false), json!(false));
    let spec = at("/spec", |o| o.dns = true);
    assert_eq!(spec["dnsPolicy"], json!("ClusterFirst"));
    assert_eq!(spec["dnsConfig"], Value::Null);
    let deadline = at("/spec/activeDeadlineSeconds", |o| {
        o.lifetime = std::time::Duration::from_secs(90);
    });
    assert_eq!(deadline, json!(90));
    let mounted = at("/spec/containers/0/volumeMounts/0/mountPath", |o| {
        o.cwd = "/srv".into()
    });
    assert_eq!(mounted, json!("/srv"));
}

#[test]
fn variables_are_no_part_of_it() {
    let made = made(|o| {
        o.environment.insert("TOKEN".into(), "s3cret".into());
    });
    assert_eq!(made, plain());
}

#[test]
fn a_resident_of_the_image_needs_no_volume() {
    let path = || PodResident::Image {
        path: "/opt/resident".into(),
    };
    let made = made(|o| o.resident = path());
    let container = &made["spec"]["containers"][0];
    let command = json!(["/opt/resident", "await", "/tmp/.belljar", "120"]);
    assert_eq!(container["command"], command);
    let names = |list: &Value| -> Vec<String> {
        let list = list.as_array().expect("a list").iter();
        list.map(|one| one["name"].as_str().unwrap_or_default().to_owned())
            .collect()
    };
    assert_eq!(names(&container["volumeMounts"]), ["workspace", "tmp"]);
    assert_eq!(names(&made["spec"]["volumes"]), ["workspace", "tmp"]);
    let options = KubernetesOptions {
        resident: path(),
        ..KubernetesOptions::new("i")
    };
    assert_eq!(
        exec(&options),
        ["/opt/resident", "attach", "/tmp/.belljar", "120"]
    );
}

#[test]
fn a_resident_of_another_image_is_copied_before_and_only_read() {
    let resident = || PodResident::Init {
        image: "belljar/resident:1".into(),
        path: "/resident".into(),
    };
    let made = made(|o| o.resident = resident());
    let init = &made["spec"]["initContainers"][0];
    assert_eq!(init["image"], json!("belljar/resident:1"));
    assert_eq!(
        init["command"],
        json!(["/resident", "copy", "/belljar/belljar-resident"])
    );
    let session = &made["spec"]["containers"][0];
    let security = |container: &Value| container["securityContext"].clone();
    assert_eq!(security(init), security(session));
    assert_eq!(init["resources"], session["resources"]);
    let mount = json!({ "name": "belljar", "mountPath": "/belljar", "readOnly": true });
    assert_eq!(session["volumeMounts"][2], mount);
    let command = json!(["/belljar/belljar-resident", "await", "/tmp/.belljar", "120"]);
    assert_eq!(session["command"], command);
}

#[test]
fn what_is_copied_over_the_stream_begins_as_a_shell() {
    let options = KubernetesOptions::new("i");
    assert_eq!(exec(&options), ["sh"]);
    assert_eq!(attach(&options), "attach /tmp/.belljar 120");
}

/// Process 1 as a shell of this machine has it: it becomes what comes to be executable, and gives up in time.
#[test]
fn the_keeper_becomes_the_resident_or_ends() {
    use std::os::unix::fs::PermissionsExt as _;
    for shell in [&["sh"][..], &["bash", "--posix"], &["busybox", "sh"]] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let keeper = |seconds: &str| {
            let mut command = std::process::Command::new(shell[0]);
            command.args(&shell[1..]).args(["-c", KEEPER, "belljar"]);
            command.arg(folder.path()).args(["socket", seconds]);
            command.stdout(std::process::Stdio::piped());
            command.spawn()
        };
        // What is not executable is not whole.
        let program = folder.path().join("5e55");
        #[expect(clippy::disallowed_methods, reason = "a test sets up")]
        std::fs::write(&program, "#!/bin/sh\necho \"$@\"\n").expect("it is written");
        let Ok(gives_up) = keeper("1") else {
            continue;
        };
        let output = gives_up.wait_with_output().expect("it ends");
        assert!(
            output.status.success() && output.stdout.is_empty(),
            "{shell:?}: {output:?}"
        );
        let waits = keeper("60").expect("it starts");
        let mode = std::fs::Permissions::from_mode(0o700);
        std::fs::set_permissions(&program, mode).expect("it is ours");
        let output = waits.wait_with_output().expect("it ends");
        assert_eq!(output.stdout, b"await socket 60\n", "{shell:?}");
    }
}
