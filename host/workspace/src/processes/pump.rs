//! All streams of a process at once, in one poll.

use std::{
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    time::Duration,
};

use belljar_contract::processes::OutputStream;
use rustix::{
    buffer::spare_capacity,
    event::{PollFd, PollFlags, Timespec},
    io::Errno,
};

use super::{body::Body, exchange::Exchange, wake::Wake};

/// A pipe's usual capacity: one read empties it.
const BUFFER_BYTES: usize = 64 << 10;
/// How often a program's end is looked for where it cannot be polled for.
const WITHOUT_WATCH: Duration = Duration::from_millis(5);
/// How much is read at the end from a pipe that somebody outside of the process still fills.
const LAST_READS: u32 = 64;

/// Moves bytes between a process's pipes and its exchange, and notes its leader's end.
#[derive(Debug)]
pub(super) struct Pump<'a> {
    exchange: &'a Exchange,
    body: &'a dyn Body,
    wake: &'a Wake,
    /// Readable when the leader has ended.
    watch: Option<OwnedFd>,
    outputs: [(OutputStream, Option<OwnedFd>); 2],
    buffer: Vec<u8>,
    ended: bool,
}

impl<'a> Pump<'a> {
    pub(super) fn new(
        exchange: &'a Exchange,
        body: &'a dyn Body,
        wake: &'a Wake,
        watch: Option<OwnedFd>,
        stdout: OwnedFd,
        stderr: OwnedFd,
    ) -> Self {
        Self {
            exchange,
            body,
            wake,
            watch,
            outputs: [
                (OutputStream::Stdout, Some(stdout)),
                (OutputStream::Stderr, Some(stderr)),
            ],
            buffer: Vec::with_capacity(BUFFER_BYTES),
            ended: false,
        }
    }

    /// Whether the leader has ended.
    pub(super) const fn leader_has_ended(&self) -> bool {
        self.ended
    }

    /// Whether an output may still give something.
    pub(super) fn is_open(&self) -> bool {
        self.outputs.iter().any(|(_, pipe)| pipe.is_some())
    }

    /// Waits until something can be done, at most `timeout`, and does it.
    pub(super) fn turn(&mut self, timeout: Option<Duration>) {
        let input = self.exchange.lock().input.wanted();
        let watch = self.watch.as_ref().filter(|_| !self.ended);
        let timeout = if watch.is_none() && !self.ended {
            Some(timeout.map_or(WITHOUT_WATCH, |timeout| timeout.min(WITHOUT_WATCH)))
        } else {
            timeout
        };
        let [(_, stdout), (_, stderr)] = &self.outputs;
        let watched: [Option<(BorrowedFd<'_>, PollFlags)>; 5] = [
            Some((self.wake.as_fd(), PollFlags::IN)),
            watch.map(|watch| (watch.as_fd(), PollFlags::IN)),
            stdout.as_ref().map(|pipe| (pipe.as_fd(), PollFlags::IN)),
            stderr.as_ref().map(|pipe| (pipe.as_fd(), PollFlags::IN)),
            input.as_ref().map(|pipe| (pipe.as_fd(), PollFlags::OUT)),
        ];
        let ready = poll(watched, timeout);
        let [woken, ended, stdout, stderr, input] = ready;
        if woken {
            self.wake.clear();
        }
        if stdout {
            self.read(0);
        }
        if stderr {
            self.read(1);
        }
        if input {
            self.exchange.lock().input.flush();
        }
        if ended || (self.watch.is_none() && !self.ended && self.body.has_ended()) {
            self.ended = true;
        }
    }

    /// Reads what is left in the pipes, and lets go of them.
    pub(super) fn finish(&mut self) {
        for output in 0..self.outputs.len() {
            for _ in 0..LAST_READS {
                if !self.read(output) {
                    break;
                }
            }
            let (stream, pipe) = &mut self.outputs[output];
            if pipe.take().is_some() {
                self.exchange.stream_ended(*stream);
            }
        }
        self.exchange.lock().input.end();
    }

    /// Reads once; whether there may be more at once.
    fn read(&mut self, output: usize) -> bool {
        let (stream, slot) = &mut self.outputs[output];
        let Some(pipe) = slot else { return false };
        self.buffer.clear();
        match rustix::io::read(&*pipe, spare_capacity(&mut self.buffer)) {
            Ok(0) => {}
            Ok(_) => {
                self.exchange.printed(*stream, &self.buffer);
                return true;
            }
            Err(Errno::INTR) => return true,
            Err(Errno::AGAIN) => return false,
            // A pipe that cannot be read gives nothing any more.
            Err(_) => {}
        }
        *slot = None;
        self.exchange.stream_ended(*stream);
        false
    }
}

/// Waits until one of the descriptors is ready, or until the time is up; which are ready.
fn poll<const N: usize>(
    watched: [Option<(BorrowedFd<'_>, PollFlags)>; N],
    timeout: Option<Duration>,
) -> [bool; N] {
    let mut polled: Vec<PollFd<'_>> = watched
        .iter()
        .flatten()
        .map(|(fd, flags)| PollFd::from_borrowed_fd(*fd, *flags))
        .collect();
    let timeout = timeout.map(|timeout| {
        Timespec::try_from(timeout).unwrap_or(Timespec {
            tv_sec: 1,
            tv_nsec: 0,
        })
    });
    let mut ready = [false; N];
    // An interruption is a turn in which nothing was ready.
    if rustix::event::poll(&mut polled, timeout.as_ref()).is_err() {
        return ready;
    }
    let mut polled = polled.iter();
    for (ready, watched) in ready.iter_mut().zip(&watched) {
        if watched.is_some() {
            *ready = polled.next().is_some_and(|fd| !fd.revents().is_empty());
        }
    }
    ready
}
