//! The calls of an open session.

use std::{
    collections::{HashMap, hash_map::Entry},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Mutex,
    thread::{self, Scope},
};

use belljar_contract::{
    Cancellation, Context, Error, ErrorKind, Operation, Request, session::Limits,
};

use super::{
    Engine, ServeError, Served,
    crew::{Assigned, Crew, Next, Work},
    reader::{Reader, Writes, post, say},
};
use crate::{
    budget::decode,
    encoded::Encoded,
    frame::{Event, Header, Kind},
    message::{Answer, Ask, MAX_CALLS, OPEN_CALL, Opened},
    output::{Output, lock},
    size::{self, FACTS, Size},
    wake::Waker,
};

pub(super) struct Session<'a, E> {
    engine: &'a E,
    output: &'a Output,
    /// Wakes whoever writes, and whoever reads, when there is no more use in it.
    over: &'a Waker,
    limits: Limits,
    /// The calls that run.
    calls: Mutex<HashMap<u32, Cancellation>>,
    reader: Mutex<Reading>,
    crew: Crew<Task>,
}

enum Reading {
    Open(Reader),
    Ended(Result<(), ServeError>),
}

/// A request that was read.
struct Task {
    call: u32,
    context: Context,
    /// What its answer may take.
    size: Size,
    asked: Asked,
}

/// What is to be done.
enum Asked {
    Call(Request),
    Probe,
}

impl Asked {
    fn operation(&self) -> Operation {
        match self {
            Self::Call(request) => request.operation(),
            Self::Probe => Operation::Describe,
        }
    }
}

impl Work for Task {
    fn waits(&self) -> bool {
        match &self.asked {
            // For a program.
            Asked::Call(
                Request::Run(_) | Request::WriteInput { .. } | Request::FindCommands { .. },
            ) => true,
            Asked::Call(Request::Wait { wait, .. } | Request::ReadOutput { wait, .. }) => {
                !wait.is_zero()
            }
            Asked::Call(
                Request::Read { .. }
                | Request::ReadRange { .. }
                | Request::Write { .. }
                | Request::Append { .. }
                | Request::Replace { .. }
                | Request::List { .. }
                | Request::Glob { .. }
                | Request::Search { .. }
                | Request::Stat { .. }
                | Request::Resolve { .. }
                | Request::MakeDirectory { .. }
                | Request::Remove { .. }
                | Request::Rename { .. }
                | Request::Copy { .. }
                | Request::Start(_)
                | Request::Signal { .. },
            )
            | Asked::Probe => false,
        }
    }
}

impl<'a, E: Engine> Session<'a, E> {
    pub(super) fn new(
        engine: &'a E,
        output: &'a Output,
        over: &'a Waker,
        reader: Reader,
        limits: Limits,
    ) -> Self {
        Self {
            engine,
            output,
            over,
            limits,
            calls: Mutex::default(),
            reader: Mutex::new(Reading::Open(reader)),
            crew: Crew::new(),
        }
    }

    /// Says that the session is open, and answers until the stream ends and every call has.
    pub(super) fn serve(self, opened: Opened) -> Result<Served, ServeError> {
        let began = thread::scope(|scope| {
            let mut reading = lock(&self.reader);
            let began = self.crew.start(|| self.spawn(scope));
            let said = match began {
                true => say(self.output, OPEN_CALL, &Answer::Opened(opened)),
                false => Ok(()),
            };
            if !began || said.is_err() {
                *reading = Reading::Ended(said);
            }
            drop(reading);
            self.work(scope);
            began
        });
        match self.reader.into_inner() {
            Ok(Reading::Ended(Ok(()))) if !began => Ok(Served::NoThreads),
            Ok(Reading::Ended(result)) => result.map(|()| Served::ToTheEnd),
            // A thread ended in the middle of reading, which none does.
            Ok(Reading::Open(_)) | Err(_) => Err(ServeError::OutOfOrder("was not read to its end")),
        }
    }

    /// Reads and answers, in turn with the other threads, until the stream ends.
    fn work<'scope>(&'scope self, scope: &'scope Scope<'scope, '_>) {
        while let Some(mut task) = self.lead(scope) {
            loop {
                let waited = task.waits();
                self.answer(task);
                match self.crew.answered(waited) {
                    Next::Answer(next) => task = next,
                    Next::Read => break,
                    Next::End => return,
                }
            }
        }
    }

    /// Waits to read, and reads until there is a request for this thread, and another to read; none when the
    /// stream has ended.
    fn lead<'scope>(&'scope self, scope: &'scope Scope<'scope, '_>) -> Option<Task> {
        let mut reading = lock(&self.reader);
        self.crew.reads();
        let Reading::Open(reader) = &mut *reading else {
            return None;
        };
        let ended = loop {
            match self.read(reader) {
                Ok(Some(task)) => match self.crew.assign(task, || self.spawn(scope)) {
                    Assigned::Reader(task) => return Some(task),
                    Assigned::Later => {}
                    Assigned::Nobody(task) => {
                        lock(&self.calls).remove(&task.call);
                        let busy = failed(no_thread(task.asked.operation()));
                        if let Err(error) = say(self.output, task.call, &busy) {
                            break Err(error);
                        }
                    }
                },
                ended => break ended.map(drop),
            }
        };
        *reading = Reading::Ended(ended);
        drop(reading);
        // Nobody waits for an answer any more.
        self.crew.drop_queue();
        for cancellation in lock(&self.calls).values() {
            cancellation.cancel();
        }
        self.over.end();
        None
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
            match reader.next(self.output, self.over)? {
                None => return Ok(None),
                Some(Event::Ping { call }) => {
                    post(self.output, &Header::bare(Kind::Pong, call).to_bytes())?;
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
        let memory = size::request(&self.limits).memory;
        let (remaining, size, asked) = match decode(bytes, memory)? {
            Ask::Call { remaining, request } => {
                let size = size::answer(&request, &self.limits);
                (remaining, size, Asked::Call(request))
            }
            // A few small files: there is nothing in it to wait for.
            Ask::Probe => (None, FACTS, Asked::Probe),
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
                let busy = failed(too_many(asked.operation()));
                say(self.output, call, &busy)?;
                Ok(None)
            }
            Entry::Vacant(place) => {
                place.insert(context.cancellation().clone());
                Ok(Some(Task {
                    call,
                    context,
                    size,
                    asked,
                }))
            }
        }
    }

    fn answer(&self, task: Task) {
        let Task {
            call,
            context,
            size,
            asked,
        } = task;
        let operation = asked.operation();
        // An engine does not panic; if it does, its call has an end all the same.
        let answer = catch_unwind(AssertUnwindSafe(|| match asked {
            Asked::Call(request) => Answer::Call(self.engine.call(&context, request)),
            Asked::Probe => Answer::Probed(self.engine.probe()),
        }));
        let answer = answer.unwrap_or_else(|_| failed(panicked(operation)));
        lock(&self.calls).remove(&call);
        let encoded = Encoded::new(&answer).ok();
        let encoded = match encoded.filter(|encoded| encoded.bytes() <= size.bytes) {
            Some(encoded) => Some(encoded),
            None => Encoded::new(&failed(too_large(operation))).ok(),
        };
        drop(answer);
        if let Some(encoded) = encoded
            && (self.output.message(call, encoded, &Writes(self.over))).is_err()
        {
            // A host that takes no answers is gone, whatever it still sends.
            self.over.end();
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
