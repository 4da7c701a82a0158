//! A program whose standard input and output are a session's stream.
//!
//! It lasts as long as its session, and is supervised: it ends after its input, or is killed.

use std::{
    process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio},
    sync::mpsc::{Receiver, Sender, channel},
    time::Duration,
};

use belljar_contract::Context;

use super::{
    kept::Kept,
    supervised::{DRAIN, Event, MAX_WORDS, closed, has_ended, kill, watch},
};

/// How long a program that nobody speaks to any more may take to end.
const END_PATIENCE: Duration = Duration::from_secs(5);

/// A program that runs.
pub(in crate::backends) struct Attached {
    /// There until it is waited for.
    child: Option<Running>,
    words: Kept,
}

/// What is left of a program.
pub(in crate::backends) struct Left {
    /// How it ended; none when it had to be killed.
    pub(in crate::backends) ended: Option<std::io::Result<ExitStatus>>,
    /// The end of what it said on standard error.
    pub(in crate::backends) words: String,
}

struct Running {
    child: Child,
    events: Receiver<Event>,
    /// For the thread that watches it, from when its end is waited for: a session has none as long as it lasts.
    sender: Sender<Event>,
}

impl Attached {
    /// Starts a program, and gives its standard input and output.
    ///
    /// # Errors
    /// When it does not start.
    pub(in crate::backends) fn start(
        mut program: Command,
    ) -> std::io::Result<(Self, ChildStdin, ChildStdout)> {
        program
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = program.spawn()?;
        let (sender, events) = channel();
        let words = Kept::last(MAX_WORDS);
        if let Some(pipe) = child.stderr.take() {
            words.fill(pipe, closed(&sender));
        }
        let pipes = child.stdin.take().zip(child.stdout.take());
        let running = Running {
            child,
            events,
            sender,
        };
        let attached = Self {
            child: Some(running),
            words,
        };
        let (input, output) =
            pipes.ok_or_else(|| std::io::Error::other("its pipes are not there"))?;
        Ok((attached, input, output))
    }

    /// Whether the program has ended, without waiting for it.
    pub(in crate::backends) fn has_ended(&self) -> bool {
        let running = self.child.as_ref();
        running.is_none_or(|running| has_ended(&running.child))
    }

    /// Waits until the program has ended, and kills it when it takes longer than it may.
    pub(in crate::backends) fn end(mut self, patience: Duration) -> Left {
        let ended = self.child.take().and_then(|child| child.end(patience));
        let (words, _) = self.words.take();
        Left {
            ended,
            words: String::from_utf8_lossy(&words).trim().to_owned(),
        }
    }
}

impl Running {
    /// How it ended; none when it had to be killed.
    fn end(mut self, patience: Duration) -> Option<std::io::Result<ExitStatus>> {
        watch(&mut self.child, self.sender);
        let (mut exited, mut closed) = (false, false);
        let mut come = |patience, wanted: fn(bool, bool) -> bool| {
            let context = Context::new().with_timeout(patience);
            while !wanted(exited, closed) {
                let Some(left) = context.remaining().filter(|left| !left.is_zero()) else {
                    break;
                };
                match self.events.recv_timeout(left) {
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
        if let Some(running) = self.child.take() {
            let end = move || drop(running.end(END_PATIENCE));
            let named = std::thread::Builder::new().name("belljar-attached".into());
            // Without a thread it is left to end by itself.
            let _ = named.spawn(end);
        }
    }
}
