//! Judged are texts that were captured in real containers; in `made_up`, such as were not.

#[path = "tests/made_up.rs"]
mod made_up;

use std::collections::BTreeMap;

use belljar_protocol::facts::{Attempt, Facts, LimitFile, Told};

use super::{
    super::{
        ContainerEngine, ContainerOptions, ContainerUser, Guarantee, HostUser,
        arguments::Surroundings, gap,
    },
    *,
};
use crate::backends::{Row, Standing};

/// Facts from what a shell captured: `== FILE` and its text, `== make a file in DIRECTORY` and yes or no.
fn captured(text: &str) -> Facts {
    let mut facts = Facts {
        pid: 1,
        machine: "x86_64".into(),
        ..Facts::default()
    };
    for section in text.split("== ").skip(1) {
        let (name, text) = section.split_once('\n').expect("a heading and a text");
        let told = || Told::Text(text.to_owned());
        let attempt = || match text.trim() {
            "yes" => Attempt::Possible,
            _ => Attempt::Refused("refused".into()),
        };
        match name {
            "/proc/self/status" => facts.status = told(),
            "/proc/self/mountinfo" => facts.mounts = told(),
            "/proc/self/net/dev" => facts.interfaces = told(),
            "/proc/self/net/route" => facts.routes = told(),
            "/proc/self/net/ipv6_route" => facts.ipv6_routes = told(),
            "make a file in /" => facts.root = attempt(),
            "make a file in /workspace" => facts.workspace = attempt(),
            "make a file in /tmp" => facts.tmp = attempt(),
            path => facts.limits.push(LimitFile {
                path: path.to_owned(),
                text: text.trim().to_owned(),
            }),
        }
    }
    facts
}

fn docker() -> Facts {
    captured(include_str!("captured/docker-hardened.txt"))
}

fn podman() -> Facts {
    captured(include_str!("captured/podman-hardened.txt"))
}

/// As the hardened containers were started.
fn options(engine: ContainerEngine) -> ContainerOptions {
    ContainerOptions {
        engine,
        memory: Some(128 << 20),
        cpu_millis: Some(500),
        pids_limit: Some(77),
        ..ContainerOptions::new("busybox")
    }
}

fn surroundings() -> Surroundings {
    Surroundings {
        host_user: Some(HostUser {
            uid: 1000,
            gid: 1000,
        }),
        ..Surroundings::default()
    }
}

fn judged(options: &ContainerOptions, facts: &Facts) -> BTreeMap<String, Row> {
    let surroundings = surroundings();
    let gaps = gap::gaps(options, &surroundings.info, None);
    let expected = Expected::new(options, &surroundings, gaps);
    let rows = rows(options, &expected, facts);
    rows.into_iter()
        .map(|row| (row.guarantee.clone(), row))
        .collect()
}

fn with(options: &ContainerOptions, facts: &Facts, standing: Standing) -> Vec<String> {
    let rows = judged(options, facts).into_values();
    rows.filter(|row| row.standing == standing)
        .map(|row| row.guarantee)
        .collect()
}

fn standing(options: &ContainerOptions, facts: &Facts, guarantee: &str) -> Standing {
    judged(options, facts)[guarantee].standing
}

const ALL_HELD: [&str; 12] = [
    "capabilities",
    "cpu-limit",
    "ends-with-owner",
    "memory-limit",
    "no-network",
    "no-new-privileges",
    "pids-limit",
    "readonly-rootfs",
    "resident",
    "scratch-size",
    "seccomp",
    "tmp",
];

#[test]
fn hardened_containers_give_what_was_asked() {
    let docker_options = options(ContainerEngine::Docker);
    let mut right: Vec<&str> = ALL_HELD.to_vec();
    right.push("workspace");
    assert_eq!(with(&docker_options, &docker(), Standing::Held), right);
    assert_eq!(
        with(&docker_options, &docker(), Standing::Missing),
        ["no-image-volumes"]
    );
    let podman_options = options(ContainerEngine::Podman);
    right.insert(5, "no-image-volumes");
    right.sort_unstable();
    assert_eq!(with(&podman_options, &podman(), Standing::Held), right);
    for (options, facts) in [(&docker_options, docker()), (&podman_options, podman())] {
        assert_eq!(with(options, &facts, Standing::Believed), ["no-log"]);
        let not_asked = with(options, &facts, Standing::NotAsked);
        assert_eq!(not_asked, ["host-user", "pull-policy"]);
        assert!(judged(options, &facts).values().all(|row| !row.fails()));
    }
}

#[test]
fn a_weakened_docker_is_seen_through() {
    let facts = captured(include_str!("captured/docker-weakened.txt"));
    let asked = ContainerOptions {
        workspace: Some("/srv/work".into()),
        writable: false,
        ..options(ContainerEngine::Docker)
    };
    let right = [
        "capabilities",
        "cpu-limit",
        "host-user",
        "memory-limit",
        "no-network",
        "no-new-privileges",
        "pids-limit",
        "readonly-rootfs",
        "scratch-size",
        "seccomp",
        "workspace",
    ];
    assert_eq!(with(&asked, &facts, Standing::Contradicted), right);
    let rows = judged(&asked, &facts);
    assert!(rows["no-image-volumes"].got.contains("/data"));
    assert!(rows["readonly-rootfs"].got.contains("/etc/hosts"));
    assert!(!rows["readonly-rootfs"].got.contains("/data"));
    assert!(rows["no-network"].got.contains("eth0"));
    assert!(rows["capabilities"].got.contains("NET_ADMIN"));
    // The same, when all of that was asked for.
    let given = [
        "CHOWN",
        "DAC_OVERRIDE",
        "FOWNER",
        "FSETID",
        "KILL",
        "SETGID",
        "SETUID",
        "SETPCAP",
        "NET_BIND_SERVICE",
        "NET_RAW",
        "SYS_CHROOT",
        "MKNOD",
        "AUDIT_WRITE",
        "SETFCAP",
        "cap_net_admin",
    ];
    let weak = ContainerOptions {
        network: "host".into(),
        cap_add: given.map(str::to_owned).into(),
        readonly_rootfs: false,
        pids_limit: None,
        memory: None,
        cpu_millis: None,
        writable: true,
        user: Some(ContainerUser::Image),
        ..asked
    };
    let right = ["no-new-privileges", "scratch-size", "seccomp"];
    assert_eq!(with(&weak, &facts, Standing::Contradicted), right);
}

#[test]
fn a_weakened_podman_is_seen_through() {
    let facts = captured(include_str!("captured/podman-weakened.txt"));
    let asked = ContainerOptions {
        workspace: Some("/srv/work".into()),
        user: Some(ContainerUser::Image),
        ..options(ContainerEngine::Podman)
    };
    let rows = judged(&asked, &facts);
    // Its root is read-only, and memory without a size is mounted in it.
    let root = &rows["readonly-rootfs"];
    assert_eq!(root.standing, Standing::Contradicted);
    assert!(root.got.contains("/var/tmp") && !root.got.contains("/tmp,"));
    assert_eq!(rows["scratch-size"].standing, Standing::Contradicted);
    assert_eq!(rows["no-image-volumes"].standing, Standing::Contradicted);
    // Its own limit, when none is given.
    assert!(rows["pids-limit"].got.contains("2048"));
    assert_eq!(rows["workspace"].standing, Standing::Held);
}

#[test]
fn a_user_has_fewer_capabilities_than_were_given() {
    let facts = captured(include_str!("captured/docker-user.txt"));
    let asked = ContainerOptions {
        workspace: Some("/srv/work".into()),
        writable: false,
        cap_add: ["CHOWN".to_owned()].into(),
        ..options(ContainerEngine::Docker)
    };
    assert_eq!(standing(&asked, &facts, "capabilities"), Standing::Held);
    assert_eq!(standing(&asked, &facts, "host-user"), Standing::Held);
    assert_eq!(standing(&asked, &facts, "workspace"), Standing::Held);
    // This one was started without the owner that ours has.
    assert_eq!(standing(&asked, &facts, "tmp"), Standing::Contradicted);
    let more = ContainerOptions {
        cap_add: ["CHOWN".to_owned(), "NET_RAW".to_owned()].into(),
        ..asked.clone()
    };
    assert_eq!(standing(&more, &facts, "capabilities"), Standing::Held);
    for (user, right) in [
        ("1000", Standing::Held),
        ("1000:1000", Standing::Held),
        ("1000:0", Standing::Contradicted),
        ("1001", Standing::Contradicted),
        // Who that is, only the image knows.
        ("builder", Standing::NotAsked),
    ] {
        let named = ContainerOptions {
            user: Some(ContainerUser::Named(user.into())),
            ..asked.clone()
        };
        assert_eq!(standing(&named, &facts, "host-user"), right, "{user}");
    }
    let none = ContainerOptions {
        cap_add: [].into(),
        ..asked
    };
    assert_eq!(
        standing(&none, &facts, "capabilities"),
        Standing::Contradicted
    );
}

#[test]
fn a_rootless_engine_makes_the_caller_root() {
    for (engine, facts) in [
        (ContainerEngine::Docker, docker()),
        (ContainerEngine::Podman, podman()),
    ] {
        let asked = ContainerOptions {
            workspace: Some("/srv/work".into()),
            ..options(engine)
        };
        let mut rootless = surroundings();
        rootless.info.rootless = true;
        let expected = Expected::new(&asked, &rootless, Vec::new());
        let rows = rows(&asked, &expected, &facts);
        let user = rows.iter().find(|row| row.guarantee == "host-user");
        assert_eq!(user.map(|row| row.standing), Some(Standing::Held));
    }
}

#[test]
fn what_is_not_told_is_not_had() {
    let asked = options(ContainerEngine::Podman);
    let nothing = Facts::default();
    let rows = judged(&asked, &nothing);
    for row in rows.values() {
        assert_ne!(row.standing, Standing::Held, "{}", row.guarantee);
    }
    for name in ALL_HELD {
        assert_eq!(rows[name].standing, Standing::Unseen, "{name}");
    }
}

#[test]
fn what_is_required_and_not_shown_is_unmet() {
    let mut asked = options(ContainerEngine::Podman);
    let unmet = |asked: &ContainerOptions, facts: &Facts| {
        let expected = Expected::new(asked, &surroundings(), Vec::new());
        let unmet = super::unmet(asked, &expected, facts).into_iter();
        unmet.map(|gap| gap.guarantee).collect::<Vec<_>>()
    };
    let mut weak = podman();
    weak.pid = 7;
    assert_eq!(unmet(&asked, &weak), []);
    asked.require = [Guarantee::Resident, Guarantee::NoLog, Guarantee::Seccomp].into();
    assert_eq!(unmet(&asked, &podman()), []);
    assert_eq!(unmet(&asked, &weak), [Guarantee::Resident]);
    let right = [Guarantee::Seccomp, Guarantee::Resident];
    assert_eq!(unmet(&asked, &Facts::default()), right);
}
