//! A test a knob, on each engine.

use std::path::PathBuf;

use super::*;
use crate::backends::container::Bind;
use ContainerEngine::{Apple, Docker, Podman};

fn on(engine: ContainerEngine) -> ContainerOptions {
    ContainerOptions {
        engine,
        ..ContainerOptions::new("debian:12")
    }
}

fn caller() -> Surroundings {
    Surroundings {
        host_user: Some(HostUser {
            uid: 1000,
            gid: 100,
        }),
        info: EngineInfo::default(),
    }
}

fn rootless() -> Surroundings {
    let mut surroundings = caller();
    surroundings.info.rootless = true;
    surroundings
}

fn of(options: ContainerOptions, surroundings: &Surroundings) -> Vec<String> {
    let options = options.validated().expect("right");
    hardening(&options, surroundings).expect("it can be told")
}

fn plain(options: ContainerOptions) -> Vec<String> {
    of(options, &caller())
}

/// The options of one name.
fn all<'a>(arguments: &'a [String], name: &str) -> Vec<&'a str> {
    let value = |argument: &'a String| {
        let rest = argument.strip_prefix(name)?;
        (rest.is_empty() || rest.starts_with('=')).then_some(argument.as_str())
    };
    arguments.iter().filter_map(value).collect()
}

const SCRATCH: &str = "--tmpfs=/workspace:rw,nosuid,nodev,exec,size=1073741824,mode=1777";
const TMP: &str = "--tmpfs=/tmp:rw,nosuid,nodev,noexec,size=268435456,mode=1777";

#[test]
fn the_defaults_are_as_narrow_as_each_engine_can() {
    assert_eq!(
        plain(on(Docker)),
        [
            "--network=none",
            "--cap-drop=ALL",
            "--security-opt=no-new-privileges",
            "--ipc=private",
            "--pids-limit=512",
            "--read-only",
            SCRATCH,
            TMP,
        ]
    );
    assert_eq!(
        plain(on(Podman)),
        [
            "--network=none",
            "--cap-drop=ALL",
            "--security-opt=no-new-privileges",
            "--ipc=private",
            "--pids-limit=512",
            "--read-only",
            "--read-only-tmpfs=false",
            "--image-volume=ignore",
            "--http-proxy=false",
            SCRATCH,
            TMP,
        ]
    );
    assert_eq!(plain(on(Apple)), ["--network=none", "--cap-drop=ALL"]);
}

#[test]
fn network() {
    for engine in ContainerEngine::ALL {
        let options = ContainerOptions {
            network: "build-net".into(),
            ..on(engine)
        };
        assert_eq!(all(&plain(options), "--network"), ["--network=build-net"]);
    }
}

#[test]
fn capabilities() {
    for engine in ContainerEngine::ALL {
        let options = ContainerOptions {
            cap_add: ["cap_chown".into(), "SETUID".into()].into(),
            ..on(engine)
        };
        let arguments = plain(options);
        assert_eq!(all(&arguments, "--cap-drop"), ["--cap-drop=ALL"]);
        let added = all(&arguments, "--cap-add");
        assert_eq!(added.len(), 2);
        assert!(added.contains(&"--cap-add=CHOWN") && added.contains(&"--cap-add=SETUID"));
    }
}

#[test]
fn memory_with_its_swap() {
    for (engine, right) in [
        (Docker, &["--memory=67108865", "--memory-swap=67108865"][..]),
        (Podman, &["--memory=67108865", "--memory-swap=67108865"]),
        (Apple, &["--memory=65M"]),
    ] {
        let arguments = plain(ContainerOptions {
            memory: Some((64 << 20) + 1),
            ..on(engine)
        });
        let got: Vec<&str> = [
            all(&arguments, "--memory"),
            all(&arguments, "--memory-swap"),
        ]
        .concat();
        assert_eq!(got, right);
    }
}

#[test]
fn cpus() {
    for (engine, right) in [
        (Docker, "--cpus=1.050"),
        (Podman, "--cpus=1.050"),
        (Apple, "--cpus=2"),
    ] {
        let arguments = plain(ContainerOptions {
            cpu_millis: Some(1050),
            ..on(engine)
        });
        assert_eq!(all(&arguments, "--cpus"), [right]);
    }
}

#[test]
fn pids_limit() {
    for (engine, right) in [
        (Docker, &["--pids-limit=99"][..]),
        (Podman, &["--pids-limit=99"]),
        (Apple, &[]),
    ] {
        let arguments = plain(ContainerOptions {
            pids_limit: Some(99),
            ..on(engine)
        });
        assert_eq!(all(&arguments, "--pids-limit"), right);
        let arguments = plain(ContainerOptions {
            pids_limit: None,
            ..on(engine)
        });
        assert!(all(&arguments, "--pids-limit").is_empty());
    }
}

#[test]
fn a_writable_root() {
    for engine in ContainerEngine::ALL {
        let arguments = plain(ContainerOptions {
            readonly_rootfs: false,
            ..on(engine)
        });
        assert!(all(&arguments, "--read-only").is_empty());
        assert!(all(&arguments, "--read-only-tmpfs").is_empty());
        // Scratch has its size all the same.
        assert_eq!(
            all(&arguments, "--tmpfs").len(),
            if engine == Apple { 0 } else { 2 }
        );
    }
}

#[test]
fn sizes_and_whether_programs_run_there() {
    for engine in [Docker, Podman] {
        let arguments = plain(ContainerOptions {
            cwd: "/srv/./job/".into(),
            scratch_bytes: 1 << 20,
            scratch_exec: false,
            tmp_bytes: 1 << 16,
            tmp_exec: true,
            ..on(engine)
        });
        assert_eq!(
            all(&arguments, "--tmpfs"),
            [
                "--tmpfs=/srv/job:rw,nosuid,nodev,noexec,size=1048576,mode=1777",
                "--tmpfs=/tmp:rw,nosuid,nodev,exec,size=65536,mode=1777",
            ]
        );
    }
}

#[test]
fn the_workspace_is_bound_as_writable_as_it_is() {
    for writable in [true, false] {
        for engine in ContainerEngine::ALL {
            let arguments = plain(ContainerOptions {
                workspace: Some("/home/ada/work".into()),
                writable,
                ..on(engine)
            });
            let mount = all(&arguments, "--mount");
            assert_eq!(mount.len(), 1);
            assert!(
                mount[0].starts_with("--mount=type=bind,source=/home/ada/work,target=/workspace")
            );
            assert_eq!(mount[0].ends_with(",readonly"), !writable);
            assert!(!all(&arguments, "--tmpfs").contains(&SCRATCH));
        }
    }
}

#[test]
fn binds_are_read_only_until_one_says_otherwise() {
    for engine in ContainerEngine::ALL {
        let arguments = plain(ContainerOptions {
            binds: vec![
                Bind::read_only("/srv/data", "/data"),
                Bind {
                    host: "/srv/cache".into(),
                    container: "/cache/".into(),
                    writable: true,
                },
            ],
            ..on(engine)
        });
        let mounts = all(&arguments, "--mount");
        assert!(mounts[0].contains("target=/data") && mounts[0].ends_with(",readonly"));
        assert!(mounts[1].contains("target=/cache") && !mounts[1].contains("readonly"));
    }
}

#[test]
fn whose_rights() {
    let bound = |engine| ContainerOptions {
        workspace: Some("/home/ada/work".into()),
        ..on(engine)
    };
    // A bound workspace means the caller, however the engine must be told.
    for (engine, surroundings, right) in [
        (Docker, caller(), &["--user=1000:100"][..]),
        (Docker, rootless(), &["--user=0:0"]),
        (Podman, caller(), &["--user=1000:100"]),
        (Podman, rootless(), &["--user=1000:100"]),
        (Apple, caller(), &["--user=1000:100"]),
        (Docker, Surroundings::default(), &[]),
    ] {
        let arguments = of(bound(engine), &surroundings);
        assert_eq!(all(&arguments, "--user"), right, "{engine}");
        let keep = engine == Podman && surroundings.info.rootless;
        assert_eq!(all(&arguments, "--userns").len(), usize::from(keep));
    }
    for engine in ContainerEngine::ALL {
        // Scratch is the image's user's, and so is what the operator says.
        assert!(all(&plain(on(engine)), "--user").is_empty());
        let image = ContainerOptions {
            user: Some(ContainerUser::Image),
            ..bound(engine)
        };
        assert!(all(&plain(image), "--user").is_empty());
        let named = ContainerOptions {
            user: Some(ContainerUser::Named("build:users".into())),
            ..on(engine)
        };
        assert_eq!(all(&plain(named), "--user"), ["--user=build:users"]);
    }
}

#[test]
fn scratch_belongs_to_a_user_whose_id_is_known_where_its_mode_is_not_kept() {
    let with = |engine, user: &str| {
        let options = ContainerOptions {
            user: Some(ContainerUser::Named(user.into())),
            ..on(engine)
        };
        all(&plain(options), "--tmpfs")[0].to_owned()
    };
    assert!(with(Docker, "7:8").ends_with(",uid=7,gid=8"));
    assert!(with(Docker, "7").ends_with(",uid=7,gid=0"));
    assert!(with(Docker, "build").ends_with(",mode=1777"));
    // Podman refuses an owner.
    assert!(with(Podman, "7:8").ends_with(",mode=1777"));
}

#[test]
fn a_path_that_an_engine_cannot_be_told_is_refused() {
    let options = ContainerOptions {
        workspace: Some(PathBuf::from("/home/ada/a,b")),
        ..on(Apple)
    };
    assert!(matches!(
        options.validated(),
        Err(ContainerOptionsError::HostPath { .. })
    ));
}
