//! Puts messages together from the bytes that come.

#[cfg(test)]
mod tests;

use std::collections::HashMap;

use super::{HEADER_BYTES, Header, Kind, Malformed};

/// What is read at once when no message says how much will come.
const BUFFER_BYTES: usize = 64 << 10;

/// What the other end said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The first part of a message of which more will come. [`Decoder::skip`] refuses it.
    Begun {
        /// The call.
        call: u32,
        /// How long the whole message will be.
        bytes: u64,
    },
    /// A whole message of a call.
    Message {
        /// The call.
        call: u32,
        /// Its bytes.
        bytes: Vec<u8>,
    },
    /// The call was cancelled.
    Cancel {
        /// The call.
        call: u32,
    },
    /// A pong is asked for.
    Ping {
        /// The number that it is to have.
        call: u32,
    },
    /// The other end is alive.
    Pong {
        /// The number of its ping.
        call: u32,
    },
}

/// What a decoder accepts.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// The most bytes in a message.
    pub message_bytes: u64,
    /// The most messages begun and not ended.
    pub messages: usize,
}

/// Puts messages together from what arrives.
///
/// ```
/// use belljar_protocol::frame::{Bounds, Decoder, Event, frames};
///
/// let mut decoder = Decoder::new(Bounds { message_bytes: 1 << 20, messages: 4 });
/// for (header, payload) in frames(7, b"hello") {
///     for part in [&header.to_bytes(), payload] {
///         decoder.spare()[..part.len()].copy_from_slice(part);
///         decoder.filled(part.len());
///     }
/// }
/// let message = Event::Message { call: 7, bytes: b"hello".to_vec() };
/// assert_eq!(decoder.next(), Ok(Some(message)));
/// assert_eq!(decoder.next(), Ok(None));
/// ```
#[derive(Debug)]
pub struct Decoder {
    bounds: Bounds,
    buffer: Box<[u8]>,
    start: usize,
    end: usize,
    /// The part whose payload has not all come.
    current: Option<Part>,
    /// Messages of which more parts will come.
    begun: HashMap<u32, Begun>,
}

#[derive(Debug)]
struct Begun {
    message: Vec<u8>,
    /// How much will come.
    left: u32,
    skipped: bool,
}

#[derive(Debug)]
struct Part {
    header: Header,
    first: bool,
    skipped: bool,
    /// The message so far, with room for this part's payload.
    message: Vec<u8>,
    filled: usize,
}

impl Decoder {
    /// Makes a decoder that has seen nothing.
    #[must_use]
    pub fn new(bounds: Bounds) -> Self {
        Self {
            bounds,
            buffer: vec![0; BUFFER_BYTES].into(),
            start: 0,
            end: 0,
            current: None,
            begun: HashMap::new(),
        }
    }

    /// Accepts something else from now on.
    pub const fn set_bounds(&mut self, bounds: Bounds) {
        self.bounds = bounds;
    }

    /// Where the next bytes go: never empty. Right into a message when one is being read, so that
    /// its bytes are copied once.
    pub fn spare(&mut self) -> &mut [u8] {
        match &mut self.current {
            Some(part) if part.filled < part.message.len() && self.start == self.end => {
                &mut part.message[part.filled..]
            }
            _ => {
                if self.start > 0 {
                    self.buffer.copy_within(self.start..self.end, 0);
                    self.end -= self.start;
                    self.start = 0;
                }
                &mut self.buffer[self.end..]
            }
        }
    }

    /// Holds nothing of a message that was begun, if it was: what comes of it is read and dropped, and
    /// its end is told with its last part alone.
    pub fn skip(&mut self, call: u32) {
        if let Some(begun) = self.begun.get_mut(&call) {
            begun.message = Vec::new();
            begun.skipped = true;
        }
        if let Some(part) = &mut self.current
            && part.header.call == call
            && !part.first
        {
            part.skipped = true;
        }
    }

    /// Says that so many bytes were put at the beginning of [`spare`](Self::spare).
    pub fn filled(&mut self, count: usize) {
        match &mut self.current {
            Some(part) if part.filled < part.message.len() && self.start == self.end => {
                part.filled += count;
            }
            _ => self.end += count,
        }
    }

    /// What has come whole; none when more must be read first.
    ///
    /// # Errors
    /// [`Malformed`]; nothing that comes after it means anything.
    #[expect(clippy::should_implement_trait, reason = "there is more after a none")]
    pub fn next(&mut self) -> Result<Option<Event>, Malformed> {
        loop {
            if self.current.is_none() && !self.begin()? {
                return Ok(None);
            }
            let Some(part) = &mut self.current else {
                return Ok(None);
            };
            let wanted = part.message.len() - part.filled;
            let there = wanted.min(self.end - self.start);
            part.message[part.filled..part.filled + there]
                .copy_from_slice(&self.buffer[self.start..self.start + there]);
            part.filled += there;
            self.start += there;
            if there < wanted {
                return Ok(None);
            }
            if let Some(event) = self.finish() {
                return Ok(Some(event));
            }
        }
    }

    /// Takes a header, if there is one.
    fn begin(&mut self) -> Result<bool, Malformed> {
        let Some(bytes) = self.buffer[self.start..self.end].first_chunk() else {
            return Ok(false);
        };
        let header = Header::parse(*bytes)?;
        self.start += HEADER_BYTES;
        let begun = match header.kind {
            Kind::Part | Kind::Cancel => self.begun.remove(&header.call),
            Kind::Ping | Kind::Pong => None,
        };
        let (mut message, expected, skipped) = match (header.kind, begun) {
            (Kind::Part, Some(begun)) => (begun.message, Some(begun.left), begun.skipped),
            _ => (Vec::new(), None, false),
        };
        let now = u64::from(header.length) + u64::from(header.left);
        match expected {
            Some(left) if now != u64::from(left) => {
                return Err(Malformed::OutOfStep(header.call));
            }
            None if now > self.bounds.message_bytes => {
                return Err(Malformed::MessageTooLong {
                    bytes: now,
                    limit: self.bounds.message_bytes,
                });
            }
            Some(_) | None => {}
        }
        let filled = message.len();
        if header.left > 0 && self.begun.len() >= self.bounds.messages {
            return Err(Malformed::TooManyCalls(self.bounds.messages));
        }
        // Memory is taken as bytes come, not as they are announced, and never for more than those.
        let length = filled + header.length as usize;
        if length > message.capacity() {
            let whole = length + header.left as usize;
            message.reserve_exact(whole.min(2 * length) - filled);
        }
        message.resize(length, 0);
        self.current = Some(Part {
            header,
            first: expected.is_none(),
            skipped,
            message,
            filled,
        });
        Ok(true)
    }

    /// Takes the part that has come whole.
    fn finish(&mut self) -> Option<Event> {
        let Part {
            header,
            first,
            skipped,
            message,
            ..
        } = self.current.take()?;
        let call = header.call;
        match header.kind {
            Kind::Cancel => Some(Event::Cancel { call }),
            Kind::Ping => Some(Event::Ping { call }),
            Kind::Pong => Some(Event::Pong { call }),
            Kind::Part if header.left > 0 => {
                let bytes = u64::from(header.length) + u64::from(header.left);
                let begun = Begun {
                    message: if skipped { Vec::new() } else { message },
                    left: header.left,
                    skipped,
                };
                self.begun.insert(call, begun);
                first.then_some(Event::Begun { call, bytes })
            }
            Kind::Part => Some(Event::Message {
                call,
                bytes: message,
            }),
        }
    }
}
