//! Speaking with a shell over its standard input and output, no longer than a call may.
//!
//! Of what comes nothing is read beyond the line that is asked for: what follows may be the resident's.

use std::{os::fd::BorrowedFd, time::Duration};

use belljar_contract::{Context, Stop};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
};

/// How often who waits looks whether it still should.
const STEP: Duration = Duration::from_millis(20);

/// The most bytes that are read for an answer, with what a login script prints before it.
const MAX_BYTES: usize = 64 << 10;

/// Why there is no answer.
#[derive(Debug)]
pub(super) enum Broken {
    /// The time is over, or nobody is interested any more.
    Stopped(Stop),
    /// The other end said no more than this.
    Ended(String),
    /// The other end says something else, and goes on and on.
    Endless(String),
    /// The pipes fail.
    Pipe(Errno),
}

/// A shell that is spoken with.
pub(super) struct Conversation<'a> {
    context: &'a Context,
    input: BorrowedFd<'a>,
    output: BorrowedFd<'a>,
    /// What begins every answer.
    mark: &'a str,
}

impl<'a> Conversation<'a> {
    pub(super) fn new(
        context: &'a Context,
        input: BorrowedFd<'a>,
        output: BorrowedFd<'a>,
        mark: &'a str,
    ) -> Result<Self, Broken> {
        for end in [input, output] {
            rustix::io::ioctl_fionbio(end, true).map_err(Broken::Pipe)?;
        }
        Ok(Self {
            context,
            input,
            output,
            mark,
        })
    }

    /// Says something.
    pub(super) fn say(&self, mut bytes: &[u8]) -> Result<(), Broken> {
        while !bytes.is_empty() {
            match rustix::io::write(self.input, bytes) {
                Ok(count) => bytes = &bytes[count..],
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => self.wait(self.input, PollFlags::OUT)?,
                // It may have said why.
                Err(Errno::PIPE) => return Ok(()),
                Err(errno) => return Err(Broken::Pipe(errno)),
            }
        }
        Ok(())
    }

    /// The rest of the next line that has the mark. Whatever stands before it is dropped.
    pub(super) fn answer(&self) -> Result<String, Broken> {
        let mark = format!("{} ", self.mark);
        let (mut came, mut line) = (Vec::new(), 0);
        loop {
            let mut byte = [0];
            match rustix::io::read(self.output, &mut byte) {
                Ok(0) => return Err(Broken::Ended(shown(&came))),
                Ok(_) if byte == *b"\n" => {
                    let text = String::from_utf8_lossy(&came[line..]);
                    // A banner need not end its line.
                    if let Some((_, answer)) = text.split_once(&mark) {
                        return Ok(answer.trim_end().to_owned());
                    }
                    came.push(b'\n');
                    line = came.len();
                }
                Ok(_) => came.push(byte[0]),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => self.wait(self.output, PollFlags::IN)?,
                Err(errno) => return Err(Broken::Pipe(errno)),
            }
            if came.len() > MAX_BYTES {
                return Err(Broken::Endless(shown(&came)));
            }
        }
    }

    fn wait(&self, end: BorrowedFd<'_>, flags: PollFlags) -> Result<(), Broken> {
        self.context.check().map_err(Broken::Stopped)?;
        let left = self.context.remaining().map_or(STEP, |left| left.min(STEP));
        let left = Timespec::try_from(left).ok();
        match poll(&mut [PollFd::new(&end, flags)], left.as_ref()) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(errno) => Err(Broken::Pipe(errno)),
        }
    }
}

/// The beginning of what came, for people.
fn shown(came: &[u8]) -> String {
    const SHOWN: usize = 200;
    String::from_utf8_lossy(&came[..came.len().min(SHOWN)]).into_owned()
}
