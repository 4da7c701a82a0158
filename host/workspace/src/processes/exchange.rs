//! What the thread that supervises a process and those that ask about it share: its three streams, and its
//! end.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use belljar_contract::processes::{Ended, Output, OutputStream};

use super::{head_and_tail::HeadAndTail, input::Input, last::Last};

/// The streams of a process, and its end.
#[derive(Debug)]
pub(super) struct Exchange {
    state: Mutex<State>,
    pub(super) changed: Condvar,
}

/// What is shared.
#[derive(Debug)]
pub(super) struct State {
    pub(super) input: Input,
    pub(super) stdout: Sink,
    pub(super) stderr: Sink,
    pub(super) ended: Option<Ended>,
}

/// What becomes of an output.
#[derive(Debug)]
pub(super) enum Sink {
    HeadAndTail(HeadAndTail),
    Last(Last),
}

impl Exchange {
    pub(super) const fn new(input: Input, stdout: Sink, stderr: Sink) -> Self {
        Self {
            state: Mutex::new(State {
                input,
                stdout,
                stderr,
                ended: None,
            }),
            changed: Condvar::new(),
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn into_state(self) -> State {
        self.state
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes what the program printed.
    pub(super) fn printed(&self, stream: OutputStream, bytes: &[u8]) {
        self.lock().sink(stream).push(bytes);
        self.changed.notify_all();
    }

    /// Notes that the stream has ended.
    pub(super) fn stream_ended(&self, stream: OutputStream) {
        self.lock().sink(stream).end();
        self.changed.notify_all();
    }
}

impl State {
    pub(super) const fn sink(&mut self, stream: OutputStream) -> &mut Sink {
        match stream {
            OutputStream::Stdout => &mut self.stdout,
            OutputStream::Stderr => &mut self.stderr,
        }
    }
}

impl Sink {
    fn push(&mut self, bytes: &[u8]) {
        match self {
            Self::HeadAndTail(kept) => kept.push(bytes),
            Self::Last(kept) => kept.push(bytes),
        }
    }

    fn end(&mut self) {
        if let Self::Last(kept) = self {
            kept.end();
        }
    }

    /// What was kept, for a `run`.
    pub(super) fn into_output(self) -> Output {
        match self {
            Self::HeadAndTail(kept) => kept.into_output(),
            Self::Last(_) => Output::default(),
        }
    }
}
