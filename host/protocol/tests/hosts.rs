//! A served engine and hosts that are gone, something else, or hostile.

mod support;

use std::{
    io::{Read as _, Write as _},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use belljar_contract::{Context, Error, ErrorKind, Request, Response};
use belljar_protocol::{
    ServeError,
    frame::{Event, Header, Kind},
    message::{Answer, Ask, MAX_CALLS, PREAMBLE},
};
use support::{
    Answers, Gate, Peer, Served, answer, ask, bare, echo, frame, join, opening, pair, raw, read,
    serving,
};

/// Sends this to a resident, and then ends.
fn serve_with(bytes: &[u8]) -> Result<(), ServeError> {
    let (mut host, resident) = pair();
    let served = serving(resident, Answers(echo));
    // It may have ended before it has read everything.
    let _ = host.write_all(bytes);
    host.shutdown(std::net::Shutdown::Write)
        .expect("as it should be");
    let ended = join(served);
    drop(host);
    ended
}

#[test]
fn what_is_no_host_is_told() {
    let opened = [PREAMBLE.as_slice(), &frame(0, &Ask::Open(opening()))].concat();
    let begun = |call, left| {
        let header = Header {
            kind: Kind::Part,
            call,
            length: 0,
            left,
        };
        header.to_bytes()
    };
    let whole = frame(1, &ask(read("a")));
    // A stream that ends, wherever it does, has only ended.
    for bytes in [
        &[][..],
        &PREAMBLE[..3],
        &PREAMBLE,
        &opened[..30],
        &opened,
        &[opened.as_slice(), &whole].concat(),
        &[opened.as_slice(), &whole[..20]].concat(),
        &[opened.as_slice(), &bare(Kind::Cancel, 7)].concat(),
        &[opened.as_slice(), &bare(Kind::Pong, 7)].concat(),
    ] {
        assert!(matches!(serve_with(bytes), Ok(())), "{bytes:?}");
    }
    for bytes in [b"GET / HTTP/1.1\r\n\r\n".as_slice(), b"belljar: no such"] {
        assert!(matches!(serve_with(bytes), Err(ServeError::NotOurs)));
    }
    let newer = serve_with(b"belljar\x02and something that we do not know");
    assert!(matches!(newer, Err(ServeError::OtherVersion(2))));
    for bytes in [
        [PREAMBLE.as_slice(), &frame(1, &Ask::Open(opening()))].concat(),
        [PREAMBLE.as_slice(), &frame(0, &ask(read("a")))].concat(),
        [PREAMBLE.as_slice(), &bare(Kind::Ping, 0)].concat(),
        [opened.as_slice(), &frame(1, &Ask::Open(opening()))].concat(),
    ] {
        assert!(matches!(serve_with(&bytes), Err(ServeError::OutOfOrder(_))));
    }
    for bytes in [
        [PREAMBLE.as_slice(), &begun(0, u32::MAX)].concat(),
        [PREAMBLE.as_slice(), &raw(0, b"\xff")].concat(),
        [opened.as_slice(), &[0xff; 16]].concat(),
        [opened.as_slice(), &begun(1, u32::MAX)].concat(),
        [opened.as_slice(), &raw(1, b"")].concat(),
        [opened.as_slice(), &frame(1, &answer("a"))].concat(),
        (0..=u32::try_from(MAX_CALLS).unwrap()).fold(opened.clone(), |all, call| {
            [all.as_slice(), &begun(call, 9)].concat()
        }),
    ] {
        assert!(matches!(serve_with(&bytes), Err(ServeError::Malformed(_))));
    }
}

#[test]
fn a_host_may_send_a_byte_at_a_time() {
    let (host, resident) = pair();
    let served = serving(resident, Answers(echo));
    let mut reads = Peer::new(host.try_clone().expect("a socket"));
    let mut theirs = [0; PREAMBLE.len()];
    reads.socket.read_exact(&mut theirs).expect("it begins");
    assert_eq!(theirs, PREAMBLE);
    let bytes = [
        PREAMBLE.as_slice(),
        &frame(0, &Ask::Open(opening())),
        &frame(1, &ask(read("a"))),
    ];
    let mut host = host;
    for byte in bytes.concat() {
        host.write_all(&[byte]).expect("it is read");
    }
    assert_eq!(reads.message().0, 0);
    let expected = postcard::to_stdvec(&answer("a")).expect("it is encoded");
    assert_eq!(reads.message(), (1, expected));
    drop((host, reads));
    assert!(matches!(join(served), Ok(())));
}

/// An engine whose calls run until they are cancelled, and what has entered and left it.
fn held() -> (Arc<Gate>, Arc<AtomicUsize>, Served, Peer) {
    let (entered, cancelled) = (Arc::new(Gate::default()), Arc::new(AtomicUsize::new(0)));
    let (gate, count) = (Arc::clone(&entered), Arc::clone(&cancelled));
    let (host, resident) = pair();
    let served = serving(
        resident,
        Answers(
            move |context: &Context, request: Request| -> Result<Response, Error> {
                gate.open();
                let waits = Arc::new(Gate::default());
                let wakes = Arc::clone(&waits);
                let _registration = context.cancellation().on_cancel(move || wakes.open());
                waits.wait(1);
                count.fetch_add(1, Ordering::Relaxed);
                echo(context, request)
            },
        ),
    );
    (entered, cancelled, served, Peer::host(host))
}

#[test]
fn what_runs_is_cancelled_when_the_host_is_gone() {
    let (entered, cancelled, served, mut host) = held();
    for call in 1..=3 {
        host.send(&frame(call, &ask(read("a"))));
    }
    entered.wait(3);
    drop(host);
    assert!(matches!(join(served), Ok(())));
    assert_eq!(cancelled.load(Ordering::Relaxed), 3);
}

#[test]
fn a_number_that_is_used_twice_ends_the_session_and_what_runs() {
    let (entered, cancelled, served, mut host) = held();
    host.send(&frame(1, &ask(read("a"))));
    entered.wait(1);
    host.send(&frame(1, &ask(read("b"))));
    assert!(matches!(join(served), Err(ServeError::OutOfOrder(_))));
    assert_eq!(cancelled.load(Ordering::Relaxed), 1);
}

#[test]
fn a_number_may_be_used_again_after_its_answer() {
    let (host, resident) = pair();
    let served = serving(resident, Answers(echo));
    let mut host = Peer::host(host);
    for name in ["a", "b", "c"] {
        host.send(&frame(7, &ask(read(name))));
        assert_eq!(
            host.message(),
            (7, postcard::to_stdvec(&answer(name)).unwrap())
        );
    }
    drop(host);
    assert!(matches!(join(served), Ok(())));
}

#[test]
fn too_many_calls_are_busy_and_pings_and_cancellations_are_heard() {
    let (entered, _cancelled, served, mut host) = held();
    let most = u32::try_from(MAX_CALLS).unwrap();
    for call in 1..=most {
        host.send(&frame(call, &ask(read("a"))));
    }
    entered.wait(MAX_CALLS);
    host.send(&frame(most + 1, &ask(read("b"))));
    let (call, bytes) = host.message();
    assert_eq!(call, most + 1);
    match postcard::from_bytes(&bytes).unwrap() {
        Answer::Call(Err(error)) => assert_eq!(error.kind, ErrorKind::Busy),
        other => panic!("{other:?}"),
    }
    host.send(&bare(Kind::Ping, 7));
    assert_eq!(host.next(), Some(Event::Pong { call: 7 }));
    host.send(&bare(Kind::Cancel, 5));
    assert_eq!(
        host.message(),
        (5, postcard::to_stdvec(&answer("a")).unwrap())
    );
    drop(host);
    assert!(matches!(join(served), Ok(())));
}

#[test]
fn a_request_that_is_forgotten_in_the_middle_is_not_made() {
    let (host, resident) = pair();
    let served = serving(resident, Answers(echo));
    let mut host = Peer::host(host);
    let long = frame(1, &ask(support::write("a", vec![0; 200 << 10])));
    host.send(&long[..(128 << 10) + 16]);
    host.send(&bare(Kind::Cancel, 1));
    host.send(&frame(1, &ask(read("b"))));
    assert_eq!(
        host.message(),
        (1, postcard::to_stdvec(&answer("b")).unwrap())
    );
    drop(host);
    assert!(matches!(join(served), Ok(())));
}

#[test]
fn an_answer_over_the_limits_is_an_error_of_its_call() {
    let (host, resident) = pair();
    let served = serving(
        resident,
        Answers(
            |context: &Context, request: Request| match support::name_of(&request).as_str() {
                "huge" => Ok(support::content(vec![0; 200 << 20])),
                _ => echo(context, request),
            },
        ),
    );
    let client = support::client(host);
    let huge = client.call(&Context::new(), read("huge"));
    assert_eq!(support::kind(huge), Err(ErrorKind::TooLarge));
    assert_eq!(
        client.call(&Context::new(), read("a")),
        Ok(support::content("a"))
    );
    client.close(support::LONG);
    assert!(matches!(join(served), Ok(())));
}
