//! The host's imports, with the contract's types.

use std::time::Duration;

use belljar_contract::{
    Expected, Operation, QueryOptions, Result, RunOptions, ScopeOptions, Version,
    files::{
        Chunk, Content, GlobResult, Info, Listing, ReplaceOptions, Replaced, SearchResult,
        WriteOptions,
    },
    processes::{Command, Ended, Execution, OutputChunk, OutputStream, ProcessId, SignalKind},
    session::{CommandInfo, Description},
};

use super::convert;
use crate::{
    bindings::{
        backend::belljar::sandbox::{outgoing_http, settings},
        tool::belljar::sandbox::{files, processes, progress, session},
    },
    http::{HttpError, Request, Response},
    progress::Level,
};

pub(crate) fn read(path: &str) -> Result<Content> {
    let content = files::read(path).map_err(|e| convert::error(Operation::Read, e))?;
    convert::content(content)
}

pub(crate) fn read_range(path: &str, offset: u64, length: u64) -> Result<Chunk> {
    let chunk = files::read_range(path, offset, length)
        .map_err(|e| convert::error(Operation::ReadRange, e))?;
    convert::chunk(chunk)
}

pub(crate) fn write(path: &str, bytes: &[u8], options: WriteOptions) -> Result<Version> {
    let version = files::write(path, bytes, &convert::write_options(options))
        .map_err(|e| convert::error(Operation::Write, e))?;
    convert::version(Operation::Write, &version)
}

pub(crate) fn append(path: &str, bytes: &[u8], options: WriteOptions) -> Result<Version> {
    let version = files::append(path, bytes, &convert::write_options(options))
        .map_err(|e| convert::error(Operation::Append, e))?;
    convert::version(Operation::Append, &version)
}

pub(crate) fn replace(
    path: &str,
    old: &[u8],
    new: &[u8],
    options: ReplaceOptions,
) -> Result<Replaced> {
    let replaced = files::replace(path, old, new, &convert::replace_options(options))
        .map_err(|e| convert::error(Operation::Replace, e))?;
    convert::replaced(replaced)
}

pub(crate) fn list(path: &str, limit: Option<u32>) -> Result<Listing> {
    files::list(path, limit)
        .map(convert::listing)
        .map_err(|e| convert::error(Operation::List, e))
}

pub(crate) fn glob(pattern: &str, scope: ScopeOptions) -> Result<GlobResult> {
    files::glob(pattern, &convert::scope(scope))
        .map(convert::glob_result)
        .map_err(|e| convert::error(Operation::Glob, e))
}

pub(crate) fn search(query: QueryOptions, scope: ScopeOptions) -> Result<SearchResult> {
    files::search(&convert::query(query), &convert::scope(scope))
        .map(convert::search_result)
        .map_err(|e| convert::error(Operation::Search, e))
}

pub(crate) fn stat(path: &str) -> Result<Info> {
    files::stat(path)
        .map(convert::info)
        .map_err(|e| convert::error(Operation::Stat, e))
}

pub(crate) fn resolve(path: &str) -> Result<String> {
    files::resolve(path).map_err(|e| convert::error(Operation::Resolve, e))
}

pub(crate) fn make_directory(path: &str) -> Result<()> {
    files::make_directory(path).map_err(|e| convert::error(Operation::MakeDirectory, e))
}

pub(crate) fn remove(path: &str, recursive: bool) -> Result<()> {
    files::remove(path, recursive).map_err(|e| convert::error(Operation::Remove, e))
}

pub(crate) fn rename(source: &str, target: &str, destination: Expected) -> Result<()> {
    files::rename(source, target, &convert::expected(destination))
        .map_err(|e| convert::error(Operation::Rename, e))
}

pub(crate) fn copy(source: &str, target: &str, destination: Expected) -> Result<Version> {
    let version = files::copy(source, target, &convert::expected(destination))
        .map_err(|e| convert::error(Operation::Copy, e))?;
    convert::version(Operation::Copy, &version)
}

pub(crate) fn run(command: Command, options: RunOptions) -> Result<Execution> {
    processes::run(&convert::command(command), &convert::run_options(options))
        .map(convert::execution)
        .map_err(|e| convert::error(Operation::Run, e))
}

pub(crate) fn start(command: Command, options: RunOptions) -> Result<ProcessId> {
    processes::start(&convert::command(command), &convert::run_options(options))
        .map(ProcessId)
        .map_err(|e| convert::error(Operation::Start, e))
}

pub(crate) fn read_output(
    process: ProcessId,
    output: OutputStream,
    cursor: u64,
    limit: u64,
    wait: Duration,
) -> Result<OutputChunk> {
    let output = convert::output_stream(output);
    processes::read_output(
        process.0,
        output,
        cursor,
        limit,
        convert::milliseconds(wait),
    )
    .map(convert::output_chunk)
    .map_err(|e| convert::error(Operation::ReadOutput, e))
}

pub(crate) fn write_input(process: ProcessId, bytes: &[u8], close: bool) -> Result<()> {
    processes::write_input(process.0, bytes, close)
        .map_err(|e| convert::error(Operation::WriteInput, e))
}

pub(crate) fn signal(process: ProcessId, signal: SignalKind) -> Result<()> {
    processes::signal(process.0, convert::signal_kind(signal))
        .map_err(|e| convert::error(Operation::Signal, e))
}

pub(crate) fn wait(process: ProcessId, wait: Duration) -> Result<Option<Ended>> {
    processes::wait(process.0, convert::milliseconds(wait))
        .map(|ended| ended.map(convert::ended))
        .map_err(|e| convert::error(Operation::Wait, e))
}

pub(crate) fn describe() -> Description {
    convert::description(session::describe())
}

pub(crate) fn find_commands(names: Vec<String>) -> Result<Vec<CommandInfo>> {
    session::find_commands(&names)
        .map(|found| found.into_iter().map(convert::command_info).collect())
        .map_err(|e| convert::error(Operation::FindCommands, e))
}

pub(crate) fn report(done: u64, total: Option<u64>, message: &str) {
    progress::report(done, total, message);
}

pub(crate) fn log(level: Level, message: &str) {
    progress::log(convert::level(level), message);
}

pub(crate) fn panicked(message: &str) {
    progress::panicked(message);
}

pub(crate) fn setting(name: &str) -> Option<String> {
    settings::get(name)
}

pub(crate) fn send(request: Request) -> std::result::Result<Response, HttpError> {
    let request = outgoing_http::Request {
        method: request.method,
        url: request.url,
        headers: request.headers,
        body: request.body,
        timeout: request.timeout.map_or(u64::MAX, convert::milliseconds),
    };
    match outgoing_http::send(&request) {
        Ok(response) => Ok(Response {
            status: response.status,
            headers: response.headers,
            body: response.body,
        }),
        Err(error) => Err(match error {
            outgoing_http::HttpError::Denied(message) => HttpError::Denied(message),
            outgoing_http::HttpError::Invalid(message) => HttpError::Invalid(message),
            outgoing_http::HttpError::Unreachable(message) => HttpError::Unreachable(message),
            outgoing_http::HttpError::TimedOut => HttpError::TimedOut,
            outgoing_http::HttpError::Stopped => HttpError::Stopped,
            outgoing_http::HttpError::TooLarge => HttpError::TooLarge,
        }),
    }
}
