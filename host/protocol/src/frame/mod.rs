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

mod decoder;

pub use decoder::{Bounds, Decoder, Event};

/// The most bytes of a message in one frame: what a call may have to wait for behind another's.
pub const MAX_PAYLOAD: usize = 128 << 10;
/// The length of a frame's header, in bytes.
pub const HEADER_BYTES: usize = 16;
/// The number of a ping that no call waits for.
pub const NO_CALL: u32 = 0;

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
    /// A message that is small, and what it says is not.
    #[error("a message that takes more than {0} bytes of memory")]
    TooMuchMemory(u64),
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
