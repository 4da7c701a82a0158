//! Calls over a link that takes its time: `cargo bench -p belljar-protocol --bench link`.
//!
//! What carries the bytes gives on each piece 10 ms after it got it, in both directions, so that a round
//! trip takes 20 ms, and no more than 125 MB a second. The answers of 64 calls in flight are compared with
//! the same bytes through the link alone.
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a benchmark takes the time, and says what it found"
)]

use std::{
    io::{Read as _, Write as _},
    os::unix::net::UnixStream,
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use belljar_contract::{
    Context, Error, GuestPath, Request, Response, Version, files::Content, session::Limits,
};
use belljar_protocol::{
    Client, Engine, Stream,
    message::{Open, Opened},
    serve,
};

/// What a byte takes: 125 MB a second.
const NANOSECONDS: u64 = 8;
/// One way.
const LATENCY: Duration = Duration::from_millis(10);
const CALLS: usize = 64;
const MIB: usize = 1 << 20;

/// Gives on what comes, later.
fn relay(mut from: UnixStream, mut to: UnixStream) {
    // As many as are on the way at this speed.
    let (sends, comes) = mpsc::sync_channel::<(Instant, Vec<u8>)>(64);
    thread::spawn(move || {
        let mut last = Instant::now();
        loop {
            let mut piece = vec![0; 64 << 10];
            match from.read(&mut piece) {
                Ok(count) if count > 0 => piece.truncate(count),
                _ => return,
            }
            let takes = Duration::from_nanos(NANOSECONDS * piece.len() as u64);
            last = last.max(Instant::now()) + takes;
            if sends.send((last + LATENCY, piece)).is_err() {
                return;
            }
        }
    });
    thread::spawn(move || {
        for (at, piece) in comes {
            thread::sleep(at.saturating_duration_since(Instant::now()));
            if to.write_all(&piece).is_err() {
                return;
            }
        }
        let _ = to.shutdown(std::net::Shutdown::Write);
    });
}

/// The ends of a link.
fn link() -> (UnixStream, UnixStream) {
    let (host, near) = UnixStream::pair().expect("a socket pair");
    let (far, resident) = UnixStream::pair().expect("a socket pair");
    let copy = |socket: &UnixStream| socket.try_clone().expect("a socket");
    relay(copy(&near), copy(&far));
    relay(far, near);
    (host, resident)
}

/// Answers a read of a range with so many bytes.
struct Bytes;

impl Engine for Bytes {
    fn call(&self, _: &Context, request: Request) -> Result<Response, Error> {
        Ok(match request {
            Request::ReadRange { length, .. } => Response::Content(Content {
                bytes: vec![0; usize::try_from(length).expect("a length")],
                version: Version::parse("v").expect("a version"),
            }),
            _ => Response::Done,
        })
    }
}

fn session() -> Client {
    let (host, resident) = link();
    thread::spawn(move || {
        let opened = Opened {
            version: "1".into(),
            writable: true,
            gaps: vec![],
        };
        serve(Stream::try_from(resident)?, |_: &Open| Ok((Bytes, opened)))
    });
    let open = Open {
        root: "/".into(),
        variables: vec![],
        limits: Limits::default(),
        silence: None,
    };
    let stream = Stream::try_from(host).expect("a stream");
    Client::open(&Context::new(), stream, &open)
        .expect("it opens")
        .0
}

/// Every thread makes so many calls, one after the other; the time of it all.
fn calls(client: &Client, threads: usize, each: usize, request: &Request) -> Duration {
    let began = Instant::now();
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                for _ in 0..each {
                    let answer = client.call(&Context::new(), request.clone());
                    answer.expect("it is answered");
                }
            });
        }
    });
    began.elapsed()
}

fn range(length: usize) -> Request {
    Request::ReadRange {
        path: GuestPath::root(),
        offset: 0,
        length: length as u64,
    }
}

/// The same bytes through the link alone, from the first that is asked for.
fn alone(bytes: usize) -> Duration {
    let (mut host, mut resident) = link();
    thread::spawn(move || {
        resident.read_exact(&mut [0]).expect("it is asked");
        let piece = vec![0; MIB];
        for _ in 0..bytes / MIB {
            resident.write_all(&piece).expect("it is read");
        }
        // The link ends when the host does.
        let _ = resident.read(&mut [0]);
    });
    let began = Instant::now();
    host.write_all(&[0]).expect("it is read");
    let mut piece = vec![0; MIB];
    for _ in 0..bytes / MIB {
        host.read_exact(&mut piece).expect("it comes");
    }
    began.elapsed()
}

/// The middle one of five.
fn median(mut measure: impl FnMut() -> Duration) -> Duration {
    let mut all: Vec<Duration> = (0..5).map(|_| measure()).collect();
    all.sort_unstable();
    all[2]
}

fn main() {
    let client = session();
    let one = median(|| calls(&client, 1, 10, &range(1024)) / 10);
    println!("read 1 KiB, one at a time: {one:?} each");
    let many = median(|| calls(&client, CALLS, 10, &range(1024)) / 10);
    println!("read 1 KiB, {CALLS} at once: {many:?} for each {CALLS}");
    for size in [64 << 10, MIB, 4 * MIB] {
        let each = (4 * MIB / size).max(1);
        let bytes = CALLS * each * size;
        let mut best = 0.0_f64;
        // The machine is shared: they take turns.
        for _ in 0..3 {
            let raw = alone(bytes);
            let calls = calls(&client, CALLS, each, &range(size));
            best = best.max(raw.as_secs_f64() / calls.as_secs_f64());
            println!(
                "{} MiB, {CALLS} at once, {} KiB each: {calls:?}; the link alone: {raw:?}",
                bytes / MIB,
                size >> 10,
            );
        }
        println!("  of the link's throughput: {:.0}%", best * 100.0);
    }
}
