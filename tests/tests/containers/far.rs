//! An engine that is reached over the network, where nothing of this machine's can be bound.

use std::net::TcpListener;

use belljar::{
    WriteOptions,
    backends::{EngineEnvironment, Guarantee, ResidentChoice},
};
use belljar_tests::{BUSYBOX, Daemon, static_resident};

use super::*;

/// Room for the image, the resident and some containers.
const DISK: u64 = 64 << 20;

/// A daemon that listens on a port too, and what a program must know to reach it there.
fn far() -> Option<(Daemon, ContainerOptions)> {
    let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    let address = format!("tcp://{}", free.expect("a free port"));
    let daemon = Daemon::start(DISK, &["--host", &address, "--tls=false"])?;
    let variables = [("DOCKER_HOST".into(), address.into())];
    let engine_environment =
        EngineEnvironment::from_variables(std::env::vars_os().chain(variables));
    let options = ContainerOptions {
        engine_environment,
        require: [Guarantee::Resident].into(),
        ..daemon.options()
    };
    Some((daemon, options))
}

#[test]
fn the_resident_is_brought_there_once() {
    let Some((daemon, options)) = far() else {
        return;
    };
    let first = open(options.clone());
    wait(first.write("a", "b", WriteOptions::default())).expect("it writes");
    assert_eq!(printed(&first, "cat a; cat /proc/1/comm"), "bresident");
    let changed = sh(&first, "echo x >> /.belljar/resident");
    assert!(!changed.outcome.success(), "{changed:?}");

    let carriers = || {
        let list = [
            "ps",
            "--all",
            "--quiet",
            "--no-trunc",
            "--filter=status=created",
        ];
        let created = daemon.docker(&list);
        created.split_whitespace().map(str::to_owned).collect()
    };
    let carrier: Vec<String> = carriers();
    assert_eq!(carrier.len(), 1);
    let second = open(options.clone());
    assert_eq!(printed(&second, "echo too"), "too");
    assert_eq!(carriers(), carrier, "the same");

    // Whoever removes it takes it from none that runs.
    let _ = daemon.docker(&["rm", "--volumes", &carrier[0]]);
    assert_eq!(printed(&first, "echo still"), "still");
    // The program may be a link, as a package manager makes them.
    let folder = tempfile::tempdir().expect("a temporary folder");
    let link = folder.path().join("resident");
    std::os::unix::fs::symlink(static_resident(), &link).expect("a link");
    let third = open(ContainerOptions {
        resident: ResidentChoice::Path(link),
        ..options
    });
    assert_eq!(printed(&third, "echo new"), "new");
    assert_eq!(carriers().len(), 1);
    [first, second, third].iter().for_each(close);
    assert_eq!(daemon.containers(), carriers(), "nothing else is left");
}

#[test]
fn what_one_image_keeps_is_not_lent_to_another() {
    let Some((daemon, options)) = far() else {
        return;
    };
    let made = daemon.docker(&["create", BUSYBOX, "true"]);
    let (made, change) = (made.trim(), "--change=VOLUME /of-another");
    let _ = daemon.docker(&["commit", change, made, "another"]);
    let _ = daemon.docker(&["rm", made]);
    let another = open(ContainerOptions {
        image: "another".into(),
        ..options.clone()
    });
    let look = "ls -d /of-another 2>/dev/null; true";
    assert_eq!(printed(&another, look), "/of-another");
    let plain = open(options);
    assert_eq!(printed(&plain, look), "", "it is another image's");
    [another, plain].iter().for_each(close);
}
