//! A method and its parameters, in JSON, as a call of the contract: for whoever carries them, by lines or by HTTP.
//!
//! Each parameter has the WIT's name and the contract's own form in JSON. It leaves to others: what a message
//! around it looks like, and how many calls there may be.

use std::{borrow::Cow, time::Duration};

use belljar::{
    Command, Expected, Operation, QueryOptions, ReplaceOptions, RunOptions, Sandbox, ScopeOptions,
    WriteOptions, bytes,
    processes::{OutputStream, ProcessId, SignalKind},
};
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

/// What the methods' parameters and results look like, for people.
pub(crate) const CONVENTIONS: &str = "\
Methods are the contract's functions, `interface.function`: files.read, processes.run,
session.describe, …. Parameters are given by name, as the WIT names them; an option, and a field
of a record of options, may be left out. Bytes are base64; an enum is its name; a variant with a
value is {\"name\": value}, as in {\"argv\":[\"ls\"]} and {\"version\":\"…\"}; times are as in the WIT.";

type Answered = Result<Box<RawValue>, MethodError>;

/// Why a method gives no result.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum MethodError {
    /// There is no such method.
    #[error("there is no method {0:?}")]
    Unknown(String),
    /// Its parameters are not what it takes.
    #[error("{0}")]
    Parameters(String),
    /// The result cannot be told.
    #[error("{0}")]
    Internal(String),
    /// The operation failed.
    #[error(transparent)]
    Failed(#[from] belljar::Error),
}

/// The operation that a method names.
pub(crate) fn operation(method: &str) -> Result<Operation, MethodError> {
    let is_method =
        |operation: &&Operation| operation.as_str() == method && **operation != Operation::Open;
    let found = Operation::ALL.iter().find(is_method).copied();
    found.ok_or_else(|| MethodError::Unknown(method.chars().take(100).collect()))
}

/// Whether its result may be as large as a file, or larger.
pub(crate) const fn is_large(operation: Operation) -> bool {
    matches!(
        operation,
        Operation::Read
            | Operation::ReadRange
            | Operation::List
            | Operation::Glob
            | Operation::Search
    )
}

/// A result as JSON.
pub(crate) fn result(value: &impl Serialize) -> Answered {
    to_raw_value(value).map_err(|error| MethodError::Internal(error.to_string()))
}

/// Declares the parameters of a method: a struct that refuses what it does not know.
macro_rules! parameters {
    ($($name:ident { $($(#[$attribute:meta])* $field:ident: $type:ty,)* })*) => {
        $(
            #[derive(Deserialize)]
            #[serde(rename_all = "kebab-case", deny_unknown_fields)]
            struct $name<'a> {
                $($(#[$attribute])* $field: $type,)*
                #[serde(skip)]
                _input: std::marker::PhantomData<&'a ()>,
            }
        )*
    };
}

parameters! {
    Nothing {}
    Path { #[serde(borrow)] path: Cow<'a, str>, }
    ReadRange { #[serde(borrow)] path: Cow<'a, str>, offset: u64, length: u64, }
    Write {
        #[serde(borrow)] path: Cow<'a, str>,
        #[serde(with = "bytes")] bytes: Vec<u8>,
        #[serde(default)] options: WriteOptions,
    }
    Replace {
        #[serde(borrow)] path: Cow<'a, str>,
        #[serde(with = "bytes")] old: Vec<u8>,
        #[serde(with = "bytes")] new: Vec<u8>,
        #[serde(default)] options: ReplaceOptions,
    }
    List { #[serde(borrow)] path: Cow<'a, str>, #[serde(default)] limit: Option<u32>, }
    Glob { #[serde(borrow)] pattern: Cow<'a, str>, #[serde(default)] scope: ScopeOptions, }
    Search { query: QueryOptions, #[serde(default)] scope: ScopeOptions, }
    Remove { #[serde(borrow)] path: Cow<'a, str>, #[serde(default)] recursive: bool, }
    Move {
        #[serde(borrow)] source: Cow<'a, str>,
        #[serde(borrow)] target: Cow<'a, str>,
        destination: Expected,
    }
    Run { command: Command, #[serde(default)] options: RunOptions, }
    ReadOutput { process: ProcessId, output: OutputStream, cursor: u64, limit: u64, wait: u64, }
    WriteInput { process: ProcessId, #[serde(with = "bytes")] bytes: Vec<u8>, close: bool, }
    Signal { process: ProcessId, signal: SignalKind, }
    Wait { process: ProcessId, wait: u64, }
    FindCommands { names: Vec<String>, }
}

/// Reads parameters, and names the one that is wrong.
pub(crate) fn parse<'a, T: Deserialize<'a>>(params: &'a str) -> Result<T, MethodError> {
    let mut deserializer = serde_json::Deserializer::from_str(params);
    serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        let path = error.path().to_string();
        let reason = error.into_inner();
        MethodError::Parameters(match path.as_str() {
            // The reason itself names a field that is missing or unknown.
            "." => format!("params: {reason}"),
            path => format!("params.{path}: {reason}"),
        })
    })
}

/// Calls the contract.
pub(crate) async fn call(sandbox: &Sandbox, operation: Operation, params: &str) -> Answered {
    match operation {
        Operation::Describe => {
            parse::<Nothing<'_>>(params)?;
            result(&*sandbox.describe())
        }
        Operation::FindCommands => {
            let FindCommands { names, .. } = parse(params)?;
            result(&sandbox.find_commands(names).await?)
        }
        Operation::Close => {
            parse::<Nothing<'_>>(params)?;
            result(&sandbox.close().await?)
        }
        Operation::Read => {
            let Path { path, .. } = parse(params)?;
            result(&sandbox.read(&path).await?)
        }
        Operation::ReadRange => {
            let ReadRange {
                path,
                offset,
                length,
                ..
            } = parse(params)?;
            result(&sandbox.read_range(&path, offset, length).await?)
        }
        Operation::Write => {
            let Write {
                path,
                bytes,
                options,
                ..
            } = parse(params)?;
            result(&sandbox.write(&path, bytes, options).await?)
        }
        Operation::Append => {
            let Write {
                path,
                bytes,
                options,
                ..
            } = parse(params)?;
            result(&sandbox.append(&path, bytes, options).await?)
        }
        Operation::Replace => {
            let Replace {
                path,
                old,
                new,
                options,
                ..
            } = parse(params)?;
            result(&sandbox.replace(&path, old, new, options).await?)
        }
        Operation::List => {
            let List { path, limit, .. } = parse(params)?;
            result(&sandbox.list(&path, limit).await?)
        }
        Operation::Glob => {
            let Glob { pattern, scope, .. } = parse(params)?;
            result(&sandbox.glob(&pattern, scope).await?)
        }
        Operation::Search => {
            let Search { query, scope, .. } = parse(params)?;
            result(&sandbox.search(query, scope).await?)
        }
        Operation::Stat => {
            let Path { path, .. } = parse(params)?;
            result(&sandbox.stat(&path).await?)
        }
        Operation::Resolve => {
            let Path { path, .. } = parse(params)?;
            result(&sandbox.resolve(&path).await?.to_string())
        }
        Operation::MakeDirectory => {
            let Path { path, .. } = parse(params)?;
            result(&sandbox.make_directory(&path).await?)
        }
        Operation::Remove => {
            let Remove {
                path, recursive, ..
            } = parse(params)?;
            result(&sandbox.remove(&path, recursive).await?)
        }
        Operation::Rename => {
            let Move {
                source,
                target,
                destination,
                ..
            } = parse(params)?;
            result(&sandbox.rename(&source, &target, destination).await?)
        }
        Operation::Copy => {
            let Move {
                source,
                target,
                destination,
                ..
            } = parse(params)?;
            result(&sandbox.copy(&source, &target, destination).await?)
        }
        Operation::Run => {
            let Run {
                command, options, ..
            } = parse(params)?;
            result(&sandbox.run(command, options).await?)
        }
        Operation::Start => {
            let Run {
                command, options, ..
            } = parse(params)?;
            result(&sandbox.start(command, options).await?)
        }
        Operation::ReadOutput => {
            let ReadOutput {
                process,
                output,
                cursor,
                limit,
                wait,
                ..
            } = parse(params)?;
            let wait = Duration::from_millis(wait);
            result(
                &sandbox
                    .read_output(process, output, cursor, limit, wait)
                    .await?,
            )
        }
        Operation::WriteInput => {
            let WriteInput {
                process,
                bytes,
                close,
                ..
            } = parse(params)?;
            result(&sandbox.write_input(process, bytes, close).await?)
        }
        Operation::Signal => {
            let Signal {
                process, signal, ..
            } = parse(params)?;
            result(&sandbox.signal(process, signal).await?)
        }
        Operation::Wait => {
            let Wait { process, wait, .. } = parse(params)?;
            result(&sandbox.wait(process, Duration::from_millis(wait)).await?)
        }
        Operation::Open => Err(MethodError::Unknown(operation.as_str().into())),
    }
}
