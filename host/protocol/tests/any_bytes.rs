//! Whatever one end sends, the other answers, goes on, or ends: in bounded time, and without a panic.
//!
//! The streams are made of whole messages, of messages that are cut, mixed and damaged, and of noise, so
//! that they reach every depth. `PROPTEST_CASES=100000` tries that many of each.

mod support;

use std::{
    io::{Read as _, Write as _},
    os::unix::net::UnixStream,
    sync::mpsc,
    time::Duration,
};

use belljar_contract::{Context, Error, ErrorKind, Operation, Request, Response};
use belljar_protocol::{
    Client, Patience,
    facts::{Attempt, Facts, Told},
    frame::{Kind, MAX_PAYLOAD},
    message::{Answer, Ask, Open, Opened, PREAMBLE},
    serve,
};
use proptest::{collection::vec, prelude::*};
use support::{Answers, LONG, answer, ask, bare, echo, frame, raw, read, stream};

/// What a stream is made of.
#[derive(Clone, Debug)]
enum Piece {
    /// One of the well-formed messages, as this call.
    Whole(usize, u32),
    /// The same, cut off after so many bytes.
    Cut(usize, u32, usize),
    /// The same, with these bits turned at these places.
    Damaged(usize, u32, Vec<(usize, u8)>),
    /// The first frame of a long message.
    Begun(u32),
    /// A frame without payload.
    Bare(u8, u32),
    /// A header of any four numbers.
    Header([u32; 4]),
    /// Anything.
    Noise(Vec<u8>),
}

fn piece() -> impl Strategy<Value = Piece> {
    // Small numbers meet one another.
    let call = || prop_oneof![4 => 0_u32..4, 1 => any::<u32>()];
    let small = || prop_oneof![0_u32..40, any::<u32>()];
    prop_oneof![
        4 => (any::<usize>(), call()).prop_map(|(which, call)| Piece::Whole(which, call)),
        2 => (any::<usize>(), call(), 0_usize..200)
            .prop_map(|(which, call, end)| Piece::Cut(which, call, end)),
        4 => (any::<usize>(), call(), vec((0_usize..120, any::<u8>()), 1..4))
            .prop_map(|(which, call, bits)| Piece::Damaged(which, call, bits)),
        1 => call().prop_map(Piece::Begun),
        2 => (0_u8..4, call()).prop_map(|(kind, call)| Piece::Bare(kind, call)),
        2 => (0_u32..5, call(), small(), small())
            .prop_map(|(kind, call, length, left)| Piece::Header([kind, call, length, left])),
        1 => vec(any::<u8>(), 0..100).prop_map(Piece::Noise),
    ]
}

/// A stream: often it begins as it should, so that what follows is looked at.
fn bytes_of(start: &[u8], opened: bool, messages: &[Vec<u8>], pieces: &[Piece]) -> Vec<u8> {
    let mut bytes = if opened { start.to_vec() } else { Vec::new() };
    for piece in pieces {
        let message = |which: &usize, call: &u32| raw(*call, &messages[which % messages.len()]);
        match piece {
            Piece::Whole(which, call) => bytes.extend(message(which, call)),
            Piece::Cut(which, call, end) => {
                let whole = message(which, call);
                bytes.extend(&whole[..whole.len().min(*end)]);
            }
            Piece::Damaged(which, call, bits) => {
                let mut whole = message(which, call);
                let length = whole.len();
                for (place, bit) in bits {
                    whole[place % length] ^= bit;
                }
                bytes.extend(whole);
            }
            Piece::Begun(call) => {
                bytes.extend(&raw(*call, &[0; MAX_PAYLOAD + 1])[..MAX_PAYLOAD + 16]);
            }
            Piece::Bare(kind, call) => {
                let kinds = [Kind::Part, Kind::Cancel, Kind::Ping, Kind::Pong];
                bytes.extend(bare(kinds[usize::from(*kind)], *call));
            }
            Piece::Header(fields) => bytes.extend(fields.map(u32::to_le_bytes).concat()),
            Piece::Noise(noise) => bytes.extend(noise),
        }
    }
    bytes
}

/// Runs it on a thread, and waits for its end.
fn in_bounded_time<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, end) = mpsc::channel();
    std::thread::spawn(move || done.send(work()));
    end.recv_timeout(LONG).expect("it ends, without a panic")
}

/// Sends this, ends that direction, and reads on until the other end does too.
fn feed(mut socket: UnixStream, bytes: Vec<u8>) {
    let mut reads = socket.try_clone().expect("a socket");
    std::thread::spawn(move || {
        // The other end may be gone before it has read everything.
        let _ = socket.write_all(&bytes);
        let _ = socket.shutdown(std::net::Shutdown::Write);
    });
    std::thread::spawn(move || {
        let mut dropped = [0; 4096];
        while reads.read(&mut dropped).is_ok_and(|count| count > 0) {}
    });
}

fn facts() -> Facts {
    Facts {
        pid: 1,
        status: Told::Text("Seccomp:\t2\n".into()),
        tmp: Attempt::Refused("full".into()),
        ..Facts::default()
    }
}

fn open() -> Open {
    Open {
        variables: vec![("A".into(), "b".into())],
        ..support::opening()
    }
}

proptest! {
    #[test]
    fn a_resident_ends_whatever_a_host_sends(
        opened in prop_oneof![9 => Just(true), 1 => Just(false)],
        pieces in vec(piece(), 0..8),
    ) {
        let start = [PREAMBLE.as_slice(), &frame(0, &Ask::Open(open()))].concat();
        let messages: Vec<Vec<u8>> = [
            Ask::Open(open()),
            ask(read("a")),
            ask(support::write("a/b", vec![7; 100])),
            Ask::Call { remaining: Some(Duration::from_millis(1)), request: read("b") },
            Ask::Probe,
        ]
        .iter()
        .map(|ask| postcard::to_stdvec(ask).expect("it is encoded"))
        .collect();
        let bytes = bytes_of(&start, opened, &messages, &pieces);
        in_bounded_time(move || {
            let (host, resident) = support::pair();
            feed(host, bytes);
            let engine = Answers(|context: &Context, request: Request| match &request {
                Request::Read { .. } | Request::Write { .. } => echo(context, request),
                _ => Ok(Response::Done),
            });
            let opened = |_: &Open| Ok((engine, support::opened()));
            // That it ends is all that is asked.
            drop(serve(stream(resident), opened));
        });
    }

    #[test]
    fn a_client_ends_whatever_a_resident_sends(
        opened in prop_oneof![9 => Just(true), 1 => Just(false)],
        pieces in vec(piece(), 0..8),
    ) {
        let start = [PREAMBLE.as_slice(), &frame(0, &Answer::Opened(support::opened()))].concat();
        let error = Error::new(ErrorKind::Stale, Operation::Write, "it changed").at("a");
        let messages: Vec<Vec<u8>> = [
            Answer::Opened(Opened { gaps: vec![], ..support::opened() }),
            Answer::Refused("no".into()),
            answer("a"),
            answer(vec![7; 100]),
            Answer::Call(Err(error)),
            Answer::Probed(facts()),
        ]
        .iter()
        .map(|answer| postcard::to_stdvec(answer).expect("it is encoded"))
        .collect();
        let bytes = bytes_of(&start, opened, &messages, &pieces);
        in_bounded_time(move || {
            let (host, resident) = support::pair();
            feed(resident, bytes);
            let patience = Patience {
                quiet: Duration::from_millis(100),
                silent: Duration::from_millis(100),
            };
            let context = Context::new().with_timeout(LONG);
            let Ok((client, _)) = Client::open_with(&context, stream(host), &open(), patience) else {
                return;
            };
            std::thread::scope(|scope| {
                for name in ["a", "b"] {
                    let client = &client;
                    scope.spawn(move || {
                        for _ in 0..2 {
                            let _ = client.call(&Context::new(), read(name));
                            let _ = client.probe(&Context::new());
                        }
                    });
                }
            });
            // The stream has ended. When what it still held is used up, the session says so for ever.
            for _ in 0..100 {
                let _ = client.call(&Context::new(), read("c"));
            }
            let last = client.call(&Context::new(), read("c"));
            assert_eq!(support::kind(last), Err(ErrorKind::BackendUnavailable));
            assert!(client.death().is_some());
            client.close(LONG);
        });
    }
}

#[test]
fn the_pieces_are_what_they_are_called() {
    let messages = [postcard::to_stdvec(&answer("a")).expect("it is encoded")];
    let pieces = [Piece::Whole(5, 1), Piece::Bare(2, 0)];
    let bytes = bytes_of(&PREAMBLE, true, &messages, &pieces);
    let expected = [
        PREAMBLE.as_slice(),
        &frame(1, &answer("a")),
        &bare(Kind::Ping, 0),
    ]
    .concat();
    assert_eq!(bytes, expected);
}
