//! What is said: the contract's requests and answers, and the opening of a session.
//!
//! Both ends first send [`PREAMBLE`], so that a stream which reaches something else (a login banner, an
//! older resident) is known before anything is taken for a frame. Then the host says [`Ask::Open`] as
//! call 0, is answered [`Answer::Opened`], and from there on every call has a number of its own.

use std::time::Duration;

use belljar_contract::{Error, Request, Response, session::Limits};
use serde::{Deserialize, Serialize};

use crate::facts::Facts;

/// The version of what follows the preamble.
pub const VERSION: u8 = 1;
/// The first bytes of both directions; the last one is the version of what follows.
pub const PREAMBLE: [u8; 8] = [b'b', b'e', b'l', b'l', b'j', b'a', b'r', VERSION];

/// The version of a preamble, when it is one: versions are no characters, so that what greets by our name
/// in words is something else.
pub(crate) fn version(preamble: &[u8]) -> Option<u8> {
    match preamble.split_first_chunk::<7>() {
        Some((b"belljar", [version, ..])) if version.is_ascii_control() => Some(*version),
        _ => None,
    }
}

/// The number of the call that opens the session.
pub const OPEN_CALL: u32 = 0;
/// The most calls of one session at once.
pub const MAX_CALLS: usize = 256;

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
    /// How long the host may say nothing at all before it is taken for gone. None where the stream's end tells in
    /// any case; a network that is cut ends nothing.
    pub silence: Option<Duration>,
}

impl std::fmt::Debug for Open {
    /// Leaves out the variables' values: they may be secrets.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<&String> = self.variables.iter().map(|(name, _)| name).collect();
        f.debug_struct("Open")
            .field("root", &self.root)
            .field("variables", &names)
            .field("limits", &self.limits)
            .field("silence", &self.silence)
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
