//! Inputs that people reported to systems that run containers, each as it was reported.
//!
//! What the conformance suite has of them, with the same sizes and counts, is not said again here.

use std::path::Path;

use belljar::{
    ErrorKind, RunOptions, WriteOptions,
    backends::{ContainerOptions, ContainerUser, TransportChoice},
    processes::Outcome,
};

use super::*;

fn limited(milliseconds: u64) -> RunOptions {
    RunOptions {
        timeout: Some(milliseconds),
        ..RunOptions::default()
    }
}

fn ended(sandbox: &Sandbox, text: &str, options: RunOptions) -> Execution {
    let command = Command::Shell(text.to_owned());
    wait(sandbox.run(command, options)).expect("the session tells")
}

#[test]
fn out_of_memory_is_told_from_three_other_ends() {
    for options in on_each() {
        let sandbox = open(ContainerOptions {
            memory: Some(64 << 20),
            ..options
        });
        // A block of 256 MiB is held whole.
        let greedy = "dd if=/dev/zero of=/dev/null bs=268435456 count=1";
        for (text, right) in [
            (greedy, Outcome::OutOfMemory),
            ("kill -9 $$", Outcome::Signalled(9)),
            ("sleep 60", Outcome::TimedOut),
            ("exit 137", Outcome::Exited(137)),
            // In whatever order.
            ("kill -9 $$", Outcome::Signalled(9)),
            (greedy, Outcome::OutOfMemory),
        ] {
            let outcome = ended(&sandbox, text, limited(5000)).outcome;
            assert_eq!(outcome, right, "{text}");
        }
        close(&sandbox);
    }
}

/// Does something so many times, by more at once than there are cores.
fn by_eight(times: usize, what: impl Fn() + Sync) {
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| (0..times / 8).for_each(|_| what()));
        }
    });
}

/// The streams are the engine's own, which is where they were lost.
#[test]
fn every_byte_comes_every_time_under_load() {
    for options in on_each() {
        let sandbox = open(ContainerOptions {
            transport: TransportChoice::Stdio,
            ..options
        });
        by_eight(5000, || assert_eq!(printed(&sandbox, "echo ok"), "ok"));
        let large = RunOptions {
            output_limit: Some(1 << 20),
            ..RunOptions::default()
        };
        let fed = RunOptions {
            stdin: vec![b'x'; 1 << 20],
            ..RunOptions::default()
        };
        by_eight(200, || {
            let all = ended(&sandbox, "head -c 500000 /dev/zero", large.clone());
            assert_eq!(all.stdout.head.len(), 500_000);
            let counted = ended(&sandbox, "wc -c", fed.clone());
            assert_eq!(counted.stdout.to_text().trim(), "1048576");
        });
        close(&sandbox);
    }
}

/// The processes of a container as they are seen inside, and those of them that nobody waited for.
fn processes(sandbox: &Sandbox) -> (usize, usize) {
    let states = "for one in /proc/[0-9]*/stat; do cat $one 2>/dev/null; done";
    let states = printed(sandbox, states);
    let zombies = states.lines().filter(|line| line.contains(") Z "));
    (states.lines().count(), zombies.count())
}

#[test]
fn what_a_shell_leaves_is_no_zombie() {
    for options in on_each() {
        let sandbox = open(options);
        let (before, _) = processes(&sandbox);
        by_eight(500, || drop(sh(&sandbox, "sleep 100 & sleep 1 & exit 0")));
        until("it is as it was", Duration::from_secs(3), || {
            processes(&sandbox) == (before, 0)
        });
        close(&sandbox);
    }
}

/// Appends a line ten times a second, for ever.
const FOR_EVER: &str = "while :; do echo beat >>beats; sleep 0.1; done";

/// Nothing is appended any more.
#[track_caller]
fn has_stopped_growing(file: &Path) {
    let size = || std::fs::metadata(file).expect("it is there").len();
    let before = size();
    assert!(before > 0);
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!(size(), before, "it goes on");
}

#[test]
fn a_limit_ends_the_program_and_not_only_who_waits_for_it() {
    for options in on_each() {
        let of = options.engine;
        let folder = tempfile::tempdir().expect("a temporary folder");
        let name = a_name("forever");
        let label = format!("belljar.name={name}");
        let sandbox = open(ContainerOptions {
            name: Some(name),
            workspace: Some(folder.path().to_owned()),
            ..options
        });
        let execution = ended(&sandbox, FOR_EVER, limited(1000));
        assert_eq!(execution.outcome, Outcome::TimedOut);
        has_stopped_growing(&folder.path().join("beats"));
        let id = labelled(of, &label).remove(0);
        assert!(!engine(of, &["top", &id]).contains("sleep"));
        close(&sandbox);
    }
}

#[test]
fn a_program_ends_with_the_process_that_called_it() {
    for of in ENGINES {
        if on(of).is_none() {
            continue;
        }
        let name = a_name("caller");
        let label = format!("belljar.name={name}");
        let (mut caller, folder) = life::long_exec(of, "auto", &name, FOR_EVER);
        let beats = folder.path().join("work/beats");
        until("it is at work", Duration::from_secs(5), || beats.exists());
        caller.kill().expect("it is ours");
        caller.wait().expect("it is ours");
        until("its container is gone", Duration::from_secs(2), || {
            labelled(of, &label).is_empty()
        });
        has_stopped_growing(&beats);
    }
}

#[test]
fn what_the_host_overwrites_in_place_is_seen() {
    for options in on_each() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("a");
        let sandbox = open(ContainerOptions {
            workspace: Some(folder.path().to_owned()),
            ..options
        });
        // Neither truncated nor made anew.
        for text in ["X", "Y"] {
            use std::io::Write as _;
            let mut options = std::fs::File::options();
            let opened = options.write(true).create(true).truncate(false).open(&file);
            let written = opened.expect("it opens").write_all(text.as_bytes());
            written.expect("it is written");
            let read = wait(sandbox.read("a")).expect("it is there");
            assert_eq!(read.bytes, text.as_bytes());
            assert_eq!(printed(&sandbox, "cat a"), text);
        }
        close(&sandbox);
    }
}

#[test]
fn what_is_made_in_a_bound_folder_is_the_callers_to_change_and_delete() {
    for options in on_each() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let sandbox = open(ContainerOptions {
            workspace: Some(folder.path().to_owned()),
            ..options
        });
        wait(sandbox.write("new.txt", "x", WriteOptions::default())).expect("it writes");
        printed(&sandbox, "mkdir built; echo y >built/y");
        close(&sandbox);
        for name in ["new.txt", "built/y"] {
            std::fs::write(folder.path().join(name), "mine").expect("it is ours");
        }
        std::fs::remove_file(folder.path().join("new.txt")).expect("it is ours");
        std::fs::remove_dir_all(folder.path().join("built")).expect("it is ours");
    }
}

/// By hand what a label of the host's does: the mount is there, and every read is refused.
#[test]
fn a_workspace_that_cannot_be_read_is_no_empty_one() {
    for options in on_each() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::write(folder.path().join("a"), "b").expect("it is written");
        make_private(folder.path());
        let options = ContainerOptions {
            workspace: Some(folder.path().to_owned()),
            user: Some(ContainerUser::Named("1234:2345".into())),
            ..options
        };
        let sandbox = open(options.clone());
        for error in [
            wait(sandbox.list(".", None)).map(drop),
            wait(sandbox.read("a")).map(drop),
            wait(sandbox.write("c", "d", WriteOptions::default())).map(drop),
        ] {
            let error = error.expect_err("it is refused");
            assert_eq!(error.kind, ErrorKind::AccessDenied, "{error:?}");
        }
        close(&sandbox);
        // Whose fault it is the doctor says.
        let report = wait(options.examine_ambient(&Context::new())).expect("it opens");
        let failing: Vec<_> = report.failures().map(|row| &*row.guarantee).collect();
        assert_eq!(failing, ["workspace"]);
    }
}

fn make_private(folder: &Path) {
    let mode = std::fs::Permissions::from_mode(0o700);
    std::fs::set_permissions(folder, mode).expect("it is ours");
}
