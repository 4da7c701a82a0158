//! What a container may use up, and that the session outlives it.

use belljar::{RunOptions, WriteOptions, backends::ContainerOptions, processes::Outcome};

use super::*;

#[test]
fn a_fork_bomb_meets_the_limit_and_the_session_lives() {
    for options in on_each() {
        let sandbox = open(ContainerOptions {
            pids_limit: Some(32),
            ..options
        });
        printed(&sandbox, "true");
        let bomb = "f() { f | f & }; f; wait; i=0; while [ $i -lt 100 ]; do sleep 100 & i=$((i+1)); done; wait";
        let options = RunOptions {
            timeout: Some(2000),
            ..RunOptions::default()
        };
        let ended = wait(sandbox.run(Command::Shell(bomb.into()), options));
        // It ends by itself when it cannot fork, or at its time limit.
        let execution = ended.expect("the session tells how it ended");
        assert!(!execution.outcome.success(), "{execution:?}");
        wait(sandbox.write("a", "b", WriteOptions::default())).expect("the session lives");
        // Nothing of it is left.
        assert_eq!(printed(&sandbox, "echo again"), "again");
        close(&sandbox);
    }
}

#[test]
fn a_program_over_the_pids_limit_is_said_to_be_so() {
    let Some(options) = on_docker() else { return };
    let sandbox = open(ContainerOptions {
        pids_limit: Some(24),
        ..options
    });
    // Programs that stay, until one does not start.
    let mut started = Vec::new();
    let refused = loop {
        let command = Command::Argv(["sleep", "100"].map(str::to_owned).to_vec());
        match wait(sandbox.start(command, RunOptions::default())) {
            Ok(id) => started.push(id),
            Err(error) => break error,
        }
        assert!(started.len() < 64, "there is a limit");
    };
    assert_eq!(refused.kind, ErrorKind::Busy, "{refused:?}");
    // A thread counts too. Files and signals have theirs, however many calls there are at once.
    std::thread::scope(|scope| {
        for call in 0..16 {
            let sandbox = &sandbox;
            scope.spawn(move || {
                let name = format!("a{call}");
                let written = wait(sandbox.write(&name, "b", WriteOptions::default()));
                written.expect("the session lives");
                wait(sandbox.read(&name)).expect("the session lives");
            });
        }
    });
    for id in started {
        let told = wait(sandbox.signal(id, belljar::processes::SignalKind::Kill));
        told.expect("it is told to end");
    }
    until("there is room again", Duration::from_secs(5), || {
        run(&sandbox, "true").is_ok()
    });
    close(&sandbox);
}

#[test]
fn a_full_tmp_is_the_programs_affair() {
    for options in on_each() {
        let sandbox = open(ContainerOptions {
            tmp_bytes: 1 << 20,
            ..options
        });
        wait(sandbox.write("a", "old", WriteOptions::default())).expect("it writes");
        let filled = sh(&sandbox, "dd if=/dev/zero of=/tmp/all bs=4096");
        assert!(!filled.outcome.success(), "{filled:?}");
        // Neither files nor other programs need it.
        wait(sandbox.write("a", "new", WriteOptions::default())).expect("it writes");
        assert_eq!(printed(&sandbox, "cat a; rm /tmp/all; echo >/tmp/b"), "new");
        close(&sandbox);
    }
}

#[test]
fn a_program_that_takes_too_much_memory_dies_and_the_session_lives() {
    for options in on_each() {
        let sandbox = open(ContainerOptions {
            memory: Some(64 << 20),
            ..options
        });
        wait(sandbox.write("a", "b", WriteOptions::default())).expect("it writes");
        // A line without an end is held whole.
        let command = ["tail", "/dev/zero"].map(str::to_owned).to_vec();
        let ended = wait(sandbox.run(Command::Argv(command), RunOptions::default()));
        let outcome = ended.expect("the session tells").outcome;
        assert_eq!(outcome, Outcome::OutOfMemory);
        // What is in the scratch is memory too.
        let filled = sh(&sandbox, "dd if=/dev/zero of=large bs=1048576 count=100");
        assert_eq!(filled.outcome, Outcome::OutOfMemory);
        printed(&sandbox, "rm large");
        assert_eq!(
            wait(sandbox.read("a")).expect("the session lives").bytes,
            b"b"
        );
        close(&sandbox);
    }
}

#[test]
fn a_tree_that_left_its_group_ends_a_tenth_of_a_second_after_its_limit() {
    for options in on_each() {
        let of = options.engine;
        let sandbox = open(options);
        let text = "setsid sh -c 'sleep 601 & sleep 602' & \
                    ( ( setsid sleep 603 & ) & sleep 604 & ) & ( sleep 605 & ) ; sleep 606";
        let limited = RunOptions {
            timeout: Some(1000),
            ..RunOptions::default()
        };
        // The best of a few: how long a machine that does other things takes is not the question.
        let mut times: Vec<Duration> = (0..5)
            .map(|_| {
                let command = Command::Shell(text.to_owned());
                let began = Instant::now();
                let ended = wait(sandbox.run(command, limited.clone())).expect("it tells");
                let took = began.elapsed();
                assert_eq!(ended.outcome, Outcome::TimedOut, "{of}");
                let alive = printed(&sandbox, "pgrep -f 'sleep 60[1-6]' | wc -l");
                assert_eq!(alive, "0", "{of}: none lives");
                took
            })
            .collect();
        times.sort_unstable();
        assert!(times[0] < Duration::from_millis(1100), "{of}: {times:?}");
        close(&sandbox);
    }
}
