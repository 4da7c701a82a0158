//! What a component can do to its host: nothing. What it does wrong ends one call, and the session lives on.

use std::time::{Duration, Instant};

use belljar::{
    Capability, Context, ErrorKind, LoadError, Sandbox,
    backends::{ComponentError, OpenError},
};
use belljar_contract::session::Limits;

use crate::{Lender, SOON, kind};

fn bad() -> Lender {
    Lender::new("lends_badly")
}

async fn lives(session: &Sandbox) {
    assert!(
        session.read("anything").await.is_ok(),
        "the session lives on"
    );
}

#[tokio::test]
async fn a_trap_ends_one_call() {
    let lender = bad().secret("key", "s3cret-of-the-test");
    let session = lender.opened();
    let error = session.read("trap").await.expect_err("it traps");
    assert_eq!(error.kind, ErrorKind::BackendFailed);
    // Its own words are told, but no secret.
    assert!(!error.to_string().contains("s3cret-of-the-test"), "{error}");
    lives(&session).await;
    // Another instance: the first one remembered its calls.
    assert_eq!(session.read("calls").await.expect("it answers").bytes, b"2");
}

#[tokio::test]
async fn memory_has_a_limit() {
    let mut lender = bad();
    lender.options.component_limits.memory_bytes = 16 << 20;
    let session = lender.opened();
    assert_eq!(kind(session.read("memory").await), ErrorKind::BackendFailed);
    lives(&session).await;
}

#[tokio::test]
async fn time_has_a_limit() {
    let mut lender = bad();
    lender.options.component_limits.timeout = Duration::from_millis(300);
    let session = lender.opened();
    let began = Instant::now();
    assert_eq!(kind(session.read("loop").await), ErrorKind::TimedOut);
    assert!(began.elapsed() < SOON, "{:?}", began.elapsed());
    lives(&session).await;
}

#[tokio::test]
async fn a_loop_is_cancelled_at_once() {
    let session = bad().opened();
    let context = Context::new();
    let within = session.within(context.clone());
    let running = tokio::spawn(async move { within.read("loop").await });
    // Whether it has begun or not, its end is the same.
    tokio::time::sleep(Duration::from_millis(50)).await;
    let began = Instant::now();
    context.cancellation().cancel();
    let ended = running.await.expect("no panic");
    assert_eq!(kind(ended), ErrorKind::Cancelled);
    assert!(
        began.elapsed() < Duration::from_millis(500),
        "{:?}",
        began.elapsed()
    );
    lives(&session).await;
}

#[tokio::test]
async fn calls_to_the_host_have_a_limit() {
    let session = bad().opened();
    assert_eq!(kind(session.read("asks").await), ErrorKind::BackendFailed);
    lives(&session).await;
}

#[tokio::test]
async fn answers_are_checked() {
    let session = bad().opened();
    assert_eq!(
        kind(session.read("much").await),
        ErrorKind::BackendFailed,
        "over the file limit"
    );
    for path in ["order", "names", "total"] {
        let listed = session.list(path, None).await;
        assert_eq!(kind(listed), ErrorKind::BackendFailed, "{path}");
    }
    assert_eq!(
        session.list("right", None).await.expect("it is one").total,
        2
    );
    assert_eq!(
        kind(session.stat("x").await),
        ErrorKind::BackendFailed,
        "another answer"
    );
}

#[tokio::test]
async fn an_errors_text_is_bounded() {
    let error = bad().opened().read("says").await.expect_err("it fails");
    assert_eq!(error.kind, ErrorKind::NotFound);
    assert_eq!(error.path.as_deref(), Some("says"));
    assert!(error.message.len() < 4096, "{}", error.message.len());
}

#[tokio::test]
async fn a_description_is_narrowed() {
    let session = bad().setting("describe", "much").opened();
    let described = session.describe();
    let limits = Limits::default();
    assert_eq!(described.backend, "component");
    assert_eq!(described.limits.file_bytes, limits.file_bytes);
    assert_eq!(described.limits.processes, limits.processes);
    assert!(described.instructions.len() < 4096 && described.hardening_gaps.len() < 100);
}

#[tokio::test]
async fn what_may_not_be_changed_is_not_offered() {
    let lender = bad();
    let config = belljar::config::Config::component(lender.options.clone());
    let session = Sandbox::open_ambient(&config, belljar::OpenOptions::default());
    let session = session.expect("it opens");
    assert!(!session.describe().can(Capability::Write));
    let written = session
        .write("a", "x", belljar::WriteOptions::default())
        .await;
    assert_eq!(kind(written), ErrorKind::ReadOnly);
}

#[test]
fn a_description_that_is_none_opens_nothing() {
    let error = bad().setting("describe", "root").refused();
    assert_eq!(error.kind, ErrorKind::BackendFailed);
}

#[test]
fn a_ticket_is_bounded() {
    let error = bad().setting("open", "ticket").refused();
    assert_eq!(error.kind, ErrorKind::BackendFailed);
}

#[test]
fn opening_has_a_limit() {
    let mut lender = bad().setting("open", "loop");
    lender.options.component_limits.timeout = Duration::from_millis(300);
    assert_eq!(lender.refused().kind, ErrorKind::TimedOut);
}

#[test]
fn a_refusal_is_the_components_own() {
    let error = bad()
        .setting("open", "refuses")
        .secret("key", "s3cret-of-the-test")
        .refused();
    assert_eq!(error.kind, ErrorKind::AccessDenied);
    assert!(!error.to_string().contains("s3cret-of-the-test"), "{error}");
}

#[test]
fn what_is_no_backend_is_refused() {
    for guest in [
        "echo",
        "core_module",
        "corrupt",
        "empty",
        "import_wasi_sockets",
        "no_tools",
    ] {
        let opened = Lender::new(guest).open();
        let Err(OpenError::Component(ComponentError::Load { source, .. })) = opened else {
            panic!("{guest}: {opened:?}");
        };
        let why = source.downcast_ref::<LoadError>().expect("why");
        let fits = match guest {
            "echo" | "no_tools" => matches!(
                why,
                LoadError::UnknownInterface { .. } | LoadError::NotABackend { .. }
            ),
            "core_module" => matches!(why, LoadError::CoreModule),
            "empty" => matches!(why, LoadError::Empty),
            "import_wasi_sockets" => matches!(why, LoadError::ForbiddenImports { .. }),
            _ => matches!(
                why,
                LoadError::Malformed(_) | LoadError::CoreModule | LoadError::Compile { .. }
            ),
        };
        assert!(fits, "{guest}: {why:?}");
    }
}
