//! What a resident sees of its own process and of what it runs in: raw, for the host to judge.
//!
//! The host trusts none of it. Whoever is in the resident's place can only say that it is confined better
//! or worse than it is; so the facts of a session count only when they are asked for before anything
//! else ran there.

use serde::{Deserialize, Serialize};

/// The most bytes of one text: the mounts of a container with hundreds of layers, several times.
pub const MAX_TEXT_BYTES: usize = 256 << 10;
/// The most bytes of a name, a number or a reason.
pub const MAX_WORD_BYTES: usize = 4 << 10;
/// The most limits: those of both versions of cgroups, at two places each.
pub const MAX_LIMITS: usize = 32;

/// What a resident sees.
///
/// ```
/// use belljar_protocol::facts::{Facts, Told};
///
/// // What is not told is not known.
/// let facts = Facts::default();
/// assert_eq!((facts.pid, facts.status), (0, Told::Unknown));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// Its process id as it sees it; 0 when not told.
    pub pid: u32,
    /// The kernel's name of the machine's architecture: `x86_64`.
    pub machine: String,
    /// `/proc/self/status`: ids, capabilities, seccomp.
    pub status: Told,
    /// `/proc/self/mountinfo`.
    pub mounts: Told,
    /// `/proc/self/net/dev`: the network's interfaces.
    pub interfaces: Told,
    /// `/proc/self/net/route`.
    pub routes: Told,
    /// `/proc/self/net/ipv6_route`.
    pub ipv6_routes: Told,
    /// The files of limits that are there, of cgroups of both versions.
    pub limits: Vec<LimitFile>,
    /// Whether a file can be made in the root.
    pub root: Attempt,
    /// Whether a file can be made in the workspace.
    pub workspace: Attempt,
    /// Whether a file can be made in `/tmp`.
    pub tmp: Attempt,
}

/// A text that was to be read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Told {
    /// It cannot be read, is longer than it may be, or was not looked for.
    #[default]
    Unknown,
    /// There is no such file.
    Absent,
    /// The text. Bytes that are no UTF-8 were replaced.
    Text(String),
}

/// A limit as its file says it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LimitFile {
    /// The file.
    pub path: String,
    /// What is in it.
    pub text: String,
}

/// An attempt to make a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Attempt {
    /// It was not made.
    #[default]
    NotTried,
    /// The file was made, and removed.
    Possible,
    /// It was refused, for this reason.
    Refused(String),
}

impl Facts {
    /// Whether every part is as small as it may be; no resident of ours tells more.
    #[must_use]
    pub fn are_bounded(&self) -> bool {
        let text = |told: &Told| match told {
            Told::Text(text) => text.len() <= MAX_TEXT_BYTES,
            Told::Unknown | Told::Absent => true,
        };
        let word = |word: &str| word.len() <= MAX_WORD_BYTES;
        let attempt = |attempt: &Attempt| match attempt {
            Attempt::Refused(reason) => word(reason),
            Attempt::NotTried | Attempt::Possible => true,
        };
        let texts = [
            &self.status,
            &self.mounts,
            &self.interfaces,
            &self.routes,
            &self.ipv6_routes,
        ];
        word(&self.machine)
            && texts.into_iter().all(text)
            && self.limits.len() <= MAX_LIMITS
            && (self.limits.iter()).all(|limit| word(&limit.path) && word(&limit.text))
            && [&self.root, &self.workspace, &self.tmp]
                .into_iter()
                .all(attempt)
    }
}
