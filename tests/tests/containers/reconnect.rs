//! A container that is found again by its name.

use belljar::{
    ErrorKind, WriteOptions,
    backends::{ContainerOptions, ContainerOptionsError, OpenError, TransportChoice},
};
use tempfile::TempDir;

use super::*;

/// A name and a place; what is left of it is removed at the end.
struct Again {
    options: ContainerOptions,
    label: String,
    _state: TempDir,
}

impl Again {
    fn new(options: ContainerOptions, name: &str) -> Self {
        let state = tempfile::tempdir().expect("a temporary folder");
        let name = a_name(name);
        let options = ContainerOptions {
            name: Some(name.clone()),
            reconnect: true,
            state: Some(state.path().join("containers")),
            // What is written outside the workspace is what can be kept of a container.
            readonly_rootfs: false,
            ..options
        };
        Self {
            options,
            label: format!("belljar.name={name}"),
            _state: state,
        }
    }

    fn open(&self) -> Sandbox {
        open(self.options.clone())
    }

    fn container(&self) -> String {
        let mut ids = self.containers();
        assert_eq!(ids.len(), 1);
        ids.remove(0)
    }

    fn containers(&self) -> Vec<String> {
        labelled(self.options.engine, &self.label)
    }

    fn engine(&self, arguments: &[&str]) -> String {
        engine(self.options.engine, arguments)
    }

    /// The container is there and does not run; podman says "stopped" until it has cleaned up.
    #[track_caller]
    fn has_stopped(&self) {
        let state = self.state();
        assert!(matches!(state.as_str(), "exited" | "stopped"), "{state}");
    }

    fn state(&self) -> String {
        let container = self.container();
        self.engine(&["inspect", "--format={{.State.Status}}", &container])
    }
}

impl Drop for Again {
    fn drop(&mut self) {
        // One that is just ending cannot be removed by every engine.
        until("what is left is removed", Duration::from_secs(10), || {
            let left = self.containers();
            for id in &left {
                let mut program = Program::new(self.options.engine.program());
                let removed = program.args(["rm", "--force", id]).output();
                removed.expect("it starts");
            }
            left.is_empty()
        });
    }
}

/// Docker with each way to it, and podman.
fn each(name: &str) -> impl Iterator<Item = Again> {
    let ways = [
        (ContainerEngine::Docker, TransportChoice::Socket),
        (ContainerEngine::Docker, TransportChoice::Stdio),
        (ContainerEngine::Podman, TransportChoice::Socket),
        (ContainerEngine::Podman, TransportChoice::Stdio),
    ];
    ways.into_iter().filter_map(move |(engine, transport)| {
        let options = ContainerOptions {
            transport,
            ..on(engine)?
        };
        Some(Again::new(
            options,
            &format!("{name}-{engine}-{transport:?}"),
        ))
    })
}

#[test]
fn what_a_container_keeps_is_there_again_and_what_is_in_memory_is_not() {
    for again in each("kept") {
        let first = again.open();
        printed(
            &first,
            "echo kept >/bin/kept; echo gone >scratch; echo gone >/tmp/gone",
        );
        let container = again.container();
        close(&first);
        again.has_stopped();
        let second = again.open();
        assert_eq!(
            printed(&second, "cat /bin/kept; ls -A . /tmp"),
            "kept\n.:\n\n/tmp:"
        );
        assert_eq!(again.container(), container);
        close(&second);
    }
}

#[test]
fn one_session_at_a_time_has_it() {
    let Some(options) = on_docker() else { return };
    let again = Again::new(options, "taken");
    let first = again.open();
    printed(&first, "true");
    let second = again.open();
    let error = run(&second, "true").expect_err("it is taken");
    assert_eq!(error.kind, ErrorKind::Busy, "{error:?}");
    close(&first);
    // What was refused may be asked for again.
    assert_eq!(printed(&second, "echo mine"), "mine");
    close(&second);
}

/// Does something to a container that has a session, which is dead then; opening again mends it.
fn behind_our_back(what: &str) {
    for again in each(what) {
        let options = ContainerOptions {
            patience: Duration::from_millis(600),
            ..again.options.clone()
        };
        let first = open(options);
        printed(&first, "echo kept >/bin/kept");
        let container = again.container();
        let began = Instant::now();
        again.engine(&[what, &container]);
        assert!(began.elapsed() < Duration::from_secs(5), "{what}");
        let error = run(&first, "true").expect_err("it is dead");
        is_dead(&first, &error);
        close(&first);
        let second = again.open();
        assert_eq!(printed(&second, "cat /bin/kept"), "kept", "{what}");
        close(&second);
    }
}

#[test]
fn one_that_was_stopped_behind_our_back_is_started_again() {
    behind_our_back("stop");
}

#[test]
fn one_that_was_paused_behind_our_back_is_started_again() {
    behind_our_back("pause");
}

#[test]
fn one_that_was_killed_behind_our_back_is_started_again() {
    behind_our_back("kill");
}

#[test]
fn one_that_was_removed_behind_our_back_is_made_anew() {
    for again in each("anew") {
        let first = again.open();
        printed(&first, "echo gone >/bin/gone");
        let container = again.container();
        again.engine(&["rm", "--force", &container]);
        let error = run(&first, "true").expect_err("it is dead");
        is_dead(&first, &error);
        close(&first);
        let second = again.open();
        assert!(!sh(&second, "cat /bin/gone").outcome.success());
        assert_ne!(again.container(), container);
        close(&second);
    }
}

#[test]
fn one_whose_owner_was_killed_is_started_again() {
    let Some(options) = on_docker() else { return };
    let again = Again::new(options, "left");
    let first = again.open();
    printed(&first, "echo kept >/bin/kept");
    // As when a process ends: its ends of everything are closed, and nothing is said.
    drop(first);
    let second = again.open();
    assert_eq!(printed(&second, "cat /bin/kept"), "kept");
    close(&second);
}

#[test]
fn another_image_or_hardening_is_refused() {
    let Some(options) = on_docker() else { return };
    let again = Again::new(options, "other");
    let first = again.open();
    printed(&first, "true");
    close(&first);
    let others = [
        ContainerOptions {
            pids_limit: Some(64),
            ..again.options.clone()
        },
        ContainerOptions {
            readonly_rootfs: true,
            ..again.options.clone()
        },
        ContainerOptions {
            image: "belljar-test:other".into(),
            ..again.options.clone()
        },
    ];
    for other in others {
        let sandbox = open(other);
        let error = run(&sandbox, "true").expect_err("it is refused");
        assert_eq!(error.kind, ErrorKind::BackendFailed, "{error:?}");
        close(&sandbox);
    }
    // It was not touched.
    again.has_stopped();
}

#[test]
fn two_of_one_name_are_refused() {
    let Some(options) = on_docker() else { return };
    let again = Again::new(options, "two");
    for _ in 0..2 {
        let session = format!("--label=belljar.session={}", again.containers().len());
        let label = format!("--label={}", again.label);
        again.engine(&["create", &session, &label, BUSYBOX, "true"]);
    }
    let sandbox = again.open();
    let error = run(&sandbox, "true").expect_err("it is refused");
    assert_eq!(error.kind, ErrorKind::BackendFailed, "{error:?}");
    close(&sandbox);
    assert_eq!(again.containers().len(), 2);
}

#[test]
fn it_needs_a_name_and_a_place_and_another_engine_than_apples() {
    let plain = ContainerOptions {
        reconnect: true,
        ..ContainerOptions::new(BUSYBOX)
    };
    let named = ContainerOptions {
        name: Some("build".into()),
        ..plain.clone()
    };
    let apple = ContainerOptions {
        engine: ContainerEngine::Apple,
        ..named.clone()
    };
    let refused = |options: ContainerOptions| match options.open_ambient() {
        Err(OpenError::ContainerOptions(error)) => error,
        _ => panic!("it is refused before an engine is asked"),
    };
    use ContainerOptionsError as Problem;
    assert!(matches!(refused(plain), Problem::ReconnectWithoutName));
    assert!(matches!(refused(named), Problem::ReconnectWithoutState));
    assert!(matches!(
        refused(apple),
        Problem::ReconnectOnThisEngine { .. }
    ));
}

#[test]
fn a_bound_workspace_is_kept_too() {
    let Some(options) = on_docker() else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let options = ContainerOptions {
        workspace: Some(folder.path().to_owned()),
        ..options
    };
    let again = Again::new(options, "bound");
    let first = again.open();
    wait(first.write("a", "b", WriteOptions::default())).expect("it writes");
    close(&first);
    let second = again.open();
    assert_eq!(wait(second.read("a")).expect("it is there").bytes, b"b");
    close(&second);
}
