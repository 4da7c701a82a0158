//! The `[sandbox.kubernetes]` table.

use super::*;
use crate::backends::{
    ClusterAccess, Guarantee, KubernetesOptions, PodResident, PodToleration, PullPolicy,
};

const KUBERNETES: &str = r#"
version = 1

[sandbox]
backend = "kubernetes"

[sandbox.kubernetes]
kubeconfig = "kubeconfig"
context = "tools"
login-programs = true
namespace = "sandboxes"
image = "debian:12"
pull = "always"
pull-secrets = ["registry"]
resident = "init"
resident-image = "belljar/resident:1"
resident-path = "/resident"
runtime-class = "gvisor"
node-selector = { pool = "tools" }
tolerations = [{ key = "tools", effect = "NoSchedule" }]
cwd = "/srv"
workspace-size = "2GiB"
tmp = "64MiB"
memory = "512MiB"
cpus = 0.5
user = "1000:100"
readonly-rootfs = false
dns = true
start-timeout = "1m"
schedule-patience = "3m"
patience = "5s"
keep-alive = "20s"
lifetime = "1h"
environment = { TOKEN = "s3cret" }
require = ["seccomp"]

[sandbox.kubernetes.pool]
size = 3
idle = "1h"
"#;

fn kubernetes(text: &str) -> (KubernetesOptions, PoolOptions) {
    match good(text).sandbox.backend {
        Backend::Kubernetes { options, pool } => (*options, pool),
        other => panic!("{other:?}"),
    }
}

#[test]
fn everything_that_can_be_said_is_understood() {
    let right = KubernetesOptions {
        access: ClusterAccess::Kubeconfig(vec!["/p/kubeconfig".into()]),
        context: Some("tools".into()),
        login_programs: true,
        namespace: Some("sandboxes".into()),
        pull: PullPolicy::Always,
        pull_secrets: vec!["registry".into()],
        resident: PodResident::Init {
            image: "belljar/resident:1".into(),
            path: "/resident".into(),
        },
        runtime_class: Some("gvisor".into()),
        node_selector: [("pool".to_owned(), "tools".to_owned())].into(),
        tolerations: vec![PodToleration {
            key: "tools".into(),
            value: None,
            effect: Some("NoSchedule".into()),
        }],
        cwd: "/srv".into(),
        workspace_bytes: 2 << 30,
        tmp_bytes: 64 << 20,
        memory: Some(512 << 20),
        cpu_millis: Some(500),
        user: 1000,
        group: 100,
        readonly_rootfs: false,
        dns: true,
        start_timeout: Duration::from_secs(60),
        schedule_patience: Duration::from_secs(180),
        patience: Duration::from_secs(5),
        keep_alive: Duration::from_secs(20),
        lifetime: Duration::from_secs(3600),
        environment: [("TOKEN".to_owned(), "s3cret".to_owned())].into(),
        require: [Guarantee::Seccomp].into(),
        ..KubernetesOptions::new("debian:12")
    };
    let pool = PoolOptions {
        size: 3,
        idle: Duration::from_secs(3600),
    };
    assert_eq!(kubernetes(KUBERNETES), (right, pool));
    let schema = Config::schema();
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let table: toml::Table = KUBERNETES.parse().expect("toml");
    let value = serde_json::to_value(table).expect("json");
    let errors: Vec<String> = validator
        .iter_errors(&value)
        .map(|error| error.to_string())
        .collect();
    assert!(errors.is_empty(), "{errors:?}");
    assert!(!format!("{:?}", good(KUBERNETES)).contains("s3cret"));
}

#[test]
fn an_image_is_enough_and_needed() {
    let least =
        "version = 1\nsandbox.backend = 'kubernetes'\nsandbox.kubernetes.image = 'debian:12'";
    let (options, pool) = kubernetes(least);
    assert_eq!(options, KubernetesOptions::new("debian:12"));
    assert_eq!(pool, PoolOptions::default());
    for text in [
        "version = 1\nsandbox.backend = 'kubernetes'",
        "version = 1\nsandbox.backend = 'kubernetes'\nsandbox.kubernetes.dns = true",
    ] {
        let found = problems(text);
        let keys: Vec<&str> = found.iter().map(|(key, _, _)| key.as_str()).collect();
        assert_eq!(keys, ["sandbox.kubernetes.image"]);
        assert!(matches!(found[0].2, ProblemKind::Missing(_)));
    }
}

#[test]
fn what_is_wrong_is_refused_where_it_stands() {
    let text = "version = 1\n[sandbox]\nbackend = 'kubernetes'\nworkspace = 'here'\n[sandbox.kubernetes]\n\
        image = 'a b'\nkubeconfig = 'k'\nin-cluster = true\nuser = 'ada'\ncwd = 'work'\npatience = '0s'\n\
        memory = 'much'\nresident = 'init'";
    let found = problems(text);
    let mut at: Vec<_> = found
        .iter()
        .map(|(key, (line, _), _)| (key.as_str(), *line))
        .collect();
    at.sort_unstable();
    assert_eq!(
        at,
        [
            ("sandbox.kubernetes.cwd", 10),
            ("sandbox.kubernetes.image", 6),
            ("sandbox.kubernetes.in-cluster", 8),
            ("sandbox.kubernetes.memory", 12),
            ("sandbox.kubernetes.patience", 11),
            ("sandbox.kubernetes.resident-image", 5),
            ("sandbox.kubernetes.user", 9),
            ("sandbox.workspace", 4),
        ]
    );
}

#[test]
fn this_process_s_own_service_account_can_be_asked_for() {
    let text = "version = 1\n[sandbox]\nbackend = 'kubernetes'\n[sandbox.kubernetes]\nimage = 'i'\nin-cluster = true";
    assert_eq!(kubernetes(text).0.access, ClusterAccess::InCluster);
}
