//! Frames: how messages of several calls share one stream.
//!
//! A message is cut into frames of at most [`MAX_PAYLOAD`] bytes, and frames of other calls may stand
//! between them, so that a large answer holds up a small one for a frame and no longer. A frame is four
//! little-endian `u32`s and its payload:
//!
//! | bytes | what |
//! |---|---|
//! | 0–3 | the kind: 0 a part of a message, 1 cancel the call and what was begun of its message, 2 ping, 3 pong |
//! | 4–7 | the call that it belongs to; a pong has its ping's number, which is 0 when no call waits for it |
//! | 8–11 | bytes of payload; 0 unless it is a part |
//! | 12–15 | bytes of the message that are still to come after this frame |
//!
//! Nothing here does input or output: a [`Decoder`] is given bytes and gives frames. It trusts none of
//! them: every length is bounded before memory is taken for it.

use std::collections::HashMap;

/// The most bytes of a message in one frame: what a call may have to wait for behind another's.
pub const MAX_PAYLOAD: usize = 128 << 10;
/// The length of a frame's header, in bytes.
pub const HEADER_BYTES: usize = 16;
/// The number of a ping that no call waits for.
pub const NO_CALL: u32 = 0;
/// What is read at once when no message says how much will come.
const BUFFER_BYTES: usize = 64 << 10;

/// What the other end sent cannot be a frame.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Malformed {
    /// No such kind.
    #[error("a frame of kind {0}, which does not exist")]
    Kind(u32),
    /// More payload than a frame may have.
    #[error("a frame of {0} bytes, over {MAX_PAYLOAD}")]
    FrameTooLong(u32),
    /// A message over the limit of the session.
    #[error("a message of {bytes} bytes, over {limit}")]
    MessageTooLong {
        /// What it announced.
        bytes: u64,
        /// What may be.
        limit: u64,
    },
    /// A part that does not go on where the last one ended.
    #[error("a part of call {0} that does not follow the one before")]
    OutOfStep(u32),
    /// More messages begun than there can be calls.
    #[error("more than {0} messages begun at once")]
    TooManyCalls(usize),
    /// A message that is not what it should be.
    #[error("a message that cannot be read: {0}")]
    Message(String),
}

/// What a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A part of a message.
    Part,
    /// The caller does not want the answer any more.
    Cancel,
    /// Asks for a pong.
    Ping,
    /// Says that this end is alive.
    Pong,
}

impl Kind {
    const fn code(self) -> u32 {
        match self {
            Self::Part => 0,
            Self::Cancel => 1,
            Self::Ping => 2,
            Self::Pong => 3,
        }
    }

    const fn of(code: u32) -> Result<Self, Malformed> {
        match code {
            0 => Ok(Self::Part),
            1 => Ok(Self::Cancel),
            2 => Ok(Self::Ping),
            3 => Ok(Self::Pong),
            _ => Err(Malformed::Kind(code)),
        }
    }
}

/// The beginning of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// What it is.
    pub kind: Kind,
    /// The call.
    pub call: u32,
    /// Bytes of payload.
    pub length: u32,
    /// Bytes of the message after this frame.
    pub left: u32,
}

impl Header {
    /// A frame without payload.
    #[must_use]
    pub const fn bare(kind: Kind, call: u32) -> Self {
        Self {
            kind,
            call,
            length: 0,
            left: 0,
        }
    }

    /// The header as it is sent.
    #[must_use]
    pub fn to_bytes(self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        let fields = [self.kind.code(), self.call, self.length, self.left];
        for (place, field) in bytes.chunks_exact_mut(4).zip(fields) {
            place.copy_from_slice(&field.to_le_bytes());
        }
        bytes
    }

    fn parse(bytes: [u8; HEADER_BYTES]) -> Result<Self, Malformed> {
        let field = |at: usize| {
            u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        let header = Self {
            kind: Kind::of(field(0))?,
            call: field(4),
            length: field(8),
            left: field(12),
        };
        let most = match header.kind {
            Kind::Part => MAX_PAYLOAD,
            Kind::Cancel | Kind::Ping | Kind::Pong => 0,
        };
        if header.length as usize > most {
            return Err(Malformed::FrameTooLong(header.length));
        }
        Ok(header)
    }
}

/// What the other end said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The first part of a message of which more will come. [`Decoder::skip`] refuses it.
    Begun {
        /// The call.
        call: u32,
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
        // Memory is taken as bytes come, not as they are announced.
        message.resize(filled + header.length as usize, 0);
        if header.left > 0 && self.begun.len() >= self.bounds.messages {
            return Err(Malformed::TooManyCalls(self.bounds.messages));
        }
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
                let begun = Begun {
                    message: if skipped { Vec::new() } else { message },
                    left: header.left,
                    skipped,
                };
                self.begun.insert(call, begun);
                first.then_some(Event::Begun { call })
            }
            Kind::Part => Some(Event::Message {
                call,
                bytes: message,
            }),
        }
    }
}

/// The frames that carry a message; at least one.
///
/// # Panics
/// When the message is over 4 GiB, which no limit allows.
pub fn frames(call: u32, message: &[u8]) -> impl Iterator<Item = (Header, &[u8])> {
    let mut at = 0;
    let mut over = false;
    std::iter::from_fn(move || {
        if std::mem::replace(&mut over, at + MAX_PAYLOAD >= message.len()) {
            return None;
        }
        let payload = &message[at..message.len().min(at + MAX_PAYLOAD)];
        at += payload.len();
        let field = |length: usize| u32::try_from(length).expect("a message is under 4 GiB");
        let header = Header {
            kind: Kind::Part,
            call,
            length: field(payload.len()),
            left: field(message.len() - at),
        };
        Some((header, payload))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const BOUNDS: Bounds = Bounds {
        message_bytes: 1 << 20,
        messages: 3,
    };

    /// Gives bytes in pieces of this size, and takes what comes of them.
    fn decode(bytes: &[u8], piece: usize) -> Result<Vec<Event>, Malformed> {
        let mut decoder = Decoder::new(BOUNDS);
        let mut events = Vec::new();
        for mut bytes in bytes.chunks(piece) {
            while !bytes.is_empty() {
                let spare = decoder.spare();
                let count = spare.len().min(bytes.len());
                spare[..count].copy_from_slice(&bytes[..count]);
                decoder.filled(count);
                bytes = &bytes[count..];
                while let Some(event) = decoder.next()? {
                    events.push(event);
                }
            }
        }
        Ok(events)
    }

    fn encode(call: u32, message: &[u8]) -> Vec<Vec<u8>> {
        frames(call, message)
            .map(|(header, payload)| [header.to_bytes().as_slice(), payload].concat())
            .collect()
    }

    #[test]
    fn messages_come_whole_however_they_are_cut_and_mixed() {
        let long = vec![b'a'; 3 * MAX_PAYLOAD + 1];
        let exact = vec![b'b'; MAX_PAYLOAD];
        let (first, second) = (encode(1, &long), encode(2, &exact));
        assert_eq!((first.len(), second.len()), (4, 1));
        let ping = Header::bare(Kind::Ping, 0).to_bytes().to_vec();
        let cancel = Header::bare(Kind::Cancel, 2).to_bytes().to_vec();
        let empty = encode(3, b"");
        let mixed = [
            &first[0], &second[0], &first[1], &ping, &cancel, &first[2], &empty[0], &first[3],
        ];
        let bytes: Vec<u8> = mixed.into_iter().flatten().copied().collect();
        let message = |call, bytes: &[u8]| Event::Message {
            call,
            bytes: bytes.to_vec(),
        };
        let expected = [
            Event::Begun { call: 1 },
            message(2, &exact),
            Event::Ping { call: 0 },
            Event::Cancel { call: 2 },
            message(3, b""),
            message(1, &long),
        ];
        for piece in [1, 15, 16, 17, 4096, 1 << 20] {
            assert_eq!(decode(&bytes, piece), Ok(expected.to_vec()), "{piece}");
        }
    }

    #[test]
    fn a_message_that_was_begun_can_be_given_up() {
        let long = encode(1, &vec![b'a'; MAX_PAYLOAD + 1]);
        let cancel = Header::bare(Kind::Cancel, 1).to_bytes().to_vec();
        let again = encode(1, b"b");
        let bytes = [&long[0], &cancel, &again[0]].map(Vec::as_slice).concat();
        let message = Event::Message {
            call: 1,
            bytes: b"b".to_vec(),
        };
        assert_eq!(
            decode(&bytes, 1000),
            Ok(vec![
                Event::Begun { call: 1 },
                Event::Cancel { call: 1 },
                message
            ])
        );
    }

    #[test]
    fn of_a_skipped_message_nothing_is_held() {
        let mut decoder = Decoder::new(BOUNDS);
        let mut events = Vec::new();
        for frame in encode(1, &vec![b'a'; 5 * MAX_PAYLOAD + 3]) {
            let mut frame = frame.as_slice();
            while !frame.is_empty() {
                let spare = decoder.spare();
                let count = spare.len().min(frame.len());
                spare[..count].copy_from_slice(&frame[..count]);
                decoder.filled(count);
                frame = &frame[count..];
                while let Some(event) = decoder.next().unwrap() {
                    decoder.skip(1);
                    events.push(event);
                }
            }
            let held = decoder.begun.values().map(|begun| begun.message.capacity());
            assert_eq!(held.sum::<usize>(), 0);
        }
        let message = Event::Message {
            call: 1,
            bytes: b"aaa".to_vec(),
        };
        assert_eq!(events, [Event::Begun { call: 1 }, message]);
    }

    #[test]
    fn what_is_no_frame_is_said_and_takes_no_memory() {
        let header = |fields: [u32; 4]| fields.map(u32::to_le_bytes).concat();
        let refused = |bytes: &[u8]| decode(bytes, 16).expect_err("it is malformed");
        assert_eq!(refused(&header([9, 0, 0, 0])), Malformed::Kind(9));
        let long = u32::try_from(MAX_PAYLOAD + 1).unwrap();
        assert_eq!(
            refused(&header([0, 1, long, 0])),
            Malformed::FrameTooLong(long)
        );
        assert_eq!(refused(&header([1, 1, 1, 0])), Malformed::FrameTooLong(1));
        assert_eq!(
            refused(&header([0, 1, 1, 1 << 20])),
            Malformed::MessageTooLong {
                bytes: (1 << 20) + 1,
                limit: 1 << 20
            }
        );
        let begun = |call| [header([0, call, 1, 9]), vec![0]].concat();
        let skips = [begun(1), header([0, 1, 1, 7])].concat();
        assert_eq!(refused(&skips), Malformed::OutOfStep(1));
        let many: Vec<u8> = (1..=4).flat_map(begun).collect();
        assert_eq!(refused(&many), Malformed::TooManyCalls(3));
    }

    proptest! {
        #[test]
        fn any_bytes_are_frames_or_malformed(bytes: Vec<u8>, piece in 1_usize..100) {
            let whole = decode(&bytes, usize::MAX);
            prop_assert_eq!(decode(&bytes, piece), whole);
        }
    }
}
