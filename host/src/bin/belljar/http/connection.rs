//! A client's connection: one of so many, and never waited for without end.

use std::{
    future::{Ready, ready},
    io::{self, IoSlice},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready as done},
    time::Duration,
};

use axum_server::accept::Accept;
use rustix::net::sockopt;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Sleep, sleep},
};

/// Connections at once. Each takes a descriptor, and the usual limit of a process is 1,024.
const MAX_CONNECTIONS: usize = 512;
/// How long a client may read nothing of an answer before it is given up: what it does not read takes memory.
const STALLED: Duration = Duration::from_secs(30);
/// After how long a connection that is silent is asked whether somebody is there, and how often again. A client
/// whose machine or network is gone is noticed after 30 seconds, and its call is cancelled.
const ASKED_AFTER: Duration = Duration::from_secs(15);
const ASKED_AGAIN: Duration = Duration::from_secs(5);
const ASKED_TIMES: u32 = 3;

/// Takes connections, so many at once; one more is closed.
#[derive(Clone, Debug)]
pub(super) struct Bounded(Arc<Semaphore>);

impl Bounded {
    pub(super) fn new() -> Self {
        Self(Arc::new(Semaphore::new(MAX_CONNECTIONS)))
    }
}

impl<S> Accept<TcpStream, S> for Bounded {
    type Stream = Connection;
    type Service = S;
    type Future = Ready<io::Result<(Connection, S)>>;

    fn accept(&self, stream: TcpStream, service: S) -> Self::Future {
        let Ok(permit) = Arc::clone(&self.0).try_acquire_owned() else {
            tracing::warn!("{MAX_CONNECTIONS} connections are open; another one is closed");
            return ready(Err(io::ErrorKind::ConnectionRefused.into()));
        };
        let prepared = prepare(&stream);
        ready(prepared.map(|()| {
            let connection = Connection {
                stream,
                stalled: None,
                _permit: permit,
            };
            (connection, service)
        }))
    }
}

fn prepare(stream: &TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    sockopt::set_socket_keepalive(stream, true)?;
    sockopt::set_tcp_keepidle(stream, ASKED_AFTER)?;
    sockopt::set_tcp_keepintvl(stream, ASKED_AGAIN)?;
    sockopt::set_tcp_keepcnt(stream, ASKED_TIMES)?;
    Ok(())
}

/// A connection that fails when its client reads nothing for [`STALLED`].
#[derive(Debug)]
pub(super) struct Connection {
    stream: TcpStream,
    /// While the client does not read: until when.
    stalled: Option<Pin<Box<Sleep>>>,
    _permit: OwnedSemaphorePermit,
}

impl Connection {
    /// What a write came to; one that waits does not wait for ever.
    fn written<T>(
        &mut self,
        task: &mut Context<'_>,
        write: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if write.is_ready() {
            self.stalled = None;
            return write;
        }
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(sleep(STALLED)));
        done!(stalled.as_mut().poll(task));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        task: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(task, buffer)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        task: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let write = Pin::new(&mut self.stream).poll_write(task, bytes);
        self.written(task, write)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        task: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let write = Pin::new(&mut self.stream).poll_write_vectored(task, parts);
        self.written(task, write)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(task)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(task)
    }
}
