//! A process's standard input: bytes that wait for a pipe that does not block.

use std::{os::fd::OwnedFd, sync::Arc};

use rustix::io::Errno;

use super::failure::Failure;

/// The writing end of a pipe, and what is to be written to it.
#[derive(Debug, Default)]
pub(super) struct Input {
    /// None when it has ended.
    pipe: Option<Arc<OwnedFd>>,
    waiting: Vec<u8>,
    written: usize,
    /// Whether it ends after what waits.
    last: bool,
}

impl Input {
    /// The input of a process that has the other end. The pipe must not block.
    pub(super) fn new(pipe: Option<OwnedFd>) -> Self {
        Self {
            pipe: pipe.map(Arc::new),
            ..Self::default()
        }
    }

    /// Takes all bytes, or none; then ends the input, when `last`.
    pub(super) fn push(&mut self, bytes: Vec<u8>, last: bool) -> Result<(), Failure> {
        if self.pipe.is_none() || self.last {
            return Err(Failure::InputEnded);
        }
        let waiting = self.waiting.len() - self.written;
        if waiting > 0 && !bytes.is_empty() {
            return Err(Failure::InputBusy { waiting });
        }
        if waiting == 0 {
            self.waiting = bytes;
            self.written = 0;
        }
        self.last = last;
        self.flush();
        Ok(())
    }

    /// Writes what the pipe takes now.
    pub(super) fn flush(&mut self) {
        while let Some(pipe) = &self.pipe {
            let rest = &self.waiting[self.written..];
            if rest.is_empty() {
                self.waiting = Vec::new();
                self.written = 0;
                if self.last {
                    self.pipe = None;
                }
                return;
            }
            match rustix::io::write(pipe, rest) {
                Ok(count) => self.written += count,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                // The program has closed its end, which is its right.
                Err(_) => self.end(),
            }
        }
    }

    /// The pipe, when there is something to write.
    pub(super) fn wanted(&self) -> Option<Arc<OwnedFd>> {
        if self.written < self.waiting.len() {
            self.pipe.clone()
        } else {
            None
        }
    }

    /// Ends the input, whatever waits.
    pub(super) fn end(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_takes_all_or_nothing_and_ends_once() {
        let (reader, writer) = rustix::pipe::pipe().expect("a pipe");
        rustix::io::ioctl_fionbio(&writer, true).expect("a pipe can be non-blocking");
        let mut input = Input::new(Some(writer));
        let much = 1 << 20;
        input.push(vec![7; much], false).expect("it is empty");
        assert!(input.wanted().is_some());
        assert!(matches!(
            input.push(vec![1], false),
            Err(Failure::InputBusy { .. })
        ));
        input.push(Vec::new(), true).expect("ending adds nothing");
        assert!(matches!(
            input.push(Vec::new(), true),
            Err(Failure::InputEnded)
        ));
        let mut read = 0;
        let mut buffer = vec![0; 1 << 16];
        loop {
            match rustix::io::read(&reader, &mut buffer).expect("a pipe can be read") {
                0 => break,
                count => read += count,
            }
            input.flush();
        }
        assert_eq!(read, much);
    }
}
