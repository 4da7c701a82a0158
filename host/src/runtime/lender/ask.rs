//! A request, asked of an instance of the world `backend`.

use std::time::Duration;

use belljar_contract::{Request, Response, Result, processes::ProcessId, session::Limits};

use super::{
    super::bindings::belljar::sandbox::types,
    bindings::backend::Backend,
    check,
    convert::{self, Bad, milliseconds},
    instance::{Entered, Exports},
};

/// What a guest returned, and what became of it in the contract's types.
pub(super) type Asked = std::result::Result<std::result::Result<Response, Bad>, types::Error>;

/// The path that an error of this request is about.
pub(super) fn path_of(request: &Request) -> Option<String> {
    match request {
        Request::Read { path }
        | Request::ReadRange { path, .. }
        | Request::Write { path, .. }
        | Request::Append { path, .. }
        | Request::Replace { path, .. }
        | Request::List { path, .. }
        | Request::Stat { path }
        | Request::Resolve { path }
        | Request::MakeDirectory { path }
        | Request::Remove { path, .. }
        | Request::Rename { source: path, .. }
        | Request::Copy { source: path, .. } => Some(path.to_string()),
        Request::Glob { .. }
        | Request::Search { .. }
        | Request::Run(_)
        | Request::Start(_)
        | Request::ReadOutput { .. }
        | Request::WriteInput { .. }
        | Request::Signal { .. }
        | Request::Wait { .. }
        | Request::FindCommands { .. } => None,
    }
}

/// How long a request may take by itself, beside the time that everything has.
pub(super) fn lasts(request: &Request) -> Duration {
    match request {
        Request::Run(launch) => launch.timeout.unwrap_or_default(),
        Request::ReadOutput { wait, .. } | Request::Wait { wait, .. } => *wait,
        _ => Duration::ZERO,
    }
}

/// Asks, and reads the answer.
pub(super) fn ask(
    (exports, store): Entered<'_>,
    request: Request,
    limits: &Limits,
) -> wasmtime::Result<Asked> {
    let backend = backend(exports)?;
    let files = backend.belljar_sandbox_files();
    let processes = backend.belljar_sandbox_processes();
    Ok(match request {
        Request::Read { path } => files.call_read(store, &String::from(path))?.map(|answer| {
            let content = convert::content(answer)?;
            check::content(&content, limits)?;
            Ok(Response::Content(content))
        }),
        Request::ReadRange {
            path,
            offset,
            length,
        } => files
            .call_read_range(store, &String::from(path), offset, length)?
            .map(|answer| {
                let chunk = convert::chunk(answer)?;
                check::chunk(&chunk, offset, length)?;
                Ok(Response::Chunk(chunk))
            }),
        Request::Write {
            path,
            bytes,
            options,
        } => files
            .call_write(
                store,
                &String::from(path),
                &bytes,
                &convert::write_options(options),
            )?
            .map(version),
        Request::Append {
            path,
            bytes,
            options,
        } => files
            .call_append(
                store,
                &String::from(path),
                &bytes,
                &convert::write_options(options),
            )?
            .map(version),
        Request::Replace {
            path,
            old,
            new,
            options,
        } => {
            let options =
                super::bindings::backend::exports::belljar::sandbox::files::ReplaceOptions {
                    expected: convert::expected(options.expected),
                    all: options.all,
                };
            files
                .call_replace(store, &String::from(path), &old, &new, &options)?
                .map(|answer| convert::replaced(answer).map(Response::Replaced))
        }
        Request::List { path, limit } => files
            .call_list(store, &String::from(path), Some(limit))?
            .map(|answer| {
                let listing = convert::listing(answer);
                check::listing(&listing, limit)?;
                Ok(Response::Listing(listing))
            }),
        Request::Glob { pattern, scope } => {
            let limit = scope.limit;
            let (scope, within) = convert::scope(scope);
            let answer = match within.is_empty() {
                true => files.call_glob(store, pattern.as_str(), &scope)?,
                false => backend.belljar_sandbox_narrowed().call_glob(
                    store,
                    pattern.as_str(),
                    &scope,
                    &within,
                )?,
            };
            answer.map(|answer| {
                let result = convert::glob_result(answer);
                check::glob_result(&result, limit)?;
                Ok(Response::Glob(result))
            })
        }
        Request::Search { query, scope } => {
            let (limit, context) = (scope.limit, query.context);
            let (scope, within) = convert::scope(scope);
            let query = convert::query(query);
            let answer = match within.is_empty() {
                true => files.call_search(store, &query, &scope)?,
                false => backend
                    .belljar_sandbox_narrowed()
                    .call_search(store, &query, &scope, &within)?,
            };
            answer.map(|answer| {
                let result = convert::search_result(answer);
                check::search_result(&result, limit, context)?;
                Ok(Response::Search(result))
            })
        }
        Request::Stat { path } => files
            .call_stat(store, &String::from(path))?
            .map(|answer| Ok(Response::Info(convert::info(answer)))),
        Request::Resolve { path } => files
            .call_resolve(store, &String::from(path))?
            .map(|answer| check::resolved(answer).map(Response::Path)),
        Request::MakeDirectory { path } => files
            .call_make_directory(store, &String::from(path))?
            .map(done),
        Request::Remove { path, recursive } => files
            .call_remove(store, &String::from(path), recursive)?
            .map(done),
        Request::Rename {
            source,
            target,
            destination,
        } => files
            .call_rename(
                store,
                &String::from(source),
                &String::from(target),
                &convert::expected(destination),
            )?
            .map(done),
        Request::Copy {
            source,
            target,
            destination,
        } => files
            .call_copy(
                store,
                &String::from(source),
                &String::from(target),
                &convert::expected(destination),
            )?
            .map(version),
        Request::Run(launch) => {
            let (command, options) = convert::launch(launch.clone());
            processes
                .call_run(store, &command, &options)?
                .map(|answer| {
                    let execution = convert::execution(answer);
                    check::execution(&execution, &launch)?;
                    Ok(Response::Execution(execution))
                })
        }
        Request::Start(launch) => {
            let (command, options) = convert::launch(launch);
            processes
                .call_start(store, &command, &options)?
                .map(|answer| Ok(Response::Process(ProcessId(answer))))
        }
        Request::ReadOutput {
            process,
            output,
            cursor,
            limit,
            wait,
        } => processes
            .call_read_output(
                store,
                process.0,
                convert::output_stream(output),
                cursor,
                limit,
                milliseconds(wait),
            )?
            .map(|answer| {
                let chunk = convert::output_chunk(answer);
                check::output_chunk(&chunk, cursor, limit)?;
                Ok(Response::Output(chunk))
            }),
        Request::WriteInput {
            process,
            bytes,
            close,
        } => processes
            .call_write_input(store, process.0, &bytes, close)?
            .map(done),
        Request::Signal { process, signal } => processes
            .call_signal(store, process.0, convert::signal_kind(signal))?
            .map(done),
        Request::Wait { process, wait } => processes
            .call_wait(store, process.0, milliseconds(wait))?
            .map(|answer| Ok(Response::Ended(answer.map(convert::ended)))),
        Request::FindCommands { names } => backend
            .belljar_sandbox_session()
            .call_find_commands(store, &names)?
            .map(|answer| {
                let found: Vec<_> = answer.into_iter().map(convert::command_info).collect();
                check::commands(&found, &names)?;
                Ok(Response::Commands(found))
            }),
    })
}

fn version(text: String) -> std::result::Result<Response, Bad> {
    convert::version(&text).map(Response::Version)
}

fn done((): ()) -> std::result::Result<Response, Bad> {
    Ok(Response::Done)
}

pub(super) fn backend(exports: &Exports) -> wasmtime::Result<&Backend> {
    match exports {
        Exports::Backend(backend) => Ok(backend),
        Exports::Client(_) => Err(wasmtime::format_err!("a component of another world")),
    }
}

/// Says which answer could not be one.
pub(super) fn bad(bad: &Bad, operation: belljar_contract::Operation) -> belljar_contract::Error {
    let message = format!("the backend component's answer is none: {}", bad.0);
    belljar_contract::Error::new(
        belljar_contract::ErrorKind::BackendFailed,
        operation,
        message,
    )
}

/// The answer, or the error that it is.
pub(super) fn answer(
    asked: Asked,
    operation: belljar_contract::Operation,
    failed: impl FnOnce(types::Error) -> belljar_contract::Error,
) -> Result<Response> {
    match asked {
        Ok(Ok(response)) => Ok(response),
        Ok(Err(wrong)) => Err(bad(&wrong, operation)),
        Err(error) => Err(failed(error)),
    }
}
