//! What the host asks in the contract's types, and the answers in the bindings'.

use std::time::Duration;

use belljar_contract::{
    Error, ErrorKind, Expected, GuestPath, Launch, Operation, Pattern, Query, Result, Scope,
    Version, files as f, processes as p, session as s,
};

use crate::{
    bindings::{
        backend::exports::belljar::sandbox::{files, processes, session},
        tool::belljar::sandbox::types,
    },
    imports::exported,
};

pub(super) fn error(error: Error) -> types::Error {
    types::Error {
        kind: exported::error_kind(error.kind),
        operation: error.operation.as_str().to_owned(),
        path: error.path,
        message: error.message,
    }
}

fn invalid(operation: Operation, error: impl std::error::Error) -> Error {
    Error::new(ErrorKind::InvalidArgument, operation, error.to_string())
}

/// A path as the host gives it: normal, relative to the root, `//` before it where no link is to be followed.
pub(super) fn path(operation: Operation, text: String) -> Result<GuestPath> {
    GuestPath::try_from(text).map_err(|error| invalid(operation, error))
}

pub(super) fn pattern(operation: Operation, text: &str) -> Result<Pattern> {
    Pattern::parse(text).map_err(|error| invalid(operation, error))
}

fn patterns(operation: Operation, texts: &[String]) -> Result<Vec<Pattern>> {
    texts.iter().map(|text| pattern(operation, text)).collect()
}

pub(super) fn expected(operation: Operation, expected: types::Expected) -> Result<Expected> {
    Ok(match expected {
        types::Expected::Any => Expected::Any,
        types::Expected::Absent => Expected::Absent,
        types::Expected::Version(text) => {
            let version = Version::parse(&text).map_err(|error| invalid(operation, error))?;
            Expected::Version(version)
        }
    })
}

pub(super) fn write_options(
    operation: Operation,
    options: files::WriteOptions,
) -> Result<f::WriteOptions> {
    Ok(f::WriteOptions {
        expected: expected(operation, options.expected)?,
        make_parents: options.make_parents,
        executable: options.executable,
    })
}

pub(super) fn scope(
    operation: Operation,
    scope: files::Scope,
    within: &[Vec<String>],
) -> Result<Scope> {
    let within = within.iter().map(|globs| patterns(operation, globs));
    Ok(Scope {
        base: match scope.base {
            Some(base) => path(operation, base)?,
            None => GuestPath::root(),
        },
        hidden: scope.hidden,
        ignored: scope.ignored,
        limit: scope.limit.unwrap_or(u32::MAX),
        within: within.collect::<Result<_>>()?,
    })
}

pub(super) fn query(query: files::Query) -> Result<Query> {
    let operation = Operation::Search;
    Ok(Query {
        pattern: query.pattern,
        syntax: match query.syntax {
            files::Syntax::Literal => f::Syntax::Literal,
            files::Syntax::Regex => f::Syntax::Regex,
        },
        ignore_case: query.ignore_case,
        include: patterns(operation, &query.include)?,
        exclude: patterns(operation, &query.exclude)?,
        context: query.context,
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
    files::Skipped {
        links: skipped.links,
        binary: skipped.binary,
        unreadable: skipped.unreadable,
        special: skipped.special,
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

/// A launch as the host gives it, every default filled in.
pub(super) fn launch(
    operation: Operation,
    command: processes::Command,
    options: processes::RunOptions,
) -> Result<Launch> {
    Ok(Launch {
        command: match command {
            processes::Command::Argv(argv) => p::Command::Argv(argv),
            processes::Command::Shell(text) => p::Command::Shell(text),
        },
        directory: match options.directory {
            Some(directory) => path(operation, directory)?,
            None => GuestPath::root(),
        },
        environment: options.environment,
        stdin: options.stdin,
        user: options.user,
        timeout: options.timeout.map(Duration::from_millis),
        output_limit: options.output_limit.unwrap_or(u64::MAX),
    })
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

pub(super) const fn output_stream(output: processes::OutputStream) -> p::OutputStream {
    match output {
        processes::OutputStream::Stdout => p::OutputStream::Stdout,
        processes::OutputStream::Stderr => p::OutputStream::Stderr,
    }
}

pub(super) fn output_chunk(chunk: p::OutputChunk) -> processes::OutputChunk {
    processes::OutputChunk {
        bytes: chunk.bytes,
        cursor: chunk.cursor,
        dropped: chunk.dropped,
        ended: chunk.ended,
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

pub(super) fn description(description: s::Description) -> session::Description {
    let limits = description.limits;
    session::Description {
        backend: description.backend,
        root: description.root,
        process_root: description.process_root,
        writable: description.writable,
        durable: description.durable,
        capabilities: description
            .capabilities
            .into_iter()
            .map(exported::capability)
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
            read: description.policy.read,
            write: description.policy.write,
            programs: description.policy.programs,
        },
        instructions: description.instructions,
        hardening_gaps: description.hardening_gaps,
    }
}

pub(super) fn command_info(info: s::CommandInfo) -> session::CommandInfo {
    session::CommandInfo {
        name: info.name,
        path: info.path,
        version: info.version,
    }
}
