//! The calls of an open session.

use std::{
    collections::{HashMap, hash_map::Entry},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread::{self, Scope},
};

use belljar_contract::{
    Cancellation, Context, Error, ErrorKind, Operation, Request, session::Limits,
};

use super::{Engine, Reader, ServeError, write_all, write_message};
use crate::{
    frame::{Event, Header, Kind},
    message::{Answer, Ask, Encoded, MAX_CALLS, decode, message_bytes},
    stream::{Output, lock},
};

/// Threads that are kept while there is nothing to do: in a container each counts against its limit of
/// processes.
const KEPT: usize = 4;

pub(super) struct Session<'a, E> {
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

impl<'a, E: Engine> Session<'a, E> {
    pub(super) fn new(engine: &'a E, output: &'a Output, reader: Reader, limits: &Limits) -> Self {
        Self {
            engine,
            output,
            message_bytes: message_bytes(limits),
            calls: Mutex::default(),
            reader: Mutex::new(Reading::Open(reader)),
            waiting: AtomicUsize::new(0),
        }
    }

    /// Answers until the stream ends and every call has.
    pub(super) fn serve(self) -> Result<(), ServeError> {
        thread::scope(|scope| self.work(scope));
        match self.reader.into_inner() {
            Ok(Reading::Ended(result)) => result,
            // A thread ended in the middle of reading, which none does.
            Ok(Reading::Open(_)) | Err(_) => Err(ServeError::OutOfOrder("was not read to its end")),
        }
    }

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
                Some(Event::Ping { call }) => {
                    write_all(self.output, &Header::bare(Kind::Pong, call).to_bytes())?;
                }
                Some(Event::Pong { .. } | Event::Begun { .. }) => {}
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
