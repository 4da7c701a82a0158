//! Sessions over a socket pair, with an engine as the test wants it, and ends that speak frame by frame.
#![allow(
    dead_code,
    clippy::allow_attributes,
    reason = "each test binary uses a part of it"
)]

use std::{
    io::{Read as _, Write as _},
    os::unix::net::UnixStream,
    sync::{Condvar, Mutex},
    thread::JoinHandle,
    time::Duration,
};

use belljar_contract::{
    Context, Error, ErrorKind, GuestPath, Request, Response, Version, files::Content,
    session::Limits,
};
use belljar_protocol::{
    Client, Engine, Patience, ServeError, Stream,
    frame::{Bounds, Decoder, Event, Header, Kind, frames},
    message::{Answer, Ask, OPEN_CALL, Open, Opened, PREAMBLE},
    serve,
};
use serde::Serialize;

/// How long a test waits for what must come, before it fails.
pub(crate) const LONG: Duration = Duration::from_secs(20);

/// Looks again until it is so.
pub(crate) fn wait_until(so: impl Fn() -> bool) {
    let waiting = Context::new().with_timeout(LONG);
    while !so() {
        assert_eq!(waiting.check(), Ok(()), "it did not come about");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// An engine that is a function.
pub(crate) struct Answers<F>(pub(crate) F);

impl<F: Fn(&Context, Request) -> Result<Response, Error> + Sync> Engine for Answers<F> {
    fn call(&self, context: &Context, request: Request) -> Result<Response, Error> {
        (self.0)(context, request)
    }
}

pub(crate) fn opening() -> Open {
    Open {
        root: "/".into(),
        variables: vec![("SECRET".into(), "x".into())],
        limits: Limits::default(),
        silence: None,
    }
}

pub(crate) fn opened() -> Opened {
    Opened {
        version: "1".into(),
        writable: true,
        gaps: vec!["a gap".into()],
    }
}

pub(crate) fn pair() -> (UnixStream, UnixStream) {
    let (host, resident) = UnixStream::pair().expect("a socket pair");
    (host, resident)
}

pub(crate) fn stream(socket: UnixStream) -> Stream {
    Stream::try_from(socket).expect("a stream")
}

pub(crate) type Served = JoinHandle<Result<(), ServeError>>;

/// Serves this engine on a thread.
pub(crate) fn serving<E: Engine + Send + 'static>(socket: UnixStream, engine: E) -> Served {
    std::thread::spawn(move || serve(stream(socket), |_: &Open| Ok((engine, opened()))))
}

/// A client of this engine.
pub(crate) fn session<E: Engine + Send + 'static>(engine: E) -> (Client, Served) {
    let (host, resident) = pair();
    let served = serving(resident, engine);
    (client(host), served)
}

/// A client of a session with these limits.
pub(crate) fn client_within(host: UnixStream, limits: Limits) -> Client {
    let opening = Open {
        limits,
        ..opening()
    };
    let opening_time = Context::new().with_timeout(LONG);
    let opened = Client::open(&opening_time, stream(host), &opening);
    opened.expect("it is served").0
}

pub(crate) fn client(host: UnixStream) -> Client {
    let opening_time = Context::new().with_timeout(LONG);
    let (client, found) =
        Client::open(&opening_time, stream(host), &opening()).expect("it is served");
    assert_eq!(found, opened());
    client
}

/// The same with little patience.
pub(crate) fn impatient_client(host: UnixStream) -> Client {
    let patience = Patience {
        quiet: Duration::from_millis(50),
        silent: Duration::from_millis(200),
    };
    client_with(host, patience)
}

pub(crate) fn client_with(host: UnixStream, patience: Patience) -> Client {
    let opening_time = Context::new().with_timeout(LONG);
    let opened = Client::open_with(&opening_time, stream(host), &opening(), patience);
    opened.expect("it is served").0
}

pub(crate) fn path(text: &str) -> GuestPath {
    GuestPath::parse(text, "/workspace").expect("a path")
}

pub(crate) fn read(text: &str) -> Request {
    Request::Read { path: path(text) }
}

pub(crate) fn write(text: &str, bytes: Vec<u8>) -> Request {
    Request::Write {
        path: path(text),
        bytes,
        options: belljar_contract::files::WriteOptions::default(),
    }
}

pub(crate) fn content(bytes: impl Into<Vec<u8>>) -> Response {
    Response::Content(Content {
        bytes: bytes.into(),
        version: Version::parse("v").expect("a version"),
    })
}

/// What is to be read, by its path.
pub(crate) fn name_of(request: &Request) -> String {
    match request {
        Request::Read { path } => path.as_str().to_owned(),
        Request::Write { path, .. } => path.as_str().to_owned(),
        other => panic!("{other:?}"),
    }
}

/// Answers a read with its path.
pub(crate) fn echo(_: &Context, request: Request) -> Result<Response, Error> {
    Ok(content(name_of(&request)))
}

pub(crate) fn kind(answer: Result<Response, Error>) -> Result<Response, ErrorKind> {
    answer.map_err(|error| error.kind)
}

/// Something that becomes true once, and is waited for.
#[derive(Default)]
pub(crate) struct Gate(Mutex<usize>, Condvar);

impl Gate {
    /// One more has come.
    pub(crate) fn open(&self) {
        *self.0.lock().expect("no test panics here") += 1;
        self.1.notify_all();
    }

    /// How many have come.
    pub(crate) fn count(&self) -> usize {
        *self.0.lock().expect("no test panics here")
    }

    /// Waits until so many have come.
    pub(crate) fn wait(&self, count: usize) {
        let guard = self.0.lock().expect("no test panics here");
        let waited = self.1.wait_timeout_while(guard, LONG, |come| *come < count);
        assert!(!waited.expect("no test panics here").1.timed_out());
    }
}

/// Waits for the end of a thread that must end.
pub(crate) fn join<T>(thread: JoinHandle<T>) -> T {
    for _ in 0..LONG.as_millis() {
        if thread.is_finished() {
            return thread.join().expect("it does not panic");
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    panic!("the thread does not end");
}

/// An end that speaks frame by frame.
pub(crate) struct Peer {
    pub(crate) socket: UnixStream,
    decoder: Decoder,
}

impl Peer {
    pub(crate) fn new(socket: UnixStream) -> Self {
        socket.set_read_timeout(Some(LONG)).expect("a time");
        let bounds = Bounds {
            message_bytes: 1 << 30,
            messages: 1 << 10,
        };
        Self {
            socket,
            decoder: Decoder::new(bounds),
        }
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) {
        self.socket.write_all(bytes).expect("it is read");
    }

    /// The next event; none at the end.
    pub(crate) fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.decoder.next().expect("it is well-formed") {
                return Some(event);
            }
            let count = match self.socket.read(self.decoder.spare()) {
                Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => 0,
                read => read.expect("something comes"),
            };
            if count == 0 {
                return None;
            }
            self.decoder.filled(count);
        }
    }

    /// The next message, and what number it has.
    pub(crate) fn message(&mut self) -> (u32, Vec<u8>) {
        loop {
            match self.next() {
                Some(Event::Message { call, bytes }) => return (call, bytes),
                Some(Event::Begun { .. } | Event::Ping { .. } | Event::Cancel { .. }) => {}
                other => panic!("{other:?}"),
            }
        }
    }

    /// The next message, read so slowly that whoever has a frame to write gets its turn.
    pub(crate) fn message_in_small_steps(&mut self) -> (u32, Vec<u8>) {
        loop {
            if let Some(Event::Message { call, bytes }) = self.decoder.next().expect("well-formed")
            {
                return (call, bytes);
            }
            std::thread::sleep(Duration::from_micros(200));
            let spare = self.decoder.spare();
            let step = spare.len().min(32 << 10);
            let count = self.socket.read(&mut spare[..step]).expect("it comes");
            self.decoder.filled(count);
        }
    }

    fn preamble(&mut self) {
        self.send(&PREAMBLE);
        self.after_preamble();
    }

    /// Takes the other end's preamble.
    pub(crate) fn after_preamble(&mut self) {
        let mut theirs = [0; PREAMBLE.len()];
        self.socket.read_exact(&mut theirs).expect("it begins");
        assert_eq!(theirs, PREAMBLE);
    }

    /// Opens as a resident.
    pub(crate) fn resident(socket: UnixStream) -> Self {
        let mut peer = Self::new(socket);
        peer.preamble();
        assert_eq!(peer.message().0, OPEN_CALL);
        peer.send(&frame(OPEN_CALL, &Answer::Opened(opened())));
        peer
    }

    /// Opens as a host.
    pub(crate) fn host(socket: UnixStream) -> Self {
        Self::host_within(socket, Limits::default())
    }

    /// The same with these limits.
    pub(crate) fn host_within(socket: UnixStream, limits: Limits) -> Self {
        Self::host_with(
            socket,
            Open {
                limits,
                ..opening()
            },
        )
    }

    /// The same with this opening.
    pub(crate) fn host_with(socket: UnixStream, opening: Open) -> Self {
        let mut peer = Self::new(socket);
        peer.preamble();
        peer.send(&frame(OPEN_CALL, &Ask::Open(opening)));
        assert_eq!(peer.message().0, OPEN_CALL);
        peer
    }
}

/// A message in its frames.
pub(crate) fn frame(call: u32, message: &impl Serialize) -> Vec<u8> {
    raw(call, &postcard::to_stdvec(message).expect("it is encoded"))
}

pub(crate) fn raw(call: u32, message: &[u8]) -> Vec<u8> {
    frames(call, message)
        .flat_map(|(header, payload)| [header.to_bytes().as_slice(), payload].concat())
        .collect()
}

pub(crate) fn bare(kind: Kind, call: u32) -> [u8; 16] {
    Header::bare(kind, call).to_bytes()
}

pub(crate) fn ask(request: Request) -> Ask {
    Ask::Call {
        remaining: None,
        request,
    }
}

/// An answer with this content.
pub(crate) fn answer(bytes: impl Into<Vec<u8>>) -> Answer {
    Answer::Call(Ok(content(bytes)))
}
