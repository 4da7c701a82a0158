//! Engines that fail: each is a typed error in bounded time, and never "not found".

use std::{os::unix::fs::PermissionsExt as _, path::PathBuf};

use belljar::{
    ErrorKind, WriteOptions,
    backends::{
        CliFailure, ContainerOptions, ContainerState, EngineEnvironment, OpenError, PullPolicy,
        ResidentChoice,
    },
};

use belljar_tests::is_root;

use super::*;

/// Opens what must not open.
#[track_caller]
fn refused(options: ContainerOptions) -> CliFailure {
    match options.open_ambient() {
        Ok(_) => panic!("it opens"),
        Err(OpenError::Engine(error)) => error.failure,
        Err(error) => panic!("{error:?}"),
    }
}

/// Calls what must not start.
#[track_caller]
fn not_started(options: ContainerOptions) -> Error {
    let sandbox = open(options);
    let error = wait(sandbox.list(".", None)).expect_err("it does not start");
    assert_ne!(error.kind, ErrorKind::NotFound, "{error:?}");
    close(&sandbox);
    error
}

/// A session's container.
fn container(options: &ContainerOptions) -> String {
    let name = options.name.as_deref().expect("it has a name");
    let mut ids = labelled(options.engine, &format!("belljar.name={name}"));
    assert_eq!(ids.len(), 1);
    ids.remove(0)
}

#[test]
fn one_that_is_killed_from_outside_ends_the_call_at_once() {
    for options in on_each() {
        let of = options.engine;
        let options = ContainerOptions {
            name: Some(a_name("outside")),
            ..options
        };
        let sandbox = open(options.clone());
        printed(&sandbox, "true");
        let container = container(&options);
        let error = std::thread::scope(|scope| {
            let call = scope.spawn(|| run(&sandbox, "sleep 600"));
            until("it runs", Duration::from_secs(10), || {
                let top = engine(of, &["top", &container]);
                top.contains("sleep 600")
            });
            let began = Instant::now();
            engine(of, &["kill", &container]);
            let ended = call.join().expect("no panic");
            assert!(began.elapsed() < Duration::from_secs(3), "at once");
            ended.expect_err("it is dead")
        });
        has_ended(&error);
        is_dead(&sandbox, &error);
        close(&sandbox);
    }
}

#[test]
fn one_that_is_paused_is_given_up() {
    for options in on_each() {
        let of = options.engine;
        let options = ContainerOptions {
            name: Some(a_name("paused")),
            patience: Duration::from_secs(1),
            ..options
        };
        let sandbox = open(options.clone());
        printed(&sandbox, "true");
        let container = container(&options);
        engine(of, &["pause", &container]);
        let began = Instant::now();
        let error = run(&sandbox, "true").expect_err("nobody answers");
        assert!(began.elapsed() < Duration::from_secs(5), "{error:?}");
        assert!(
            matches!(
                fate_of(&error),
                ContainerFate::There(ContainerState::Paused)
            ),
            "{error:?}"
        );
        is_dead(&sandbox, &error);
        close(&sandbox);
        assert!(
            labelled(
                of,
                &format!("belljar.name={}", options.name.expect("a name"))
            )
            .is_empty()
        );
    }
}

#[test]
fn one_that_is_paused_is_given_up_without_a_resident_too() {
    for options in on_each() {
        let options = ContainerOptions {
            name: Some(a_name("paused-shell")),
            patience: Duration::from_secs(1),
            resident: ResidentChoice::Off,
            ..options
        };
        let sandbox = open(options.clone());
        let container = container(&options);
        let error = in_the_middle(&sandbox, || {
            engine(options.engine, &["pause", &container]);
        });
        assert_eq!(error.kind, ErrorKind::BackendUnavailable, "{error:?}");
        let error = wait(sandbox.read("no-such")).expect_err("nobody answers");
        assert_eq!(error.kind, ErrorKind::BackendUnavailable, "{error:?}");
        engine(options.engine, &["unpause", &container]);
        let error = wait(sandbox.read("no-such")).expect_err("it is not there");
        assert_eq!(error.kind, ErrorKind::NotFound, "{error:?}");
        close(&sandbox);
    }
}

#[test]
fn one_that_is_removed_from_outside_is_gone() {
    for options in on_each() {
        let options = ContainerOptions {
            name: Some(a_name("removed")),
            ..options
        };
        let sandbox = open(options.clone());
        printed(&sandbox, "true");
        engine(options.engine, &["rm", "--force", &container(&options)]);
        let error = run(&sandbox, "true").expect_err("it is dead");
        has_ended(&error);
        is_dead(&sandbox, &error);
        close(&sandbox);
    }
}

/// What is in the scratch is memory, of which the container has less than the scratch may take.
#[test]
fn one_that_runs_out_of_memory_itself_is_dead() {
    for options in on_each() {
        let sandbox = open(ContainerOptions {
            memory: Some(64 << 20),
            ..options
        });
        let mut written = 0;
        let error = loop {
            let all = vec![b'x'; 8 << 20];
            match wait(sandbox.write(&written.to_string(), all, WriteOptions::default())) {
                Ok(_) => written += 1,
                Err(error) => break error,
            }
            assert!(written < 16, "there is a limit");
        };
        has_ended(&error);
        is_dead(&sandbox, &error);
        close(&sandbox);
    }
}

#[test]
fn an_image_that_is_not_there_is_not_asked_for() {
    for options in on_each() {
        let error = not_started(ContainerOptions {
            image: "belljar-test:no-such".into(),
            pull: PullPolicy::Never,
            ..options
        });
        assert_eq!(error.kind, ErrorKind::BackendUnavailable, "{error:?}");
    }
}

#[test]
fn a_program_that_is_not_there_is_missing() {
    let Some(options) = on_docker() else { return };
    let failure = refused(ContainerOptions {
        program: Some("/nonexistent/docker".into()),
        ..options
    });
    assert!(
        matches!(failure, CliFailure::ProgramMissing { .. }),
        "{failure:?}"
    );
}

/// A program that stands in for an engine's.
fn stand_in(folder: &tempfile::TempDir, text: &str) -> PathBuf {
    let path = folder.path().join("engine");
    std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).expect("it is written");
    make_executable(&path);
    path
}

#[test]
fn a_program_that_hangs_is_given_up() {
    let Some(options) = on_docker() else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let text = "case $1 in run) exec sleep 600;; rm) exit 0;; *) exec docker \"$@\";; esac";
    let began = Instant::now();
    let error = not_started(ContainerOptions {
        program: Some(stand_in(&folder, text)),
        start_timeout: Duration::from_millis(500),
        ..options.clone()
    });
    assert!(
        matches!(
            error.kind,
            ErrorKind::BackendUnavailable | ErrorKind::TimedOut
        ),
        "{error:?}"
    );
    assert!(began.elapsed() < Duration::from_secs(5));
    // So is one that hangs before anything was asked for.
    let began = Instant::now();
    let failure = refused(ContainerOptions {
        program: Some(stand_in(&folder, "exec sleep 600")),
        start_timeout: Duration::from_millis(500),
        ..options
    });
    assert!(matches!(failure, CliFailure::Hangs { .. }), "{failure:?}");
    assert!(began.elapsed() < Duration::from_secs(5));
}

#[test]
fn an_engine_that_is_down_is_said_to_be_down() {
    let Some(options) = on_docker() else { return };
    let variables = |host: &str| {
        let more = [("DOCKER_HOST".into(), host.into())];
        EngineEnvironment::from_variables(std::env::vars_os().chain(more))
    };
    let failure = refused(ContainerOptions {
        engine_environment: variables("unix:///nonexistent.sock"),
        ..options.clone()
    });
    assert!(matches!(failure, CliFailure::EngineDown), "{failure:?}");
    // A socket on which nobody listens any more.
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("socket");
    drop(std::os::unix::net::UnixListener::bind(&path).expect("it listens"));
    let failure = refused(ContainerOptions {
        engine_environment: variables(&format!("unix://{}", path.display())),
        ..options.clone()
    });
    assert!(matches!(failure, CliFailure::EngineDown), "{failure:?}");
}

#[test]
fn a_socket_that_refuses_the_user_is_said_to_do_so() {
    let Some(options) = on_docker() else { return };
    if !is_root() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(folder.path(), mode).expect("it is ours");
    let text = "HOME=/; export HOME; exec setpriv --reuid=65534 --regid=65534 --clear-groups docker \"$@\"";
    let failure = refused(ContainerOptions {
        program: Some(stand_in(&folder, text)),
        ..options
    });
    assert!(matches!(failure, CliFailure::EngineRefuses), "{failure:?}");
}

#[test]
fn an_engine_that_goes_down_after_it_was_asked() {
    let Some(options) = on_docker() else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let text = "case $1 in run|rm) DOCKER_HOST=unix:///nonexistent.sock; export DOCKER_HOST;; esac; exec docker \"$@\"";
    let error = not_started(ContainerOptions {
        program: Some(stand_in(&folder, text)),
        ..options
    });
    assert_eq!(error.kind, ErrorKind::BackendUnavailable, "{error:?}");
}
