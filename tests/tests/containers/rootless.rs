//! An engine without root's rights: whose files are made, and which limits are none.

use std::{os::unix::fs::MetadataExt as _, path::Path, process::Stdio};

use belljar::{
    WriteOptions,
    backends::{ContainerOptions, Guarantee, OpenError, Standing, TransportChoice},
};
use belljar_tests::RootlessPodman;

use super::*;

fn on(podman: &RootlessPodman) -> ContainerOptions {
    ContainerOptions {
        transport: TransportChoice::Stdio,
        ..podman.options()
    }
}

#[track_caller]
fn belongs_to_nobody(path: &Path) {
    let found = std::fs::metadata(path).expect("it is kept");
    let owner = RootlessPodman::USER;
    assert_eq!((found.uid(), found.gid()), (owner, owner), "{path:?}");
}

#[test]
fn what_is_made_belongs_to_who_runs_the_engine() {
    let Some(podman) = RootlessPodman::start() else {
        return;
    };
    let work = podman.workspace();
    let sandbox = open(on(&podman));
    wait(sandbox.write("new.txt", "x", WriteOptions::default())).expect("it writes");
    printed(&sandbox, "mkdir built; echo y >built/y");
    close(&sandbox);
    for name in ["new.txt", "built", "built/y"] {
        belongs_to_nobody(&work.join(name));
    }
    // And may be changed and deleted by them.
    let text = "echo z >>new.txt && echo z >>built/y && rm -r new.txt built";
    let mut program = podman.command("sh");
    let changed = program.args(["-c", text]).status().expect("it starts");
    assert!(changed.success());
}

/// The whole command as that user, whose container comes to a socket of theirs.
#[test]
fn a_user_without_rights_has_a_session_over_a_socket() {
    let Some(podman) = RootlessPodman::start() else {
        return;
    };
    let work = podman.workspace();
    let text = format!(
        "version = 1\n[sandbox]\nbackend = \"container\"\nworkspace = {work:?}\nwritable = true\n\
        [sandbox.container]\nengine = \"podman\"\nimage = \"{BUSYBOX}\"\npull = \"never\"\n",
    );
    std::fs::write(work.join("belljar.toml"), text).expect("it is written");
    // Where it was built, nobody may not look.
    let command = podman.residents().join("belljar");
    std::fs::copy(life::belljar(), &command).expect("it is copied");
    let output = podman
        .command(&command)
        .args([
            "exec",
            "--",
            "sh",
            "-c",
            "id -u; tr '\\0' ' ' </proc/1/cmdline; mkdir built; echo y >built/y",
        ])
        .env("BELLJAR_RESIDENTS", podman.residents())
        .stdin(Stdio::null())
        .output()
        .expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let printed = String::from_utf8_lossy(&output.stdout);
    let right = "0\n/.belljar/resident connect /.belljar/stream/socket ";
    assert_eq!(printed, right);
    for name in ["built", "built/y"] {
        belongs_to_nobody(&work.join(name));
    }
    // All that was asked for is there, or known to be missing.
    let output = podman
        .command(&command)
        .arg("doctor")
        .env("BELLJAR_RESIDENTS", podman.residents())
        .output()
        .expect("it starts");
    let table = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{table}");
}

#[test]
fn a_limit_that_cannot_be_set_is_told_and_refused_where_it_is_required() {
    let Some(podman) = RootlessPodman::start() else {
        return;
    };
    let options = ContainerOptions {
        pids_limit: Some(24),
        memory: Some(100 << 20),
        ..on(&podman)
    };
    let context = Context::new();
    let report = wait(options.clone().examine_ambient(&context)).expect("it opens");
    let standing = |guarantee: Guarantee| {
        let mut rows = report.rows.iter();
        let row = rows.find(|row| row.guarantee == guarantee.as_str());
        row.expect("every guarantee has a row").standing
    };
    // That is what the doctor says of everything else.
    let failures: Vec<_> = report.failures().collect();
    assert!(failures.is_empty(), "{failures:#?}");
    assert_eq!(standing(Guarantee::HostUser), Standing::Held);
    for guarantee in [Guarantee::PidsLimit, Guarantee::MemoryLimit] {
        let required = ContainerOptions {
            require: [guarantee].into(),
            ..options.clone()
        };
        match required.open_ambient() {
            Err(OpenError::RequirementsUnmet { gaps }) => {
                assert_eq!(gaps[0].guarantee, guarantee);
                assert_eq!(standing(guarantee), Standing::Missing);
            }
            // Where its controllers are delegated.
            Ok(_) => assert_eq!(standing(guarantee), Standing::Held),
            Err(error) => panic!("{error:?}"),
        }
    }
    let sandbox = open(options);
    let text = "i=0; while [ $i -lt 40 ]; do sleep 5 & i=$((i+1)); done; echo all";
    let all = sh(&sandbox, text).outcome.success();
    let held = standing(Guarantee::PidsLimit) == Standing::Held;
    assert_eq!(all, !held, "what is said is what is so");
    close(&sandbox);
}
