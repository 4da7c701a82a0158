//! Calls between a client and a served engine.

mod support;

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use belljar_contract::{Context, ErrorKind, Stop};
use belljar_protocol::{
    Client, OpenError, ServeError,
    frame::{Event, Kind},
    message::{MAX_CALLS, Open},
    serve,
};
use support::{
    Answers, Gate, LONG, Peer, ask, bare, client, content, echo, frame, join, kind, name_of, pair,
    read, serving, session, stream, write,
};

#[test]
fn calls_of_many_threads_get_their_own_answers() {
    let (client, served) = session(Answers(|_: &Context, request| {
        let name = name_of(&request);
        let size: usize = name.rsplit('-').next().unwrap().parse().unwrap();
        Ok(content(name.repeat(size)))
    }));
    std::thread::scope(|scope| {
        for thread in 0..12 {
            let client = &client;
            scope.spawn(move || {
                for call in 0..100 {
                    // Some answers are of several frames.
                    let size = if call % 25 == 0 { 50_000 } else { call % 3 };
                    let name = format!("{thread}-{call}-{size}");
                    let answer = client.call(&Context::new(), read(&name));
                    assert_eq!(answer, Ok(content(name.repeat(size))));
                }
            });
        }
    });
    client.close(LONG);
    assert!(matches!(join(served), Ok(())));
}

#[test]
fn a_long_answer_does_not_hold_up_a_short_one() {
    let (host, resident) = pair();
    let served = serving(
        resident,
        Answers(|_: &Context, request| match name_of(&request).as_str() {
            "long" => Ok(content(vec![0; 16 << 20])),
            short => Ok(content(short)),
        }),
    );
    let mut host = Peer::host(host);
    host.send(&frame(1, &ask(read("long"))));
    assert!(matches!(host.next(), Some(Event::Begun { call: 1, .. })));
    // The socket holds but a small part of the long answer.
    host.send(&frame(2, &ask(read("short"))));
    let mut order = Vec::new();
    while order.len() < 2 {
        order.push(host.message_in_small_steps().0);
    }
    assert_eq!(order, [2, 1]);
    drop(host);
    assert!(matches!(join(served), Ok(())));
}

#[test]
fn a_panic_of_the_engine_ends_its_call_alone() {
    let (client, served) = session(Answers(|context: &Context, request| {
        assert_ne!(name_of(&request), "panic");
        echo(context, request)
    }));
    let context = Context::new();
    let answer = client.call(&context, read("panic"));
    assert_eq!(kind(answer), Err(ErrorKind::BackendFailed));
    assert_eq!(client.call(&context, read("a")), Ok(content("a")));
    client.close(LONG);
    assert!(matches!(join(served), Ok(())));
}

#[test]
fn a_cancellation_and_a_deadline_reach_the_engine() {
    let entered = Arc::new(Gate::default());
    let gate = Arc::clone(&entered);
    let (client, served) = session(Answers(move |context: &Context, request| {
        gate.open();
        let stop = loop {
            if let Err(stop) = context.check() {
                break stop;
            }
            std::thread::sleep(Duration::from_millis(1));
        };
        let _ = request;
        Ok(content(format!("{stop:?}")))
    }));
    let context = Context::new();
    let answer = std::thread::scope(|scope| {
        let call = scope.spawn(|| client.call(&context, read("a")));
        entered.wait(1);
        context.cancellation().cancel();
        call.join().unwrap()
    });
    assert_eq!(answer, Ok(content("Cancelled")));
    // The engine has the deadline as its own; it is not cancelled just before.
    let context = Context::new().with_timeout(Duration::from_millis(50));
    let answer = client.call(&context, read("a"));
    assert_eq!(answer, Ok(content("TimedOut")));
    client.close(LONG);
    assert!(matches!(join(served), Ok(())));
}

#[test]
fn a_call_that_is_over_before_it_begins_is_not_made() {
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let (client, _served) = session(Answers(move |context: &Context, request| {
        counted.fetch_add(1, Ordering::Relaxed);
        echo(context, request)
    }));
    let context = Context::new().with_timeout(Duration::ZERO);
    let answer = client.call(&context, read("a"));
    assert_eq!(kind(answer), Err(ErrorKind::TimedOut));
    context.cancellation().cancel();
    let answer = client.call(&context, read("a"));
    assert_eq!(kind(answer), Err(ErrorKind::Cancelled));
    let large = write("a", vec![0; 200 << 20]);
    let answer = client.call(&Context::new(), large);
    assert_eq!(kind(answer), Err(ErrorKind::TooLarge));
    assert_eq!(calls.load(Ordering::Relaxed), 0);
}

#[test]
fn a_late_answer_of_a_call_that_was_given_up_is_dropped() {
    for size in [1, 4 << 20] {
        let (entered, released) = (Arc::new(Gate::default()), Arc::new(Gate::default()));
        let gates = (Arc::clone(&entered), Arc::clone(&released));
        let (client, served) = session(Answers(move |context: &Context, request| {
            if name_of(&request) == "late" {
                gates.0.open();
                gates.1.wait(1);
                return Ok(content(vec![0; size]));
            }
            echo(context, request)
        }));
        let context = Context::new().with_timeout(Duration::from_millis(10));
        let answer = client.call(&context, read("late"));
        assert_eq!(kind(answer), Err(ErrorKind::TimedOut));
        entered.wait(1);
        assert_eq!(client.call(&Context::new(), read("a")), Ok(content("a")));
        released.open();
        for _ in 0..100 {
            assert_eq!(client.call(&Context::new(), read("b")), Ok(content("b")));
        }
        assert_eq!(client.death(), None);
        client.close(LONG);
        assert!(matches!(join(served), Ok(())));
    }
}

#[test]
fn too_many_calls_are_busy_and_the_session_lives() {
    let (entered, released) = (Arc::new(Gate::default()), Arc::new(Gate::default()));
    let gates = (Arc::clone(&entered), Arc::clone(&released));
    let (client, _served) = session(Answers(move |context: &Context, request| {
        gates.0.open();
        gates.1.wait(1);
        echo(context, request)
    }));
    let given_up = Context::new().with_timeout(Duration::from_millis(10));
    let answer = client.call(&given_up, read("late"));
    assert_eq!(kind(answer), Err(ErrorKind::TimedOut));
    std::thread::scope(|scope| {
        // With the one that was given up, and still runs.
        for call in 1..MAX_CALLS {
            let client = &client;
            scope.spawn(move || {
                let name = call.to_string();
                let answer = client.call(&Context::new(), read(&name));
                assert_eq!(answer, Ok(content(name)));
            });
        }
        entered.wait(MAX_CALLS);
        let answer = client.call(&Context::new(), read("a"));
        assert_eq!(kind(answer), Err(ErrorKind::Busy));
        released.open();
    });
    assert_eq!(client.call(&Context::new(), read("a")), Ok(content("a")));
}

#[test]
fn close_ends_what_runs_and_is_idempotent() {
    let (entered, ended) = (Arc::new(Gate::default()), Arc::new(Gate::default()));
    let gates = (Arc::clone(&entered), Arc::clone(&ended));
    let (client, served) = session(Answers(move |context: &Context, _| {
        gates.0.open();
        let cancelled = Arc::new(Gate::default());
        let seen = Arc::clone(&cancelled);
        let _registration = context.cancellation().on_cancel(move || seen.open());
        cancelled.wait(1);
        std::thread::sleep(Duration::from_millis(50));
        gates.1.open();
        Ok(content("too late"))
    }));
    std::thread::scope(|scope| {
        let calls = [(); 4].map(|()| scope.spawn(|| client.call(&Context::new(), read("a"))));
        entered.wait(4);
        client.close(LONG);
        // It waited for the resident's end.
        assert_eq!(ended.count(), 4);
        for call in calls {
            assert_eq!(kind(call.join().unwrap()), Err(ErrorKind::Closed));
        }
    });
    client.close(LONG);
    let answer = client.call(&Context::new(), read("a"));
    assert_eq!(kind(answer), Err(ErrorKind::Closed));
    assert!(matches!(join(served), Ok(())));
}

#[test]
fn a_dropped_client_ends_what_runs() {
    let entered = Arc::new(Gate::default());
    let gate = Arc::clone(&entered);
    let (host, resident) = pair();
    let served = serving(
        resident,
        Answers(move |context: &Context, request| {
            gate.open();
            while context.check() != Err(Stop::Cancelled) {
                std::thread::sleep(Duration::from_millis(1));
            }
            echo(context, request)
        }),
    );
    let client = client(host);
    let context = Context::new().with_timeout(Duration::from_millis(10));
    let _ = client.call(&context, read("a"));
    entered.wait(1);
    drop(client);
    assert!(matches!(join(served), Ok(())));
}

#[test]
fn an_opening_that_is_refused_says_why() {
    let (host, resident) = pair();
    let served = std::thread::spawn(move || {
        serve(stream(resident), |_: &Open| {
            Err::<(Answers<fn(&Context, _) -> _>, _), _>("no such folder".to_owned())
        })
    });
    let context = Context::new().with_timeout(LONG);
    let error = Client::open(&context, stream(host), &support::opening()).unwrap_err();
    assert_eq!(error, OpenError::Refused("no such folder".into()));
    assert!(matches!(join(served), Err(ServeError::Refused(_))));
}

#[test]
fn an_opening_may_be_of_many_frames_and_not_of_too_many() {
    for (bytes, fits) in [(1 << 20, true), (5 << 20, false)] {
        let (host, resident) = pair();
        let served = serving(resident, Answers(echo));
        let mut opening = support::opening();
        opening.variables[0].1 = "x".repeat(bytes);
        let context = Context::new().with_timeout(LONG);
        let opened = Client::open(&context, stream(host), &opening);
        match opened {
            Ok((client, _)) => {
                assert!(fits);
                assert_eq!(client.call(&context, read("a")), Ok(content("a")));
                drop(client);
                assert!(matches!(join(served), Ok(())));
            }
            Err(error) => assert_eq!((error, fits), (OpenError::TooLarge, false)),
        }
    }
}

#[test]
fn an_opening_can_be_cancelled_and_ends_at_its_deadline() {
    let (host, _silent) = pair();
    let context = Context::new();
    std::thread::scope(|scope| {
        let open = scope.spawn(|| Client::open(&context, stream(host), &support::opening()));
        context.cancellation().cancel();
        assert_eq!(open.join().unwrap().unwrap_err(), OpenError::Cancelled);
    });
    let (host, _silent) = pair();
    let context = Context::new().with_timeout(Duration::from_millis(20));
    let opened = Client::open(&context, stream(host), &support::opening());
    assert_eq!(opened.unwrap_err(), OpenError::TimedOut);
}

/// Whoever reads may leave at any moment, and another must go on reading.
#[test]
fn nobody_hangs_when_calls_come_and_go() {
    let (client, served) = session(Answers(|context: &Context, request| {
        let name = name_of(&request);
        let number: u64 = name.parse().unwrap();
        std::thread::sleep(Duration::from_micros(number * 7 % 900));
        echo(context, request)
    }));
    let ended = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for thread in 0..8_u64 {
            let (client, ended) = (&client, &ended);
            scope.spawn(move || {
                for call in 0..150 {
                    let number = thread * 1000 + call;
                    let context = Context::new();
                    let name = number.to_string();
                    let answer = match number % 4 {
                        0 => {
                            let context = context.with_timeout(Duration::from_micros(number % 700));
                            client.call(&context, read(&name))
                        }
                        1 => std::thread::scope(|scope| {
                            let cancelled = context.clone();
                            scope.spawn(move || cancelled.cancellation().cancel());
                            client.call(&context, read(&name))
                        }),
                        _ => client.call(&context, read(&name)),
                    };
                    match kind(answer) {
                        Ok(answer) => assert_eq!(answer, content(name)),
                        Err(kind) => {
                            assert!(matches!(kind, ErrorKind::TimedOut | ErrorKind::Cancelled));
                        }
                    }
                }
                ended.fetch_add(1, Ordering::Relaxed);
            });
        }
    });
    assert_eq!(ended.load(Ordering::Relaxed), 8);
    assert_eq!(client.death(), None);
    client.close(LONG);
    assert!(matches!(join(served), Ok(())));
}

/// A call that reads for the others is given up; one that sleeps must read on.
#[test]
fn reading_is_passed_on_by_a_call_that_is_given_up() {
    let (host, resident) = pair();
    let peer = std::thread::spawn(move || {
        let mut peer = Peer::resident(resident);
        let mut calls = [peer.message().0, peer.message().0];
        calls.sort_unstable();
        // The one that has a deadline is given up first.
        let given_up = loop {
            if let Some(Event::Cancel { call }) = peer.next() {
                break call;
            }
        };
        let other = calls.into_iter().find(|call| *call != given_up).unwrap();
        peer.send(&frame(other, &support::answer("b")));
        peer.send(&bare(Kind::Pong, 0));
        while peer.next().is_some() {}
    });
    let client = client(host);
    std::thread::scope(|scope| {
        let first = scope.spawn(|| {
            let context = Context::new().with_timeout(Duration::from_millis(50));
            client.call(&context, read("a"))
        });
        let second = scope.spawn(|| client.call(&Context::new(), read("b")));
        assert_eq!(kind(first.join().unwrap()), Err(ErrorKind::TimedOut));
        assert_eq!(second.join().unwrap(), Ok(content("b")));
    });
    drop(client);
    join(peer);
}

/// The call that is to read on may be given up itself, at this very moment.
#[test]
fn reading_is_passed_on_when_many_calls_are_given_up_at_once() {
    let released = Arc::new(Gate::default());
    let gate = Arc::clone(&released);
    let (client, served) = session(Answers(move |context: &Context, request| {
        let round: usize = name_of(&request).parse().unwrap();
        gate.wait(round);
        echo(context, request)
    }));
    for round in 1..=5 {
        let name = &round.to_string();
        let short = Context::new().with_timeout(Duration::from_millis(20));
        std::thread::scope(|scope| {
            let patient = scope.spawn(|| client.call(&Context::new(), read(name)));
            let calls = [(); 16].map(|()| scope.spawn(|| client.call(&short, read(name))));
            for call in calls {
                assert_eq!(kind(call.join().unwrap()), Err(ErrorKind::TimedOut));
            }
            released.open();
            assert_eq!(patient.join().unwrap(), Ok(content(name.as_str())));
        });
    }
    client.close(LONG);
    assert!(matches!(join(served), Ok(())));
}
