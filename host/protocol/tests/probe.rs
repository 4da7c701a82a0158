//! A resident that is asked what it sees.

mod support;

use std::{collections::BTreeSet, sync::Arc};

use belljar_contract::{Context, Error, ErrorKind, Operation, Request, Response};
use belljar_protocol::{
    Engine, ServeError,
    facts::{Attempt, Facts, LimitFile, MAX_LIMITS, MAX_TEXT_BYTES, MAX_WORD_BYTES, Told},
    message::{Answer, Ask, MAX_CALLS, PREAMBLE},
    serve,
};
use support::{
    Answers, Gate, LONG, Peer, answer, client, content, echo, frame, join, opened, pair, read,
    session, stream,
};

fn seen() -> Facts {
    Facts {
        pid: 1,
        machine: "x86_64".into(),
        status: Told::Text("Seccomp:\t2\n".into()),
        mounts: Told::Absent,
        limits: vec![LimitFile {
            path: "/sys/fs/cgroup/pids.max".into(),
            text: "max".into(),
        }],
        root: Attempt::Refused("read-only".into()),
        tmp: Attempt::Possible,
        ..Facts::default()
    }
}

/// An engine that sees.
struct Sees<F>(F);

impl<F: Fn() -> Facts + Sync> Engine for Sees<F> {
    fn call(&self, context: &Context, request: Request) -> Result<Response, Error> {
        echo(context, request)
    }

    fn probe(&self) -> Facts {
        (self.0)()
    }
}

#[test]
fn what_is_seen_is_told_at_any_time() {
    let (client, served) = session(Sees(seen));
    assert_eq!(client.probe(&Context::new()), Ok(seen()));
    let answer = client.call(&Context::new(), read("a"));
    assert_eq!(answer, Ok(content("a")));
    assert_eq!(client.probe(&Context::new()), Ok(seen()));
    client.close(LONG);
    assert!(matches!(join(served), Ok(())));
    let closed = client.probe(&Context::new()).map_err(|error| error.kind);
    assert_eq!(closed, Err(ErrorKind::Closed));
}

#[test]
fn an_engine_that_does_not_look_sees_nothing() {
    let (client, _served) = session(Answers(echo));
    assert_eq!(client.probe(&Context::new()), Ok(Facts::default()));
}

#[test]
fn a_probe_that_panics_or_does_not_come_is_an_error_of_its_own() {
    let (client, _served) = session(Sees(|| panic!("a fault of the engine")));
    let error = client.probe(&Context::new()).expect_err("it panics");
    assert_eq!(error.kind, ErrorKind::BackendFailed);
    assert_eq!(error.operation, Operation::Describe);
    assert!(client.call(&Context::new(), read("a")).is_ok());

    let gate = Arc::new(Gate::default());
    let waits = Arc::clone(&gate);
    let (client, served) = session(Sees(move || {
        waits.wait(1);
        seen()
    }));
    let context = Context::new().with_timeout(std::time::Duration::from_millis(20));
    let error = client.probe(&context).expect_err("it does not come");
    assert_eq!(error.kind, ErrorKind::TimedOut);
    assert!(client.call(&Context::new(), read("a")).is_ok());
    gate.open();
    client.close(LONG);
    assert!(matches!(join(served), Ok(())));
}

#[test]
fn a_probe_is_a_call_among_others() {
    let entered = Arc::new(Gate::default());
    let (gate, release) = (Arc::clone(&entered), Arc::new(Gate::default()));
    let held = Arc::clone(&release);
    let (host, resident) = pair();
    let served = support::serving(
        resident,
        Sees(move || {
            gate.open();
            held.wait(1);
            seen()
        }),
    );
    let mut host = Peer::host(host);
    let most = u32::try_from(MAX_CALLS).expect("a small number");
    for call in 1..=most {
        host.send(&frame(call, &Ask::Probe));
    }
    entered.wait(MAX_CALLS);
    host.send(&frame(most + 1, &Ask::Probe));
    let (call, bytes) = host.message();
    assert_eq!(call, most + 1);
    let busy = postcard::from_bytes(&bytes).expect("an answer");
    assert!(matches!(busy, Answer::Call(Err(error)) if error.kind == ErrorKind::Busy));
    release.open();
    let told: BTreeSet<u32> = (0..most).map(|_| host.message().0).collect();
    assert_eq!(told, (1..=most).collect());
    drop(host);
    assert!(matches!(join(served), Ok(())));
}

#[test]
fn a_probe_does_not_come_before_the_session() {
    let (mut host, resident) = pair();
    std::io::Write::write_all(
        &mut host,
        &[PREAMBLE.as_slice(), &frame(0, &Ask::Probe)].concat(),
    )
    .expect("it is read");
    let end = serve(stream(resident), |_| Ok((Answers(echo), opened())));
    assert!(matches!(end, Err(ServeError::OutOfOrder(_))));
}

/// What the client says of a resident that answers a probe so.
fn answered(answer: &Answer) -> (Result<Facts, ErrorKind>, bool) {
    let (host, resident) = pair();
    let answer = frame(1, answer);
    let resident = std::thread::spawn(move || {
        let mut peer = Peer::resident(resident);
        assert_eq!(peer.message().0, 1);
        peer.send(&answer);
        peer
    });
    let client = client(host);
    let facts = client.probe(&Context::new()).map_err(|error| error.kind);
    let _peer = join(resident);
    (facts, client.death().is_some())
}

#[test]
fn a_resident_that_answers_something_else_ends_the_session() {
    let long = || "x".repeat(MAX_WORD_BYTES + 1);
    let limit = LimitFile {
        path: "p".into(),
        text: "t".into(),
    };
    let too_much = [
        Facts {
            status: Told::Text("x".repeat(MAX_TEXT_BYTES + 1)),
            ..seen()
        },
        Facts {
            machine: long(),
            ..seen()
        },
        Facts {
            limits: vec![limit.clone(); MAX_LIMITS + 1],
            ..seen()
        },
        Facts {
            limits: vec![LimitFile {
                text: long(),
                ..limit
            }],
            ..seen()
        },
        Facts {
            tmp: Attempt::Refused(long()),
            ..seen()
        },
    ];
    let wrong = [
        answer("a"),
        Answer::Opened(opened()),
        Answer::Refused("no".into()),
    ];
    for answer in too_much.map(Answer::Probed).iter().chain(&wrong) {
        assert_eq!(answered(answer), (Err(ErrorKind::BackendFailed), true));
    }
    let busy = Error::new(ErrorKind::Busy, Operation::Read, "busy");
    let busy = answered(&Answer::Call(Err(busy)));
    assert_eq!(busy, (Err(ErrorKind::Busy), false));
    assert_eq!(answered(&Answer::Probed(seen())), (Ok(seen()), false));
}

#[test]
fn a_call_that_is_answered_with_facts_ends_the_session() {
    let (host, resident) = pair();
    let resident = std::thread::spawn(move || {
        let mut peer = Peer::resident(resident);
        assert_eq!(peer.message().0, 1);
        peer.send(&frame(1, &Answer::Probed(seen())));
        peer
    });
    let client = client(host);
    let answer = support::kind(client.call(&Context::new(), read("a")));
    assert_eq!(answer, Err(ErrorKind::BackendFailed));
    assert!(client.death().is_some());
    let _peer = join(resident);
}
