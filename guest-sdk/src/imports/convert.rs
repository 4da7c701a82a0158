//! The generated bindings' types to the contract's and back, for the whole crate.
//!
//! Every match is exhaustive, so that a new case in the contract does not compile until it has its
//! place here. What a host gives that the contract's types do not allow is `backend-failed`.

use std::time::Duration;

use belljar_contract::{
    Error, ErrorKind, Expected, Operation, QueryOptions, Result, RunOptions, ScopeOptions, Version,
    files::{
        Chunk, Content, Entry, EntryKind, Found, GlobResult, Info, Line, Listing, Match, Name,
        ReplaceOptions, Replaced, SearchResult, Skipped, Syntax, WriteOptions,
    },
    processes::{
        Command, Ended, Execution, Outcome, Output, OutputChunk, OutputStream, SignalKind,
    },
    session::{Capability, CommandInfo, Description, Limits, PolicySummary},
};

use crate::{
    bindings::tool::belljar::sandbox::{files, processes, progress, session, types},
    progress::Level,
};

pub(super) fn error(asked: Operation, error: types::Error) -> Error {
    // The host names the operation that failed; where this crate does not know the name, it
    // is the one that was asked for.
    let operation = Operation::ALL
        .iter()
        .find(|operation| operation.as_str() == error.operation)
        .map_or(asked, |operation| *operation);
    let converted = Error::new(error_kind(error.kind), operation, error.message);
    match error.path {
        Some(path) => converted.at(path),
        None => converted,
    }
}

const fn error_kind(kind: types::ErrorKind) -> ErrorKind {
    match kind {
        types::ErrorKind::NotFound => ErrorKind::NotFound,
        types::ErrorKind::AlreadyExists => ErrorKind::AlreadyExists,
        types::ErrorKind::IsADirectory => ErrorKind::IsADirectory,
        types::ErrorKind::NotADirectory => ErrorKind::NotADirectory,
        types::ErrorKind::NotAFile => ErrorKind::NotAFile,
        types::ErrorKind::NotEmpty => ErrorKind::NotEmpty,
        types::ErrorKind::AccessDenied => ErrorKind::AccessDenied,
        types::ErrorKind::ReadOnly => ErrorKind::ReadOnly,
        types::ErrorKind::Unsupported => ErrorKind::Unsupported,
        types::ErrorKind::InvalidArgument => ErrorKind::InvalidArgument,
        types::ErrorKind::TooLarge => ErrorKind::TooLarge,
        types::ErrorKind::NotUtf8 => ErrorKind::NotUtf8,
        types::ErrorKind::NoMatch => ErrorKind::NoMatch,
        types::ErrorKind::SeveralMatches => ErrorKind::SeveralMatches,
        types::ErrorKind::Stale => ErrorKind::Stale,
        types::ErrorKind::ProgramNotFound => ErrorKind::ProgramNotFound,
        types::ErrorKind::NotExecutable => ErrorKind::NotExecutable,
        types::ErrorKind::TimedOut => ErrorKind::TimedOut,
        types::ErrorKind::Cancelled => ErrorKind::Cancelled,
        types::ErrorKind::Closed => ErrorKind::Closed,
        types::ErrorKind::Busy => ErrorKind::Busy,
        types::ErrorKind::NoSpace => ErrorKind::NoSpace,
        types::ErrorKind::BackendUnavailable => ErrorKind::BackendUnavailable,
        types::ErrorKind::BackendFailed => ErrorKind::BackendFailed,
    }
}

pub(super) fn version(operation: Operation, text: &str) -> Result<Version> {
    Version::parse(text).map_err(|error| {
        Error::new(
            ErrorKind::BackendFailed,
            operation,
            "the host gave a version that is none",
        )
        .because(error)
    })
}

pub(super) fn expected(expected: Expected) -> types::Expected {
    match expected {
        Expected::Any => types::Expected::Any,
        Expected::Absent => types::Expected::Absent,
        Expected::Version(version) => types::Expected::Version(version.into()),
    }
}

pub(super) fn content(content: files::Content) -> Result<Content> {
    Ok(Content {
        version: version(Operation::Read, &content.version)?,
        bytes: content.bytes,
    })
}

pub(super) fn chunk(chunk: files::Chunk) -> Result<Chunk> {
    Ok(Chunk {
        version: version(Operation::ReadRange, &chunk.version)?,
        bytes: chunk.bytes,
        size: chunk.size,
    })
}

pub(super) fn write_options(options: WriteOptions) -> files::WriteOptions {
    files::WriteOptions {
        expected: expected(options.expected),
        make_parents: options.make_parents,
        executable: options.executable,
    }
}

pub(super) fn replace_options(options: ReplaceOptions) -> files::ReplaceOptions {
    files::ReplaceOptions {
        expected: expected(options.expected),
        all: options.all,
    }
}

pub(super) fn replaced(replaced: files::Replaced) -> Result<Replaced> {
    Ok(Replaced {
        count: replaced.count,
        version: version(Operation::Replace, &replaced.version)?,
    })
}

fn name(name: types::Name) -> Name {
    Name {
        text: name.text,
        raw: name.raw,
    }
}

const fn entry_kind(kind: types::EntryKind) -> EntryKind {
    match kind {
        types::EntryKind::File => EntryKind::File,
        types::EntryKind::Directory => EntryKind::Directory,
        types::EntryKind::Link => EntryKind::Link,
        types::EntryKind::Other => EntryKind::Other,
    }
}

pub(super) fn listing(listing: files::Listing) -> Listing {
    let entry = |entry: files::Entry| Entry {
        name: name(entry.name),
        kind: entry_kind(entry.kind),
        size: entry.size,
    };
    Listing {
        entries: listing.entries.into_iter().map(entry).collect(),
        total: listing.total,
    }
}

pub(super) fn scope(scope: ScopeOptions) -> files::Scope {
    files::Scope {
        base: scope.base,
        hidden: scope.hidden,
        ignored: scope.ignored,
        limit: scope.limit,
    }
}

const fn skipped(skipped: files::Skipped) -> Skipped {
    Skipped {
        links: skipped.links,
        binary: skipped.binary,
        unreadable: skipped.unreadable,
        special: skipped.special,
    }
}

pub(super) fn glob_result(result: files::GlobResult) -> GlobResult {
    let found = |found: files::Found| Found {
        path: name(found.path),
        kind: entry_kind(found.kind),
    };
    GlobResult {
        paths: result.paths.into_iter().map(found).collect(),
        total: result.total,
        skipped: skipped(result.skipped),
    }
}

pub(super) fn query(query: QueryOptions) -> files::Query {
    files::Query {
        pattern: query.pattern,
        syntax: match query.syntax {
            Syntax::Literal => files::Syntax::Literal,
            Syntax::Regex => files::Syntax::Regex,
        },
        ignore_case: query.ignore_case,
        include: query.include,
        exclude: query.exclude,
        context: query.context,
    }
}

fn line(line: files::Line) -> Line {
    Line {
        text: line.text,
        lossy: line.lossy,
        dropped: line.dropped,
    }
}

pub(super) fn search_result(result: files::SearchResult) -> SearchResult {
    let matched = |found: files::Match| Match {
        path: name(found.path),
        line_number: found.line_number,
        offset: found.offset,
        line: line(found.line),
        before: found.before.into_iter().map(line).collect(),
        after: found.after.into_iter().map(line).collect(),
    };
    SearchResult {
        matches: result.matches.into_iter().map(matched).collect(),
        more: result.more,
        skipped: skipped(result.skipped),
    }
}

pub(super) const fn info(info: files::Info) -> Info {
    Info {
        kind: entry_kind(info.kind),
        size: info.size,
        modified: info.modified,
        mode: info.mode,
    }
}

pub(super) fn command(command: Command) -> processes::Command {
    match command {
        Command::Argv(argv) => processes::Command::Argv(argv),
        Command::Shell(text) => processes::Command::Shell(text),
    }
}

pub(super) fn run_options(options: RunOptions) -> processes::RunOptions {
    processes::RunOptions {
        directory: options.directory,
        environment: options.environment,
        stdin: options.stdin,
        user: options.user,
        timeout: options.timeout,
        output_limit: options.output_limit,
    }
}

const fn outcome(outcome: processes::Outcome) -> Outcome {
    match outcome {
        processes::Outcome::Exited(code) => Outcome::Exited(code),
        processes::Outcome::Signalled(signal) => Outcome::Signalled(signal),
        processes::Outcome::TimedOut => Outcome::TimedOut,
        processes::Outcome::Cancelled => Outcome::Cancelled,
        processes::Outcome::OutOfMemory => Outcome::OutOfMemory,
    }
}

fn output(output: processes::Output) -> Output {
    Output {
        head: output.head,
        tail: output.tail,
        dropped: output.dropped,
    }
}

pub(super) fn execution(execution: processes::Execution) -> Execution {
    Execution {
        outcome: outcome(execution.outcome),
        stdout: output(execution.stdout),
        stderr: output(execution.stderr),
        duration: Duration::from_nanos(execution.duration),
    }
}

pub(super) const fn output_stream(output: OutputStream) -> processes::OutputStream {
    match output {
        OutputStream::Stdout => processes::OutputStream::Stdout,
        OutputStream::Stderr => processes::OutputStream::Stderr,
    }
}

pub(super) fn output_chunk(chunk: processes::OutputChunk) -> OutputChunk {
    OutputChunk {
        bytes: chunk.bytes,
        cursor: chunk.cursor,
        dropped: chunk.dropped,
        ended: chunk.ended,
    }
}

pub(super) const fn signal_kind(signal: SignalKind) -> processes::SignalKind {
    match signal {
        SignalKind::Interrupt => processes::SignalKind::Interrupt,
        SignalKind::Terminate => processes::SignalKind::Terminate,
        SignalKind::Hangup => processes::SignalKind::Hangup,
        SignalKind::User1 => processes::SignalKind::User1,
        SignalKind::User2 => processes::SignalKind::User2,
        SignalKind::Kill => processes::SignalKind::Kill,
    }
}

pub(super) const fn ended(ended: processes::Ended) -> Ended {
    Ended {
        outcome: outcome(ended.outcome),
        duration: Duration::from_nanos(ended.duration),
    }
}

/// Whole milliseconds, saturating: a longer wait than 584 million years is none.
pub(super) fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

const fn capability(capability: types::Capability) -> Capability {
    match capability {
        types::Capability::Read => Capability::Read,
        types::Capability::Write => Capability::Write,
        types::Capability::Run => Capability::Run,
        types::Capability::Start => Capability::Start,
        types::Capability::User => Capability::User,
        types::Capability::Modes => Capability::Modes,
        types::Capability::Links => Capability::Links,
        types::Capability::RawNames => Capability::RawNames,
        types::Capability::OutOfMemory => Capability::OutOfMemory,
    }
}

pub(super) fn description(description: session::Description) -> Description {
    let limits = description.limits;
    Description {
        backend: description.backend,
        root: description.root,
        process_root: description.process_root,
        writable: description.writable,
        durable: description.durable,
        capabilities: description
            .capabilities
            .into_iter()
            .map(capability)
            .collect(),
        limits: Limits {
            file_bytes: limits.file_bytes,
            results: limits.results,
            stdin_bytes: limits.stdin_bytes,
            argument_bytes: limits.argument_bytes,
            output_default: limits.output_default,
            output_maximum: limits.output_maximum,
            timeout_default: Duration::from_millis(limits.timeout_default),
            timeout_maximum: Duration::from_millis(limits.timeout_maximum),
            processes: limits.processes,
        },
        policy: PolicySummary {
            read: description.policy.read,
            write: description.policy.write,
            programs: description.policy.programs,
        },
        instructions: description.instructions,
        hardening_gaps: description.hardening_gaps,
    }
}

pub(super) fn command_info(info: session::CommandInfo) -> CommandInfo {
    CommandInfo {
        name: info.name,
        path: info.path,
        version: info.version,
    }
}

pub(super) const fn level(level: Level) -> progress::Level {
    match level {
        Level::Debug => progress::Level::Debug,
        Level::Info => progress::Level::Info,
        Level::Warn => progress::Level::Warn,
        Level::Error => progress::Level::Error,
    }
}

/// What the component exports, in the generated types.
pub(crate) mod exported {
    use belljar_contract::{ErrorKind, session::Capability};

    use crate::{
        Answer, CallError, Part, ToolDescription, ToolError,
        bindings::tool::{belljar::sandbox::types, exports::belljar::sandbox::tools},
    };

    pub(crate) fn description(tool: ToolDescription) -> tools::Description {
        tools::Description {
            name: tool.name,
            description: tool.description,
            input_schema: tool.input_schema.to_string(),
            output_schema: tool.output_schema.map(|schema| schema.to_string()),
            read_only: tool.read_only,
            destructive: tool.destructive,
            idempotent: tool.idempotent,
            needs: tool.needs.into_iter().map(capability).collect(),
        }
    }

    pub(crate) fn answer(answer: Answer) -> tools::Answer {
        let part = |part| match part {
            Part::Text(text) => tools::Content::Text(text),
            Part::Data { media_type, bytes } => {
                tools::Content::Data(tools::Data { media_type, bytes })
            }
        };
        tools::Answer {
            content: answer.content.into_iter().map(part).collect(),
            structured: answer.structured.map(|value| value.to_string()),
        }
    }

    pub(crate) fn call_error(error: CallError) -> tools::CallError {
        match error {
            CallError::UnknownTool(name) => tools::CallError::UnknownTool(name),
            CallError::InvalidArguments(message) => tools::CallError::InvalidArguments(message),
            CallError::Failed(ToolError { message, kind }) => {
                tools::CallError::Failed(tools::Failure {
                    message,
                    kind: kind.map(error_kind),
                })
            }
        }
    }

    pub(crate) const fn capability(capability: Capability) -> types::Capability {
        match capability {
            Capability::Read => types::Capability::Read,
            Capability::Write => types::Capability::Write,
            Capability::Run => types::Capability::Run,
            Capability::Start => types::Capability::Start,
            Capability::User => types::Capability::User,
            Capability::Modes => types::Capability::Modes,
            Capability::Links => types::Capability::Links,
            Capability::RawNames => types::Capability::RawNames,
            Capability::OutOfMemory => types::Capability::OutOfMemory,
        }
    }

    pub(crate) const fn error_kind(kind: ErrorKind) -> types::ErrorKind {
        match kind {
            ErrorKind::NotFound => types::ErrorKind::NotFound,
            ErrorKind::AlreadyExists => types::ErrorKind::AlreadyExists,
            ErrorKind::IsADirectory => types::ErrorKind::IsADirectory,
            ErrorKind::NotADirectory => types::ErrorKind::NotADirectory,
            ErrorKind::NotAFile => types::ErrorKind::NotAFile,
            ErrorKind::NotEmpty => types::ErrorKind::NotEmpty,
            ErrorKind::AccessDenied => types::ErrorKind::AccessDenied,
            ErrorKind::ReadOnly => types::ErrorKind::ReadOnly,
            ErrorKind::Unsupported => types::ErrorKind::Unsupported,
            ErrorKind::InvalidArgument => types::ErrorKind::InvalidArgument,
            ErrorKind::TooLarge => types::ErrorKind::TooLarge,
            ErrorKind::NotUtf8 => types::ErrorKind::NotUtf8,
            ErrorKind::NoMatch => types::ErrorKind::NoMatch,
            ErrorKind::SeveralMatches => types::ErrorKind::SeveralMatches,
            ErrorKind::Stale => types::ErrorKind::Stale,
            ErrorKind::ProgramNotFound => types::ErrorKind::ProgramNotFound,
            ErrorKind::NotExecutable => types::ErrorKind::NotExecutable,
            ErrorKind::TimedOut => types::ErrorKind::TimedOut,
            ErrorKind::Cancelled => types::ErrorKind::Cancelled,
            ErrorKind::Closed => types::ErrorKind::Closed,
            ErrorKind::Busy => types::ErrorKind::Busy,
            ErrorKind::NoSpace => types::ErrorKind::NoSpace,
            ErrorKind::BackendUnavailable => types::ErrorKind::BackendUnavailable,
            ErrorKind::BackendFailed => types::ErrorKind::BackendFailed,
        }
    }
}
