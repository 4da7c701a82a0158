//! What goes wrong at the other side, and what it comes to.

use std::error::Error as _;

use belljar::{ErrorKind, backends::ComponentError, processes::Outcome};
use belljar_tests::{E2bFault, E2bServer};

use super::*;

/// The contract's error behind a sandbox that did not open.
#[track_caller]
fn not_opened(place: &E2bPlace, settings: &str) -> Error {
    let error = place.open(&place.config(settings)).expect_err("it opens");
    match error {
        OpenError::Component(ComponentError::NotOpened(error)) => error,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn fails(sandbox: &Sandbox) -> Error {
    run(sandbox, "true", RunOptions::default()).expect_err("it runs")
}

#[test]
fn a_wrong_key_is_refused_and_not_told() {
    let place = place();
    let wrong = format!("e2b_{}", "0".repeat(32));
    fs::write(place.path("key"), &wrong).expect("the key");
    let error = not_opened(&place, "");
    assert_eq!(error.kind, ErrorKind::AccessDenied);
    assert!(error.message.contains("Invalid API key"), "{error}");
    let mut all = format!("{error:?}");
    let mut source = error.source();
    while let Some(error) = source {
        all.push_str(&format!("{error:?}"));
        source = error.source();
    }
    assert!(!all.contains(&wrong), "{all}");
}

#[test]
fn what_cannot_be_made_leaves_nothing() {
    let place = place();
    let none = not_opened(&place, "template = \"other\"");
    assert_eq!(none.kind, ErrorKind::InvalidArgument);
    place.server.misbehave(E2bFault::NoRoom);
    assert_eq!(not_opened(&place, "").kind, ErrorKind::Busy);
    // One that is made and then of no use is removed.
    place.server.misbehave(E2bFault::Garbage);
    assert_eq!(not_opened(&place, "").kind, ErrorKind::BackendFailed);
    assert!(place.server.sandboxes().is_empty());
    assert!(
        place
            .server
            .requests()
            .iter()
            .any(|request| request.starts_with("DELETE"))
    );
}

#[test]
fn what_is_not_granted_is_not_reached() {
    let place = place();
    let other = E2bServer::start().expect("the server starts");
    let mut config = place.config("");
    let belljar::config::Backend::Component(options) = &mut config.sandbox.backend else {
        panic!("a component");
    };
    options
        .settings
        .insert("sandbox-url".into(), other.sandbox_url());
    let error = place.open(&config).expect_err("it opens");
    let OpenError::Component(ComponentError::NotOpened(error)) = error else {
        panic!("{error:?}");
    };
    assert_eq!(error.kind, ErrorKind::BackendFailed);
    assert!(other.requests().is_empty());
    assert!(place.server.sandboxes().is_empty());
}

#[test]
fn a_sandbox_that_is_killed_ends_the_call_and_the_session() {
    let place = place();
    let sandbox = open(&place);
    let marker = place.path("work/began");
    let began = std::thread::scope(|scope| {
        let call = scope.spawn(|| run(&sandbox, "touch began; sleep 60", RunOptions::default()));
        until("it began", || marker.exists());
        let began = Instant::now();
        assert!(place.server.kill(&place.server.sandboxes()[0]));
        let error = call.join().expect("no panic").expect_err("it is gone");
        assert_eq!(error.kind, ErrorKind::BackendUnavailable, "{error:?}");
        began
    });
    assert!(began.elapsed() < Duration::from_secs(5), "{began:?}");
    assert_eq!(fails(&sandbox).kind, ErrorKind::BackendUnavailable);
    // There is nothing left to remove.
    close(&sandbox);
}

#[test]
fn a_server_that_is_gone_is_told_as_such() {
    let mut place = place();
    let sandbox = open(&place);
    place.server.stop();
    let began = Instant::now();
    assert_eq!(fails(&sandbox).kind, ErrorKind::BackendUnavailable);
    assert!(began.elapsed() < Duration::from_secs(10));
    let error = wait(sandbox.close()).expect_err("something may be left");
    assert_eq!(error.kind, ErrorKind::BackendFailed);
}

#[test]
fn nonsense_is_an_error_and_ends_one_call() {
    let place = place();
    let sandbox = open(&place);
    for (fault, kind) in [
        (E2bFault::Garbage, ErrorKind::BackendFailed),
        // Four gibibytes that nobody makes room for.
        (E2bFault::HugeFrame, ErrorKind::BackendFailed),
        (E2bFault::NoEnd, ErrorKind::BackendFailed),
        (E2bFault::TooManyConnections, ErrorKind::Busy),
    ] {
        place.server.misbehave(fault);
        let began = Instant::now();
        assert_eq!(fails(&sandbox).kind, kind, "{fault:?}");
        assert!(began.elapsed() < Duration::from_secs(10), "{fault:?}");
        place.server.misbehave(E2bFault::None);
        assert_eq!(printed(&sandbox, "echo there"), "there");
    }
    close(&sandbox);
}

#[test]
fn a_server_that_does_not_answer_holds_nobody() {
    let place = place();
    let sandbox = open(&place);
    place.server.misbehave(E2bFault::Silence);
    let soon = sandbox.within(Context::new().with_timeout(Duration::from_millis(300)));
    let began = Instant::now();
    let error = wait(soon.read("a")).expect_err("nobody answers");
    assert_eq!(error.kind, ErrorKind::TimedOut);
    assert!(began.elapsed() < Duration::from_secs(3), "{began:?}");
    let limited = RunOptions {
        timeout: Some(200),
        ..RunOptions::default()
    };
    let ended = run(&sandbox, "true", limited).expect("it is given up");
    assert_eq!(ended.outcome, Outcome::TimedOut);
    assert!(began.elapsed() < Duration::from_secs(20));
    place.server.misbehave(E2bFault::None);
    assert_eq!(printed(&sandbox, "echo there"), "there");
    close(&sandbox);
}
