//! Many calls in flight: none waits for another's answer, and a link that is cut ends them all.

mod support;

use std::{
    net::Shutdown,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
};

use belljar_contract::{Context, ErrorKind};
use belljar_protocol::{Patience, frame::Event};
use support::{
    Answers, LONG, Peer, answer, ask, client, client_with, content, frame, join, kind, name_of,
    pair, raw, read, serving, wait_until, write,
};

/// Calls at once.
const CALLS: u32 = 64;

/// Over a link that takes its time a window, or taking turns, would cost a round trip each.
#[test]
fn every_call_is_on_its_way_before_the_first_answer() {
    let (host, resident) = pair();
    let peer = std::thread::spawn(move || {
        let mut peer = Peer::resident(resident);
        let calls: Vec<(u32, Vec<u8>)> = (0..CALLS).map(|_| peer.message()).collect();
        for (call, _) in calls {
            peer.send(&frame(call, &answer("a")));
        }
        while peer.next().is_some() {}
    });
    let client = client(host);
    std::thread::scope(|scope| {
        for call in 0..CALLS {
            let client = &client;
            scope.spawn(move || {
                let request = match call % 2 {
                    0 => read("a"),
                    _ => write("a", vec![0; 300 << 10]),
                };
                let answer = client.call(&Context::new(), request);
                assert_eq!(answer, Ok(content("a")));
            });
        }
    });
    drop(client);
    join(peer);
}

#[test]
fn a_link_that_is_cut_ends_every_call_at_once() {
    let (host, resident) = pair();
    let cut = host.try_clone().expect("a socket");
    let peer = std::thread::spawn(move || {
        let mut peer = Peer::resident(resident);
        let mut calls: Vec<u32> = (1..CALLS).map(|_| peer.message().0).collect();
        // Of one answer there is a part, and one request is on its way.
        let begun = raw(calls.remove(0), &vec![0; 300 << 10]);
        peer.send(&begun[..200 << 10]);
        while !matches!(peer.next(), Some(Event::Begun { .. })) {}
        cut.shutdown(Shutdown::Both).expect("a socket");
        peer
    });
    // Only the cut ends them, and no silence.
    let client = client_with(
        host,
        Patience {
            quiet: 100 * LONG,
            silent: LONG,
        },
    );
    std::thread::scope(|scope| {
        let calls: Vec<_> = (1..CALLS)
            .map(|_| scope.spawn(|| client.call(&Context::new(), read("a"))))
            .collect();
        let long = scope.spawn(|| client.call(&Context::new(), write("a", vec![0; 16 << 20])));
        for call in calls.into_iter().chain([long]) {
            let ended = kind(call.join().unwrap());
            assert_eq!(ended, Err(ErrorKind::BackendUnavailable));
        }
        let _peer = join(peer);
    });
    assert!(client.death().is_some());
}

#[test]
fn a_short_answer_comes_before_any_of_many_long_ones() {
    let (host, resident) = pair();
    let answered = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&answered);
    let served = serving(
        resident,
        Answers(move |_: &Context, request| {
            count.fetch_add(1, Relaxed);
            match name_of(&request).as_str() {
                "long" => Ok(content(vec![0; 1 << 20])),
                short => Ok(content(short)),
            }
        }),
    );
    let mut host = Peer::host(host);
    for call in 1..CALLS {
        host.send(&frame(call, &ask(read("long"))));
    }
    // Nobody reads, so all of them have a long way to go when the short one is asked for.
    wait_until(|| answered.load(Relaxed) == CALLS - 1);
    host.send(&frame(CALLS, &ask(read("short"))));
    wait_until(|| answered.load(Relaxed) == CALLS);
    assert_eq!(host.message_in_small_steps().0, CALLS);
    drop(host);
    assert!(matches!(join(served), Ok(())));
}

#[test]
fn a_short_request_comes_before_any_of_many_long_ones() {
    let (host, resident) = pair();
    let peer = std::thread::spawn(move || Peer::resident(resident));
    let client = &client(host);
    let mut peer = join(peer);
    let asked = &AtomicU32::new(0);
    let call = move |request| {
        asked.fetch_add(1, Relaxed);
        client.call(&Context::new(), request)
    };
    std::thread::scope(|scope| {
        for _ in 1..CALLS {
            scope.spawn(move || call(write("a", vec![0; 1 << 20])));
        }
        wait_until(|| asked.load(Relaxed) == CALLS - 1);
        assert!(matches!(peer.next(), Some(Event::Begun { .. })));
        let short = scope.spawn(move || call(read("short")));
        wait_until(|| asked.load(Relaxed) == CALLS);
        let (call, _) = peer.message_in_small_steps();
        peer.send(&frame(call, &answer("short")));
        assert_eq!(short.join().unwrap(), Ok(content("short")));
        drop(peer);
    });
}
