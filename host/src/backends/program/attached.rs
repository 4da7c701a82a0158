//! A program whose standard input and output are a session's stream.
//!
//! It lasts as long as its session, and is supervised: it ends after its input, or is killed.

use std::{
    process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio},
    sync::{
        Mutex, PoisonError,
        mpsc::{Receiver, channel},
    },
    time::Duration,
};

use belljar_contract::Context;

use super::{
    kept::Kept,
    supervised::{DRAIN, Event, MAX_WORDS, closed, kill, watch},
};

/// How long a program that nobody speaks to any more may take to end.
const END_PATIENCE: Duration = Duration::from_secs(5);

/// A program that runs.
pub(in crate::backends) struct Attached {
    /// There until it is waited for.
    child: Option<Watched>,
    words: Kept,
}

/// What is left of a program.
pub(in crate::backends) struct Left {
    /// How it ended; none when it had to be killed.
    pub(in crate::backends) ended: Option<std::io::Result<ExitStatus>>,
    /// The end of what it said on standard error.
    pub(in crate::backends) words: String,
}

struct Watched {
    child: Child,
    events: Mutex<Receiver<Event>>,
    /// Whether it was seen to have ended, or its words to be all there.
    seen: (bool, bool),
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
        watch(&mut child, sender);
        let watched = Watched {
            child,
            events: Mutex::new(events),
            seen: (false, false),
        };
        let attached = Self {
            child: Some(watched),
            words,
        };
        let (input, output) =
            pipes.ok_or_else(|| std::io::Error::other("its pipes are not there"))?;
        Ok((attached, input, output))
    }

    /// Whether the program has ended, without waiting for it.
    pub(in crate::backends) fn has_ended(&mut self) -> bool {
        self.child.as_mut().is_none_or(Watched::look)
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
