//! From the first call to the end.

use std::{
    io::BufRead as _,
    path::PathBuf,
    process::{Child, Command as Program, Stdio},
    sync::Barrier,
    time::Duration,
};

use belljar::{ErrorKind, WriteOptions, backends::ContainerOptions};
use belljar_tests::{BUSYBOX, static_resident};

use super::*;

/// Options for a container that is found by its label.
fn named(options: ContainerOptions, name: &str) -> (ContainerOptions, String) {
    let name = a_name(name);
    let label = format!("belljar.name={name}");
    let name = Some(name);
    (ContainerOptions { name, ..options }, label)
}

#[test]
fn it_starts_at_the_first_call_and_is_gone_when_closed() {
    for options in on_each() {
        let of = options.engine;
        let (options, label) = named(options, "closed");
        let sandbox = open(options);
        assert!(labelled(of, &label).is_empty(), "nobody has called");
        wait(sandbox.write("a", "b", WriteOptions::default())).expect("it writes");
        assert_eq!(labelled(of, &label).len(), 1);
        close(&sandbox);
        assert!(labelled(of, &label).is_empty(), "{of}: it is gone");
        // Again, and of every clone.
        close(&sandbox);
        close(&sandbox.clone());
        let after = wait(sandbox.read("a")).expect_err("it is closed");
        assert_eq!(after.kind, ErrorKind::Closed);
        assert!(labelled(of, &label).is_empty(), "no new one was started");
    }
}

#[test]
fn one_that_was_never_called_starts_nothing() {
    let Some(options) = on_docker() else { return };
    let (options, label) = named(options, "unused");
    let sandbox = open(options);
    close(&sandbox);
    assert!(labelled(ContainerEngine::Docker, &label).is_empty());
}

#[test]
fn first_calls_at_once_share_one_container() {
    for options in on_each() {
        let of = options.engine;
        let (options, label) = named(options, "shared");
        let sandbox = open(options);
        let all = Barrier::new(4);
        let hosts: Vec<String> = std::thread::scope(|scope| {
            let call = || {
                all.wait();
                printed(&sandbox, "cat /proc/self/mountinfo | md5sum")
            };
            let calls: Vec<_> = (0..4).map(|_| scope.spawn(call)).collect();
            calls
                .into_iter()
                .map(|call| call.join().expect("no panic"))
                .collect()
        });
        assert!(hosts.windows(2).all(|pair| pair[0] == pair[1]), "{hosts:?}");
        assert_eq!(labelled(of, &label).len(), 1);
        close(&sandbox);
    }
}

#[test]
fn one_that_is_closed_while_it_starts_leaves_nothing() {
    for options in on_each() {
        let of = options.engine;
        // At once, and when the container is already there.
        for seen in [false, true] {
            let (options, label) = named(options.clone(), "starting");
            let sandbox = open(options);
            std::thread::scope(|scope| {
                let call = scope.spawn(|| run(&sandbox, "true"));
                if seen {
                    until("it is made", Duration::from_secs(20), || {
                        !labelled(of, &label).is_empty()
                    });
                }
                close(&sandbox);
                assert!(labelled(of, &label).is_empty(), "{of}: it is gone");
                // Where it was there already, its program may have run.
                if let Err(error) = call.join().expect("no panic") {
                    assert_eq!(error.kind, ErrorKind::Closed, "{of}: {error:?}");
                }
            });
            // Nor does one come afterwards, while somebody still has the session.
            std::thread::sleep(Duration::from_millis(500));
            assert!(labelled(of, &label).is_empty(), "{of}: nor comes one");
        }
    }
}

#[test]
fn one_that_is_dropped_ends_too() {
    let Some(options) = on_docker() else { return };
    let (options, label) = named(options, "dropped");
    let sandbox = open(options);
    printed(&sandbox, "true");
    drop(sandbox);
    until("its container is gone", Duration::from_secs(2), || {
        labelled(ContainerEngine::Docker, &label).is_empty()
    });
}

/// The command beside this test.
pub(super) fn belljar() -> PathBuf {
    let named = std::env::var_os("BELLJAR_BIN").map(PathBuf::from);
    named.unwrap_or_else(|| {
        let test = std::env::current_exe().expect("this test's own path");
        let folder = test.ancestors().nth(2).expect("cargo's target folder");
        folder.join("belljar")
    })
}

/// Starts the command with a program that does not end, and waits until that runs, in a folder `work`.
pub(super) fn long_exec(
    of: ContainerEngine,
    transport: &str,
    name: &str,
    text: &str,
) -> (Child, tempfile::TempDir) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::create_dir(folder.path().join("work")).expect("it is made");
    let config = format!(
        "version = 1\n[sandbox]\nbackend = \"container\"\nworkspace = \"work\"\nwritable = true\n\
        [sandbox.container]\nengine = \"{of}\"\nimage = \"{BUSYBOX}\"\npull = \"never\"\nname = \"{name}\"\n\
        transport = \"{transport}\"\n"
    );
    std::fs::write(folder.path().join("belljar.toml"), config).expect("it is written");
    let mut command = Program::new(belljar());
    let mut child = command
        .args(["exec", "--", "sh", "-c"])
        .arg(format!("tr '\\0' ' ' </proc/1/cmdline; echo; {text}"))
        .current_dir(folder.path())
        .env(
            "BELLJAR_RESIDENTS",
            static_resident().parent().expect("a folder"),
        )
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let output = child.stdout.take().expect("a pipe");
    let mut line = String::new();
    let mut output = std::io::BufReader::new(output);
    output.read_line(&mut line).expect("it prints");
    let right = match transport {
        "stdio" => "/.belljar/resident stdio \n",
        _ => "/.belljar/resident connect /.belljar/stream/socket \n",
    };
    assert_eq!(line, right);
    (child, folder)
}

#[test]
fn an_owner_that_is_killed_leaves_no_container() {
    for of in ENGINES {
        for transport in ["socket", "stdio"] {
            if on(of).is_none() {
                continue;
            }
            let name = a_name(&format!("killed-{transport}"));
            let label = format!("belljar.name={name}");
            let (mut child, _folder) = long_exec(of, transport, &name, "exec sleep 600");
            assert_eq!(labelled(of, &label).len(), 1);
            child.kill().expect("it is ours");
            child.wait().expect("it is ours");
            until("its container is gone", Duration::from_secs(2), || {
                labelled(of, &label).is_empty()
            });
        }
    }
}
