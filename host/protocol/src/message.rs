//! What is said: the contract's requests and answers, and the opening of a session.
//!
//! Both ends first send [`PREAMBLE`], so that a stream which reaches something else (a login banner, an
//! older resident) is known before anything is taken for a frame. Then the host says [`Ask::Open`] as
//! call 0, is answered [`Answer::Opened`], and from there on every call has a number of its own.

use std::time::Duration;

use belljar_contract::{Error, Request, Response, session::Limits};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{
    facts::Facts,
    frame::{Bounds, HEADER_BYTES, Header, Kind, MAX_PAYLOAD, Malformed},
};

/// The first bytes of both directions; the last one is the version of what follows.
pub const PREAMBLE: [u8; 8] = *b"belljar\x01";

/// The number of the call that opens the session.
pub const OPEN_CALL: u32 = 0;
/// The most calls of one session at once.
pub const MAX_CALLS: usize = 256;
/// The most bytes of the opening's messages.
pub(crate) const OPEN_BYTES: u64 = 4 << 20;

/// From the host to the resident.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ask {
    /// Opens the session; once, and first.
    Open(Open),
    /// A request of the contract.
    Call {
        /// The time left for it; none without a deadline.
        remaining: Option<Duration>,
        /// The request.
        request: Request,
    },
    /// Asks what the resident sees of its own process, and of what it runs in.
    Probe,
}

/// How the session is opened.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Open {
    /// The workspace, a directory where the resident is.
    pub root: String,
    /// More variables for every process.
    pub variables: Vec<(String, String)>,
    /// The numbers in force.
    pub limits: Limits,
}

impl std::fmt::Debug for Open {
    /// Leaves out the variables' values: they may be secrets.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<&String> = self.variables.iter().map(|(name, _)| name).collect();
        f.debug_struct("Open")
            .field("root", &self.root)
            .field("variables", &names)
            .field("limits", &self.limits)
            .finish()
    }
}

/// From the resident to the host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Answer {
    /// The session is open.
    Opened(Opened),
    /// It cannot be opened.
    Refused(String),
    /// The answer to a request; to a probe too, when there is no room for it.
    Call(Result<Response, Error>),
    /// The answer to a probe.
    Probed(Facts),
}

/// What the resident found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opened {
    /// The resident's own version.
    pub version: String,
    /// Whether the workspace can be written.
    pub writable: bool,
    /// What is weaker there than the contract says.
    pub gaps: Vec<String>,
}

/// The most bytes of one message in a session with these limits: the largest request or answer, and
/// room for what the results of a search carry around them.
#[must_use]
pub fn message_bytes(limits: &Limits) -> u64 {
    const AROUND: u64 = 64 << 20;
    let most = limits
        .file_bytes
        .max(limits.stdin_bytes)
        .max(limits.output_maximum.saturating_mul(2));
    let whole = most
        .saturating_add(limits.argument_bytes)
        .saturating_add(AROUND);
    whole.min(u64::from(u32::MAX))
}

/// What is accepted in a session with these limits.
#[must_use]
pub fn bounds(limits: &Limits) -> Bounds {
    Bounds {
        message_bytes: message_bytes(limits),
        messages: MAX_CALLS,
    }
}

/// What is accepted before there is a session.
#[must_use]
pub const fn opening_bounds() -> Bounds {
    Bounds {
        message_bytes: OPEN_BYTES,
        messages: 1,
    }
}

/// A message, with room before it for the header of its first frame: a short one goes out in one piece.
#[derive(Debug)]
pub(crate) struct Encoded(Vec<u8>);

impl Encoded {
    pub(crate) fn new(message: &impl Serialize) -> Result<Self, Malformed> {
        let room = vec![0; HEADER_BYTES];
        postcard::to_extend(message, room)
            .map(Self)
            .map_err(|error| Malformed::Message(error.to_string()))
    }

    pub(crate) fn bytes(&self) -> u64 {
        (self.0.len() - HEADER_BYTES) as u64
    }

    /// The one frame that the message fits into, header and all; else the message.
    pub(crate) fn single(&mut self, call: u32) -> Result<&[u8], &[u8]> {
        let length = self.0.len() - HEADER_BYTES;
        if length > MAX_PAYLOAD {
            return Err(&self.0[HEADER_BYTES..]);
        }
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

/// Reads a message; what is left over makes it malformed.
pub(crate) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Malformed> {
    match postcard::take_from_bytes(bytes) {
        Ok((message, [])) => Ok(message),
        Ok((_, rest)) => Err(Malformed::Message(format!(
            "{} bytes after its end",
            rest.len()
        ))),
        Err(error) => Err(Malformed::Message(error.to_string())),
    }
}
