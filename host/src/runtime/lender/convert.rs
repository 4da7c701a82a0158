//! Requests in the bindings' types, and answers in the contract's: the form of each is checked here, and what it
//! says in `check`.

use std::time::Duration;

use belljar_contract as rust;
use belljar_contract::{Operation, files as f, processes as p, session as s};

use super::{
    super::{bindings::belljar::sandbox::types, convert},
    bindings::backend::exports::belljar::sandbox::{files, processes, session},
    state::Settings,
};

/// What a component says of a failure. The operation and the path are those that were asked: what it says of them
/// could be anything.
pub(super) fn error(
    settings: &Settings,
    operation: Operation,
    path: Option<String>,
    error: types::Error,
) -> rust::Error {
    let kind = convert::error_kind_from(error.kind);
    let error = rust::Error::new(kind, operation, settings.told(&error.message));
    match path {
        Some(path) => error.at(path),
        None => error,
    }
}

/// What makes an answer unusable.
pub(super) struct Bad(pub(super) &'static str);

pub(super) fn version(text: &str) -> Result<rust::Version, Bad> {
    rust::Version::parse(text).map_err(|_| Bad("a version that is none"))
}

pub(super) fn expected(expected: rust::Expected) -> types::Expected {
    match expected {
        rust::Expected::Any => types::Expected::Any,
        rust::Expected::Absent => types::Expected::Absent,
        rust::Expected::Version(version) => types::Expected::Version(version.into()),
    }
}

pub(super) fn write_options(options: rust::files::WriteOptions) -> files::WriteOptions {
    files::WriteOptions {
        expected: expected(options.expected),
        make_parents: options.make_parents,
        executable: options.executable,
    }
}

pub(super) fn content(content: files::Content) -> Result<f::Content, Bad> {
    Ok(f::Content {
        version: version(&content.version)?,
        bytes: content.bytes,
    })
}

pub(super) fn chunk(chunk: files::Chunk) -> Result<f::Chunk, Bad> {
    Ok(f::Chunk {
        version: version(&chunk.version)?,
        bytes: chunk.bytes,
        size: chunk.size,
    })
}

pub(super) fn replaced(replaced: files::Replaced) -> Result<f::Replaced, Bad> {
    Ok(f::Replaced {
        count: replaced.count,
        version: version(&replaced.version)?,
    })
}

fn name(name: types::Name) -> f::Name {
    f::Name {
        text: name.text,
        raw: name.raw,
    }
}

const fn entry_kind(kind: types::EntryKind) -> f::EntryKind {
    match kind {
        types::EntryKind::File => f::EntryKind::File,
        types::EntryKind::Directory => f::EntryKind::Directory,
        types::EntryKind::Link => f::EntryKind::Link,
        types::EntryKind::Other => f::EntryKind::Other,
    }
}

pub(super) fn listing(listing: files::Listing) -> f::Listing {
    let entry = |entry: files::Entry| f::Entry {
        name: name(entry.name),
        kind: entry_kind(entry.kind),
        size: entry.size,
    };
    f::Listing {
        entries: listing.entries.into_iter().map(entry).collect(),
        total: listing.total,
    }
}

const fn skipped(skipped: files::Skipped) -> f::Skipped {
    f::Skipped {
        links: skipped.links,
        binary: skipped.binary,
        unreadable: skipped.unreadable,
        special: skipped.special,
    }
}

pub(super) fn glob_result(result: files::GlobResult) -> f::GlobResult {
    let found = |found: files::Found| f::Found {
        path: name(found.path),
        kind: entry_kind(found.kind),
    };
    f::GlobResult {
        paths: result.paths.into_iter().map(found).collect(),
        total: result.total,
        skipped: skipped(result.skipped),
    }
}

fn line(line: files::Line) -> f::Line {
    f::Line {
        text: line.text,
        lossy: line.lossy,
        dropped: line.dropped,
    }
}

pub(super) fn search_result(result: files::SearchResult) -> f::SearchResult {
    let matched = |found: files::Match| f::Match {
        path: name(found.path),
        line_number: found.line_number,
        offset: found.offset,
        line: line(found.line),
        before: found.before.into_iter().map(line).collect(),
        after: found.after.into_iter().map(line).collect(),
    };
    f::SearchResult {
        matches: result.matches.into_iter().map(matched).collect(),
        more: result.more,
        skipped: skipped(result.skipped),
    }
}

pub(super) const fn info(info: files::Info) -> f::Info {
    f::Info {
        kind: entry_kind(info.kind),
        size: info.size,
        modified: info.modified,
        mode: info.mode,
    }
}

/// A scope, and what layers let be seen of it.
pub(super) fn scope(scope: rust::Scope) -> (files::Scope, Vec<Vec<String>>) {
    let globs = |globs: Vec<rust::Pattern>| globs.into_iter().map(Into::into).collect();
    let within = scope.within.into_iter().map(globs).collect();
    let scope = files::Scope {
        base: Some(scope.base.into()),
        hidden: scope.hidden,
        ignored: scope.ignored,
        limit: Some(scope.limit),
    };
    (scope, within)
}

pub(super) fn query(query: rust::Query) -> files::Query {
    let globs = |globs: Vec<rust::Pattern>| globs.into_iter().map(Into::into).collect();
    files::Query {
        pattern: query.pattern,
        syntax: match query.syntax {
            f::Syntax::Literal => files::Syntax::Literal,
            f::Syntax::Regex => files::Syntax::Regex,
        },
        ignore_case: query.ignore_case,
        include: globs(query.include),
        exclude: globs(query.exclude),
        context: query.context,
    }
}

pub(super) fn launch(launch: rust::Launch) -> (processes::Command, processes::RunOptions) {
    let command = match launch.command {
        p::Command::Argv(argv) => processes::Command::Argv(argv),
        p::Command::Shell(text) => processes::Command::Shell(text),
    };
    let options = processes::RunOptions {
        directory: Some(launch.directory.into()),
        environment: launch.environment,
        stdin: launch.stdin,
        user: launch.user,
        timeout: launch.timeout.map(milliseconds),
        output_limit: Some(launch.output_limit),
    };
    (command, options)
}

/// Whole milliseconds, and one at least where there is any time.
pub(super) fn milliseconds(duration: Duration) -> u64 {
    let millis = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    match duration.is_zero() {
        true => 0,
        false => millis.max(1),
    }
}

const fn outcome(outcome: processes::Outcome) -> p::Outcome {
    match outcome {
        processes::Outcome::Exited(code) => p::Outcome::Exited(code),
        processes::Outcome::Signalled(signal) => p::Outcome::Signalled(signal),
        processes::Outcome::TimedOut => p::Outcome::TimedOut,
        processes::Outcome::Cancelled => p::Outcome::Cancelled,
        processes::Outcome::OutOfMemory => p::Outcome::OutOfMemory,
    }
}

pub(super) fn execution(execution: processes::Execution) -> p::Execution {
    let output = |output: processes::Output| p::Output {
        head: output.head,
        tail: output.tail,
        dropped: output.dropped,
    };
    p::Execution {
        outcome: outcome(execution.outcome),
        stdout: output(execution.stdout),
        stderr: output(execution.stderr),
        duration: Duration::from_nanos(execution.duration),
    }
}

pub(super) const fn output_stream(output: p::OutputStream) -> processes::OutputStream {
    match output {
        p::OutputStream::Stdout => processes::OutputStream::Stdout,
        p::OutputStream::Stderr => processes::OutputStream::Stderr,
    }
}

pub(super) fn output_chunk(chunk: processes::OutputChunk) -> p::OutputChunk {
    p::OutputChunk {
        bytes: chunk.bytes,
        cursor: chunk.cursor,
        dropped: chunk.dropped,
        ended: chunk.ended,
    }
}

pub(super) const fn signal_kind(signal: p::SignalKind) -> processes::SignalKind {
    match signal {
        p::SignalKind::Interrupt => processes::SignalKind::Interrupt,
        p::SignalKind::Terminate => processes::SignalKind::Terminate,
        p::SignalKind::Hangup => processes::SignalKind::Hangup,
        p::SignalKind::User1 => processes::SignalKind::User1,
        p::SignalKind::User2 => processes::SignalKind::User2,
        p::SignalKind::Kill => processes::SignalKind::Kill,
    }
}

pub(super) fn ended(ended: processes::Ended) -> p::Ended {
    p::Ended {
        outcome: outcome(ended.outcome),
        duration: Duration::from_nanos(ended.duration),
    }
}

pub(super) fn command_info(info: session::CommandInfo) -> s::CommandInfo {
    s::CommandInfo {
        name: info.name,
        path: info.path,
        version: info.version,
    }
}
