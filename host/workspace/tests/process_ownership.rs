//! What a supervisor promises in a process whose children are all its own: nothing hides, nothing stays.
//!
//! The cases look at all children of this process, so that they run one after the other.
#![cfg(target_os = "linux")]

mod harness;

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use belljar_contract::{Context, processes::Outcome, session::Limits};
use harness::{Session, children, limited, sentinel, shell, timed, until_asleep, with_argument};

fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn session() -> Session {
    Session::with(true, Limits::default())
}

/// What clears its environment, leaves its session and loses its parent.
fn hide(alive: &str) -> String {
    format!("(env -i setsid sh -c '(setsid sleep {alive} >/dev/null 2>&1 &)' &)")
}

#[test]
fn what_hides_dies_at_a_time_limit() {
    let _alone = alone();
    let session = session();
    let alive = sentinel();
    let script = format!("{}; sleep {alive}", hide(&alive));
    let (ran, took) = timed(|| session.run(limited(shell(&script), 500)));
    assert_eq!(ran.outcome, Outcome::TimedOut);
    assert!(took < Duration::from_millis(600), "{took:?}");
    assert!(with_argument(&alive).is_empty());
    assert_eq!(children(), []);
}

#[test]
fn what_hides_dies_at_a_normal_end() {
    let _alone = alone();
    let session = session();
    let alive = sentinel();
    let ran = session.sh(&format!("{}; sleep 0.2", hide(&alive)));
    assert_eq!(ran.outcome, Outcome::Exited(0));
    assert!(with_argument(&alive).is_empty());
    assert_eq!(children(), []);
}

#[test]
fn what_hides_dies_with_the_last_that_may_have_started_it() {
    let _alone = alone();
    let session = session();
    let (alive, kept) = (sentinel(), sentinel());
    let older = session.start(shell(&format!("sleep {kept}")));
    until_asleep(&kept, 1);
    // Younger than the older: either may have started it.
    session.sh(&format!("{}; sleep 0.2", hide(&alive)));
    assert_eq!(with_argument(&alive).len(), 1);
    session.signal(older, belljar_contract::processes::SignalKind::Terminate);
    let ended = session
        .wait(older, Duration::from_secs(10))
        .expect("it ends");
    assert_eq!(ended.outcome, Outcome::Signalled(15));
    assert!(with_argument(&alive).is_empty());
    assert_eq!(children(), []);
}

#[test]
fn nothing_is_left_at_close() {
    let _alone = alone();
    let session = session();
    let alive = sentinel();
    for _ in 0..3 {
        session.start(shell(&format!("{}; sleep {alive}", hide(&alive))));
    }
    until_asleep(&alive, 6);
    session.supervisor.close();
    assert!(with_argument(&alive).is_empty());
    assert_eq!(children(), []);
}

#[test]
fn no_zombies_stay() {
    let _alone = alone();
    for owns_all_children in [true, false] {
        let session = Session::with(owns_all_children, Limits::default());
        for _ in 0..500 {
            session.sh("sleep 1000 >/dev/null 2>&1 & (sleep 1000 >/dev/null 2>&1 &) ; exit 0");
        }
        assert_eq!(children(), []);
    }
    let session = session();
    for _ in 0..50 {
        session.sh("(setsid true &) ; (setsid sh -c 'true & true' &) ; exit 0");
    }
    session.supervisor.close();
    assert_eq!(children(), []);
}

#[test]
fn a_fork_bomb_ends() {
    let _alone = alone();
    let session = session();
    let alive = sentinel();
    // It leaves its group with each generation, and ends at the sixth for the sake of the machine.
    let bomb = format!(
        "b='n=$1; [ $n -lt 6 ] && for i in 1 2 3; do setsid sh -c \"$b\" {alive} $((n + 1)) & done; sleep {alive}'; \
         export b; exec sh -c \"$b\" {alive} 1"
    );
    let context = Context::new().with_timeout(Duration::from_millis(400));
    let (ran, took) = timed(|| session.run_in(&context, shell(&bomb)));
    assert_eq!(ran.expect("it starts").outcome, Outcome::TimedOut);
    assert!(with_argument(&alive).is_empty());
    assert_eq!(children(), []);
    assert!(took < Duration::from_secs(5), "{took:?}");
}

#[test]
fn nothing_but_the_three_streams_is_inherited() {
    let _alone = alone();
    // A file without close-on-exec, such as shells leave open for what they start.
    let _inheritable = rustix::pipe::pipe().expect("a pipe");
    let application = Session::new();
    let gaps = application.supervisor.gaps().len();
    drop(application);
    let session = session();
    let ran = session.sh("ls /proc/self/fd");
    // 3 is the directory that ls reads.
    assert_eq!(ran.stdout.head, b"0\n1\n2\n3\n");
    assert_eq!(session.supervisor.gaps(), Vec::<&str>::new());
    // Where children are the application's own, its files are too, and that is told.
    drop(session);
    assert_eq!(Session::new().supervisor.gaps().len(), gaps - 1);
}
