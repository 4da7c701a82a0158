//! A daemon that makes every user of a container another one on its machine.

use std::os::unix::fs::MetadataExt as _;

use belljar::{
    ErrorKind, WriteOptions,
    backends::{ContainerOptions, Guarantee, OpenError, TransportChoice},
};
use belljar_tests::Daemon;

use super::{
    daemon::{DISK, over},
    *,
};

#[test]
fn a_daemon_that_maps_users_is_told_and_its_containers_still_come_to_the_socket() {
    let Some(daemon) = Daemon::remapping(DISK) else {
        return;
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    // Whoever it is may write there.
    let mode = std::fs::Permissions::from_mode(0o777);
    std::fs::set_permissions(folder.path(), mode).expect("it is ours");
    let options = ContainerOptions {
        workspace: Some(folder.path().to_owned()),
        ..over(&daemon, TransportChoice::Socket)
    };
    let sandbox = open(options.clone());
    let gaps = &sandbox.describe().hardening_gaps;
    let told = gaps.iter().any(|gap| gap.starts_with("host-user:"));
    assert!(told, "{gaps:?}");
    wait(sandbox.write("a", "b", WriteOptions::default())).expect("it writes");
    assert_eq!(printed(&sandbox, "cat a; echo >made"), "b");
    close(&sandbox);
    for name in ["a", "made"] {
        let found = std::fs::metadata(folder.path().join(name)).expect("it is kept");
        assert_eq!(
            (found.uid(), found.gid()),
            (Daemon::REMAPPED, Daemon::REMAPPED)
        );
    }
    // Who needs it to be otherwise is refused.
    let required = ContainerOptions {
        require: [Guarantee::HostUser].into(),
        ..options.clone()
    };
    let Err(OpenError::RequirementsUnmet { gaps }) = required.open_ambient().map(drop) else {
        panic!("it is refused");
    };
    assert_eq!(gaps[0].guarantee, Guarantee::HostUser);
    // What is somebody else's cannot be changed, and that is no missing file.
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(folder.path(), mode).expect("it is ours");
    let sandbox = open(options);
    let denied =
        wait(sandbox.write("b", "c", WriteOptions::default())).expect_err("it is not theirs");
    assert_eq!(denied.kind, ErrorKind::AccessDenied, "{denied:?}");
    close(&sandbox);
}
