//! Disks of engines that are full.

use belljar::{
    ErrorKind, WriteOptions,
    backends::{CliFailure, ContainerOptions},
};
use belljar_tests::{Daemon, OwnPodman};

use super::{
    daemon::{TRANSPORTS, over},
    *,
};

#[test]
fn a_full_disk_of_the_engines_is_no_space() {
    let Some(daemon) = Daemon::start(16 << 20, &[]) else {
        return;
    };
    let before = open(daemon.options());
    printed(&before, "true");
    let fill = daemon.fill().expect("it is full");
    for transport in TRANSPORTS {
        let sandbox = open(over(&daemon, transport));
        let error = run(&sandbox, "true").expect_err("there is no room");
        assert_eq!(error.kind, ErrorKind::NoSpace, "{error:?}");
        assert!(
            matches!(failure(&error), Some(CliFailure::OutOfDisk)),
            "{error:?}"
        );
        close(&sandbox);
    }
    // One that runs has all that it needs.
    wait(before.write("a", "b", WriteOptions::default())).expect("it has its own room");
    std::fs::remove_file(&fill).expect("it is ours");
    close(&before);
    assert!(daemon.containers().is_empty());
    let sandbox = open(daemon.options());
    assert_eq!(printed(&sandbox, "echo again"), "again");
    close(&sandbox);
}

#[test]
fn a_full_disk_of_podmans_is_no_space() {
    let Some(podman) = OwnPodman::start(16 << 20) else {
        return;
    };
    let before = open(podman.options());
    printed(&before, "true");
    let fill = podman.fill().expect("it is full");
    for transport in TRANSPORTS {
        let sandbox = open(ContainerOptions {
            transport,
            ..podman.options()
        });
        let error = run(&sandbox, "true").expect_err("there is no room");
        assert_eq!(error.kind, ErrorKind::NoSpace, "{error:?}");
        assert!(
            matches!(failure(&error), Some(CliFailure::OutOfDisk)),
            "{error:?}"
        );
        close(&sandbox);
    }
    wait(before.write("a", "b", WriteOptions::default())).expect("it has its own room");
    std::fs::remove_file(&fill).expect("it is ours");
    close(&before);
    assert!(podman.containers().is_empty());
}
