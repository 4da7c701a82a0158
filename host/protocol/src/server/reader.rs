//! Reading from the host, while whoever writes to it may have to wait.

use std::{os::fd::OwnedFd, time::Duration};

use belljar_contract::Context;
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
};

use super::ServeError;
use crate::{
    encoded::Encoded,
    frame::{Bounds, Decoder, Event},
    message::Answer,
    output::{Output, Pen, Waits},
    size::opening_bounds,
    stream::Stream,
    wake::Waker,
};

/// How often what was posted is tried again, when the host did not take it.
const STEP: Duration = Duration::from_millis(20);

/// The stream as it is read. It looks at the other direction too: a host that takes no answers is gone.
pub(super) struct Reader {
    input: OwnedFd,
    output: OwnedFd,
    decoder: Decoder,
    hearing: Option<Hearing>,
}

/// When the host was heard last, where it may not be silent for ever.
struct Hearing {
    clock: Context,
    silence: Duration,
    last: Duration,
}

impl Hearing {
    /// How long it may still be silent; none when it was silent for too long.
    fn left(&self) -> Option<Duration> {
        let until = self.last.saturating_add(self.silence);
        until
            .checked_sub(self.clock.now())
            .filter(|left| !left.is_zero())
    }
}

impl Reader {
    /// Takes a stream apart.
    pub(super) fn of(stream: Stream) -> Result<(Self, Output), ServeError> {
        stream.never_block()?;
        let reader = Self {
            input: stream.input,
            output: stream.output.try_clone()?,
            decoder: Decoder::new(opening_bounds()),
            hearing: None,
        };
        Ok((reader, Output::new(stream.output)))
    }

    pub(super) const fn set_bounds(&mut self, bounds: Bounds) {
        self.decoder.set_bounds(bounds);
    }

    /// Takes a host for gone that says nothing for so long.
    pub(super) fn listen(&mut self, silence: Duration) {
        let clock = Context::new();
        self.hearing = Some(Hearing {
            last: clock.now(),
            clock,
            silence,
        });
    }

    /// The next event; none at the stream's end.
    pub(super) fn next(
        &mut self,
        output: &Output,
        over: &Waker,
    ) -> Result<Option<Event>, ServeError> {
        loop {
            if let Some(event) = self.decoder.next()? {
                return Ok(Some(event));
            }
            match rustix::io::read(&self.input, self.decoder.spare()) {
                // Even in the middle of a frame: the host is gone, however.
                Ok(0) | Err(Errno::CONNRESET) => return Ok(None),
                Ok(count) => {
                    self.decoder.filled(count);
                    if let Some(hearing) = &mut self.hearing {
                        hearing.last = hearing.clock.now();
                    }
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    if !self.wait(output, over)? {
                        return Ok(None);
                    }
                }
                Err(errno) => return Err(errno.into()),
            }
        }
    }

    /// Reads so many bytes before the first frame; none when the stream ends first.
    pub(super) fn first<const COUNT: usize>(
        &self,
        output: &Output,
        over: &Waker,
    ) -> Result<Option<[u8; COUNT]>, ServeError> {
        let mut bytes = [0; COUNT];
        let mut rest = bytes.as_mut_slice();
        while !rest.is_empty() {
            match rustix::io::read(&self.input, &mut *rest) {
                Ok(0) | Err(Errno::CONNRESET) => return Ok(None),
                Ok(count) => rest = &mut rest[count..],
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => {
                    if !self.wait(output, over)? {
                        return Ok(None);
                    }
                }
                Err(errno) => return Err(errno.into()),
            }
        }
        Ok(Some(bytes))
    }

    /// Waits until there may be something to read; false when nobody listens any more.
    fn wait(&self, output: &Output, over: &Waker) -> Result<bool, ServeError> {
        let paid = match output.pay() {
            Ok(paid) => paid,
            Err(Errno::PIPE | Errno::CONNRESET) => return Ok(false),
            Err(errno) => return Err(errno.into()),
        };
        let mut waited = [
            PollFd::new(&self.input, PollFlags::IN),
            PollFd::new(&self.output, PollFlags::empty()),
            over.awaited(),
        ];
        let silence = match &self.hearing {
            Some(hearing) => Some(hearing.left().ok_or(ServeError::Silent(hearing.silence))?),
            None => None,
        };
        let step = (!paid).then_some(STEP);
        let left = silence.into_iter().chain(step).min();
        let left = left.and_then(|left| Timespec::try_from(left).ok());
        match poll(&mut waited, left.as_ref()) {
            Ok(_) => {}
            Err(Errno::INTR) => return Ok(true),
            Err(errno) => return Err(errno.into()),
        }
        let [input, output, _] = waited.map(|waited| waited.revents());
        Ok(!over.is_over() && (output.is_empty() || !input.is_empty()))
    }
}

/// Who answers waits until the host reads, or the session is over.
pub(super) struct Writes<'a>(pub(super) &'a Waker);

impl Waits for Writes<'_> {
    type Ended = Errno;

    fn check(&self) -> Result<(), Errno> {
        match self.0.is_over() {
            true => Err(Errno::PIPE),
            false => Ok(()),
        }
    }

    fn until_taken(&self, pen: &mut Pen) -> Result<(), Errno> {
        let mut waited = [
            PollFd::new(&pen.descriptor, PollFlags::OUT),
            self.0.awaited(),
        ];
        match poll(&mut waited, None) {
            Ok(_) | Err(Errno::INTR) => self.check(),
            Err(errno) => Err(errno),
        }
    }

    fn closed() -> Errno {
        Errno::PIPE
    }

    fn goes_on(_: &Errno) -> bool {
        false
    }
}

/// Says something short from the thread that reads, which waits for nobody.
pub(super) fn say(output: &Output, call: u32, answer: &Answer) -> Result<(), ServeError> {
    match Encoded::new(answer)?.single(call) {
        Ok(frame) => post(output, frame),
        Err(_) => Err(ServeError::OutOfOrder("asked for what cannot be said")),
    }
}

/// The same of a frame without payload.
pub(super) fn post(output: &Output, frame: &[u8]) -> Result<(), ServeError> {
    match output.post(frame) {
        // Who reads sees that the host is gone.
        Ok(()) | Err(Errno::PIPE | Errno::CONNRESET) => Ok(()),
        Err(Errno::NOBUFS) => Err(ServeError::OutOfOrder("asks and does not read the answers")),
        Err(errno) => Err(errno.into()),
    }
}
