//! The sandbox of this thread, in place of a host's imports.

use std::{cell::RefCell, collections::BTreeMap, future::Future, rc::Rc, time::Duration};

use belljar_contract::{
    Error, ErrorKind, Expected, Operation, QueryOptions, Result, RunOptions, Sandbox, ScopeOptions,
    Version, blocking,
    files::{
        Chunk, Content, GlobResult, Info, Listing, ReplaceOptions, Replaced, SearchResult,
        WriteOptions,
    },
    processes::{Command, Ended, Execution, OutputChunk, OutputStream, ProcessId, SignalKind},
    session::{CommandInfo, Description, Limits, PolicySummary},
};

use crate::{
    http::{HttpError, Request, Response},
    progress::{Event, Level},
};

/// The most events that a thread keeps: what a test forgets to look at stays bounded.
const MAX_EVENTS: usize = 10_000;

thread_local! {
    static SANDBOX: RefCell<Option<Sandbox>> = const { RefCell::new(None) };
    static HTTP: RefCell<Option<Rc<Answering>>> = const { RefCell::new(None) };
    static SETTINGS: RefCell<BTreeMap<String, String>> = const { RefCell::new(BTreeMap::new()) };
    static EVENTS: RefCell<Vec<Event>> = const { RefCell::new(Vec::new()) };
}

/// What answers this thread's requests.
type Answering = dyn Fn(&Request) -> std::result::Result<Response, HttpError>;

/// Runs `work` with `sandbox` as this thread's, and gives back the one before, also on a panic.
pub(crate) fn with_sandbox<T>(sandbox: Sandbox, work: impl FnOnce() -> T) -> T {
    struct Restore(Option<Sandbox>);
    impl Drop for Restore {
        fn drop(&mut self) {
            SANDBOX.set(self.0.take());
        }
    }
    let _restore = Restore(SANDBOX.replace(Some(sandbox)));
    work()
}

/// The progress of this thread so far, which is then forgotten.
pub(crate) fn take_events() -> Vec<Event> {
    EVENTS.take()
}

fn sandbox(operation: Operation) -> Result<Sandbox> {
    SANDBOX.with_borrow(Clone::clone).ok_or_else(|| {
        Error::new(
            ErrorKind::BackendUnavailable,
            operation,
            "this thread has no sandbox; call the tool inside testing::with_sandbox",
        )
    })
}

/// Asks this thread's sandbox, and waits.
fn ask<T, F: Future<Output = Result<T>>>(
    operation: Operation,
    call: impl FnOnce(Sandbox) -> F,
) -> Result<T> {
    let sandbox = sandbox(operation)?;
    let context = sandbox.context().clone();
    blocking::block_on(&context, call(sandbox)).unwrap_or_else(|stop| Err(stop.during(operation)))
}

pub(crate) fn read(path: &str) -> Result<Content> {
    ask(Operation::Read, |sandbox| async move {
        sandbox.read(path).await
    })
}

pub(crate) fn read_range(path: &str, offset: u64, length: u64) -> Result<Chunk> {
    ask(Operation::ReadRange, |sandbox| async move {
        sandbox.read_range(path, offset, length).await
    })
}

pub(crate) fn write(path: &str, bytes: &[u8], options: WriteOptions) -> Result<Version> {
    ask(Operation::Write, |sandbox| async move {
        sandbox.write(path, bytes, options).await
    })
}

pub(crate) fn append(path: &str, bytes: &[u8], options: WriteOptions) -> Result<Version> {
    ask(Operation::Append, |sandbox| async move {
        sandbox.append(path, bytes, options).await
    })
}

pub(crate) fn replace(
    path: &str,
    old: &[u8],
    new: &[u8],
    options: ReplaceOptions,
) -> Result<Replaced> {
    ask(Operation::Replace, |sandbox| async move {
        sandbox.replace(path, old, new, options).await
    })
}

pub(crate) fn list(path: &str, limit: Option<u32>) -> Result<Listing> {
    ask(Operation::List, |sandbox| async move {
        sandbox.list(path, limit).await
    })
}

pub(crate) fn glob(pattern: &str, scope: ScopeOptions) -> Result<GlobResult> {
    ask(Operation::Glob, |sandbox| async move {
        sandbox.glob(pattern, scope).await
    })
}

pub(crate) fn search(query: QueryOptions, scope: ScopeOptions) -> Result<SearchResult> {
    ask(Operation::Search, |sandbox| async move {
        sandbox.search(query, scope).await
    })
}

pub(crate) fn stat(path: &str) -> Result<Info> {
    ask(Operation::Stat, |sandbox| async move {
        sandbox.stat(path).await
    })
}

pub(crate) fn resolve(path: &str) -> Result<String> {
    ask(Operation::Resolve, |sandbox| async move {
        sandbox.resolve(path).await.map(|path| path.to_string())
    })
}

pub(crate) fn make_directory(path: &str) -> Result<()> {
    ask(Operation::MakeDirectory, |sandbox| async move {
        sandbox.make_directory(path).await
    })
}

pub(crate) fn remove(path: &str, recursive: bool) -> Result<()> {
    ask(Operation::Remove, |sandbox| async move {
        sandbox.remove(path, recursive).await
    })
}

pub(crate) fn rename(source: &str, target: &str, destination: Expected) -> Result<()> {
    ask(Operation::Rename, |sandbox| async move {
        sandbox.rename(source, target, destination).await
    })
}

pub(crate) fn copy(source: &str, target: &str, destination: Expected) -> Result<Version> {
    ask(Operation::Copy, |sandbox| async move {
        sandbox.copy(source, target, destination).await
    })
}

pub(crate) fn run(command: Command, options: RunOptions) -> Result<Execution> {
    ask(Operation::Run, |sandbox| async move {
        sandbox.run(command, options).await
    })
}

pub(crate) fn start(command: Command, options: RunOptions) -> Result<ProcessId> {
    ask(Operation::Start, |sandbox| async move {
        sandbox.start(command, options).await
    })
}

pub(crate) fn read_output(
    process: ProcessId,
    output: OutputStream,
    cursor: u64,
    limit: u64,
    wait: Duration,
) -> Result<OutputChunk> {
    ask(Operation::ReadOutput, |sandbox| async move {
        sandbox
            .read_output(process, output, cursor, limit, wait)
            .await
    })
}

pub(crate) fn write_input(process: ProcessId, bytes: &[u8], close: bool) -> Result<()> {
    ask(Operation::WriteInput, |sandbox| async move {
        sandbox.write_input(process, bytes, close).await
    })
}

pub(crate) fn signal(process: ProcessId, signal: SignalKind) -> Result<()> {
    ask(Operation::Signal, |sandbox| async move {
        sandbox.signal(process, signal).await
    })
}

pub(crate) fn wait(process: ProcessId, wait: Duration) -> Result<Option<Ended>> {
    ask(Operation::Wait, |sandbox| async move {
        sandbox.wait(process, wait).await
    })
}

/// Describes this thread's sandbox; without one, a sandbox that can do nothing, because
/// `describe` never fails.
pub(crate) fn describe() -> Description {
    match sandbox(Operation::Describe) {
        Ok(sandbox) => Description::clone(&sandbox.describe()),
        Err(error) => Description {
            backend: "none".into(),
            root: "/workspace".into(),
            process_root: None,
            writable: false,
            durable: false,
            capabilities: Vec::new(),
            limits: Limits::default(),
            policy: PolicySummary::default(),
            instructions: error.message,
            hardening_gaps: Vec::new(),
        },
    }
}

pub(crate) fn find_commands(names: Vec<String>) -> Result<Vec<CommandInfo>> {
    ask(Operation::FindCommands, |sandbox| async move {
        sandbox.find_commands(names).await
    })
}

fn keep(event: Event) {
    EVENTS.with_borrow_mut(|events| {
        if events.len() < MAX_EVENTS {
            events.push(event);
        }
    });
}

pub(crate) fn report(done: u64, total: Option<u64>, message: &str) {
    let message = message.to_owned();
    keep(Event::Report {
        done,
        total,
        message,
    });
}

pub(crate) fn log(level: Level, message: &str) {
    let message = message.to_owned();
    keep(Event::Log { level, message });
}

/// Runs `work` with `answer` for this thread's requests, and gives back the one before, also on a panic.
pub(crate) fn with_http<T>(answer: Rc<Answering>, work: impl FnOnce() -> T) -> T {
    struct Restore(Option<Rc<Answering>>);
    impl Drop for Restore {
        fn drop(&mut self) {
            HTTP.set(self.0.take());
        }
    }
    let _restore = Restore(HTTP.replace(Some(answer)));
    work()
}

/// Runs `work` with `settings` as this thread's, and gives back those before, also on a panic.
pub(crate) fn with_settings<T>(settings: BTreeMap<String, String>, work: impl FnOnce() -> T) -> T {
    struct Restore(BTreeMap<String, String>);
    impl Drop for Restore {
        fn drop(&mut self) {
            SETTINGS.set(std::mem::take(&mut self.0));
        }
    }
    let _restore = Restore(SETTINGS.replace(settings));
    work()
}

pub(crate) fn setting(name: &str) -> Option<String> {
    SETTINGS.with_borrow(|settings| settings.get(name).cloned())
}

pub(crate) fn send(request: Request) -> std::result::Result<Response, HttpError> {
    let answer = HTTP.with_borrow(Clone::clone);
    match answer {
        Some(answer) => answer(&request),
        None => Err(HttpError::Denied(
            "this thread has nothing that answers; send inside testing::with_http".to_owned(),
        )),
    }
}
