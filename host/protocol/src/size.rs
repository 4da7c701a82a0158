//! What a message may take: bytes on the stream, and memory once it is read.
//!
//! Small things on the stream can be large in memory: an entry of four bytes is a structure of a hundred.
//! So a message has two bounds, both from the session's limits and from what was asked. Both ends use these
//! functions: what is over them is refused by whoever says it (`too-large`, for its call alone), and ends the
//! session when it comes all the same. They are a part of the protocol's version.
//!
//! A host therefore holds at most, for each call that waits, what an honest answer of the largest size to
//! this very request takes: its bytes ([`Size::bytes`]) and then its structures ([`Size::memory`]). The
//! second is the first, and for each result that was asked for, and each line around it, some two hundred
//! bytes. While an answer comes, what has come may be there twice.

use belljar_contract::{
    MAX_COMMAND_NAMES, MAX_NAME_BYTES, MAX_PATH_BYTES, Request,
    files::{Entry, Found, Line, MAX_LINE_BYTES, Match},
    session::{CommandInfo, Limits},
};

use crate::{
    budget::{of_elements, of_text},
    facts::{MAX_LIMITS, MAX_TEXT_BYTES, MAX_WORD_BYTES},
    frame::Bounds,
    message::MAX_CALLS,
};

/// The most bytes of the opening's messages.
pub(crate) const OPEN_BYTES: u64 = 4 << 20;
/// What an answer may have beside what was asked for: an error with a search's pattern in it, several times.
const AROUND: u64 = 512 << 10;
/// The most bytes of all names, paths and lines of one answer.
const RESULTS_BYTES: u64 = 64 << 20;
/// Lengths, kinds and numbers of one result.
const FIELDS: u64 = 64;
/// A line, in which a byte that is no character is three.
const LINE_BYTES: u64 = 3 * MAX_LINE_BYTES as u64 + FIELDS;

/// What one message may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Bytes on the stream.
    pub bytes: u64,
    /// Bytes in memory, once it is read.
    pub memory: u64,
}

impl Size {
    const fn of_bytes(bytes: u64) -> Self {
        let bytes = bytes.saturating_add(AROUND);
        Self {
            bytes,
            memory: bytes,
        }
    }

    /// So many results, each of so many bytes and so much memory beside them.
    fn of_results(count: u32, bytes: u64, memory: u64) -> Self {
        let count = u64::from(count);
        let bytes = count.saturating_mul(bytes.saturating_add(FIELDS));
        let bytes = bytes.min(RESULTS_BYTES);
        Self {
            bytes: bytes.saturating_add(AROUND),
            memory: bytes
                .saturating_add(count.saturating_mul(memory))
                .saturating_add(AROUND),
        }
    }
}

/// The opening and its answer.
pub(crate) const OPENING: Size = Size {
    bytes: OPEN_BYTES,
    // More variables than a system gives to a program.
    memory: 16 * OPEN_BYTES,
};

/// The answer to a probe.
pub(crate) const FACTS: Size =
    Size::of_bytes((5 * MAX_TEXT_BYTES + (2 * MAX_LIMITS + 8) * MAX_WORD_BYTES) as u64);

/// A pong, and whatever else has no content.
pub(crate) const NOTHING: Size = Size::of_bytes(0);

/// Any request of a session with these limits.
#[must_use]
pub fn request(limits: &Limits) -> Size {
    let bytes = message_bytes(limits);
    // An argument of one byte and a variable of two are a text each.
    let texts = limits.argument_bytes.saturating_mul(128);
    Size {
        bytes,
        memory: bytes.saturating_add(texts),
    }
}

/// The answer to this request, in a session with these limits.
#[must_use]
pub fn answer(request: &Request, limits: &Limits) -> Size {
    let size = match request {
        Request::Read { .. } => Size::of_bytes(limits.file_bytes),
        Request::ReadRange { length, .. } => Size::of_bytes(limits.file_bytes.min(*length)),
        Request::List { limit, .. } => Size::of_results(
            limits.results.min(*limit),
            name(MAX_NAME_BYTES),
            of_elements::<Entry>(1) + 2 * of_text(0),
        ),
        Request::Glob { scope, .. } => Size::of_results(
            limits.results.min(scope.limit),
            name(MAX_PATH_BYTES),
            of_elements::<Found>(1) + 2 * of_text(0),
        ),
        Request::Search { query, scope } => {
            let lines = 2 * u64::from(query.context) + 1;
            let line = of_elements::<Line>(1) + of_text(0);
            Size::of_results(
                limits.results.min(scope.limit),
                name(MAX_PATH_BYTES).saturating_add(lines.saturating_mul(LINE_BYTES)),
                of_elements::<Match>(1) + 2 * of_text(0) + lines.saturating_mul(line),
            )
        }
        Request::Run(launch) => {
            let each = limits.output_maximum.min(launch.output_limit);
            Size::of_bytes(each.saturating_mul(2))
        }
        Request::ReadOutput { limit, .. } => Size::of_bytes(limits.output_maximum.min(*limit)),
        Request::FindCommands { names } => {
            let names: u64 = names.iter().map(|name| name.len() as u64).sum();
            let each = (MAX_PATH_BYTES + 4096) as u64;
            let infos = of_elements::<CommandInfo>(1) + 3 * of_text(0);
            Size::of_bytes(names + MAX_COMMAND_NAMES as u64 * (each + infos))
        }
        Request::Write { .. }
        | Request::Append { .. }
        | Request::Replace { .. }
        | Request::Stat { .. }
        | Request::Resolve { .. }
        | Request::MakeDirectory { .. }
        | Request::Remove { .. }
        | Request::Rename { .. }
        | Request::Copy { .. }
        | Request::Start(_)
        | Request::WriteInput { .. }
        | Request::Signal { .. }
        | Request::Wait { .. } => NOTHING,
    };
    Size {
        bytes: size.bytes.min(message_bytes(limits)),
        memory: size.memory,
    }
}

/// A name as text, in which a byte that is no character is three, and its bytes.
const fn name(bytes: usize) -> u64 {
    4 * bytes as u64
}

/// The most bytes of one message in a session with these limits: the largest request or answer, and
/// room for what the results of a search carry around them.
#[must_use]
pub fn message_bytes(limits: &Limits) -> u64 {
    let most = limits
        .file_bytes
        .max(limits.stdin_bytes)
        .max(limits.output_maximum.saturating_mul(2));
    let whole = most
        .saturating_add(limits.argument_bytes)
        .saturating_add(RESULTS_BYTES);
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
