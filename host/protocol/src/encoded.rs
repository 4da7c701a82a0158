//! A message in the stream's format.

use postcard::ser_flavors::Size;
use serde::Serialize;

use crate::frame::{HEADER_BYTES, Header, Kind, MAX_PAYLOAD, Malformed};

/// A message, with room before it for the header of its first frame: a short one goes out in one piece.
#[derive(Debug)]
pub(crate) struct Encoded(Vec<u8>);

impl Encoded {
    pub(crate) fn new(message: &impl Serialize) -> Result<Self, Malformed> {
        let malformed = |error: postcard::Error| Malformed::Message(error.to_string());
        // How long it is costs little to know, and to move what is large as it grows costs more.
        let length =
            postcard::serialize_with_flavor(message, Size::default()).map_err(malformed)?;
        let mut room = Vec::with_capacity(HEADER_BYTES + length);
        room.resize(HEADER_BYTES, 0);
        postcard::to_extend(message, room)
            .map(Self)
            .map_err(malformed)
    }

    /// Whether it takes more than one frame.
    pub(crate) fn is_long(&self) -> bool {
        self.bytes() > MAX_PAYLOAD as u64
    }

    pub(crate) fn bytes(&self) -> u64 {
        (self.0.len() - HEADER_BYTES) as u64
    }

    /// The one frame that the message fits into, header and all; else the message.
    pub(crate) fn single(&mut self, call: u32) -> Result<&[u8], &[u8]> {
        if self.is_long() {
            return Err(&self.0[HEADER_BYTES..]);
        }
        let length = self.0.len() - HEADER_BYTES;
        let header = Header {
            kind: Kind::Part,
            call,
            length: length.try_into().unwrap_or(u32::MAX),
            left: 0,
        };
        self.0[..HEADER_BYTES].copy_from_slice(&header.to_bytes());
        Ok(&self.0)
    }
}
