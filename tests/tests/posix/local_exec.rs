//! Running programs on this machine, as a place that can do nothing else.

use std::{
    io::{Read, Write},
    os::unix::process::{CommandExt as _, ExitStatusExt as _},
    process::{Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{self, RecvTimeoutError, Sender},
    },
    thread,
    time::Duration,
};

use crate::orphans;
use belljar::{
    Context, async_trait,
    backends::{Exec, ExecCall, ExecError},
};
use belljar_contract::processes::{Execution, Outcome};
use belljar_workspace::processes::HeadAndTail;
use rustix::process::{Pid, Signal, kill_process_group};

/// How long what has the outputs may hold them after the program's end: on a busy machine our own threads may take as
/// long to read what is there.
const DRAIN: Duration = Duration::from_millis(500);
/// How long a script that was told to end is waited for.
const GRACE: Duration = Duration::from_millis(60);

/// Runs programs with this PATH, and nothing else in their environment but what could be mistaken for ours.
pub(crate) struct LocalExec {
    path: String,
}

impl LocalExec {
    pub(crate) fn new(path: String) -> Self {
        Self { path }
    }
}

enum Event {
    Output { is_stderr: bool, bytes: Vec<u8> },
    Closed,
    Exited(std::process::ExitStatus),
    Cancelled,
}

#[async_trait]
impl Exec for LocalExec {
    async fn exec(&self, context: &Context, call: ExecCall) -> Result<Execution, ExecError> {
        let (answer, answered) = tokio::sync::oneshot::channel();
        let (path, context) = (self.path.clone(), context.clone());
        let (events, received) = mpsc::channel();
        // Cancelled with its caller, and when the future is dropped.
        let cancel = events.clone();
        let registration = context.cancellation().on_cancel(move || {
            let _ = cancel.send(Event::Cancelled);
        });
        let dropped = OnDrop(events.clone());
        thread::spawn(move || {
            let _ = answer.send(run(&path, &context, call, events, &received));
        });
        let result = answered.await;
        drop(registration);
        drop(dropped);
        result.unwrap_or_else(|_| Err(failed("the thread is gone")))
    }
}

struct OnDrop(Sender<Event>);

impl Drop for OnDrop {
    fn drop(&mut self) {
        let _ = self.0.send(Event::Cancelled);
    }
}

fn failed(error: impl ToString) -> ExecError {
    ExecError::Failed {
        message: error.to_string(),
    }
}

fn run(
    path: &str,
    context: &Context,
    call: ExecCall,
    events: Sender<Event>,
    received: &mpsc::Receiver<Event>,
) -> Result<Execution, ExecError> {
    let began = context.now();
    // Looked up in the place's PATH, and not in ours.
    let program = path
        .split(':')
        .map(|place| format!("{place}/{}", call.argv[0]))
        .find(|file| std::path::Path::new(file).exists())
        .ok_or_else(|| failed("no such program"))?;
    let mut command = Command::new(program);
    command
        .arg0(&call.argv[0])
        .args(&call.argv[1..])
        .env_clear()
        .env("PATH", path)
        .env("SECRET_OF_THE_PLACE", "leaked")
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = orphans::spawn(&mut command).map_err(failed)?;
    let group = Pid::from_raw(i32::try_from(child.id()).unwrap_or(i32::MAX));
    let input = child.stdin.take().map(|mut stdin| {
        let bytes = call.stdin;
        // A program that does not read its input is no error.
        thread::spawn(move || drop(stdin.write_all(&bytes)))
    });
    let stdout = child
        .stdout
        .take()
        .map(|out| (false, Box::new(out) as Box<dyn Read + Send>));
    let stderr = child
        .stderr
        .take()
        .map(|err| (true, Box::new(err) as Box<dyn Read + Send>));
    for (is_stderr, mut stream) in stdout.into_iter().chain(stderr) {
        let events = events.clone();
        thread::spawn(move || {
            let mut piece = vec![0; 64 << 10];
            while let Ok(count @ 1..) = stream.read(&mut piece) {
                let bytes = piece[..count].to_vec();
                if events.send(Event::Output { is_stderr, bytes }).is_err() {
                    return;
                }
            }
            let _ = events.send(Event::Closed);
        });
    }
    let exited = Arc::new(AtomicBool::new(false));
    let ended = Arc::clone(&exited);
    thread::spawn(move || {
        let id = child.id();
        if let Ok(status) = child.wait() {
            ended.store(true, Ordering::Release);
            orphans::forget(id);
            let _ = events.send(Event::Exited(status));
        }
    });
    drop(input);
    let limit = usize::try_from(call.output_limit).unwrap_or(usize::MAX);
    let mut kept = [HeadAndTail::new(limit), HeadAndTail::new(limit)];
    let (mut open, mut status, mut stopped) = (2, None, None);
    // When to stop waiting for what is to come.
    let mut until = None;
    while open > 0 || status.is_none() {
        let wait = until
            .map(|until: Duration| until.saturating_sub(context.now()))
            .or(context.remaining())
            .unwrap_or(Duration::from_secs(3600));
        let event = received.recv_timeout(wait);
        match event {
            Ok(Event::Output { is_stderr, bytes }) => kept[usize::from(is_stderr)].push(&bytes),
            Ok(Event::Closed) => open -= 1,
            Ok(Event::Exited(code)) => {
                status = Some(code);
                until = Some(context.now() + DRAIN);
            }
            Ok(Event::Cancelled) | Err(RecvTimeoutError::Timeout) => {
                let signal = match (&stopped, until) {
                    (None, None) => Signal::TERM,
                    // It was told and did not end, or its outputs are held.
                    _ if matches!(event, Err(RecvTimeoutError::Timeout)) => {
                        kill_later(group, Arc::clone(&exited));
                        break;
                    }
                    _ => continue,
                };
                stopped = Some(match event {
                    Ok(_) => Outcome::Cancelled,
                    Err(_) => Outcome::TimedOut,
                });
                signal_group(group, signal);
                until = Some(context.now() + GRACE);
            }
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    let [stdout, stderr] = kept.map(HeadAndTail::into_output);
    let ended = |status: std::process::ExitStatus| match (status.code(), status.signal()) {
        // As most places tell it.
        (None, Some(signal)) => Outcome::Exited(128 + signal),
        (code, _) => Outcome::Exited(code.unwrap_or(255)),
    };
    Ok(Execution {
        outcome: stopped.or(status.map(ended)).unwrap_or(Outcome::TimedOut),
        stdout,
        stderr,
        duration: context.now().saturating_sub(began),
    })
}

/// Kills what has not ended after a while, without keeping the caller: it may be cleaning up.
fn kill_later(group: Option<Pid>, exited: Arc<AtomicBool>) {
    thread::spawn(move || {
        thread::sleep(Duration::from_secs(1));
        if !exited.load(Ordering::Acquire) {
            signal_group(group, Signal::KILL);
        }
    });
}

fn signal_group(group: Option<Pid>, signal: Signal) {
    if let Some(group) = group {
        // One that is gone needs none.
        let _ = kill_process_group(group, signal);
    }
}
