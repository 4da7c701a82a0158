//! What carries the bytes.

use std::{
    io,
    os::{fd::OwnedFd, unix::net::UnixStream},
};

/// Both directions of a stream.
#[derive(Debug)]
pub struct Stream {
    pub(crate) input: OwnedFd,
    pub(crate) output: OwnedFd,
}

impl Stream {
    /// A stream from two pipes, or whatever two descriptors carry bytes.
    #[must_use]
    pub const fn new(input: OwnedFd, output: OwnedFd) -> Self {
        Self { input, output }
    }

    /// Reading and writing wait for nothing from here on: who waits does it in a poll, where it can be woken.
    pub(crate) fn never_block(&self) -> io::Result<()> {
        for end in [&self.input, &self.output] {
            rustix::io::ioctl_fionbio(end, true)?;
        }
        Ok(())
    }
}

impl TryFrom<UnixStream> for Stream {
    type Error = io::Error;

    fn try_from(socket: UnixStream) -> io::Result<Self> {
        Ok(Self {
            input: socket.try_clone()?.into(),
            output: socket.into(),
        })
    }
}
