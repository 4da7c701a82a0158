//! The `[sandbox.container]` table.

use super::*;
use crate::backends::{
    Bind, ContainerEngine, ContainerUser, Guarantee, PullPolicy, ResidentChoice, TransportChoice,
};

const CONTAINER: &str = r#"
version = 1

[sandbox]
backend = "container"
workspace = "work"

[sandbox.container]
engine = "podman"
program = "./bin/podman"
image = "debian:12"
pull = "never"
cwd = "/job"
binds = [{ host = "../data", container = "/data" }, { host = "/c", container = "/c", writable = true }]
network = "build-net"
cap-add = ["CHOWN"]
memory = "2GiB"
cpus = 1.5
pids-limit = 64
user = "1000:100"
readonly-rootfs = false
scratch = "10MiB"
scratch-exec = false
tmp = 1000000
tmp-exec = true
start-timeout = "10s"
name = "build"
reconnect = true
lease = "1h"
environment = { TOKEN = "s3cret" }
resident = "off"
transport = "stdio"
patience = "40s"
pool = { size = 3, idle = "90s" }
require = ["no-network", "pids-limit"]
"#;

fn container(text: &str) -> (ContainerOptions, PoolOptions) {
    match good(text).sandbox.backend {
        Backend::Container { options, pool } => (options, pool),
        other => panic!("{other:?}"),
    }
}

#[test]
fn everything_that_can_be_said_is_understood() {
    let right = ContainerOptions {
        engine: ContainerEngine::Podman,
        program: Some("/p/bin/podman".into()),
        pull: PullPolicy::Never,
        cwd: "/job".into(),
        binds: vec![
            Bind::read_only("/data", "/data"),
            Bind {
                writable: true,
                ..Bind::read_only("/c", "/c")
            },
        ],
        network: "build-net".into(),
        cap_add: ["CHOWN".to_owned()].into(),
        memory: Some(2 << 30),
        cpu_millis: Some(1500),
        pids_limit: Some(64),
        user: Some(ContainerUser::Named("1000:100".into())),
        readonly_rootfs: false,
        scratch_bytes: 10 << 20,
        scratch_exec: false,
        tmp_bytes: 1_000_000,
        tmp_exec: true,
        start_timeout: Duration::from_secs(10),
        name: Some("build".into()),
        reconnect: true,
        lease: Duration::from_secs(3600),
        environment: [("TOKEN".to_owned(), "s3cret".to_owned())].into(),
        resident: ResidentChoice::Off,
        transport: TransportChoice::Stdio,
        patience: Duration::from_secs(40),
        require: [Guarantee::NoNetwork, Guarantee::PidsLimit].into(),
        ..ContainerOptions::new("debian:12")
    };
    let pool = PoolOptions {
        size: 3,
        idle: Duration::from_secs(90),
    };
    assert_eq!(container(CONTAINER), (right, pool));
    let schema = Config::schema();
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let table: toml::Table = CONTAINER.parse().expect("toml");
    let value = serde_json::to_value(table).expect("json");
    let errors: Vec<String> = validator
        .iter_errors(&value)
        .map(|e| e.to_string())
        .collect();
    assert!(errors.is_empty(), "{errors:?}");
}

#[test]
fn secrets_are_not_shown() {
    assert!(!format!("{:?}", good(CONTAINER)).contains("s3cret"));
}

#[test]
fn an_image_is_enough_and_needed() {
    let least = "version = 1\nsandbox.backend = 'container'\nsandbox.container.image = 'debian:12'";
    let right = ContainerOptions::new("debian:12");
    assert_eq!(container(least), (right, PoolOptions::default()));
    for text in [
        "version = 1\nsandbox.backend = 'container'",
        "version = 1\nsandbox.backend = 'container'\nsandbox.container.cpus = 1",
    ] {
        let found = problems(text);
        assert_eq!(found[0].0, "sandbox.container.image");
        assert!(matches!(found[0].2, ProblemKind::Missing(_)));
    }
    let empty = Config::container_at("w", ContainerOptions::new(""));
    assert!(empty.check().is_err());
    let named = Config::container_at("w", ContainerOptions::new("debian:12"));
    assert!(named.check().is_ok());
}

#[test]
fn the_keywords_are_no_users_and_no_paths() {
    let with = |line: &str| {
        container(&format!(
            "version = 1\n[sandbox]\nbackend = 'container'\n[sandbox.container]\nimage = 'i'\n{line}"
        ))
        .0
    };
    assert_eq!(with("user = 'host'").user, Some(ContainerUser::Host));
    assert_eq!(with("user = 'image'").user, Some(ContainerUser::Image));
    assert_eq!(with("resident = 'auto'").resident, ResidentChoice::Auto);
    let path = ResidentChoice::Path("/p/resident".into());
    assert_eq!(with("resident = './resident'").resident, path);
    assert_eq!(with("program = 'nerdctl'").program, Some("nerdctl".into()));
    assert_eq!(with("cpus = 2").cpu_millis, Some(2000));
    assert_eq!(with("pids-limit = 0").pids_limit, None);
}

#[test]
fn what_is_wrong_is_refused_where_it_stands() {
    let text = "version = 1\n[sandbox]\nbackend = 'container'\n[sandbox.container]\n\
        image = '-v'\ncwd = 'work'\nmemory = 'much'\ncpus = -1\npids-limit = -1\nuser = '--x'\n\
        resident = 'on'\nlease = '1'\nbinds = [{ host = 'a' }]\nnetwork = ''\nenvironment = { 'A=B' = '' }\n\
        reconnect = true";
    let found = problems(text);
    let mut at: Vec<_> = found
        .iter()
        .map(|(key, (line, _), _)| (key.as_str(), *line))
        .collect();
    at.sort_by_key(|(key, line)| (*line, *key));
    assert_eq!(
        at,
        [
            ("sandbox.container.name", 4),
            ("sandbox.container.image", 5),
            ("sandbox.container.cwd", 6),
            ("sandbox.container.memory", 7),
            ("sandbox.container.cpus", 8),
            ("sandbox.container.pids-limit", 9),
            ("sandbox.container.user", 10),
            ("sandbox.container.resident", 11),
            ("sandbox.container.lease", 12),
            ("sandbox.container.binds.container", 13),
            ("sandbox.container.network", 14),
            ("sandbox.container.environment.A=B", 15),
        ]
    );
}

#[test]
fn unknown_keys_and_values_are_refused_with_the_nearest() {
    let text = "version = 1\n[sandbox]\nbackend = 'container'\n[sandbox.container]\n\
        imgae = 'debian:12'\nengine = 'dockr'\nrequire = ['pid-limit']\npull = 3\n\
        binds = [{ host = 'a', contaner = '/a' }]";
    let found = problems(text);
    let nearest = |line: usize| {
        let (key, _, kind) = found
            .iter()
            .find(|(_, (at, _), _)| *at == line)
            .expect("a problem");
        let problem = Problem {
            key: key.clone(),
            position: None,
            kind: kind.clone(),
        };
        (key.clone(), problem.nearest().map(str::to_owned))
    };
    let pair = |key: &str, nearest: &str| (key.to_owned(), Some(nearest.to_owned()));
    assert_eq!(nearest(5), pair("sandbox.container.imgae", "image"));
    assert_eq!(nearest(6), pair("sandbox.container.engine", "docker"));
    assert_eq!(nearest(7), pair("sandbox.container.require", "pids-limit"));
    assert_eq!(nearest(8), ("sandbox.container.pull".to_owned(), None));
    assert_eq!(
        nearest(9),
        pair("sandbox.container.binds.contaner", "container")
    );
}
