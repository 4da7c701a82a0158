//! A child of this process that ends in bounded time, with everything in its group, and is always waited for.

use std::{
    io::Write as _,
    process::{Child, ExitStatus},
    sync::{
        Mutex, PoisonError,
        mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    },
    thread,
    time::Duration,
};

use belljar_contract::{Context, Stop};

use super::kept::Kept;

/// The most bytes of an answer: `inspect` of many containers is some hundred kilobytes.
pub(in crate::backends) const MAX_ANSWER: usize = 4 << 20;
/// The most bytes of what is said on standard error that are kept; the last ones, which say why.
pub(in crate::backends) const MAX_WORDS: usize = 8 << 10;
/// How long what was printed may take to come after the program has ended: a helper that it left behind
/// may hold its output open for ever.
pub(in crate::backends) const DRAIN: Duration = Duration::from_millis(500);

/// What happens to a child, in the order in which its threads tell.
pub(in crate::backends) enum Event {
    /// An output was read to its end.
    Closed,
    /// It ended, and is still to be waited for.
    Exited,
    /// Its call was cancelled.
    Cancelled,
}

/// How it ended.
pub(in crate::backends) enum How {
    Exited(ExitStatus),
    Hangs,
    Stopped(Stop),
    /// The system does not tell how it ended.
    Lost(std::io::Error),
}

/// How it ended, and what it printed.
pub(in crate::backends) struct Ended {
    pub(in crate::backends) how: How,
    pub(in crate::backends) stdout: Vec<u8>,
    /// Whether it printed more than is kept.
    pub(in crate::backends) overflowed: bool,
    /// The end of it.
    pub(in crate::backends) stderr: Vec<u8>,
}

/// A child with the threads that read what it prints.
pub(in crate::backends) struct Supervised {
    child: Child,
    stdout: Kept,
    stderr: Kept,
    events: Receiver<Event>,
    sender: Sender<Event>,
}

impl Supervised {
    pub(in crate::backends) fn new(mut child: Child, input: Option<&[u8]>) -> Self {
        let (sender, events) = channel();
        let stdout = Kept::first(MAX_ANSWER);
        let stderr = Kept::last(MAX_WORDS);
        if let Some(pipe) = child.stdout.take() {
            stdout.fill(pipe, closed(&sender));
        }
        if let Some(pipe) = child.stderr.take() {
            stderr.fill(pipe, closed(&sender));
        }
        if let (Some(mut pipe), Some(input)) = (child.stdin.take(), input) {
            let input = input.to_owned();
            // A program that does not read has its reasons, and says them.
            thread::spawn(move || drop(pipe.write_all(&input)));
        }
        watch(&mut child, sender.clone());
        Self {
            child,
            stdout,
            stderr,
            events,
            sender,
        }
    }

    /// Waits until it has ended, or must; it is waited for in any case.
    pub(in crate::backends) fn wait(mut self, context: &Context, timeout: Duration) -> Ended {
        let cancelled = Mutex::new(self.sender.clone());
        let _registration = context.cancellation().on_cancel(move || {
            let sender = cancelled.lock().unwrap_or_else(PoisonError::into_inner);
            let _ = sender.send(Event::Cancelled);
        });
        let end = context.now().saturating_add(timeout);
        let deadline = context
            .remaining()
            .map(|left| context.now().saturating_add(left));
        let until = deadline.map_or(end, |deadline| deadline.min(end));
        let mut closed = 0;
        let stopped = loop {
            match self
                .events
                .recv_timeout(until.saturating_sub(context.now()))
            {
                Ok(Event::Closed) => {
                    closed += 1;
                    if cfg!(not(unix)) && closed == 2 {
                        break None;
                    }
                }
                Ok(Event::Exited) => break None,
                Ok(Event::Cancelled) => break Some(How::Stopped(Stop::Cancelled)),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    let by_deadline = deadline.is_some_and(|deadline| deadline <= end);
                    break Some(match by_deadline {
                        true => How::Stopped(Stop::TimedOut),
                        false => How::Hangs,
                    });
                }
            }
        };
        if stopped.is_some() {
            kill(&mut self.child);
        }
        let drained = context.now().saturating_add(DRAIN);
        while closed < 2 {
            match self
                .events
                .recv_timeout(drained.saturating_sub(context.now()))
            {
                Ok(Event::Closed) => closed += 1,
                Ok(Event::Exited | Event::Cancelled) => {}
                Err(_) => break,
            }
        }
        // What it left behind in its group would hold the pipes and their threads.
        if closed < 2 {
            kill(&mut self.child);
        }
        let status = self.child.wait();
        let (stdout, overflowed) = self.stdout.take();
        let (stderr, _) = self.stderr.take();
        Ended {
            how: stopped.unwrap_or_else(|| status.map_or_else(How::Lost, How::Exited)),
            stdout,
            overflowed,
            stderr,
        }
    }
}

/// Tells when the child has ended, without waiting for it: until that is done its id is nobody else's.
#[cfg(unix)]
pub(in crate::backends) fn watch(child: &mut Child, sender: Sender<Event>) {
    use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
    let id = WaitId::Pid(Pid::from_child(child));
    let watching = move || {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while matches!(waitid(id.clone(), options), Err(rustix::io::Errno::INTR)) {}
        let _ = sender.send(Event::Exited);
    };
    // Without a thread its end is not seen, and it is killed when its time is over.
    let _ = thread::Builder::new().spawn(watching);
}

/// Whether the child has ended, without waiting for it.
#[cfg(unix)]
pub(in crate::backends) fn has_ended(child: &Child) -> bool {
    use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    // One that the system does not know any more has.
    !matches!(
        waitid(WaitId::Pid(Pid::from_child(child)), options),
        Ok(None)
    )
}

/// Where a process cannot be watched without waiting for it, its closed outputs tell.
#[cfg(not(unix))]
pub(in crate::backends) fn watch(child: &mut Child, sender: Sender<Event>) {
    let _ = (child, sender);
}

/// Where that cannot be seen, it runs until its end is waited for.
#[cfg(not(unix))]
pub(in crate::backends) fn has_ended(child: &Child) -> bool {
    let _ = child;
    false
}

/// Kills the child and its group. It was not waited for, so the id is still its own.
pub(in crate::backends) fn kill(child: &mut Child) {
    #[cfg(unix)]
    {
        use rustix::process::{Pid, Signal, kill_process_group};
        let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
    }
    let _ = child.kill();
}

/// Tells that an output was read to its end.
pub(in crate::backends) fn closed(sender: &Sender<Event>) -> impl FnOnce() + Send + 'static {
    let sender = sender.clone();
    move || drop(sender.send(Event::Closed))
}
