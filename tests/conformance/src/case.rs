//! A case: what it checks, what it needs, and the function that checks it.

use std::{fmt, future::Future, pin::Pin};

use belljar_contract::session::Capability;

use crate::{check::Failure, fixture::Fixture};

/// What a case answers.
pub type Verdict = Result<(), Failure>;
/// A future on the heap.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// One thing that a sandbox must do.
#[derive(Clone, Copy)]
pub struct Case {
    /// `topic/what-must-be`; unique.
    pub name: &'static str,
    /// What must be, in one sentence.
    pub about: &'static str,
    /// What the sandbox must have for the case to mean anything.
    pub needs: &'static [Need],
    /// Checks it in an empty directory.
    pub run: fn(&Fixture) -> BoxFuture<'_, Verdict>,
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Case")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// What a case needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// A capability.
    Can(Capability),
    /// A workspace that may be changed.
    Writable,
    /// A command in the processes' PATH.
    Command(&'static str),
    /// Something that makes links, FIFOs and odd names: the host or a process.
    Outside,
    /// The host's own way to the workspace, which does not end with the session.
    Host,
    /// A workspace whose root is the case's empty directory.
    FreshRoot,
    /// A session that the case may end or fill.
    OwnSession,
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Can(capability) => write!(f, "the capability {capability}"),
            Self::Writable => f.write_str("a workspace that may be changed"),
            Self::Command(name) => write!(f, "the command {name}"),
            Self::Outside => f.write_str("a way to make links, FIFOs and odd names"),
            Self::Host => f.write_str("the host's own way to the workspace"),
            Self::FreshRoot => f.write_str("a workspace of its own"),
            Self::OwnSession => f.write_str("a session of its own"),
        }
    }
}

const READ: Need = Need::Can(Capability::Read);
const WRITE: Need = Need::Can(Capability::Write);
const CAN_RUN: Need = Need::Can(Capability::Run);
const CAN_START: Need = Need::Can(Capability::Start);
const MODE_BITS: Need = Need::Can(Capability::Modes);
const LINK: Need = Need::Can(Capability::Links);
const SH: Need = Need::Command("sh");

/// Files that can be read and changed.
pub(crate) const FILES: &[Need] = &[READ, WRITE, Need::Writable];
/// Files with mode bits, and a way to set and see them.
pub(crate) const MODES: &[Need] = &[READ, WRITE, Need::Writable, MODE_BITS];
/// Files with mode bits that something else sets.
pub(crate) const CHMOD: &[Need] = &[READ, WRITE, Need::Writable, MODE_BITS, Need::Outside];
/// Files and links.
pub(crate) const LINKS: &[Need] = &[READ, WRITE, Need::Writable, LINK, Need::Outside];
/// Files, and links that change under the sandbox's feet.
pub(crate) const LINKS_BY_HOST: &[Need] =
    &[READ, WRITE, Need::Writable, LINK, Need::Outside, Need::Host];
/// Files and what is neither file nor directory.
pub(crate) const SPECIAL: &[Need] = &[READ, WRITE, Need::Writable, Need::Outside];
/// Files whose names are not UTF-8.
pub(crate) const RAW_NAMES: &[Need] = &[
    READ,
    WRITE,
    Need::Writable,
    Need::Can(Capability::RawNames),
    Need::Outside,
];
/// Programs that run to their end.
pub(crate) const RUN: &[Need] = &[CAN_RUN, SH];
/// Files, and programs that run to their end.
pub(crate) const RUN_FILES: &[Need] = &[READ, WRITE, Need::Writable, CAN_RUN, SH];
/// Links, and programs that run to their end.
pub(crate) const RUN_LINKS: &[Need] = &[
    READ,
    WRITE,
    Need::Writable,
    LINK,
    CAN_RUN,
    SH,
    Need::Outside,
];
/// Programs that outlive a call.
pub(crate) const START: &[Need] = &[CAN_START, CAN_RUN, SH];
/// Files, and programs that outlive a call.
pub(crate) const START_FILES: &[Need] = &[READ, WRITE, Need::Writable, CAN_START, CAN_RUN, SH];
/// A session that only this case uses.
pub(crate) const OWN: &[Need] = &[Need::OwnSession];
/// A session that only this case uses, with files.
pub(crate) const OWN_FILES: &[Need] = &[READ, WRITE, Need::Writable, Need::OwnSession];
/// An empty workspace.
pub(crate) const ROOT: &[Need] = &[READ, WRITE, Need::Writable, Need::FreshRoot];
/// An empty workspace with links.
pub(crate) const ROOT_LINKS: &[Need] = &[
    READ,
    WRITE,
    Need::Writable,
    Need::FreshRoot,
    LINK,
    Need::Outside,
];
/// A session that only this case uses, with programs.
pub(crate) const OWN_START: &[Need] = &[Need::OwnSession, CAN_START, CAN_RUN, SH];
/// A session whose end the host looks back at.
pub(crate) const OWN_START_HOST: &[Need] = &[
    READ,
    WRITE,
    Need::Writable,
    Need::OwnSession,
    CAN_START,
    CAN_RUN,
    SH,
    Need::Host,
];
/// Nothing.
pub(crate) const ANY: &[Need] = &[];

/// A case from an async function: `case!(function, "name", "about", NEEDS)`.
macro_rules! case {
    ($run:ident, $name:literal, $about:literal, $needs:expr) => {
        $crate::case::Case {
            name: $name,
            about: $about,
            needs: $needs,
            run: |f| Box::pin($run(f)),
        }
    };
}
pub(crate) use case;
