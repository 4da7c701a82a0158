use super::*;
use ContainerEngine::{Apple, Docker, Podman};

fn labels() -> Labels {
    Labels {
        session: "5e55".into(),
        owner: None,
        name: None,
        hardening: "[]".into(),
        image: "debian:12".into(),
        lease: 7,
        stream: None,
    }
}

fn arguments(options: &ContainerOptions, keeper: Keeper<'_>) -> Vec<String> {
    let hardening = ["--network=none".to_owned()];
    let start = Start {
        hardening: &hardening,
        labels: &labels(),
        container_name: "belljar-5e55",
        keeper,
    };
    run(options, &start).expect("it can be told")
}

fn on(engine: ContainerEngine) -> ContainerOptions {
    ContainerOptions {
        engine,
        ..ContainerOptions::new("debian:12")
    }
}

const RESIDENT_ON_HOST: &str = "/opt/belljar/resident";

fn resident(transport: Transport<'_>) -> Keeper<'_> {
    Keeper::Resident {
        program: Program::Here(Path::new(RESIDENT_ON_HOST)),
        transport,
    }
}

#[test]
fn a_resident_on_a_socket_is_detached() {
    let folder = Path::new("/run/user/1000/belljar/5e55");
    for engine in [Docker, Podman] {
        assert_eq!(
            arguments(&on(engine), resident(Transport::Socket { folder })),
            [
                "run",
                "--rm",
                "--detach",
                "--name=belljar-5e55",
                "--label=belljar.session=5e55",
                "--label=belljar.owner=",
                "--label=belljar.hardening=[]",
                "--label=belljar.image=debian:12",
                "--label=belljar.lease=7",
                "--pull=missing",
                "--log-driver=none",
                "--no-healthcheck",
                "--stop-signal=KILL",
                "--hostname=belljar",
                "--workdir=/",
                "--network=none",
                "--mount=type=bind,source=/opt/belljar/resident,target=/.belljar/resident,bind-propagation=rprivate,readonly",
                "--entrypoint=/.belljar/resident",
                "--mount=type=bind,source=/run/user/1000/belljar/5e55,target=/.belljar/stream,bind-propagation=rprivate,readonly",
                "debian:12",
                "connect",
                "/.belljar/stream/socket",
            ]
        );
    }
}

#[test]
fn apple_is_told_what_it_knows() {
    assert_eq!(
        arguments(&on(Apple), resident(Transport::Stdio)),
        [
            "run",
            "--rm",
            "--interactive",
            "--name=belljar-5e55",
            "--label=belljar.session=5e55",
            "--label=belljar.owner=",
            "--label=belljar.hardening=[]",
            "--label=belljar.image=debian:12",
            "--label=belljar.lease=7",
            "--network=none",
            "--mount=type=bind,source=/opt/belljar/resident,target=/.belljar/resident,readonly",
            "--entrypoint=/.belljar/resident",
            "debian:12",
            "stdio",
        ]
    );
}

#[test]
fn a_resident_on_standard_input_is_attached() {
    for engine in ContainerEngine::ALL {
        let arguments = arguments(&on(engine), resident(Transport::Stdio));
        assert!(arguments.contains(&"--interactive".to_owned()));
        assert!(!arguments.contains(&"--detach".to_owned()));
        assert_eq!(arguments[arguments.len() - 2..], ["debian:12", "stdio"]);
    }
}

#[test]
fn without_a_resident_a_shell_waits_for_its_owner() {
    for engine in ContainerEngine::ALL {
        let arguments = arguments(&on(engine), Keeper::Shell);
        assert!(arguments.contains(&"--interactive".to_owned()));
        assert!(arguments.contains(&"--entrypoint=/bin/sh".to_owned()));
        let end = &arguments[arguments.len() - 3..];
        assert_eq!(end, ["debian:12", "-c", WAIT_FOR_THE_END]);
    }
}

#[test]
fn the_policy_for_pulling_is_always_said_where_it_can_be() {
    for policy in [PullPolicy::Missing, PullPolicy::Never, PullPolicy::Always] {
        for engine in ContainerEngine::ALL {
            let options = ContainerOptions {
                pull: policy,
                ..on(engine)
            };
            let arguments = arguments(&options, Keeper::Shell);
            let said = arguments
                .iter()
                .any(|one| *one == format!("--pull={}", policy.as_str()));
            assert_eq!(said, engine != Apple);
            let by_us = engine == Apple && policy != PullPolicy::Missing;
            assert_eq!(pulls_by_itself(&options), by_us);
        }
    }
}

#[test]
fn what_is_found_again_stays() {
    for engine in [Docker, Podman] {
        let options = ContainerOptions {
            name: Some("build".into()),
            reconnect: true,
            ..on(engine)
        };
        let arguments = arguments(&options, Keeper::Shell);
        assert!(!arguments.contains(&"--rm".to_owned()));
    }
}

#[test]
fn no_variable_no_init_and_no_privilege() {
    for engine in ContainerEngine::ALL {
        let mut options = on(engine);
        options.environment.insert("TOKEN".into(), "s3cret".into());
        let line = arguments(&options, Keeper::Shell).join(" ");
        for absent in ["--env", "-e ", "TOKEN", "s3cret", "--init", "--privileged"] {
            assert!(!line.contains(absent), "{absent} in {line}");
        }
        assert!(!format!("{options:?}").contains("s3cret"));
    }
}
