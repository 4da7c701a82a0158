//! The question whether a resident answers, which no engine is asked.

mod support;

use std::{sync::Arc, time::Duration};

use belljar_contract::{Context, ErrorKind, Request, Result};
use belljar_protocol::frame::{Event, Kind};
use support::{
    Answers, Gate, LONG, Peer, answer, bare, client, content, echo, frame, join, pair, raw, read,
    session,
};

fn kind(pinged: Result<()>) -> Result<(), ErrorKind> {
    pinged.map_err(|error| error.kind)
}

#[test]
fn a_resident_that_lives_answers_beside_the_calls_and_its_engine_is_not_asked() {
    let asked = Arc::new(Gate::default());
    let counted = Arc::clone(&asked);
    let (client, served) = session(Answers(move |context: &Context, request: Request| {
        counted.open();
        echo(context, request)
    }));
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let client = &client;
            scope.spawn(move || {
                for call in 0..200 {
                    assert_eq!(client.ping(&Context::new()), Ok(()));
                    let name = format!("{thread}-{call}");
                    let answer = client.call(&Context::new(), read(&name));
                    assert_eq!(answer, Ok(content(name)));
                }
            });
        }
    });
    assert_eq!(asked.count(), 1600);
    client.close(LONG);
    assert_eq!(kind(client.ping(&Context::new())), Err(ErrorKind::Closed));
    assert!(matches!(join(served), Ok(())));
}

#[test]
fn the_end_of_a_session_at_rest_is_seen() {
    let (host, resident) = pair();
    let peer = std::thread::spawn(move || Peer::resident(resident));
    let client = client(host);
    drop(join(peer));
    assert_eq!(client.death(), None);
    let context = Context::new().with_timeout(LONG);
    for _ in 0..2 {
        let pinged = kind(client.ping(&context));
        assert_eq!(pinged, Err(ErrorKind::BackendUnavailable));
        assert!(client.death().is_some());
    }
}

#[test]
fn a_ping_lasts_as_long_as_its_context_and_a_late_pong_is_dropped() {
    let (host, resident) = pair();
    let peer = std::thread::spawn(move || Peer::resident(resident));
    let client = client(host);
    let mut peer = join(peer);
    let short = Context::new().with_timeout(Duration::from_millis(20));
    assert_eq!(kind(client.ping(&short)), Err(ErrorKind::TimedOut));
    let context = Context::new();
    std::thread::scope(|scope| {
        let pings = scope.spawn(|| client.ping(&context));
        assert_eq!(peer.next(), Some(Event::Ping { call: 1 }));
        assert_eq!(peer.next(), Some(Event::Ping { call: 2 }));
        context.cancellation().cancel();
        assert_eq!(kind(pings.join().unwrap()), Err(ErrorKind::Cancelled));
    });
    assert_eq!(client.death(), None);
    std::thread::scope(|scope| {
        let pings = scope.spawn(|| client.ping(&Context::new()));
        for call in 1..=3 {
            peer.send(&bare(Kind::Pong, call));
        }
        assert_eq!(pings.join().unwrap(), Ok(()));
    });
}

#[test]
fn a_ping_that_is_answered_with_a_message_ends_the_session() {
    for answered in [frame(1, &answer("a")), raw(1, &[0; 300 << 10])] {
        let (host, resident) = pair();
        let peer = std::thread::spawn(move || {
            let mut peer = Peer::resident(resident);
            assert_eq!(peer.next(), Some(Event::Ping { call: 1 }));
            peer.send(&answered);
            while peer.next().is_some() {}
        });
        let client = client(host);
        let pinged = kind(client.ping(&Context::new()));
        assert_eq!(pinged, Err(ErrorKind::BackendFailed));
        assert!(client.death().is_some());
        drop(client);
        join(peer);
    }
}
