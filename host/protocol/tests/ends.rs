//! A resident ends in bounded time when its host does, whatever of the stream is full or closed.

mod support;

use std::{
    fs::File,
    io::{Read as _, Write as _},
    os::fd::OwnedFd,
    sync::Arc,
    thread::JoinHandle,
};

use belljar_contract::{Context, Request};
use belljar_protocol::{
    ServeError, Stream,
    frame::Kind,
    message::{Ask, Open, PREAMBLE},
    serve,
};
use rustix::net::Shutdown;
use support::{Answers, Gate, ask, bare, content, frame, join, opened, opening, read};

/// Both directions as the host has them, each of which can be ended alone.
struct Host {
    sends: File,
    receives: File,
}

impl Host {
    fn new(sends: impl Into<OwnedFd>, receives: impl Into<OwnedFd>) -> Self {
        Self {
            sends: sends.into().into(),
            receives: receives.into().into(),
        }
    }

    fn send(&mut self, bytes: &[u8]) {
        self.sends.write_all(bytes).expect("it is read");
    }

    fn receive(&mut self, bytes: &mut [u8]) {
        self.receives.read_exact(bytes).expect("it comes");
    }
}

/// Ends one direction; a pipe's by closing it.
fn end(direction: File, of_a_socket: Shutdown) {
    let _ = rustix::net::shutdown(&direction, of_a_socket);
}

fn by_pipes() -> (Host, Stream) {
    let (input, sends) = rustix::pipe::pipe().expect("a pipe");
    let (receives, output) = rustix::pipe::pipe().expect("a pipe");
    (Host::new(sends, receives), Stream::new(input, output))
}

fn by_socket() -> (Host, Stream) {
    let (host, resident) = support::pair();
    let sends = host.try_clone().expect("a socket");
    (Host::new(sends, host), support::stream(resident))
}

const WAYS: [fn() -> (Host, Stream); 2] = [by_pipes, by_socket];

/// An open session with an engine that answers `large` with a lot, and what has entered it.
fn session(way: fn() -> (Host, Stream)) -> (Host, Arc<Gate>, JoinHandle<Result<(), ServeError>>) {
    let (mut host, stream) = way();
    let entered = Arc::new(Gate::default());
    let gate = Arc::clone(&entered);
    let engine = Answers(move |_: &Context, request: Request| {
        gate.open();
        let size = match support::name_of(&request).as_str() {
            "large" => 4 << 20,
            _ => 1000,
        };
        Ok(content(vec![0; size]))
    });
    let served = std::thread::spawn(move || serve(stream, |_: &Open| Ok((engine, opened()))));
    host.send(&PREAMBLE);
    host.receive(&mut [0; PREAMBLE.len()]);
    host.send(&frame(0, &Ask::Open(opening())));
    (host, entered, served)
}

#[test]
fn when_the_host_ends_and_reads_nothing() {
    for way in WAYS {
        let (mut host, entered, served) = session(way);
        for call in 1..=8 {
            host.send(&frame(call, &ask(read("large"))));
        }
        entered.wait(8);
        end(host.sends, Shutdown::Write);
        assert!(matches!(join(served), Ok(())));
        host.receives
            .read_exact(&mut [0])
            .expect("it was open to the end");
    }
}

#[test]
fn when_the_host_ends_and_has_asked_for_more_pongs_than_it_reads() {
    for way in WAYS {
        let (mut host, entered, served) = session(way);
        host.send(&frame(1, &ask(read("large"))));
        entered.wait(1);
        // Fewer than are too many.
        host.send(&bare(Kind::Ping, 7).repeat(1000));
        end(host.sends, Shutdown::Write);
        assert!(matches!(join(served), Ok(())));
        host.receives
            .read_exact(&mut [0])
            .expect("it was open to the end");
    }
}

#[test]
fn when_the_host_takes_no_answers_any_more() {
    for way in WAYS {
        // While one is written, and before.
        for first in [true, false] {
            let (mut host, entered, served) = session(way);
            if first {
                host.send(&frame(1, &ask(read("large"))));
                entered.wait(1);
            }
            end(host.receives, Shutdown::Read);
            // It may have ended already.
            let _ = host.sends.write_all(&frame(2, &ask(read("small"))));
            assert!(matches!(join(served), Ok(())));
        }
    }
}

/// A pipe without a reader is seen although nothing is written to it.
#[test]
fn when_nobody_has_the_other_end_of_its_output() {
    let (host, _entered, served) = session(by_pipes);
    end(host.receives, Shutdown::Read);
    assert!(matches!(join(served), Ok(())));
}

#[test]
fn when_the_host_asks_on_and_on_and_reads_nothing() {
    for way in WAYS {
        let (mut host, _entered, served) = session(way);
        let writes = std::thread::spawn(move || {
            let pings = bare(Kind::Ping, 7).repeat(1000);
            while host.sends.write_all(&pings).is_ok() {}
            host
        });
        assert!(matches!(join(served), Err(ServeError::OutOfOrder(_))));
        join(writes);
    }
}
