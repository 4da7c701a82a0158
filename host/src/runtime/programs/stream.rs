//! A program's three streams: a pipe that does not block, or a file.

use std::{
    io,
    os::fd::{AsFd as _, OwnedFd},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use belljar_contract::async_trait;
use bytes::Bytes;
use rustix::{buffer::spare_capacity, fs::FileType};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::unix::pipe,
};
use wasmtime_wasi::{
    cli::{IsTerminal, StdinStream, StdoutStream},
    p2::{InputStream, OutputStream, Pollable, StreamError, StreamResult},
};

use super::outcome::Fatal;

/// What is moved at once: a pipe's usual capacity.
const PIECE: usize = 64 << 10;

fn is_pipe(descriptor: &OwnedFd) -> bool {
    rustix::fs::fstat(descriptor.as_fd())
        .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Fifo)
}

/// Standard input. Every clone is the same stream.
#[derive(Clone)]
pub(super) struct Input(Arc<Source>);

enum Source {
    Pipe(pipe::Receiver),
    /// A file is always ready.
    File(OwnedFd),
}

impl Input {
    /// Takes a descriptor, in a runtime that does input and output.
    pub(super) fn new(descriptor: OwnedFd) -> io::Result<Self> {
        let source = match is_pipe(&descriptor) {
            true => Source::Pipe(pipe::Receiver::from_owned_fd(descriptor)?),
            false => Source::File(descriptor),
        };
        Ok(Self(Arc::new(source)))
    }
}

#[async_trait]
impl InputStream for Input {
    fn read(&mut self, size: usize) -> StreamResult<Bytes> {
        let mut buffer = Vec::with_capacity(size.min(PIECE));
        let read = match &*self.0 {
            Source::Pipe(pipe) => pipe.try_read_buf(&mut buffer),
            Source::File(file) => {
                rustix::io::read(file, spare_capacity(&mut buffer)).map_err(io::Error::from)
            }
        };
        match read {
            Ok(0) if size > 0 => Err(StreamError::Closed),
            Ok(_) => Ok(buffer.into()),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(Bytes::new()),
            Err(error) => Err(StreamError::LastOperationFailed(error.into())),
        }
    }
}

#[async_trait]
impl Pollable for Input {
    async fn ready(&mut self) {
        if let Source::Pipe(pipe) = &*self.0 {
            // That it cannot be waited for shows when it is read.
            let _ = pipe.readable().await;
        }
    }
}

/// Standard output or standard error. Every clone is the same stream.
#[derive(Clone)]
pub(super) struct Output(Arc<Shared>);

struct Shared {
    sink: Sink,
    /// What was written and not taken yet.
    waiting: Mutex<Vec<u8>>,
}

enum Sink {
    Pipe(pipe::Sender),
    /// A file is always ready.
    File(OwnedFd),
}

impl Output {
    /// Takes a descriptor, in a runtime that does input and output.
    pub(super) fn new(descriptor: OwnedFd) -> io::Result<Self> {
        let sink = match is_pipe(&descriptor) {
            true => Sink::Pipe(pipe::Sender::from_owned_fd(descriptor)?),
            false => Sink::File(descriptor),
        };
        Ok(Self(Arc::new(Shared {
            sink,
            waiting: Mutex::default(),
        })))
    }

    /// Adds words of the host's.
    pub(super) fn say(&self, words: &str) {
        self.waiting().extend_from_slice(words.as_bytes());
    }

    /// Waits until all that was written is taken, or nobody takes it any more.
    pub(super) async fn finish(&self) {
        while self.push_on().is_ok() && !self.waiting().is_empty() {
            if let Sink::Pipe(pipe) = &self.0.sink {
                // That it cannot be waited for shows when it is written to.
                let _ = pipe.writable().await;
            }
        }
    }

    fn waiting(&self) -> MutexGuard<'_, Vec<u8>> {
        let waiting = self.0.waiting.lock();
        waiting.unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes what waits, as far as it is taken now.
    fn push_on(&self) -> StreamResult<()> {
        let mut waiting = self.waiting();
        let mut written = 0;
        let error = loop {
            let rest = &waiting[written..];
            if rest.is_empty() {
                break None;
            }
            let count = match &self.0.sink {
                Sink::Pipe(pipe) => pipe.try_write(rest),
                Sink::File(file) => rustix::io::write(file, rest).map_err(io::Error::from),
            };
            match count {
                Ok(count) => written += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break None,
                Err(error) => break Some(error),
            }
        };
        waiting.drain(..written);
        let Some(error) = error else {
            return Ok(());
        };
        waiting.clear();
        Err(match error.kind() {
            // A system's program would get SIGPIPE.
            io::ErrorKind::BrokenPipe => StreamError::Trap(wasmtime::Error::new(Fatal::BrokenPipe)),
            _ => StreamError::LastOperationFailed(error.into()),
        })
    }
}

#[async_trait]
impl OutputStream for Output {
    fn check_write(&mut self) -> StreamResult<usize> {
        self.push_on()?;
        Ok(if self.waiting().is_empty() { PIECE } else { 0 })
    }

    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        self.waiting().extend_from_slice(&bytes);
        self.push_on()
    }

    fn flush(&mut self) -> StreamResult<()> {
        self.push_on()
    }
}

#[async_trait]
impl Pollable for Output {
    async fn ready(&mut self) {
        self.finish().await;
    }
}

impl IsTerminal for Input {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl IsTerminal for Output {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdinStream for Input {
    /// Of WASI's third preview, which is not linked.
    fn async_stream(&self) -> Box<dyn AsyncRead + Send + Sync> {
        Box::new(tokio::io::empty())
    }

    fn p2_stream(&self) -> Box<dyn InputStream> {
        Box::new(self.clone())
    }
}

impl StdoutStream for Output {
    /// Of WASI's third preview, which is not linked.
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(tokio::io::sink())
    }

    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }
}
