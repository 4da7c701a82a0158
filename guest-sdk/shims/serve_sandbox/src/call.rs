//! A request of the contract as one of the server's calls.

use belljar_contract::{GuestPath, Pattern, bytes};
use belljar_guest::{
    Operation,
    files::{Expected, QueryOptions, ReplaceOptions, ScopeOptions, WriteOptions},
    lend::{Launch, Query, Request, Scope},
    processes::{Command, ProcessId, RunOptions},
};
use serde::Serialize;
use serde_json::json;

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Call<'a, P> {
    method: Operation,
    call: &'a str,
    no_links: bool,
    within: Vec<Vec<String>>,
    params: P,
}

#[derive(Serialize)]
struct Write {
    path: String,
    #[serde(with = "bytes")]
    bytes: Vec<u8>,
    options: WriteOptions,
}

#[derive(Serialize)]
struct Replace {
    path: String,
    #[serde(with = "bytes")]
    old: Vec<u8>,
    #[serde(with = "bytes")]
    new: Vec<u8>,
    options: ReplaceOptions,
}

#[derive(Serialize)]
struct Move {
    source: String,
    target: String,
    destination: Expected,
}

#[derive(Serialize)]
struct Run {
    command: Command,
    options: RunOptions,
}

#[derive(Serialize)]
struct WriteInput {
    process: ProcessId,
    #[serde(with = "bytes")]
    bytes: Vec<u8>,
    close: bool,
}

/// What all calls have.
struct Envelope<'a> {
    method: Operation,
    call: &'a str,
    /// Whether a path of it is to be resolved without links: then all are.
    no_links: bool,
    within: Vec<Vec<String>>,
}

impl Envelope<'_> {
    /// The text of a path, as the server reads it: relative to the root.
    fn path(&mut self, path: GuestPath) -> String {
        self.no_links |= path.no_links();
        let text = path.to_string();
        match path.must_be_directory() && !path.is_root() {
            true => format!("{text}/"),
            false => text,
        }
    }

    fn scope(&mut self, scope: Scope) -> ScopeOptions {
        let text = |pattern: Pattern| pattern.as_str().to_owned();
        let list = |list: Vec<Pattern>| list.into_iter().map(text).collect();
        self.within = scope.within.into_iter().map(list).collect();
        ScopeOptions {
            base: Some(self.path(scope.base)),
            hidden: scope.hidden,
            ignored: scope.ignored,
            limit: Some(scope.limit),
        }
    }

    fn launch(&mut self, launch: Launch) -> Run {
        let milliseconds =
            |time: std::time::Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let options = RunOptions {
            directory: Some(self.path(launch.directory)),
            environment: launch.environment,
            stdin: launch.stdin,
            user: launch.user,
            timeout: launch.timeout.map(milliseconds),
            output_limit: Some(launch.output_limit),
        };
        Run {
            command: launch.command,
            options,
        }
    }

    fn with(self, params: impl Serialize) -> Vec<u8> {
        let call = Call {
            method: self.method,
            call: self.call,
            no_links: self.no_links,
            within: self.within,
            params,
        };
        match serde_json::to_vec(&call) {
            Ok(body) => body,
            Err(error) => panic!("a call has no form in JSON: {error}"),
        }
    }
}

/// The body of the call.
pub(crate) fn body(request: Request, name: &str) -> Vec<u8> {
    let mut call = Envelope {
        method: request.operation(),
        call: name,
        no_links: false,
        within: Vec::new(),
    };
    match request {
        Request::Read { path }
        | Request::Stat { path }
        | Request::Resolve { path }
        | Request::MakeDirectory { path } => {
            let path = call.path(path);
            call.with(json!({ "path": path }))
        }
        Request::ReadRange {
            path,
            offset,
            length,
        } => {
            let path = call.path(path);
            call.with(json!({ "path": path, "offset": offset, "length": length }))
        }
        Request::Write {
            path,
            bytes,
            options,
        }
        | Request::Append {
            path,
            bytes,
            options,
        } => {
            let path = call.path(path);
            call.with(Write {
                path,
                bytes,
                options,
            })
        }
        Request::Replace {
            path,
            old,
            new,
            options,
        } => {
            let path = call.path(path);
            call.with(Replace {
                path,
                old,
                new,
                options,
            })
        }
        Request::List { path, limit } => {
            let path = call.path(path);
            call.with(json!({ "path": path, "limit": limit }))
        }
        Request::Glob { pattern, scope } => {
            let scope = call.scope(scope);
            call.with(json!({ "pattern": pattern.as_str(), "scope": scope }))
        }
        Request::Search { query, scope } => {
            let scope = call.scope(scope);
            call.with(json!({ "query": asked(query), "scope": scope }))
        }
        Request::Remove { path, recursive } => {
            let path = call.path(path);
            call.with(json!({ "path": path, "recursive": recursive }))
        }
        Request::Rename {
            source,
            target,
            destination,
        }
        | Request::Copy {
            source,
            target,
            destination,
        } => {
            let (source, target) = (call.path(source), call.path(target));
            call.with(Move {
                source,
                target,
                destination,
            })
        }
        Request::Run(launch) | Request::Start(launch) => {
            let run = call.launch(launch);
            call.with(run)
        }
        Request::ReadOutput {
            process,
            output,
            cursor,
            limit,
            wait,
        } => {
            let wait = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
            call.with(json!({
                "process": process, "output": output, "cursor": cursor, "limit": limit, "wait": wait
            }))
        }
        Request::WriteInput {
            process,
            bytes,
            close,
        } => call.with(WriteInput {
            process,
            bytes,
            close,
        }),
        Request::Signal { process, signal } => {
            call.with(json!({ "process": process, "signal": signal }))
        }
        Request::Wait { process, wait } => {
            let wait = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
            call.with(json!({ "process": process, "wait": wait }))
        }
        Request::FindCommands { names } => call.with(json!({ "names": names })),
    }
}

fn asked(query: Query) -> QueryOptions {
    let text = |pattern: Pattern| pattern.as_str().to_owned();
    QueryOptions {
        pattern: query.pattern,
        syntax: query.syntax,
        ignore_case: query.ignore_case,
        include: query.include.into_iter().map(text).collect(),
        exclude: query.exclude.into_iter().map(text).collect(),
        context: query.context,
    }
}
