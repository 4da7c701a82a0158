//! What `processes` promises, of a supervisor in an application that has children of its own.
#![cfg(target_os = "linux")]

mod harness;

use std::{thread, time::Duration};

use belljar_contract::{
    Context, ErrorKind, GuestPath, Launch,
    processes::{Outcome, SignalKind},
    session::Limits,
};
use harness::{
    Session, argv, children, escape, limited, sentinel, shell, timed, until_asleep, with_argument,
};

const MILLISECOND: Duration = Duration::from_millis(1);
const LONG: Duration = Duration::from_secs(20);

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("the test prints text")
}

#[test]
fn a_program_runs_with_its_arguments_and_streams() {
    let session = Session::new();
    let ran = session.run(argv(&[
        "sh",
        "-c",
        "echo \"$@\"; echo no >&2; exit 3",
        "x",
        "a b",
        "*",
    ]));
    assert_eq!(ran.outcome, Outcome::Exited(3));
    assert_eq!(text(&ran.stdout.head), "a b *\n");
    assert_eq!(text(&ran.stderr.head), "no\n");
}

#[test]
fn exit_codes_and_signals_are_told_apart() {
    let session = Session::new();
    for code in [0, 1, 124, 126, 127, 137, 255] {
        let ran = session.sh(&format!("exit {code}"));
        assert_eq!(ran.outcome, Outcome::Exited(code));
    }
    for signal in [1, 6, 9, 15] {
        let ran = session.sh(&format!("kill -{signal} $$"));
        assert_eq!(ran.outcome, Outcome::Signalled(signal));
    }
    assert_eq!(
        session.sh("no-such-command-here").outcome,
        Outcome::Exited(127)
    );
}

#[test]
fn what_cannot_start_says_why() {
    let session = Session::new();
    session.file("plain", "#!/bin/sh\n", 0o644);
    session.file("a-script", "#!/bin/sh\necho yes\n", 0o755);
    session.file("headless", "#!/no/such/interpreter\n", 0o755);
    session.file("foreign", "\u{7f}ELF and no more", 0o755);
    let kind = |program: &str| session.try_run(argv(&[program])).map(|ran| ran.outcome);
    assert_eq!(kind("./a-script"), Ok(Outcome::Exited(0)));
    assert_eq!(kind("./plain"), Err(ErrorKind::NotExecutable));
    assert_eq!(kind("./headless"), Err(ErrorKind::NotExecutable));
    assert_eq!(kind("./foreign"), Err(ErrorKind::NotExecutable));
    assert_eq!(kind("./absent"), Err(ErrorKind::ProgramNotFound));
    assert_eq!(kind("/absent/x"), Err(ErrorKind::ProgramNotFound));
    assert_eq!(kind("absent-program"), Err(ErrorKind::ProgramNotFound));
    // The root is not in the PATH.
    assert_eq!(kind("a-script"), Err(ErrorKind::ProgramNotFound));
    assert_eq!(kind("/"), Err(ErrorKind::NotExecutable));
    let directory = GuestPath::parse("none", "/").expect("a path");
    let ran = session.try_run(Launch {
        directory,
        ..argv(&["true"])
    });
    assert_eq!(ran, Err(ErrorKind::NotFound));
    let directory = GuestPath::parse("plain", "/").expect("a path");
    let ran = session.try_run(Launch {
        directory,
        ..argv(&["true"])
    });
    assert_eq!(ran, Err(ErrorKind::NotADirectory));
}

#[test]
fn a_name_is_looked_up_in_the_processes_own_path() {
    let session = Session::new();
    session.file("tool", "#!/bin/sh\necho mine\n", 0o755);
    session.file("other", "", 0o644);
    let root = session.directory.path().to_str().expect("text").to_owned();
    let with = |program: &str, path: &str| {
        session.try_run(Launch {
            environment: vec![("PATH".into(), path.into())],
            ..argv(&[program])
        })
    };
    let found = |path: &str| with("tool", path).map(|ran| ran.outcome);
    assert_eq!(found(&format!("/no:{root}")), Ok(Outcome::Exited(0)));
    assert_eq!(found(&format!("/no:{root}/")), Ok(Outcome::Exited(0)));
    assert_eq!(found("."), Ok(Outcome::Exited(0)));
    assert_eq!(found("/no"), Err(ErrorKind::ProgramNotFound));
    assert_eq!(
        with("other", &root).map(drop),
        Err(ErrorKind::NotExecutable)
    );
}

#[test]
fn arguments_over_the_systems_are_too_large() {
    let session = Session::new();
    let ran = session.try_run(argv(&["true", &"x".repeat(300 << 10)]));
    assert_eq!(ran.map(drop), Err(ErrorKind::TooLarge));
}

#[test]
fn the_environment_is_the_defaults_and_what_was_added() {
    let session = Session::new();
    session.sh("mkdir sub");
    let root = session
        .directory
        .path()
        .canonicalize()
        .expect("it is there");
    let root = root.to_str().expect("text");
    let ran = session.run(Launch {
        directory: GuestPath::parse("sub", "/").expect("a path"),
        environment: vec![("LANG".into(), "x".into()), ("A".into(), "1\n2".into())],
        ..argv(&["env", "-0"])
    });
    let mut lines: Vec<&str> = text(&ran.stdout.head).split_terminator('\0').collect();
    lines.retain(|line| !line.starts_with("BELLJAR_PROCESS="));
    lines.sort_unstable();
    let path = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    let (home, pwd) = (format!("HOME={root}"), format!("PWD={root}/sub"));
    assert_eq!(lines, ["A=1\n2", &home, "LANG=x", path, &pwd, "TERM=dumb"]);
    let ran = session.run(Launch {
        directory: GuestPath::parse("sub", "/").expect("a path"),
        ..argv(&["pwd", "-P"])
    });
    assert_eq!(text(&ran.stdout.head), format!("{root}/sub\n"));
}

#[test]
fn a_cancelled_run_ends_with_what_it_printed_and_has_time_to() {
    let session = Session::new();
    let context = Context::new();
    let cancellation = context.cancellation().clone();
    let alive = sentinel();
    let script = format!("trap 'echo bye; exit' TERM; echo hello; sleep {alive} & wait");
    let (ran, took) = thread::scope(|scope| {
        scope.spawn(|| {
            until_asleep(&alive, 1);
            cancellation.cancel();
        });
        timed(|| session.run_in(&context, shell(&script)))
    });
    let ran = ran.expect("it starts");
    assert_eq!(ran.outcome, Outcome::Cancelled);
    assert_eq!(text(&ran.stdout.head), "hello\nbye\n");
    assert!(took < LONG, "{took:?}");
    assert!(
        with_argument(&alive)
            .iter()
            .all(|path| path.as_os_str().is_empty())
    );
    assert_eq!(
        session.run_in(&context, shell("true")),
        Err(ErrorKind::Cancelled)
    );
}

#[test]
fn nothing_survives_a_cancellation() {
    let session = Session::new();
    let alive = sentinel();
    let script = format!("{} sleep {alive}", escape(&alive));
    let context = Context::new();
    thread::scope(|scope| {
        scope.spawn(|| {
            until_asleep(&alive, 5);
            context.cancellation().cancel();
        });
        let ran = session.run_in(&context, shell(&script)).expect("it starts");
        assert_eq!(ran.outcome, Outcome::Cancelled);
    });
    assert!(with_argument(&alive).is_empty());
}

#[test]
fn nothing_survives_the_session() {
    let session = Session::new();
    let alive = sentinel();
    let script = format!("{} sleep {alive}", escape(&alive));
    session.start(shell(&script));
    thread::scope(|scope| {
        let running = scope.spawn(|| session.run(shell(&script)));
        until_asleep(&alive, 10);
        let ((), took) = timed(|| session.supervisor.close());
        assert!(
            took >= 450 * MILLISECOND && took < 5000 * MILLISECOND,
            "{took:?}"
        );
        let ran = running.join().expect("it does not panic");
        assert_eq!(ran.outcome, Outcome::Cancelled);
    });
    assert!(with_argument(&alive).is_empty());
    assert_eq!(session.try_run(shell("true")), Err(ErrorKind::Closed));
    session.supervisor.close();
}

#[test]
fn much_output_is_read_to_the_end_and_both_ends_are_kept() {
    let session = Session::new();
    let ran = session.run(Launch {
        output_limit: 1000,
        ..shell("printf start; head -c 60000000 /dev/zero; printf end")
    });
    assert_eq!(ran.outcome, Outcome::Exited(0));
    assert_eq!(ran.stdout.dropped, 60_000_008 - 1000);
    assert_eq!((ran.stdout.head.len(), ran.stdout.tail.len()), (500, 500));
    assert!(ran.stdout.head.starts_with(b"start\0"));
    assert!(ran.stdout.tail.ends_with(b"\0end"));
}

#[test]
fn output_is_bytes() {
    let session = Session::new();
    let ran = session.sh(r"printf 'a\377\000b'; printf '\376' >&2");
    assert_eq!(ran.stdout.head, b"a\xff\0b");
    assert_eq!(ran.stderr.head, b"\xfe");
}

#[test]
fn both_outputs_and_the_input_move_at_once() {
    let session = Session::new();
    let input: Vec<u8> = (0..=255).cycle().take(3_000_000).collect();
    let ran = session.run(Launch {
        stdin: input.clone(),
        output_limit: 16 << 20,
        ..shell("tee /dev/stderr")
    });
    assert_eq!(ran.outcome, Outcome::Exited(0));
    assert!(ran.stdout.head == input);
    assert!(ran.stderr.head == input);
}

#[test]
fn much_input_is_read_or_not() {
    let session = Session::new();
    let stdin = vec![b'x'; 50 << 20];
    let with = |program: &[&str]| {
        session.run(Launch {
            stdin: stdin.clone(),
            ..argv(program)
        })
    };
    let ran = with(&["wc", "-c"]);
    assert_eq!(text(&ran.stdout.head).trim(), (50 << 20).to_string());
    assert_eq!(with(&["true"]).outcome, Outcome::Exited(0));
    let ran = with(&["head", "-c", "3"]);
    assert_eq!(
        (ran.outcome, text(&ran.stdout.head)),
        (Outcome::Exited(0), "xxx")
    );
    let ran = session.run(argv(&["wc", "-c"]));
    assert_eq!(text(&ran.stdout.head).trim(), "0");
}

#[test]
fn many_run_at_once_and_one_more_is_busy() {
    let session = Session::with(
        false,
        Limits {
            processes: 200,
            ..Limits::default()
        },
    );
    thread::scope(|scope| {
        let running: Vec<_> = (0..200)
            .map(|n| {
                let session = &session;
                scope.spawn(move || session.sh(&format!("sleep 0.05; echo {n}; exit {}", n % 100)))
            })
            .collect();
        for (n, running) in running.into_iter().enumerate() {
            let ran = running.join().expect("it does not panic");
            assert_eq!(text(&ran.stdout.head), format!("{n}\n"));
            assert_eq!(
                ran.outcome,
                Outcome::Exited(i32::try_from(n % 100).expect("small"))
            );
        }
    });
    let session = Session::with(
        false,
        Limits {
            processes: 1,
            ..Limits::default()
        },
    );
    let first = session.start(argv(&["cat"]));
    assert_eq!(session.try_run(shell("true")), Err(ErrorKind::Busy));
    assert_eq!(session.try_start(shell("true")), Err(ErrorKind::Busy));
    session.write(first, b"", true).expect("it is open");
    assert!(session.wait(first, LONG).is_some());
    assert!(session.try_run(shell("true")).is_ok());
}

#[test]
fn a_started_process_is_read_written_signalled_and_waited_for() {
    let session = Session::new();
    let cat = session.start(Launch {
        stdin: b"first\n".to_vec(),
        ..argv(&["cat"])
    });
    session.read_until(cat, "first\n");
    assert_eq!(session.wait(cat, MILLISECOND), None);
    session.write(cat, b"second\n", false).expect("it is open");
    session.read_until(cat, "first\nsecond\n");
    let chunk = session
        .read(cat, 13, 10, MILLISECOND)
        .expect("the end is a cursor");
    assert_eq!(
        (chunk.bytes.len(), chunk.cursor, chunk.ended),
        (0, 13, false)
    );
    assert_eq!(
        session.read(cat, 14, 10, MILLISECOND),
        Err(ErrorKind::InvalidArgument)
    );
    session.write(cat, b"third", true).expect("it is open");
    assert_eq!(session.write(cat, b"", false), Err(ErrorKind::Closed));
    let ended = session.wait(cat, LONG).expect("cat ends with its input");
    assert_eq!(ended.outcome, Outcome::Exited(0));
    let chunk = session.read(cat, 6, 100, MILLISECOND).expect("it is held");
    assert_eq!(
        (text(&chunk.bytes), chunk.dropped, chunk.ended),
        ("second\nthird", 0, true)
    );
    session.signal(cat, SignalKind::Terminate);
    session.signal(cat, SignalKind::Kill);
    assert_eq!(session.wait(cat, MILLISECOND), Some(ended));
    let next = session.start(argv(&["true"]));
    assert_ne!(next, cat);
    let unknown = belljar_contract::processes::ProcessId(next.0 + 1);
    assert_eq!(
        session.read(unknown, 0, 1, MILLISECOND),
        Err(ErrorKind::NotFound)
    );
}

#[test]
fn a_cursor_behind_what_is_held_says_what_is_gone() {
    let session = Session::new();
    let seq = session.start(Launch {
        output_limit: 100,
        ..argv(&["seq", "1", "100000"])
    });
    assert!(session.wait(seq, LONG).is_some());
    let chunk = session
        .read(seq, 10, 1000, MILLISECOND)
        .expect("it is in range");
    assert_eq!(chunk.bytes.len(), 100);
    assert_eq!(
        (chunk.dropped, chunk.cursor, chunk.ended),
        (588_895 - 110, 588_895, true)
    );
    assert!(chunk.bytes.ends_with(b"\n99999\n100000\n"));
}

#[test]
fn input_that_is_not_read_is_busy() {
    let session = Session::new();
    let sleeping = session.start(argv(&["sleep", "1000"]));
    session
        .write(sleeping, &vec![0; 1 << 20], false)
        .expect("it is taken whole");
    assert_eq!(
        session.write(sleeping, b"more", false),
        Err(ErrorKind::Busy)
    );
    let counting = session.start(argv(&["wc", "-c"]));
    session
        .write(counting, &vec![0; 5 << 20], true)
        .expect("it is taken whole");
    assert!(session.wait(counting, LONG).is_some());
    session.read_until(sleeping, "");
    let chunk = session
        .read(counting, 0, 100, MILLISECOND)
        .expect("it is held");
    assert_eq!(text(&chunk.bytes).trim(), (5 << 20).to_string());
    session.signal(sleeping, SignalKind::Kill);
    assert!(session.wait(sleeping, LONG).is_some());
    assert_eq!(session.write(sleeping, b"x", false), Err(ErrorKind::Closed));
}

#[test]
fn signals_reach_the_group_and_kill_reaches_all() {
    let session = Session::new();
    let trapping = session.start(shell(
        "trap 'echo one' USR1; trap 'echo hup; exit 7' HUP; echo on; while :; do sleep 0.02; done",
    ));
    session.read_until(trapping, "on\n");
    session.signal(trapping, SignalKind::Hangup);
    let ended = session.wait(trapping, LONG).expect("it exits");
    // The sleep in its group was ended too, which the shell does not mind.
    assert_eq!(ended.outcome, Outcome::Exited(7));
    let sleeping = session.start(argv(&["sleep", "1000"]));
    session.signal(sleeping, SignalKind::Terminate);
    let ended = session.wait(sleeping, LONG).expect("it ends");
    assert_eq!(ended.outcome, Outcome::Signalled(15));
    let alive = sentinel();
    let hiding = session.start(shell(&format!("{} sleep {alive}", escape(&alive))));
    until_asleep(&alive, 5);
    session.signal(hiding, SignalKind::Kill);
    let ended = session.wait(hiding, LONG).expect("it ends");
    assert_eq!(ended.outcome, Outcome::Signalled(9));
    assert!(with_argument(&alive).is_empty());
}

#[test]
fn what_a_started_leader_leaves_ends_with_it() {
    let session = Session::new();
    let alive = sentinel();
    let started = session.start(shell(&format!(
        "{} echo on; read x; exit 2",
        escape(&alive)
    )));
    until_asleep(&alive, 4);
    session.write(started, b"\n", true).expect("it is open");
    let ended = session.wait(started, LONG).expect("it ends");
    assert_eq!(ended.outcome, Outcome::Exited(2));
    assert!(with_argument(&alive).is_empty());
}

#[test]
fn waiting_ends_with_its_call() {
    let session = Session::new();
    let sleeping = session.start(argv(&["sleep", "1000"]));
    let context = Context::new();
    let asked = |context: &Context, wait| {
        let process = sleeping;
        let request = belljar_contract::Request::Wait { process, wait };
        session
            .supervisor
            .call(context, &session.files, request)
            .map_err(|error| error.kind)
    };
    thread::scope(|scope| {
        let waiting = scope.spawn(|| asked(&context, Duration::MAX));
        thread::sleep(20 * MILLISECOND);
        context.cancellation().cancel();
        assert_eq!(waiting.join().expect("no panic"), Err(ErrorKind::Cancelled));
    });
    let context = Context::new().with_timeout(30 * MILLISECOND);
    assert_eq!(asked(&context, Duration::MAX), Err(ErrorKind::TimedOut));
}

#[test]
fn commands_are_found_and_asked() {
    let session = Session::new();
    let found = session.find_commands(&["sh", "env", "no-such-command", "sleep"]);
    let names: Vec<_> = found.iter().map(|info| info.name.as_str()).collect();
    assert_eq!(names, ["sh", "env", "no-such-command", "sleep"]);
    assert!(
        found[0]
            .path
            .as_deref()
            .is_some_and(|path| path.ends_with("/sh"))
    );
    assert_eq!((&found[2].path, &found[2].version), (&None, &None));
    assert!(
        found[1]
            .path
            .as_deref()
            .is_some_and(|path| path.ends_with("/env"))
    );
}

#[test]
fn an_applications_own_children_are_left_alone() {
    let session = Session::new();
    let alive = sentinel();
    let mut own = std::process::Command::new("sleep")
        .arg(&alive)
        .spawn()
        .expect("sleep starts");
    let mut dead = std::process::Command::new("true")
        .spawn()
        .expect("true starts");
    let pid = i32::try_from(dead.id()).expect("small");
    while !children().contains(&(pid, true)) {
        thread::yield_now();
    }
    for _ in 0..5 {
        session.sh("(setsid sleep 1000 &); true");
    }
    session.run(limited(shell("sleep 1000"), 50));
    session.supervisor.close();
    assert_eq!(with_argument(&alive).len(), 1);
    assert!(
        dead.wait()
            .expect("it is still there to wait for")
            .success()
    );
    own.kill().expect("it is ours");
    own.wait().expect("it is ours");
}
