//! A client and residents that are gone, stuck, something else, or hostile.

mod support;

use std::{io::Write as _, time::Duration};

use belljar_contract::{Context, ErrorKind};
use belljar_protocol::{
    Client, OpenError, Patience,
    frame::{Event, Header, Kind, MAX_PAYLOAD, NO_CALL},
    message::Answer,
};
use support::{
    LONG, Peer, answer, bare, client, client_with, content, frame, impatient_client, join, kind,
    opened, opening, pair, raw, read, stream, write,
};

/// Opens with what answers so, and then ends.
fn open_with(bytes: &[u8]) -> OpenError {
    let (host, mut resident) = pair();
    resident.write_all(bytes).expect("as it should be");
    drop(resident);
    let context = Context::new().with_timeout(LONG);
    Client::open(&context, stream(host), &opening()).expect_err("it is no resident")
}

#[test]
fn what_is_no_resident_is_told() {
    assert!(matches!(open_with(b""), OpenError::Lost(_)));
    for other in [
        "SSH-2.0-OpenSSH_9.2p1\r\n",
        "OCI runtime exec failed: no such file\n",
        "x",
        "bell",
        "belljar-resident 1.0",
    ] {
        let error = open_with(other.as_bytes());
        assert_eq!(error, OpenError::NotOurs(other.into()));
    }
    let newer = open_with(b"belljar\x02and something that we do not know");
    assert_eq!(newer, OpenError::OtherVersion(2));
}

#[test]
fn what_is_no_resident_is_told_before_it_ends() {
    let (host, mut resident) = pair();
    resident.write_all(b"$ ").unwrap();
    let context = Context::new().with_timeout(LONG);
    let error = Client::open(&context, stream(host), &opening()).expect_err("it is no resident");
    assert_eq!(error, OpenError::NotOurs("$ ".into()));
}

#[test]
fn what_answers_the_opening_with_something_else_is_lost() {
    let ours = belljar_protocol::message::PREAMBLE;
    let none = Header {
        kind: Kind::Part,
        call: 0,
        length: 0,
        left: u32::MAX,
    };
    for bytes in [
        ours.to_vec(),
        [ours.as_slice(), &[9; 16]].concat(),
        [ours.as_slice(), &bare(Kind::Ping, 0)].concat(),
        [ours.as_slice(), &none.to_bytes()].concat(),
        [ours.as_slice(), &raw(0, b"\xff\xff")].concat(),
        [ours.as_slice(), &frame(0, &answer("a"))].concat(),
        [ours.as_slice(), &frame(1, &Answer::Opened(opened()))].concat(),
    ] {
        let error = open_with(&bytes);
        assert!(matches!(error, OpenError::Lost(_)), "{error:?}");
    }
}

#[test]
fn a_resident_may_send_a_byte_at_a_time() {
    let (host, resident) = pair();
    let sends = std::thread::spawn(move || {
        let preamble = belljar_protocol::message::PREAMBLE.to_vec();
        let opened = frame(0, &Answer::Opened(opened()));
        let answered = frame(1, &answer("a"));
        let mut writes = resident.try_clone().expect("a socket");
        let mut trickle = |bytes: Vec<u8>| {
            for byte in bytes {
                writes.write_all(&[byte]).expect("it is read");
            }
        };
        trickle([preamble, opened].concat());
        // Not before the call is made.
        let mut peer = Peer::new(resident);
        peer.after_preamble();
        assert_eq!(peer.message().0, 0);
        assert_eq!(peer.message().0, 1);
        trickle(answered);
        while peer.next().is_some() {}
    });
    let client = client(host);
    assert_eq!(client.call(&Context::new(), read("a")), Ok(content("a")));
    drop(client);
    join(sends);
}

/// One that says a byte now and then holds up an opening no longer than it may be.
#[test]
fn an_opening_that_trickles_ends_at_its_deadline() {
    let (host, mut resident) = pair();
    let sends = std::thread::spawn(move || {
        let begun = [
            belljar_protocol::message::PREAMBLE.as_slice(),
            &raw(0, &[0; 1 << 20]),
        ];
        for byte in begun.concat() {
            if resident.write_all(&[byte]).is_err() {
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        panic!("it was read to the end");
    });
    let context = Context::new().with_timeout(Duration::from_millis(50));
    let opened = Client::open(&context, stream(host), &opening());
    assert_eq!(opened.expect_err("it is not opened"), OpenError::TimedOut);
    join(sends);
}

/// The beginning of a message.
fn begun(call: u32, left: u32) -> Vec<u8> {
    let header = Header {
        kind: Kind::Part,
        call,
        length: 1,
        left,
    };
    [header.to_bytes().as_slice(), b"x"].concat()
}

/// What a resident sends when it is first called, by the number of that call.
type Sends = fn(u32) -> Vec<u8>;

#[test]
fn a_resident_that_breaks_the_protocol_ends_the_session() {
    let all: [(&str, Sends); 17] = [
        ("no frame", |_| vec![0xff; 64]),
        ("a login shell", |_| b"sh: can't fork: Resource\n".to_vec()),
        ("a call never made", |call| frame(call + 1, &answer("a"))),
        ("the opening again", |_| frame(0, &Answer::Opened(opened()))),
        ("another kind of answer", |call| {
            frame(call, &Answer::Opened(opened()))
        }),
        ("no answer at all", |call| raw(call, b"")),
        ("an answer and more", |call| {
            let bytes = postcard::to_stdvec(&answer("a")).unwrap();
            raw(call, &[bytes.as_slice(), b"x"].concat())
        }),
        ("an answer that says it is longer", |call| {
            raw(call, &[2, 0, 0, 0xff, 0xff, 0xff, 0xff, 0x0f])
        }),
        ("an answer longer than the file may be", |call| {
            begun(call, 17 << 20)
        }),
        ("an answer that is small and takes a lot", |call| {
            // Commands without names.
            let count = postcard::to_stdvec(&100_000_u32).unwrap();
            let commands = [0; 300_000];
            raw(call, &[[2, 0, 13].as_slice(), &count, &commands].concat())
        }),
        ("a message of 4 GiB", |call| begun(call, u32::MAX)),
        ("a frame that is too long", |call| {
            let header = Header {
                kind: Kind::Part,
                call,
                length: u32::try_from(MAX_PAYLOAD + 1).unwrap(),
                left: 0,
            };
            header.to_bytes().to_vec()
        }),
        ("the beginning for nobody", |call| begun(call + 1, 10)),
        ("a ping", |_| bare(Kind::Ping, 0).to_vec()),
        ("a pong for a call", |call| bare(Kind::Pong, call).to_vec()),
        ("a pong for nobody", |call| {
            bare(Kind::Pong, call + 1).to_vec()
        }),
        ("a cancellation", |call| bare(Kind::Cancel, call).to_vec()),
    ];
    for (what, sends) in all {
        let (host, resident) = pair();
        let peer = std::thread::spawn(move || {
            let mut peer = Peer::resident(resident);
            let (call, _) = peer.message();
            peer.send(&sends(call));
            // Its stream is ended by the client.
            while peer.next().is_some() {}
        });
        let client = client(host);
        let context = Context::new().with_timeout(LONG);
        let answer = client.call(&context, read("a"));
        assert_eq!(kind(answer), Err(ErrorKind::BackendFailed), "{what}");
        assert!(client.death().is_some(), "{what}");
        for _ in 0..2 {
            let answer = client.call(&context, read("a"));
            assert_eq!(kind(answer), Err(ErrorKind::BackendUnavailable), "{what}");
        }
        join(peer);
        client.close(LONG);
    }
}

#[test]
fn an_answer_that_comes_twice_ends_the_session() {
    let (host, resident) = pair();
    let peer = std::thread::spawn(move || {
        let mut peer = Peer::resident(resident);
        let (call, _) = peer.message();
        let once = frame(call, &answer("a"));
        peer.send(&[once.as_slice(), &once].concat());
        while peer.next().is_some() {}
    });
    let client = client(host);
    let context = Context::new().with_timeout(LONG);
    assert_eq!(client.call(&context, read("a")), Ok(content("a")));
    let answer = client.call(&context, read("a"));
    assert_eq!(kind(answer), Err(ErrorKind::BackendFailed));
    drop(client);
    join(peer);
}

#[test]
fn a_resident_that_is_gone_ends_every_call_at_once() {
    let (host, resident) = pair();
    let peer = std::thread::spawn(move || {
        let mut peer = Peer::resident(resident);
        for _ in 0..8 {
            peer.message();
        }
    });
    let client = client(host);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            let client = &client;
            scope.spawn(move || {
                let answer = client.call(&Context::new(), read("a"));
                assert_eq!(kind(answer), Err(ErrorKind::BackendUnavailable));
            });
        }
    });
    assert!(client.death().is_some());
    for request in [read("a"), write("b", vec![0; 1 << 20])] {
        let answer = client.call(&Context::new(), request);
        assert_eq!(kind(answer), Err(ErrorKind::BackendUnavailable));
    }
    client.close(LONG);
    join(peer);
}

#[test]
fn a_resident_that_says_nothing_is_dead() {
    let (host, resident) = pair();
    let peer = std::thread::spawn(move || {
        let mut peer = Peer::resident(resident);
        peer.message();
        assert_eq!(peer.next(), Some(Event::Ping { call: NO_CALL }));
        assert_eq!(peer.next(), None);
    });
    let client = impatient_client(host);
    let answer = client.call(&Context::new(), read("a"));
    assert_eq!(kind(answer), Err(ErrorKind::BackendUnavailable));
    let answer = client.call(&Context::new(), read("a"));
    assert_eq!(kind(answer), Err(ErrorKind::BackendUnavailable));
    join(peer);
}

/// Each call is over before the resident is silent for long enough; together they are not.
#[test]
fn a_resident_that_says_nothing_is_dead_however_short_the_calls() {
    let (host, resident) = pair();
    let peer = std::thread::spawn(move || Peer::resident(resident));
    // Longer than one of these calls, with the time that its answer has to be late.
    let patience = Patience {
        quiet: Duration::from_millis(300),
        silent: Duration::from_millis(200),
    };
    let client = client_with(host, patience);
    let _silent = join(peer);
    let mut kinds = Vec::new();
    for _ in 0..10 {
        let context = Context::new().with_timeout(Duration::from_millis(10));
        kinds.push(kind(client.call(&context, read("a"))));
    }
    assert_eq!(kinds.first(), Some(&Err(ErrorKind::TimedOut)));
    assert_eq!(kinds.last(), Some(&Err(ErrorKind::BackendUnavailable)));
}

#[test]
fn a_resident_that_lives_may_take_its_time() {
    let (host, resident) = pair();
    let peer = std::thread::spawn(move || {
        let mut peer = Peer::resident(resident);
        let (call, _) = peer.message();
        for _ in 0..3 {
            assert_eq!(peer.next(), Some(Event::Ping { call: NO_CALL }));
            peer.send(&bare(Kind::Pong, 0));
        }
        peer.send(&frame(call, &answer("a")));
        while peer.next().is_some() {}
    });
    let patience = Patience {
        quiet: Duration::from_millis(20),
        silent: LONG,
    };
    let client = client_with(host, patience);
    assert_eq!(client.call(&Context::new(), read("a")), Ok(content("a")));
    drop(client);
    join(peer);
}

#[test]
fn a_resident_that_takes_nothing_is_dead() {
    let (host, resident) = pair();
    let peer = std::thread::spawn(move || Peer::resident(resident));
    let client = impatient_client(host);
    let _stuck = join(peer);
    let answer = client.call(&Context::new(), write("a", vec![0; 16 << 20]));
    assert_eq!(kind(answer), Err(ErrorKind::BackendUnavailable));
}

/// However it ends, a request that was begun is forgotten, and the stream goes on with whole frames.
#[test]
fn a_write_that_is_given_up_in_the_middle_leaves_the_session_usable() {
    for cancelled in [false, true] {
        let (host, resident) = pair();
        let peer = std::thread::spawn(move || Peer::resident(resident));
        let client = client(host);
        let mut peer = join(peer);
        let context = match cancelled {
            false => Context::new().with_timeout(Duration::from_millis(100)),
            true => Context::new(),
        };
        std::thread::scope(|scope| {
            if cancelled {
                let context = context.clone();
                scope.spawn(move || {
                    std::thread::sleep(Duration::from_millis(100));
                    context.cancellation().cancel();
                });
            }
            // The peer reads nothing meanwhile.
            let answer = client.call(&context, write("a", vec![0; 16 << 20]));
            let expected = match cancelled {
                false => ErrorKind::TimedOut,
                true => ErrorKind::Cancelled,
            };
            assert_eq!(kind(answer), Err(expected));
        });
        let reads = std::thread::spawn(move || {
            // Of the first there is a beginning, and never a whole.
            let (call, _) = peer.message();
            assert_eq!(call, 2);
            peer.send(&frame(call, &answer("b")));
            while peer.next().is_some() {}
        });
        let later = client.call(&Context::new().with_timeout(LONG), read("b"));
        assert_eq!(later, Ok(content("b")));
        assert_eq!(client.death(), None);
        drop(client);
        join(reads);
    }
}

/// The resident reads nothing when a short call is given up, behind a long one or in its middle.
#[test]
fn a_call_that_is_given_up_leaves_one_that_is_being_written_whole() {
    let (host, resident) = pair();
    let peer = std::thread::spawn(move || Peer::resident(resident));
    let client = client(host);
    let mut peer = join(peer);
    std::thread::scope(|scope| {
        let long = scope.spawn(|| {
            let context = Context::new().with_timeout(LONG);
            client.call(&context, write("a", vec![0; 4 << 20]))
        });
        assert!(matches!(peer.next(), Some(Event::Begun { call: 1, .. })));
        let context = Context::new().with_timeout(Duration::from_millis(50));
        let short = client.call(&context, read("b"));
        assert_eq!(kind(short), Err(ErrorKind::TimedOut));
        // The short one may have come between two frames, when there was room.
        while peer.message().0 != 1 {}
        peer.send(&frame(1, &answer("a")));
        assert_eq!(long.join().unwrap(), Ok(content("a")));
    });
}

#[test]
fn closing_waits_no_longer_than_it_may() {
    // One that goes on sending, and one that does nothing.
    for floods in [true, false] {
        let (host, resident) = pair();
        let peer = std::thread::spawn(move || {
            let mut peer = Peer::resident(resident);
            let pong = bare(Kind::Pong, 0).repeat(1000);
            while floods && peer.socket.write_all(&pong).is_ok() {}
            peer
        });
        let client = client(host);
        client.close(Duration::from_millis(50));
        drop(client);
        join(peer);
    }
}

#[test]
fn closing_ends_whoever_writes_or_reads() {
    let (host, resident) = pair();
    let peer = std::thread::spawn(move || {
        let mut peer = Peer::resident(resident);
        let _ = peer.message();
        peer
    });
    let client = client(host);
    std::thread::scope(|scope| {
        let reads = scope.spawn(|| client.call(&Context::new(), read("a")));
        let _stuck = join(peer);
        let writes = scope.spawn(|| client.call(&Context::new(), write("a", vec![0; 16 << 20])));
        std::thread::sleep(Duration::from_millis(20));
        client.close(Duration::from_millis(50));
        assert_eq!(kind(reads.join().unwrap()), Err(ErrorKind::Closed));
        assert_eq!(kind(writes.join().unwrap()), Err(ErrorKind::Closed));
    });
}
