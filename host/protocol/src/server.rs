//! The resident's end: requests from a stream, answered by the workspace engine or whatever is given.
//!
//! One of a few threads reads. When it has a request it lets another read on and answers the request
//! itself: no hop from thread to thread stands between a request and its answer. There is always a thread
//! that reads, so that pings are answered and cancellations reach their calls: a call for which there is
//! no thread is `busy`.

use std::{
    collections::{HashMap, hash_map::Entry},
    convert::Infallible,
    io::IoSlice,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread::{self, Scope},
};

use belljar_contract::{Cancellation, Context, Error, ErrorKind, Operation, Request, Response};
use rustix::io::Errno;

use crate::{
    facts::Facts,
    frame::{Decoder, Event, Header, Kind, Malformed, frames},
    message::{
        Answer, Ask, Encoded, MAX_CALLS, OPEN_CALL, Open, Opened, PREAMBLE, bounds, decode,
        message_bytes, opening_bounds,
    },
    stream::{Output, Stream, lock},
};

/// Why serving ended before the stream did.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The other end does not speak this protocol.
    #[error("the other end does not speak version 1 of the sandbox protocol")]
    NotOurs,
    /// What it sent means nothing.
    #[error("the other end sent {0}")]
    Malformed(#[from] Malformed),
    /// It did something out of order.
    #[error("the other end {0}")]
    OutOfOrder(&'static str),
    /// The session cannot be opened; the host was told.
    #[error("the session cannot be opened: {0}")]
    Refused(String),
    /// The stream broke.
    #[error("the stream broke")]
    Stream(#[from] std::io::Error),
}

impl From<Errno> for ServeError {
    fn from(errno: Errno) -> Self {
        Self::Stream(errno.into())
    }
}

/// Threads that are kept while there is nothing to do: in a container each counts against its limit of
/// processes.
const KEPT: usize = 4;

/// Who answers requests.
pub trait Engine: Sync {
    /// Answers a request on this thread.
    ///
    /// # Errors
    /// As the contract says of the operation.
    fn call(&self, context: &Context, request: Request) -> Result<Response, Error>;

    /// What it sees of its own process and of what it runs in; nothing, unless it says so.
    fn probe(&self) -> Facts {
        Facts::default()
    }
}

/// Serves one session until the stream ends.
///
/// `open` makes the engine from what the host asks for, or says why it cannot. Calls that are still
/// running when the stream ends are cancelled, and this returns when they have ended.
///
/// # Errors
/// [`ServeError`] when the session ends for another reason than the stream's end.
pub fn serve<E: Engine>(
    stream: Stream,
    open: impl FnOnce(&Open) -> Result<(E, Opened), String>,
) -> Result<(), ServeError> {
    let Stream { input, output } = stream;
    let mut reader = Reader {
        input,
        decoder: Decoder::new(opening_bounds()),
    };
    let output = Output::new(output);
    write_all(&output, &PREAMBLE)?;
    let mut preamble = [0; PREAMBLE.len()];
    if !read_exact(&reader.input, &mut preamble)? {
        return Ok(());
    }
    if preamble != PREAMBLE {
        return Err(ServeError::NotOurs);
    }
    let asked = loop {
        match reader.next()? {
            Some(Event::Begun { call: OPEN_CALL }) => {}
            Some(Event::Message {
                call: OPEN_CALL,
                bytes,
            }) => match decode(&bytes)? {
                Ask::Open(asked) => break asked,
                Ask::Call { .. } | Ask::Probe => {
                    return Err(ServeError::OutOfOrder("called before it opened"));
                }
            },
            Some(_) => return Err(ServeError::OutOfOrder("did not open the session first")),
            None => return Ok(()),
        }
    };
    let (engine, opened) = match open(&asked) {
        Ok(opened) => opened,
        Err(reason) => {
            let refused = Encoded::new(&Answer::Refused(reason.clone()))?;
            write_message(&output, OPEN_CALL, refused)?;
            return Err(ServeError::Refused(reason));
        }
    };
    write_message(&output, OPEN_CALL, Encoded::new(&Answer::Opened(opened))?)?;
    reader.decoder.set_bounds(bounds(&asked.limits));
    let session = Session {
        engine: &engine,
        output: &output,
        message_bytes: message_bytes(&asked.limits),
        calls: Mutex::default(),
        reader: Mutex::new(Reading::Open(reader)),
        waiting: AtomicUsize::new(0),
    };
    thread::scope(|scope| session.work(scope));
    match session.reader.into_inner() {
        Ok(Reading::Ended(result)) => result,
        // A thread ended in the middle of reading, which none does.
        Ok(Reading::Open(_)) | Err(_) => Err(ServeError::OutOfOrder("was not read to its end")),
    }
}

struct Session<'a, E> {
    engine: &'a E,
    output: &'a Output,
    message_bytes: u64,
    /// The calls that run.
    calls: Mutex<HashMap<u32, Cancellation>>,
    reader: Mutex<Reading>,
    /// Threads that wait to read.
    waiting: AtomicUsize,
}

enum Reading {
    Open(Reader),
    Ended(Result<(), ServeError>),
}

/// A request that was read.
struct Task {
    call: u32,
    context: Context,
    work: Work,
}

/// What is to be done.
enum Work {
    Call(Request),
    Probe,
}

impl Work {
    fn operation(&self) -> Operation {
        match self {
            Self::Call(request) => request.operation(),
            Self::Probe => Operation::Describe,
        }
    }
}

impl<E: Engine> Session<'_, E> {
    /// Reads and answers, in turn with the other threads, until the stream ends.
    fn work<'scope>(&'scope self, scope: &'scope Scope<'scope, '_>) {
        loop {
            self.waiting.fetch_add(1, Ordering::AcqRel);
            let mut reading = lock(&self.reader);
            self.waiting.fetch_sub(1, Ordering::AcqRel);
            let Reading::Open(reader) = &mut *reading else {
                return;
            };
            let task = match self.read(reader) {
                Ok(Some(task)) => task,
                ended => {
                    *reading = Reading::Ended(ended.map(drop));
                    drop(reading);
                    // Nobody waits for an answer any more.
                    for cancellation in lock(&self.calls).values() {
                        cancellation.cancel();
                    }
                    return;
                }
            };
            // Nobody can stop waiting before the reader is given back.
            let another = self.waiting.load(Ordering::Acquire) > 0;
            drop(reading);
            if another || self.spawn(scope) {
                self.answer(task);
            } else {
                let operation = task.work.operation();
                self.end(task.call, operation, failed(no_thread(operation)));
            }
            if self.waiting.load(Ordering::Acquire) >= KEPT {
                return;
            }
        }
    }

    /// Lets one more thread read and answer.
    fn spawn<'scope>(&'scope self, scope: &'scope Scope<'scope, '_>) -> bool {
        thread::Builder::new()
            .name("belljar-call".into())
            .spawn_scoped(scope, move || self.work(scope))
            .is_ok()
    }

    /// Reads up to the next request; none at the end.
    fn read(&self, reader: &mut Reader) -> Result<Option<Task>, ServeError> {
        loop {
            match reader.next()? {
                None => return Ok(None),
                Some(Event::Ping) => {
                    write_all(self.output, &Header::bare(Kind::Pong, 0).to_bytes())?;
                }
                Some(Event::Pong | Event::Begun { .. }) => {}
                Some(Event::Cancel { call }) => {
                    // One that is answered already is none of anybody's business.
                    let cancellation = lock(&self.calls).get(&call).cloned();
                    if let Some(cancellation) = cancellation {
                        cancellation.cancel();
                    }
                }
                Some(Event::Message { call, bytes }) => {
                    if let Some(task) = self.task(call, &bytes)? {
                        return Ok(Some(task));
                    }
                }
            }
        }
    }

    /// Enters a call; none when there is no room for it, which it is told.
    fn task(&self, call: u32, bytes: &[u8]) -> Result<Option<Task>, ServeError> {
        let (remaining, work) = match decode(bytes)? {
            Ask::Call { remaining, request } => (remaining, Work::Call(request)),
            // A few small files: there is nothing in it to wait for.
            Ask::Probe => (None, Work::Probe),
            Ask::Open(_) => return Err(ServeError::OutOfOrder("opened the session twice")),
        };
        let context = match remaining {
            Some(remaining) => Context::new().with_timeout(remaining),
            None => Context::new(),
        };
        let mut calls = lock(&self.calls);
        let full = calls.len() >= MAX_CALLS;
        match calls.entry(call) {
            Entry::Occupied(_) => Err(ServeError::OutOfOrder("used the number of a call twice")),
            Entry::Vacant(_) if full => {
                drop(calls);
                let operation = work.operation();
                self.write(call, operation, failed(too_many(operation)));
                Ok(None)
            }
            Entry::Vacant(place) => {
                place.insert(context.cancellation().clone());
                Ok(Some(Task {
                    call,
                    context,
                    work,
                }))
            }
        }
    }

    fn answer(&self, task: Task) {
        let Task {
            call,
            context,
            work,
        } = task;
        let operation = work.operation();
        // An engine does not panic; if it does, its call has an end all the same.
        let answer = catch_unwind(AssertUnwindSafe(|| match work {
            Work::Call(request) => Answer::Call(self.engine.call(&context, request)),
            Work::Probe => Answer::Probed(self.engine.probe()),
        }));
        let answer = answer.unwrap_or_else(|_| failed(panicked(operation)));
        self.end(call, operation, answer);
    }

    /// Ends a call.
    fn end(&self, call: u32, operation: Operation, answer: Answer) {
        lock(&self.calls).remove(&call);
        self.write(call, operation, answer);
    }

    fn write(&self, call: u32, operation: Operation, answer: Answer) {
        let encoded = Encoded::new(&answer).ok();
        let encoded = match encoded.filter(|encoded| encoded.bytes() <= self.message_bytes) {
            Some(encoded) => Some(encoded),
            None => Encoded::new(&failed(too_large(operation))).ok(),
        };
        if let Some(encoded) = encoded {
            // When the host is gone, the reader sees it too.
            let _ = write_message(self.output, call, encoded);
        }
    }
}

fn failed(error: Error) -> Answer {
    Answer::Call(Err(error))
}

fn no_thread(operation: Operation) -> Error {
    let message =
        "the sandbox has no thread for another call; let some end, or raise its limit of processes";
    Error::new(ErrorKind::Busy, operation, message)
}

fn too_many(operation: Operation) -> Error {
    let message = "too many calls run in the sandbox; let some end first";
    Error::new(ErrorKind::Busy, operation, message)
}

fn panicked(operation: Operation) -> Error {
    let message = "the sandbox's engine failed in the middle of the call; what it did is unknown";
    Error::new(ErrorKind::BackendFailed, operation, message)
}

fn too_large(operation: Operation) -> Error {
    let message = "the answer is larger than the session's limits allow; ask for less of it";
    Error::new(ErrorKind::TooLarge, operation, message)
}

struct Reader {
    input: std::os::fd::OwnedFd,
    decoder: Decoder,
}

impl Reader {
    /// The next event; none at the stream's end.
    fn next(&mut self) -> Result<Option<Event>, ServeError> {
        loop {
            if let Some(event) = self.decoder.next()? {
                return Ok(Some(event));
            }
            match rustix::io::read(&self.input, self.decoder.spare()) {
                // Even in the middle of a frame: the host is gone, however.
                Ok(0) | Err(Errno::CONNRESET) => return Ok(None),
                Ok(count) => self.decoder.filled(count),
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
    }
}

/// Fills the buffer; false when the stream ends first.
fn read_exact(input: &std::os::fd::OwnedFd, mut buffer: &mut [u8]) -> Result<bool, Errno> {
    while !buffer.is_empty() {
        match rustix::io::read(input, &mut *buffer) {
            Ok(0) => return Ok(false),
            Ok(count) => buffer = &mut buffer[count..],
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(true)
}

fn write_message(output: &Output, call: u32, mut message: Encoded) -> Result<(), Errno> {
    match message.single(call) {
        Ok(frame) => write_all(output, frame),
        Err(message) => {
            for (header, payload) in frames(call, message) {
                write_both(output, &header.to_bytes(), payload)?;
            }
            Ok(())
        }
    }
}

/// Writes within one turn.
fn write_all(output: &Output, bytes: &[u8]) -> Result<(), Errno> {
    write_both(output, bytes, &[])
}

fn write_both(output: &Output, mut first: &[u8], mut second: &[u8]) -> Result<(), Errno> {
    let Ok(turn) = output.turn(|| Ok::<_, Infallible>(()));
    let mut turn = turn.ok_or(Errno::PIPE)?;
    let descriptor = &turn.pen()?.descriptor;
    while !first.is_empty() || !second.is_empty() {
        match rustix::io::writev(descriptor, &[IoSlice::new(first), IoSlice::new(second)]) {
            Ok(count) => {
                let of_first = count.min(first.len());
                first = &first[of_first..];
                second = &second[count - of_first..];
            }
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}
