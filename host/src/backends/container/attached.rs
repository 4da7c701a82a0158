//! An engine's program whose standard input and output are a session's stream.
//!
//! It lasts as long as its container, and is supervised: it ends after its input, or is killed.

use std::{
    process::{Child, ExitStatus, Stdio},
    sync::{
        Mutex, PoisonError,
        mpsc::{Receiver, channel},
    },
    time::Duration,
};

use belljar_contract::Context;
use belljar_protocol::Stream;

use super::{
    CliError, CliFailure,
    classify::classify,
    cli::Cli,
    kept::Kept,
    supervised::{DRAIN, Event, MAX_WORDS, closed, kill, watch},
};

/// How long a program that nobody speaks to any more may take to end.
const END_PATIENCE: Duration = Duration::from_secs(5);

/// A program that runs.
pub(super) struct Attached {
    cli: Cli,
    command: String,
    /// There until it is waited for.
    child: Option<Watched>,
    words: Kept,
}

struct Watched {
    child: Child,
    events: Mutex<Receiver<Event>>,
    /// Whether it was seen to have ended, or its words to be all there.
    seen: (bool, bool),
}

impl Attached {
    /// Starts the program, and gives its stream.
    ///
    /// # Errors
    /// [`CliError`] when it does not start.
    pub(super) fn start(cli: &Cli, arguments: &[String]) -> Result<(Self, Stream), CliError> {
        let command = arguments.first().cloned().unwrap_or_default();
        let not_started = |error| CliError {
            engine: cli.engine(),
            command: command.clone(),
            failure: cli.not_started(error),
            words: String::new(),
        };
        let mut program = cli.command(arguments);
        program
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = program.spawn().map_err(not_started)?;
        let (sender, events) = channel();
        let words = Kept::last(MAX_WORDS);
        if let Some(pipe) = child.stderr.take() {
            words.fill(pipe, closed(&sender));
        }
        let pipes = child.stdin.take().zip(child.stdout.take());
        watch(&mut child, sender);
        let watched = Watched {
            child,
            events: Mutex::new(events),
            seen: (false, false),
        };
        let attached = Self {
            cli: cli.clone(),
            command: command.clone(),
            child: Some(watched),
            words,
        };
        let lost = || not_started(std::io::Error::other("its pipes are not there"));
        let (input, output) = pipes.ok_or_else(lost)?;
        Ok((attached, Stream::new(output.into(), input.into())))
    }

    /// Whether the program has ended, without waiting for it.
    pub(super) fn has_ended(&mut self) -> bool {
        self.child.as_mut().is_none_or(Watched::look)
    }

    /// Waits until the program has ended, and kills it when it takes longer than it may. Only for a
    /// program whose container has run nothing but ours: what it said is believed.
    ///
    /// # Errors
    /// [`CliError`] when it hung, or ended with another code than 0.
    pub(super) fn end(mut self, patience: Duration) -> Result<(), CliError> {
        let Some(watched) = self.child.take() else {
            return Ok(());
        };
        let ended = watched.end(patience);
        let (words, _) = self.words.take();
        let words = String::from_utf8_lossy(&words).trim().to_owned();
        let failure = match ended {
            None => CliFailure::Hangs { after: patience },
            Some(Ok(status)) if status.success() => return Ok(()),
            Some(Ok(status)) => classify(status.code(), &words),
            Some(Err(error)) => self.cli.not_started(error),
        };
        Err(CliError {
            engine: self.cli.engine(),
            command: std::mem::take(&mut self.command),
            failure,
            words,
        })
    }
}

impl Watched {
    fn look(&mut self) -> bool {
        let events = self
            .events
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        for event in events.try_iter() {
            match event {
                Event::Exited => self.seen.0 = true,
                Event::Closed => self.seen.1 = true,
                Event::Cancelled => {}
            }
        }
        self.seen.0
    }

    /// How it ended; none when it had to be killed.
    fn end(mut self, patience: Duration) -> Option<std::io::Result<ExitStatus>> {
        let (mut exited, mut closed) = self.seen;
        let mut come = |patience, wanted: fn(bool, bool) -> bool| {
            let context = Context::new().with_timeout(patience);
            let events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
            while !wanted(exited, closed) {
                let Some(left) = context.remaining().filter(|left| !left.is_zero()) else {
                    break;
                };
                match events.recv_timeout(left) {
                    Ok(Event::Exited) => exited = true,
                    Ok(Event::Closed) => closed = true,
                    Ok(Event::Cancelled) => {}
                    Err(_) => break,
                }
            }
            exited
        };
        let ended = come(patience, |exited, _| exited);
        if !ended {
            kill(&mut self.child);
        }
        let status = self.child.wait();
        // What it said last.
        come(DRAIN, |_, closed| closed);
        ended.then_some(status)
    }
}

impl Drop for Attached {
    /// Lets the program end, somewhere else: its input has ended, or will with the stream.
    fn drop(&mut self) {
        if let Some(watched) = self.child.take() {
            let end = move || drop(watched.end(END_PATIENCE));
            let named = std::thread::Builder::new().name("belljar-attached".into());
            // Without a thread it is left to end by itself.
            let _ = named.spawn(end);
        }
    }
}
