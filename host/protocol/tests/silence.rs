//! A host that says nothing for longer than it may, on a stream that does not end.

mod support;

use std::time::Duration;

use belljar_contract::{Context, Request};
use belljar_protocol::{
    ServeError,
    frame::{Event, Kind, NO_CALL},
    message::Open,
};
use support::{Answers, Gate, Peer, ask, bare, content, frame, join, opening, pair, read, serving};

const SILENCE: Duration = Duration::from_secs(1);

fn opening_with_silence() -> Open {
    Open {
        silence: Some(SILENCE),
        ..opening()
    }
}

#[test]
fn a_host_that_falls_silent_is_gone_and_its_calls_are_ended() {
    let (host, resident) = pair();
    let cancelled = std::sync::Arc::new(Gate::default());
    let seen = std::sync::Arc::clone(&cancelled);
    let served = serving(
        resident,
        Answers(move |context: &Context, _: Request| {
            while context.check().is_ok() {
                std::thread::sleep(Duration::from_millis(10));
            }
            seen.open();
            Ok(content(""))
        }),
    );
    let mut peer = Peer::host_with(host, opening_with_silence());
    // Whatever it says counts.
    for _ in 0..5 {
        std::thread::sleep(SILENCE * 3 / 10);
        peer.send(&bare(Kind::Ping, NO_CALL));
        assert_eq!(peer.next(), Some(Event::Pong { call: NO_CALL }));
    }
    peer.send(&frame(1, &ask(read("a"))));
    assert!(matches!(join(served), Err(ServeError::Silent(SILENCE))));
    assert_eq!(cancelled.count(), 1);
    drop(peer);
}

#[test]
fn one_that_takes_no_answers_is_gone_too() {
    let (host, resident) = pair();
    let served = serving(
        resident,
        Answers(|_: &Context, _: Request| Ok(content(vec![0; 8 << 20]))),
    );
    let mut peer = Peer::host_with(host, opening_with_silence());
    peer.send(&frame(1, &ask(read("a"))));
    assert!(matches!(join(served), Err(ServeError::Silent(SILENCE))));
    drop(peer);
}

#[test]
fn one_of_which_nothing_is_asked_may_be_silent() {
    let (host, resident) = pair();
    let served = serving(resident, Answers(|_: &Context, _: Request| Ok(content(""))));
    let peer = Peer::host_with(host, opening());
    std::thread::sleep(SILENCE * 3 / 2);
    assert!(!served.is_finished());
    drop(peer);
    assert!(matches!(join(served), Ok(())));
}
