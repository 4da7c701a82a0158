//! That a process ends in time.
//!
//! The cases measure time, so that they run one after the other, and not beside those that use the whole machine.
#![cfg(target_os = "linux")]

mod harness;

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use belljar_contract::{Context, ErrorKind, processes::Outcome};
use harness::{Session, argv, escape, limited, sentinel, shell, timed, with_argument};

const MILLISECOND: Duration = Duration::from_millis(1);
const LONG: Duration = Duration::from_secs(20);

fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("the test prints text")
}

#[test]
fn a_time_limit_is_a_promise_and_keeps_what_was_printed() {
    let _alone = alone();
    let session = Session::new();
    let (ran, took) =
        timed(|| session.run(limited(shell("echo before; echo too >&2; sleep 5"), 1000)));
    assert_eq!(ran.outcome, Outcome::TimedOut);
    assert_eq!(text(&ran.stdout.head), "before\n");
    assert_eq!(text(&ran.stderr.head), "too\n");
    assert!(
        took >= 1000 * MILLISECOND && took < 1100 * MILLISECOND,
        "{took:?}"
    );
}

#[test]
fn a_calls_deadline_is_a_time_limit_too() {
    let _alone = alone();
    let session = Session::new();
    let context = Context::new().with_timeout(200 * MILLISECOND);
    let (ran, took) = timed(|| session.run_in(&context, shell("echo a; sleep 5")));
    let ran = ran.expect("it starts");
    assert_eq!(
        (ran.outcome, text(&ran.stdout.head)),
        (Outcome::TimedOut, "a\n")
    );
    assert!(took < 300 * MILLISECOND, "{took:?}");
    let ran = session.run_in(&context, shell("true"));
    assert_eq!(ran, Err(ErrorKind::TimedOut));
}

#[test]
fn what_ignores_sigterm_is_killed_in_time() {
    let _alone = alone();
    let session = Session::new();
    let alive = sentinel();
    let text_of = format!("trap '' TERM; echo on; while :; do sleep 0.01; : {alive}; done");
    let (ran, took) = timed(|| session.run(limited(shell(&text_of), 300)));
    assert_eq!(
        (ran.outcome, text(&ran.stdout.head)),
        (Outcome::TimedOut, "on\n")
    );
    assert!(took < 400 * MILLISECOND, "{took:?}");
    assert_eq!(with_argument(&alive), Vec::<std::path::PathBuf>::new());
}

#[test]
fn nothing_survives_a_time_limit() {
    let _alone = alone();
    let session = Session::new();
    let alive = sentinel();
    let script = format!("{} sleep {alive}", escape(&alive));
    let (ran, took) = timed(|| session.run(limited(shell(&script), 700)));
    assert_eq!(ran.outcome, Outcome::TimedOut);
    assert!(took < 800 * MILLISECOND, "{took:?}");
    assert!(with_argument(&alive).is_empty());
}

#[test]
fn a_background_child_with_the_pipe_does_not_delay_the_call() {
    let _alone = alone();
    let session = Session::new();
    let alive = sentinel();
    let script = format!("(trap '' TERM; sleep 0.01; echo late; exec sleep {alive}) & echo now");
    let (ran, took) = timed(|| session.sh(&script));
    assert_eq!(ran.outcome, Outcome::Exited(0));
    assert_eq!(text(&ran.stdout.head), "now\nlate\n");
    assert!(took < 300 * MILLISECOND, "{took:?}");
    assert!(with_argument(&alive).is_empty());
}

#[test]
fn a_started_process_has_a_time_limit_when_it_is_given_one() {
    let _alone = alone();
    let session = Session::new();
    let started = session
        .try_start(limited(argv(&["sleep", "1000"]), 100))
        .expect("it starts");
    let ended = session.wait(started, LONG).expect("it ends");
    assert_eq!(ended.outcome, Outcome::TimedOut);
    assert!(ended.duration < 200 * MILLISECOND, "{:?}", ended.duration);
}

#[test]
fn nothing_survives_a_normal_end() {
    let _alone = alone();
    let session = Session::new();
    let alive = sentinel();
    let (ran, took) = timed(|| session.sh(&format!("{} echo done; exit 4", escape(&alive))));
    assert_eq!(
        (ran.outcome, text(&ran.stdout.head)),
        (Outcome::Exited(4), "done\n")
    );
    assert!(took < 1000 * MILLISECOND, "{took:?}");
    assert!(with_argument(&alive).is_empty());
}
