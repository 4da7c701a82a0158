//! The contract's values between Rust and the bindings: each match is exhaustive, so that a change
//! of the contract is a compile error here.

use std::time::Duration;

use belljar_contract as rust;
use belljar_contract::{files as f, processes as p, session as s};

use super::bindings::belljar::sandbox::{files, processes, session, types};

pub(super) fn error(error: rust::Error) -> types::Error {
    types::Error {
        kind: error_kind(error.kind),
        operation: error.operation.as_str().to_owned(),
        path: error.path,
        message: error.message,
    }
}

pub(super) const fn error_kind(kind: rust::ErrorKind) -> types::ErrorKind {
    use rust::ErrorKind as K;
    use types::ErrorKind as W;
    match kind {
        K::NotFound => W::NotFound,
        K::AlreadyExists => W::AlreadyExists,
        K::IsADirectory => W::IsADirectory,
        K::NotADirectory => W::NotADirectory,
        K::NotAFile => W::NotAFile,
        K::NotEmpty => W::NotEmpty,
        K::AccessDenied => W::AccessDenied,
        K::ReadOnly => W::ReadOnly,
        K::Unsupported => W::Unsupported,
        K::InvalidArgument => W::InvalidArgument,
        K::TooLarge => W::TooLarge,
        K::NotUtf8 => W::NotUtf8,
        K::NoMatch => W::NoMatch,
        K::SeveralMatches => W::SeveralMatches,
        K::Stale => W::Stale,
        K::ProgramNotFound => W::ProgramNotFound,
        K::NotExecutable => W::NotExecutable,
        K::TimedOut => W::TimedOut,
        K::Cancelled => W::Cancelled,
        K::Closed => W::Closed,
        K::Busy => W::Busy,
        K::NoSpace => W::NoSpace,
        K::BackendUnavailable => W::BackendUnavailable,
        K::BackendFailed => W::BackendFailed,
    }
}

pub(super) const fn error_kind_from(kind: types::ErrorKind) -> rust::ErrorKind {
    use rust::ErrorKind as K;
    use types::ErrorKind as W;
    match kind {
        W::NotFound => K::NotFound,
        W::AlreadyExists => K::AlreadyExists,
        W::IsADirectory => K::IsADirectory,
        W::NotADirectory => K::NotADirectory,
        W::NotAFile => K::NotAFile,
        W::NotEmpty => K::NotEmpty,
        W::AccessDenied => K::AccessDenied,
        W::ReadOnly => K::ReadOnly,
        W::Unsupported => K::Unsupported,
        W::InvalidArgument => K::InvalidArgument,
        W::TooLarge => K::TooLarge,
        W::NotUtf8 => K::NotUtf8,
        W::NoMatch => K::NoMatch,
        W::SeveralMatches => K::SeveralMatches,
        W::Stale => K::Stale,
        W::ProgramNotFound => K::ProgramNotFound,
        W::NotExecutable => K::NotExecutable,
        W::TimedOut => K::TimedOut,
        W::Cancelled => K::Cancelled,
        W::Closed => K::Closed,
        W::Busy => K::Busy,
        W::NoSpace => K::NoSpace,
        W::BackendUnavailable => K::BackendUnavailable,
        W::BackendFailed => K::BackendFailed,
    }
}

pub(super) const fn capability_to(capability: s::Capability) -> types::Capability {
    use s::Capability as C;
    match capability {
        C::Read => types::Capability::Read,
        C::Write => types::Capability::Write,
        C::Run => types::Capability::Run,
        C::Start => types::Capability::Start,
        C::User => types::Capability::User,
        C::Modes => types::Capability::Modes,
        C::Links => types::Capability::Links,
        C::RawNames => types::Capability::RawNames,
        C::OutOfMemory => types::Capability::OutOfMemory,
    }
}

pub(super) const fn capability_from(capability: types::Capability) -> s::Capability {
    use s::Capability as C;
    match capability {
        types::Capability::Read => C::Read,
        types::Capability::Write => C::Write,
        types::Capability::Run => C::Run,
        types::Capability::Start => C::Start,
        types::Capability::User => C::User,
        types::Capability::Modes => C::Modes,
        types::Capability::Links => C::Links,
        types::Capability::RawNames => C::RawNames,
        types::Capability::OutOfMemory => C::OutOfMemory,
    }
}

/// What the caller expects; a version that cannot be one is stale, as nothing has it.
pub(super) fn expected(
    expected: types::Expected,
    operation: rust::Operation,
    path: &str,
) -> rust::Result<rust::Expected> {
    Ok(match expected {
        types::Expected::Any => rust::Expected::Any,
        types::Expected::Absent => rust::Expected::Absent,
        types::Expected::Version(text) => {
            rust::Expected::Version(rust::Version::parse(&text).map_err(|error| {
                rust::Error::new(
                    rust::ErrorKind::InvalidArgument,
                    operation,
                    error.to_string(),
                )
                .at(path)
                .because(error)
            })?)
        }
    })
}

pub(super) fn content(content: f::Content) -> files::Content {
    files::Content {
        bytes: content.bytes,
        version: content.version.into(),
    }
}

pub(super) fn chunk(chunk: f::Chunk) -> files::Chunk {
    files::Chunk {
        bytes: chunk.bytes,
        size: chunk.size,
        version: chunk.version.into(),
    }
}

pub(super) fn replaced(replaced: f::Replaced) -> files::Replaced {
    files::Replaced {
        count: replaced.count,
        version: replaced.version.into(),
    }
}

fn name(name: f::Name) -> types::Name {
    types::Name {
        text: name.text,
        raw: name.raw,
    }
}

const fn entry_kind(kind: f::EntryKind) -> types::EntryKind {
    match kind {
        f::EntryKind::File => types::EntryKind::File,
        f::EntryKind::Directory => types::EntryKind::Directory,
        f::EntryKind::Link => types::EntryKind::Link,
        f::EntryKind::Other => types::EntryKind::Other,
    }
}

pub(super) fn listing(listing: f::Listing) -> files::Listing {
    let entry = |entry: f::Entry| files::Entry {
        name: name(entry.name),
        kind: entry_kind(entry.kind),
        size: entry.size,
    };
    files::Listing {
        entries: listing.entries.into_iter().map(entry).collect(),
        total: listing.total,
    }
}

const fn skipped(skipped: f::Skipped) -> files::Skipped {
    let f::Skipped {
        links,
        binary,
        unreadable,
        special,
    } = skipped;
    files::Skipped {
        links,
        binary,
        unreadable,
        special,
    }
}

pub(super) fn glob_result(result: f::GlobResult) -> files::GlobResult {
    let found = |found: f::Found| files::Found {
        path: name(found.path),
        kind: entry_kind(found.kind),
    };
    files::GlobResult {
        paths: result.paths.into_iter().map(found).collect(),
        total: result.total,
        skipped: skipped(result.skipped),
    }
}

fn line(line: f::Line) -> files::Line {
    files::Line {
        text: line.text,
        lossy: line.lossy,
        dropped: line.dropped,
    }
}

pub(super) fn search_result(result: f::SearchResult) -> files::SearchResult {
    let matched = |found: f::Match| files::Match {
        path: name(found.path),
        line_number: found.line_number,
        offset: found.offset,
        line: line(found.line),
        before: found.before.into_iter().map(line).collect(),
        after: found.after.into_iter().map(line).collect(),
    };
    files::SearchResult {
        matches: result.matches.into_iter().map(matched).collect(),
        more: result.more,
        skipped: skipped(result.skipped),
    }
}

pub(super) const fn info(info: f::Info) -> files::Info {
    files::Info {
        kind: entry_kind(info.kind),
        size: info.size,
        modified: info.modified,
        mode: info.mode,
    }
}

pub(super) fn scope(scope: files::Scope) -> rust::ScopeOptions {
    let files::Scope {
        base,
        hidden,
        ignored,
        limit,
    } = scope;
    rust::ScopeOptions {
        base,
        hidden,
        ignored,
        limit,
    }
}

pub(super) fn query(query: files::Query) -> rust::QueryOptions {
    rust::QueryOptions {
        pattern: query.pattern,
        syntax: match query.syntax {
            files::Syntax::Literal => f::Syntax::Literal,
            files::Syntax::Regex => f::Syntax::Regex,
        },
        ignore_case: query.ignore_case,
        include: query.include,
        exclude: query.exclude,
        context: query.context,
    }
}

pub(super) fn command(command: processes::Command) -> p::Command {
    match command {
        processes::Command::Argv(argv) => p::Command::Argv(argv),
        processes::Command::Shell(text) => p::Command::Shell(text),
    }
}

pub(super) fn run_options(options: processes::RunOptions) -> rust::RunOptions {
    let processes::RunOptions {
        directory,
        environment,
        stdin,
        user,
        timeout,
        output_limit,
    } = options;
    rust::RunOptions {
        directory,
        environment,
        stdin,
        user,
        timeout,
        output_limit,
    }
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

const fn outcome(outcome: p::Outcome) -> processes::Outcome {
    match outcome {
        p::Outcome::Exited(code) => processes::Outcome::Exited(code),
        p::Outcome::Signalled(signal) => processes::Outcome::Signalled(signal),
        p::Outcome::TimedOut => processes::Outcome::TimedOut,
        p::Outcome::Cancelled => processes::Outcome::Cancelled,
        p::Outcome::OutOfMemory => processes::Outcome::OutOfMemory,
    }
}

pub(super) fn execution(execution: p::Execution) -> processes::Execution {
    let output = |output: p::Output| processes::Output {
        head: output.head,
        tail: output.tail,
        dropped: output.dropped,
    };
    processes::Execution {
        outcome: outcome(execution.outcome),
        stdout: output(execution.stdout),
        stderr: output(execution.stderr),
        duration: nanoseconds(execution.duration),
    }
}

pub(super) const fn output_stream(stream: processes::OutputStream) -> p::OutputStream {
    match stream {
        processes::OutputStream::Stdout => p::OutputStream::Stdout,
        processes::OutputStream::Stderr => p::OutputStream::Stderr,
    }
}

pub(super) fn output_chunk(chunk: p::OutputChunk) -> processes::OutputChunk {
    let p::OutputChunk {
        bytes,
        cursor,
        dropped,
        ended,
    } = chunk;
    processes::OutputChunk {
        bytes,
        cursor,
        dropped,
        ended,
    }
}

pub(super) const fn signal_kind(signal: processes::SignalKind) -> p::SignalKind {
    match signal {
        processes::SignalKind::Interrupt => p::SignalKind::Interrupt,
        processes::SignalKind::Terminate => p::SignalKind::Terminate,
        processes::SignalKind::Hangup => p::SignalKind::Hangup,
        processes::SignalKind::User1 => p::SignalKind::User1,
        processes::SignalKind::User2 => p::SignalKind::User2,
        processes::SignalKind::Kill => p::SignalKind::Kill,
    }
}

pub(super) fn ended(ended: p::Ended) -> processes::Ended {
    processes::Ended {
        outcome: outcome(ended.outcome),
        duration: nanoseconds(ended.duration),
    }
}

pub(super) fn description(description: &s::Description) -> session::Description {
    let limits = &description.limits;
    session::Description {
        backend: description.backend.clone(),
        root: description.root.clone(),
        process_root: description.process_root.clone(),
        writable: description.writable,
        durable: description.durable,
        capabilities: description
            .capabilities
            .iter()
            .copied()
            .map(capability_to)
            .collect(),
        limits: session::Limits {
            file_bytes: limits.file_bytes,
            results: limits.results,
            stdin_bytes: limits.stdin_bytes,
            argument_bytes: limits.argument_bytes,
            output_default: limits.output_default,
            output_maximum: limits.output_maximum,
            timeout_default: milliseconds(limits.timeout_default),
            timeout_maximum: milliseconds(limits.timeout_maximum),
            processes: limits.processes,
        },
        policy: session::Policy {
            read: description.policy.read.clone(),
            write: description.policy.write.clone(),
            programs: description.policy.programs.clone(),
        },
        instructions: description.instructions.clone(),
        hardening_gaps: description.hardening_gaps.clone(),
    }
}

pub(super) fn command_info(info: s::CommandInfo) -> session::CommandInfo {
    let s::CommandInfo {
        name,
        path,
        version,
    } = info;
    session::CommandInfo {
        name,
        path,
        version,
    }
}
