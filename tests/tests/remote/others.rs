//! Other programs than `ssh`: into a container that runs already, and into other namespaces.

use std::process::{Command as Program, Stdio};

use belljar::backends::ContainerEngine;
use belljar_tests::{BUSYBOX, has_engine};

use super::*;

/// A container of somebody else's.
struct Container {
    engine: ContainerEngine,
    id: String,
}

impl Container {
    fn start(engine: ContainerEngine) -> Option<Self> {
        if !has_engine(engine, BUSYBOX) {
            return None;
        }
        let output = Program::new(engine.program())
            .args(["run", "--detach", "--rm", "--network=none", BUSYBOX])
            .args(["sleep", "600"])
            .output()
            .expect("it runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        let id = String::from_utf8(output.stdout).expect("an id");
        let id = id.trim().to_owned();
        Some(Self { engine, id })
    }

    fn exec(&self, command: &[&str]) -> Vec<String> {
        let mut words = vec![self.engine.program().to_owned()];
        words.extend(["exec", "--interactive", &self.id].map(str::to_owned));
        words.extend(command.iter().map(|word| (*word).to_owned()));
        words
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        // An engine that removes what runs waits until it has heeded a signal, or not.
        for command in [["kill", &self.id].as_slice(), &["rm", "--force", &self.id]] {
            let _ = Program::new(self.engine.program())
                .args(command)
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status();
        }
    }
}

#[test]
fn a_container_that_runs_already() {
    for engine in [ContainerEngine::Docker, ContainerEngine::Podman] {
        let Some(container) = Container::start(engine) else {
            continue;
        };
        // An image's environment may name no home.
        let command = container.exec(&["env", "HOME=/tmp", "sh"]);
        let sandbox = open(RemoteOptions {
            install: true,
            ..options(command, Path::new("/workspace"))
        });
        assert_eq!(printed(&sandbox, "echo here >a; cat a"), "here");
        let resident = printed(&sandbox, "echo $PPID");
        close(&sandbox);
        let state = container.exec(&["ls", &format!("/proc/{resident}")]);
        let state = Program::new(&state[0]).args(&state[1..]).output();
        assert!(!state.expect("it runs").status.success(), "it runs on");
        // It is there now, and is a resident.
        let installed = container.exec(&["sh", "-c", "ls /tmp/.cache/belljar/residents/*"]);
        let listed = Program::new(&installed[0]).args(&installed[1..]).output();
        let path = String::from_utf8(listed.expect("it runs").stdout).expect("a path");
        let sandbox = open(options(
            container.exec(&[path.trim(), "stdio"]),
            Path::new("/workspace"),
        ));
        assert_eq!(printed(&sandbox, "cat a"), "here");
        close(&sandbox);
        let (_, why) = fails(options(
            container.exec(&["/no-such-resident", "stdio"]),
            Path::new("/workspace"),
        ));
        assert!(
            matches!(
                why.failure,
                RemoteFailure::ResidentMissing | RemoteFailure::NotExecutable
            ),
            "{why:?}"
        );
    }
}

#[test]
fn a_container_that_is_removed_ends_the_call_at_once() {
    let Some(container) = Container::start(ContainerEngine::Docker) else {
        return;
    };
    let command = container.exec(&["env", "HOME=/tmp", "sh"]);
    let sandbox = open(RemoteOptions {
        install: true,
        ..options(command, Path::new("/workspace"))
    });
    printed(&sandbox, "true");
    std::thread::scope(|scope| {
        let call = scope.spawn(|| run(&sandbox, "touch began; sleep 600"));
        until("it runs", Duration::from_secs(10), || {
            wait(sandbox.stat("began")).is_ok()
        });
        let (_, took) = timed(|| {
            drop(container);
            let error = call.join().expect("no panic").expect_err("it is gone");
            is_dead(&sandbox, &error);
        });
        assert!(took < Duration::from_secs(10), "{took:?}");
    });
    close(&sandbox);
}

#[test]
fn other_namespaces_of_this_machine() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let inside = ["unshare", "--user", "--map-root-user", "--net", "true"];
    let can = Program::new(inside[0]).args(&inside[1..]).status();
    if !can.is_ok_and(|status| status.success()) {
        println!("skipped: no user namespaces here");
        return;
    }
    let resident = static_resident().display().to_string();
    let command = [
        "unshare",
        "--user",
        "--map-root-user",
        "--net",
        "--",
        &resident,
        "stdio",
    ];
    let sandbox = open(options(command, folder.path()));
    // No network but a loopback that is down.
    let interfaces = printed(
        &sandbox,
        "tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '",
    );
    assert!(
        interfaces.lines().all(|name| name != "eth0"),
        "{interfaces}"
    );
    close(&sandbox);
}
