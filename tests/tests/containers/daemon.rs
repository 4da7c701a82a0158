//! A daemon that dies, hangs, comes again, or has a full disk, under sessions that it started.

use belljar::{
    ErrorKind, WriteOptions,
    backends::{
        CliFailure, ContainerFate, ContainerOptions, OpenError, PruneOptions, PruneReport,
        ResidentChoice, TransportChoice, prune_ambient,
    },
};
use belljar_tests::Daemon;

use super::*;

/// Room for the image, and for some containers.
pub(super) const DISK: u64 = 64 << 20;

pub(super) const TRANSPORTS: [TransportChoice; 2] =
    [TransportChoice::Socket, TransportChoice::Stdio];

pub(super) fn over(daemon: &Daemon, transport: TransportChoice) -> ContainerOptions {
    ContainerOptions {
        transport,
        ..daemon.options()
    }
}

fn pruned(daemon: &Daemon) -> PruneReport {
    let options = PruneOptions {
        engine_environment: daemon.environment(),
        ..PruneOptions::default()
    };
    prune_ambient(&Context::new(), &options).expect("the engine answers")
}

#[test]
fn over_a_socket_calls_go_on_while_the_daemon_is_dead_and_end_when_it_comes_again() {
    let Some(mut daemon) = Daemon::start(DISK, &[]) else {
        return;
    };
    let sandbox = open(over(&daemon, TransportChoice::Socket));
    printed(&sandbox, "true");
    let error = in_the_middle(&sandbox, || {
        daemon.kill();
        wait(sandbox.write("a", "b", WriteOptions::default())).expect("it is not needed");
        assert_eq!(printed(&sandbox, "cat a"), "b");
        // Now it ends what it does not know.
        daemon.restart().expect("it comes again");
    });
    assert!(matches!(fate_of(&error), ContainerFate::Gone), "{error:?}");
    is_dead(&sandbox, &error);
    close(&sandbox);
    assert!(pruned(&daemon).containers.is_empty());
    assert!(daemon.containers().is_empty());
    // The next one is as any other.
    let sandbox = open(daemon.options());
    assert_eq!(printed(&sandbox, "echo again"), "again");
    close(&sandbox);
}

#[test]
fn over_standard_streams_a_call_ends_with_the_daemon_that_carries_it() {
    let Some(mut daemon) = Daemon::start(DISK, &[]) else {
        return;
    };
    let sandbox = open(over(&daemon, TransportChoice::Stdio));
    printed(&sandbox, "true");
    let mut killed = None;
    let error = in_the_middle(&sandbox, || {
        daemon.kill();
        killed = Some(Instant::now());
    });
    let took = killed.expect("it was").elapsed();
    assert!(took < Duration::from_secs(3), "{took:?}");
    assert!(
        matches!(failure(&error), Some(CliFailure::EngineDown)),
        "{error:?}"
    );
    is_dead(&sandbox, &error);
    daemon.restart().expect("it comes again");
    close(&sandbox);
    assert!(pruned(&daemon).containers.is_empty());
    assert!(daemon.containers().is_empty());
}

#[test]
fn a_daemon_that_is_told_to_end_takes_its_containers_along() {
    let Some(mut daemon) = Daemon::start(DISK, &[]) else {
        return;
    };
    for transport in TRANSPORTS {
        let sandbox = open(over(&daemon, transport));
        printed(&sandbox, "true");
        let began = Instant::now();
        let error = in_the_middle(&sandbox, || daemon.terminate());
        assert!(began.elapsed() < Duration::from_secs(10), "{error:?}");
        is_dead(&sandbox, &error);
        // That it is down is not that the container is gone.
        let closed = wait(sandbox.close()).expect_err("nobody can tell");
        assert_eq!(closed.kind, ErrorKind::BackendUnavailable, "{closed:?}");
        daemon.restart().expect("it comes again");
        assert!(daemon.containers().is_empty());
    }
}

#[test]
fn a_daemon_that_hangs_is_given_up() {
    let Some(daemon) = Daemon::start(DISK, &[]) else {
        return;
    };
    let sandbox = open(over(&daemon, TransportChoice::Socket));
    printed(&sandbox, "true");
    let id = daemon.containers().remove(0);
    let process = daemon.docker(&["inspect", "--format={{.State.Pid}}", &id]);
    daemon.freeze();
    assert_eq!(printed(&sandbox, "echo still"), "still");
    let began = Instant::now();
    let refused = ContainerOptions {
        start_timeout: Duration::from_millis(500),
        ..daemon.options()
    };
    let Err(OpenError::Engine(error)) = refused.open_ambient().map(drop) else {
        panic!("it is refused");
    };
    assert!(matches!(error.failure, CliFailure::Hangs { .. }), "{error}");
    assert!(began.elapsed() < Duration::from_secs(3));
    // Nobody tells what became of a container that ends meanwhile, and the call does not wait for it.
    let began = Instant::now();
    let error = in_the_middle(&sandbox, || {
        kill(&process);
    });
    assert!(began.elapsed() < Duration::from_secs(8), "{error:?}");
    assert!(
        matches!(failure(&error), Some(CliFailure::Hangs { .. })),
        "{error:?}"
    );
    is_dead(&sandbox, &error);
    daemon.thaw();
    close(&sandbox);
    assert!(daemon.containers().is_empty());
}

#[test]
fn without_a_resident_a_daemon_that_is_dead_is_no_missing_file() {
    let Some(mut daemon) = Daemon::start(DISK, &[]) else {
        return;
    };
    let sandbox = open(ContainerOptions {
        resident: ResidentChoice::Off,
        patience: Duration::from_secs(1),
        ..daemon.options()
    });
    wait(sandbox.write("a", "b", WriteOptions::default())).expect("it writes");
    daemon.freeze();
    let began = Instant::now();
    let lost = wait(sandbox.read("a")).expect_err("nobody answers");
    assert_eq!(lost.kind, ErrorKind::BackendUnavailable, "{lost:?}");
    assert!(began.elapsed() < Duration::from_secs(10), "{lost:?}");
    daemon.thaw();
    assert_eq!(wait(sandbox.read("a")).expect("it is there").bytes, b"b");
    daemon.kill();
    for lost in [
        wait(sandbox.read("a")).map(drop),
        wait(sandbox.read("no-such")).map(drop),
        wait(sandbox.stat("a")).map(drop),
        wait(sandbox.list(".", None)).map(drop),
        run(&sandbox, "true").map(drop),
        wait(sandbox.write("a", "c", WriteOptions::default())).map(drop),
    ] {
        let lost = lost.expect_err("it is gone");
        assert_eq!(lost.kind, ErrorKind::BackendUnavailable, "{lost:?}");
    }
    daemon.restart().expect("it comes again");
    let lost = wait(sandbox.read("a")).expect_err("its container has ended");
    assert_eq!(lost.kind, ErrorKind::BackendUnavailable, "{lost:?}");
    close(&sandbox);
    assert!(daemon.containers().is_empty());
}

#[test]
fn what_is_found_again_outlives_the_daemon() {
    let Some(mut daemon) = Daemon::start(DISK, &[]) else {
        return;
    };
    let state = tempfile::tempdir().expect("a temporary folder");
    for transport in TRANSPORTS {
        let options = ContainerOptions {
            name: Some(a_name(&format!("daemon-{transport:?}"))),
            reconnect: true,
            state: Some(state.path().join("containers")),
            readonly_rootfs: false,
            ..over(&daemon, transport)
        };
        let first = open(options.clone());
        printed(&first, "echo kept >/bin/kept");
        let error = in_the_middle(&first, || {
            daemon.kill();
            daemon.restart().expect("it comes again");
        });
        is_dead(&first, &error);
        let second = open(options);
        // The place is the first one's until it is closed.
        let busy = run(&second, "true").expect_err("it is taken");
        assert_eq!(busy.kind, ErrorKind::Busy, "{busy:?}");
        close(&first);
        assert_eq!(printed(&second, "cat /bin/kept"), "kept");
        close(&second);
    }
}
