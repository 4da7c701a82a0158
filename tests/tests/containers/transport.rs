//! Sessions over the standard input and output of the engine's program.

use std::os::unix::fs::PermissionsExt as _;

use belljar::{
    RunOptions, WriteOptions,
    backends::{
        ContainerOptions, ContainerOptionsError, EngineEnvironment, OpenError, TransportChoice,
    },
    processes::Outcome,
};

use super::*;

fn over_stdio(options: ContainerOptions) -> ContainerOptions {
    ContainerOptions {
        transport: TransportChoice::Stdio,
        ..options
    }
}

#[test]
fn a_session_over_stdio_is_a_session() {
    for options in on_each() {
        let of = options.engine;
        let name = a_name("stdio");
        let label = format!("belljar.name={name}");
        let folder = tempfile::tempdir().expect("a temporary folder");
        let sandbox = open(ContainerOptions {
            name: Some(name),
            workspace: Some(folder.path().to_owned()),
            ..over_stdio(options)
        });
        // More than a pipe holds, with every byte.
        let bytes: Vec<u8> = (0..3 << 20)
            .map(|at: u32| at.to_le_bytes()[at as usize % 4])
            .collect();
        wait(sandbox.write("a", bytes.clone(), WriteOptions::default())).expect("it writes");
        assert_eq!(wait(sandbox.read("a")).expect("it reads").bytes, bytes);
        assert_eq!(printed(&sandbox, "wc -c <a"), bytes.len().to_string());
        // Its own output is not the stream.
        assert_eq!(printed(&sandbox, "echo out; echo err >&2"), "out");
        std::thread::scope(|scope| {
            let calls: Vec<_> = (0..8)
                .map(|at| {
                    scope.spawn({
                        let sandbox = &sandbox;
                        move || printed(sandbox, &format!("sleep 0.1; echo {at}"))
                    })
                })
                .collect();
            for (at, call) in calls.into_iter().enumerate() {
                assert_eq!(call.join().expect("no panic"), at.to_string());
            }
        });
        let limited = RunOptions {
            timeout: Some(200),
            ..RunOptions::default()
        };
        let command = Command::Shell("sleep 60".into());
        let ended = wait(sandbox.run(command, limited)).expect("it tells");
        assert_eq!(ended.outcome, Outcome::TimedOut);
        assert_eq!(labelled(of, &label).len(), 1);
        close(&sandbox);
        assert!(labelled(of, &label).is_empty());
    }
}

#[test]
fn one_that_is_dropped_ends_its_container_over_stdio_too() {
    for options in on_each() {
        let of = options.engine;
        let name = a_name("stdio-dropped");
        let label = format!("belljar.name={name}");
        let sandbox = open(ContainerOptions {
            name: Some(name),
            ..over_stdio(options)
        });
        printed(&sandbox, "true");
        drop(sandbox);
        until("its container is gone", Duration::from_secs(3), || {
            labelled(of, &label).is_empty()
        });
    }
}

#[test]
fn one_that_is_killed_over_stdio_ends_the_call_at_once() {
    for options in on_each() {
        let of = options.engine;
        let name = a_name("stdio-killed");
        let label = format!("belljar.name={name}");
        let sandbox = open(ContainerOptions {
            name: Some(name),
            ..over_stdio(options)
        });
        printed(&sandbox, "true");
        let container = labelled(of, &label).remove(0);
        let mut killed = None;
        let error = in_the_middle(&sandbox, || {
            engine(of, &["kill", &container]);
            killed = Some(Instant::now());
        });
        let took = killed.expect("it was").elapsed();
        assert!(took < Duration::from_secs(3), "{took:?}");
        has_ended(&error);
        is_dead(&sandbox, &error);
        close(&sandbox);
    }
}

#[test]
fn what_the_program_says_is_why_it_does_not_start() {
    for options in on_each() {
        let sandbox = open(ContainerOptions {
            image: "belljar-test:no-such".into(),
            ..over_stdio(options)
        });
        let error = run(&sandbox, "true").expect_err("there is no image");
        assert_eq!(error.kind, ErrorKind::BackendUnavailable);
        assert!(
            matches!(failure(&error), Some(CliFailure::ImageUnknown)),
            "{error:?}"
        );
        close(&sandbox);
    }
}

/// An engine whose containers do not see the host's sockets, as those in a virtual machine do not: its program
/// binds another folder where the socket's is to be.
#[test]
fn where_nobody_comes_to_the_socket_a_fresh_container_speaks_over_stdio() {
    let Some(options) = on_docker() else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (program, empty) = (folder.path().join("engine"), folder.path().join("empty"));
    std::fs::create_dir(&empty).expect("it is made");
    let text = format!(
        "#!/bin/bash\narguments=()\nfor one in \"$@\"; do case $one in\n\
        *target=/.belljar/stream*) one=--mount=type=bind,source={},target=/.belljar/stream,readonly;;\n\
        esac; arguments+=(\"$one\"); done\nexec docker \"${{arguments[@]}}\"\n",
        empty.display()
    );
    std::fs::write(&program, text).expect("it is written");
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&program, mode).expect("it is ours");
    let name = a_name("no-socket");
    let label = format!("belljar.name={name}");
    let options = ContainerOptions {
        name: Some(name),
        program: Some(program),
        ..options
    };
    let sandbox = open(options.clone());
    assert_eq!(printed(&sandbox, "echo here"), "here");
    assert_eq!(labelled(ContainerEngine::Docker, &label).len(), 1);
    close(&sandbox);
    assert!(labelled(ContainerEngine::Docker, &label).is_empty());
    // Where a socket was asked for, nothing else is tried.
    let sandbox = open(ContainerOptions {
        transport: TransportChoice::Socket,
        ..options
    });
    let error = run(&sandbox, "true").expect_err("nobody comes");
    assert_eq!(error.kind, ErrorKind::BackendUnavailable, "{error:?}");
    close(&sandbox);
    assert!(labelled(ContainerEngine::Docker, &label).is_empty());
}

/// The daemon of this machine behind a port, as another machine's would be.
#[test]
fn a_workspace_is_not_bound_on_another_machine() {
    let Some(options) = on_docker() else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let program = folder.path().join("engine");
    // It answers here, whatever address it was told.
    let text = "#!/bin/sh\nunset DOCKER_HOST\nexec docker \"$@\"\n";
    std::fs::write(&program, text).expect("it is written");
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&program, mode).expect("it is ours");
    for address in ["tcp://192.0.2.7:2376", "ssh://ada@build.example"] {
        let more = [("DOCKER_HOST".into(), address.into())];
        let options = ContainerOptions {
            program: Some(program.clone()),
            engine_environment: EngineEnvironment::from_variables(std::env::vars_os().chain(more)),
            workspace: Some(folder.path().to_owned()),
            ..options.clone()
        };
        let scratch = ContainerOptions {
            workspace: None,
            ..options.clone()
        };
        match options.open_ambient() {
            Err(OpenError::ContainerOptions(ContainerOptionsError::BoundElsewhere {
                path,
                address: at,
            })) => {
                assert_eq!((path.as_path(), at.as_str()), (folder.path(), address));
            }
            Err(error) => panic!("{error:?}"),
            Ok(_) => panic!("it opens"),
        }
        // Scratch is where the engine is.
        let sandbox = open(scratch);
        assert_eq!(printed(&sandbox, "echo there"), "there");
        close(&sandbox);
    }
    // What brought the resident there stays for the next session.
    let listed = ["ps", "--all", "--quiet", "--filter=name=belljar-resident-"];
    for carrier in engine(options.engine, &listed).split_whitespace() {
        engine(options.engine, &["rm", "--volumes", carrier]);
    }
}
