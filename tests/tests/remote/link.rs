//! Connections that are lost in the middle of calls.

use super::*;

/// Calls that are under way, and how each ended.
fn in_flight(
    sandbox: &Sandbox,
    calls: usize,
    lose: impl FnOnce(&[String]),
) -> Vec<(Error, Duration)> {
    std::thread::scope(|scope| {
        let running: Vec<_> = (0..calls)
            .map(|at| {
                let text = format!("echo $$ >pid-{at}; sleep 600");
                scope.spawn(move || (run(sandbox, &text), Instant::now()))
            })
            .collect();
        let pid = |at| pid(sandbox, &format!("pid-{at}"));
        let mut pids = Vec::new();
        until("they run", Duration::from_secs(20), || {
            pids = (0..calls).filter_map(pid).collect();
            pids.len() == calls
        });
        let began = Instant::now();
        lose(&pids);
        let ended = running.into_iter().map(|call| {
            let (ended, at) = call.join().expect("no panic");
            (
                ended.expect_err("it is lost"),
                at.saturating_duration_since(began),
            )
        });
        ended.collect()
    })
}

/// A process id that was written to a file, once it is there.
fn pid(sandbox: &Sandbox, file: &str) -> Option<String> {
    let content = wait(sandbox.read(file)).ok()?;
    let text = String::from_utf8(content.bytes).ok()?;
    text.ends_with('\n').then(|| text.trim().to_owned())
}

/// The resident that serves a session, and a process of it that runs on.
fn resident_and_process(sandbox: &Sandbox) -> [String; 2] {
    let resident = printed(sandbox, "echo $PPID");
    let command = Command::Shell("echo $$ >started; exec sleep 600".to_owned());
    wait(sandbox.start(command, RunOptions::default())).expect("it starts");
    let mut process = None;
    until("it runs", Duration::from_secs(10), || {
        process = pid(sandbox, "started");
        process.is_some()
    });
    let process = process.expect("it runs");
    [resident, process]
}

#[test]
fn a_link_that_is_cut_ends_every_call_within_the_patience() {
    let Some(place) = Place::start() else { return };
    let sandbox = open(RemoteOptions {
        patience: Duration::from_millis(1500),
        ..place.options()
    });
    for (error, took) in in_flight(&sandbox, 5, |_| place.server.cut()) {
        assert!(took < Duration::from_secs(4), "{took:?}: {error:?}");
        assert!(took > Duration::from_millis(500), "{took:?}: {error:?}");
        let why = why(&error);
        assert!(matches!(why.failure, RemoteFailure::Lost { .. }), "{why:?}");
        is_dead(&sandbox, &error);
    }
    let (closed, took) = timed(|| wait(sandbox.close()));
    assert!(took < Duration::from_secs(10), "{took:?}");
    closed.expect("that it is lost was said");
}

#[test]
fn a_program_that_notices_ends_every_call_at_once() {
    let Some(place) = Place::start() else { return };
    let alive = ["-o", "ServerAliveInterval=1", "-o", "ServerAliveCountMax=2"];
    let sandbox = open(place.options_with(&alive));
    for (error, took) in in_flight(&sandbox, 3, |_| place.server.cut()) {
        // Long before the session's own patience is over.
        assert!(took < Duration::from_secs(8), "{took:?}: {error:?}");
        let why = why(&error);
        let by_ssh = matches!(why.failure, RemoteFailure::Ended { code: Some(255) });
        assert!(by_ssh && !why.words.is_empty(), "{why:?}");
        is_dead(&sandbox, &error);
    }
    close(&sandbox);
}

#[test]
fn a_link_that_is_joined_again_in_time_loses_nothing() {
    let Some(place) = Place::start() else { return };
    let sandbox = open(place.options());
    printed(&sandbox, "true");
    std::thread::scope(|scope| {
        place.server.cut();
        let call = scope.spawn(|| printed(&sandbox, "echo arrived"));
        std::thread::sleep(Duration::from_millis(500));
        assert!(!call.is_finished());
        place.server.mend();
        assert_eq!(call.join().expect("no panic"), "arrived");
    });
    close(&sandbox);
}

#[test]
fn a_program_that_is_killed_ends_every_call_at_once_and_the_place_ends_its_processes() {
    let Some(place) = Place::start() else { return };
    // Its process id is its own.
    let pid = place.server.folder().join("pid");
    let text = format!("echo $$ >{}; exec \"$@\"", pid.display());
    let mut command: Vec<OsString> = ["sh", "-c", &text, "sh"].map(Into::into).into();
    command.extend(place.options().command);
    let sandbox = open(RemoteOptions {
        command,
        ..place.options()
    });
    let there = resident_and_process(&sandbox);
    let mut running = Vec::new();
    let ended = in_flight(&sandbox, 3, |pids| {
        running = pids.to_vec();
        let pid = std::fs::read_to_string(&pid).expect("it began");
        let pid = pid
            .trim()
            .parse()
            .ok()
            .and_then(rustix::process::Pid::from_raw);
        let pid = pid.expect("a process id");
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).expect("it is ours");
    });
    for (error, took) in ended {
        assert!(took < Duration::from_secs(2), "{took:?}: {error:?}");
        let why = why(&error);
        let killed = matches!(why.failure, RemoteFailure::Ended { code: None });
        assert!(killed, "{why:?}");
        is_dead(&sandbox, &error);
    }
    for pid in there.iter().chain(&running) {
        until("nothing of it runs on", Duration::from_secs(10), || {
            !lives(pid)
        });
    }
    close(&sandbox);
}

#[test]
fn one_that_is_closed_or_dropped_leaves_nothing_running() {
    let Some(place) = Place::start() else { return };
    let sandbox = open(place.options());
    let there = resident_and_process(&sandbox);
    close(&sandbox);
    // When it is closed, it is over.
    assert!(!there.iter().any(|pid| lives(pid)));
    let sandbox = open(place.options());
    let there = resident_and_process(&sandbox);
    drop(sandbox);
    for pid in &there {
        until("nothing of it runs on", Duration::from_secs(10), || {
            !lives(pid)
        });
    }
}

#[test]
fn the_place_ends_its_processes_when_it_hears_no_more_of_its_host() {
    let Some(place) = Place::start() else { return };
    let sandbox = open(RemoteOptions {
        keep_alive: Duration::from_millis(500),
        patience: Duration::from_millis(1500),
        ..place.options()
    });
    let there = resident_and_process(&sandbox);
    // A host that rests is heard.
    std::thread::sleep(Duration::from_secs(3));
    assert!(there.iter().all(|pid| lives(pid)));
    let mut running = Vec::new();
    // Neither end of the connection has an end that is told: sshd and ssh wait on.
    in_flight(&sandbox, 2, |pids| {
        running = pids.to_vec();
        place.server.cut();
    });
    for pid in there.iter().chain(&running) {
        until("nothing of it runs on", Duration::from_secs(6), || {
            !lives(pid)
        });
    }
    close(&sandbox);
}

#[test]
fn one_that_is_closed_over_a_cut_link_says_what_is_not_known() {
    let Some(place) = Place::start() else { return };
    let sandbox = open(place.options());
    printed(&sandbox, "true");
    place.server.cut();
    let (closed, took) = timed(|| wait(sandbox.close()));
    let error = closed.expect_err("nobody answered");
    assert_eq!(error.kind, ErrorKind::BackendUnavailable, "{error:?}");
    assert!(took < Duration::from_secs(10), "{took:?}");
    // A second close does nothing.
    close(&sandbox);
}

#[test]
fn a_resident_that_is_killed_ends_the_call_at_once() {
    let Some(place) = Place::start() else { return };
    let sandbox = open(place.options());
    let (ended, took) = timed(|| run(&sandbox, "kill -KILL $PPID; sleep 600"));
    let error = ended.expect_err("it is dead");
    assert!(took < Duration::from_secs(5), "{took:?}");
    is_dead(&sandbox, &error);
    close(&sandbox);
}
