//! Ways that lead nowhere: each is a typed error in bounded time, with the program's own words.

use super::*;

/// Everything is as it should be but this, and it fails so.
#[track_caller]
fn fails_so(options: RemoteOptions, so: fn(&RemoteFailure) -> bool) -> RemoteError {
    let ((error, why), took) = timed(|| fails(options));
    assert!(so(&why.failure), "{why:?}");
    assert_ne!(error.kind, ErrorKind::NotFound, "{error:?}");
    assert!(took < Duration::from_secs(15), "{took:?}");
    why
}

/// Runs a script instead of `ssh`.
fn sh(text: &str) -> RemoteOptions {
    options(["sh", "-c", text], Path::new("/tmp"))
}

#[test]
fn a_program_that_is_not_here() {
    for program in ["belljar-no-such-program", "/nonexistent/ssh"] {
        let options = options([program, "build"], Path::new("/tmp"));
        fails_so(options, |failure| {
            matches!(failure, RemoteFailure::ProgramMissing { .. })
        });
    }
    let options = options(["/etc/passwd"], Path::new("/tmp"));
    fails_so(options, |failure| {
        matches!(failure, RemoteFailure::NotStarted { .. })
    });
}

#[test]
fn a_program_that_hangs_is_given_up_and_ended() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let pid = folder.path().join("pid");
    let text = format!(
        "echo $$ >{}; echo thinking >&2; exec sleep 600",
        pid.display()
    );
    let why = fails_so(
        RemoteOptions {
            connect_timeout: Duration::from_millis(500),
            ..sh(&text)
        },
        |failure| matches!(failure, RemoteFailure::TooLong { .. }),
    );
    assert_eq!(why.words, "thinking");
    let pid = std::fs::read_to_string(pid).expect("it began");
    assert!(!lives(pid.trim()));
}

#[test]
fn a_session_that_is_closed_while_it_connects_ends_the_program() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let pid = folder.path().join("pid");
    let sandbox = open(sh(&format!("echo $$ >{}; exec sleep 600", pid.display())));
    std::thread::scope(|scope| {
        let call = scope.spawn(|| wait(sandbox.list(".", None)));
        let read = || std::fs::read_to_string(&pid).unwrap_or_default();
        until("it begins", Duration::from_secs(5), || {
            read().ends_with('\n')
        });
        let ((), took) = timed(|| close(&sandbox));
        assert!(took < Duration::from_secs(3), "{took:?}");
        assert!(!lives(read().trim()), "it is gone when the session is");
        let error = call.join().expect("no panic").expect_err("it is closed");
        assert_eq!(error.kind, ErrorKind::Closed, "{error:?}");
    });
}

#[test]
fn a_call_that_ends_sooner_ends_as_itself() {
    let sandbox = open(sh("exec sleep 600"));
    let context = Context::new().with_timeout(Duration::from_millis(300));
    let within = sandbox.within(context.clone());
    let (ended, took) = timed(|| block_on(&context, within.list(".", None)));
    let error = ended.expect("it ends by itself").expect_err("in time");
    assert_eq!(error.kind, ErrorKind::TimedOut, "{error:?}");
    assert!(took < Duration::from_secs(3), "{took:?}");
    let context = Context::new();
    let within = sandbox.within(context.clone());
    std::thread::scope(|scope| {
        let call = scope.spawn(|| block_on(&context, within.list(".", None)));
        std::thread::sleep(Duration::from_millis(100));
        context.cancellation().cancel();
        let error = call.join().expect("no panic").expect("it ends by itself");
        assert_eq!(error.expect_err("cancelled").kind, ErrorKind::Cancelled);
    });
    close(&sandbox);
}

#[test]
fn what_prints_before_it_speaks_is_shown() {
    let why = fails_so(sh("echo Welcome to the machine; exec cat"), |failure| {
        matches!(failure, RemoteFailure::NotOurs { .. })
    });
    let RemoteFailure::NotOurs { began } = why.failure else {
        panic!("{why:?}");
    };
    assert!(began.starts_with("Welcome to the machine"), "{began}");
    // So is a login script's, over a real connection.
    let Some(place) = Place::start() else { return };
    let script = "echo last login: never\n";
    std::fs::write(place.server.home().join(".bashrc"), script).expect("it is ours");
    let login = place
        .server
        .ssh(&[], &["bash", "-c", "'. ~/.bashrc; exec cat'"]);
    let why = fails_so(options(login, place.workspace.path()), |failure| {
        matches!(failure, RemoteFailure::NotOurs { .. })
    });
    assert!(format!("{}", why.failure).contains("last login: never"));
}

#[test]
fn a_program_that_ends_says_why() {
    let why = fails_so(sh("echo no luck today >&2; exit 3"), |failure| {
        matches!(failure, RemoteFailure::Ended { code: Some(3) })
    });
    assert_eq!(why.words, "no luck today");
    fails_so(sh("kill -KILL $$"), |failure| {
        matches!(failure, RemoteFailure::Ended { code: None })
    });
    fails_so(sh("true"), |failure| {
        matches!(failure, RemoteFailure::Lost { .. })
    });
    // Much that is said is kept at its end.
    let why = fails_so(
        sh("yes | head -c 1000000 >&2; echo last >&2; exit 3"),
        |_| true,
    );
    assert!(why.words.ends_with("last") && why.words.len() <= 8 << 10);
}

#[test]
fn a_machine_that_refuses() {
    let Some(place) = Place::start() else { return };
    let port = ["-p", "23"];
    fails_so(place.options_with(&port), |failure| {
        matches!(failure, RemoteFailure::ConnectionRefused)
    });
    // None of its keys is ours.
    let other = place.server.folder().join("other");
    let made = std::process::Command::new("ssh-keygen")
        .args(["-q", "-t", "ed25519", "-N", "", "-f"])
        .arg(&other)
        .status();
    assert!(made.expect("it runs").success());
    let authorized = place.server.folder().join("authorized");
    let ours = std::fs::read(&authorized).expect("it is there");
    let others = std::fs::read(other.with_extension("pub")).expect("it is there");
    std::fs::write(&authorized, &others).expect("it is ours");
    fails_so(place.options(), |failure| {
        matches!(failure, RemoteFailure::NotAuthenticated)
    });
    std::fs::write(&authorized, ours).expect("it is ours");
    // Its key is another than it was.
    let known = place.server.folder().join("known");
    let others = String::from_utf8(others).expect("a key");
    std::fs::write(&known, format!("10.0.0.2 {others}")).expect("it is ours");
    fails_so(place.options(), |failure| {
        matches!(failure, RemoteFailure::HostKeyChanged)
    });
    std::fs::write(&known, "").expect("it is ours");
    fails_so(place.options(), |failure| {
        matches!(failure, RemoteFailure::HostKeyUnknown)
    });
}

#[test]
fn a_machine_that_does_not_answer() {
    let Some(place) = Place::start() else { return };
    place.server.cut();
    let soon = ["-o", "ConnectTimeout=2"];
    fails_so(place.options_with(&soon), |failure| {
        matches!(failure, RemoteFailure::Unreachable)
    });
    // Or not in the time that there is.
    let ((_, why), took) = timed(|| {
        fails(RemoteOptions {
            connect_timeout: Duration::from_millis(500),
            ..place.options()
        })
    });
    assert!(
        matches!(why.failure, RemoteFailure::TooLong { .. }),
        "{why:?}"
    );
    assert!(took < Duration::from_secs(3), "{took:?}");
    // A later call tries anew, and finds it.
    place.server.mend();
    let sandbox = open(place.options());
    assert_eq!(printed(&sandbox, "echo here"), "here");
    close(&sandbox);
}

#[test]
fn a_machine_without_a_resident() {
    let Some(place) = Place::start() else { return };
    let command = place.server.ssh(&[], &["belljar-resident", "stdio"]);
    let why = fails_so(options(command, place.workspace.path()), |failure| {
        matches!(failure, RemoteFailure::ResidentMissing)
    });
    assert!(!why.words.is_empty());
    let command = place.server.ssh(&[], &["/etc/passwd", "stdio"]);
    fails_so(options(command, place.workspace.path()), |failure| {
        matches!(failure, RemoteFailure::NotExecutable)
    });
}

#[test]
fn a_directory_that_is_not_there_is_told() {
    let Some(place) = Place::start() else { return };
    let options = RemoteOptions {
        root: "/nonexistent/work".into(),
        ..place.options()
    };
    fails_so(options, |failure| {
        matches!(failure, RemoteFailure::Refused { .. })
    });
    // Seen by the session alone.
    let text = format!(
        "'mount -t tmpfs -o ro none {} && exec {} stdio'",
        place.workspace.path().display(),
        static_resident().display()
    );
    let command = (place.server).ssh(&[], &["unshare", "--mount", "sh", "-c", &text]);
    fails_so(super::options(command, place.workspace.path()), |failure| {
        matches!(failure, RemoteFailure::RootNotWritable)
    });
}

#[test]
fn more_variables_than_there_is_room_for_are_told() {
    let Some(place) = Place::start() else { return };
    let mut options = place.options();
    let large = "x".repeat(5 << 20);
    options.environment.insert("LARGE".into(), large);
    fails_so(options, |failure| {
        matches!(failure, RemoteFailure::VariablesTooLarge)
    });
}
