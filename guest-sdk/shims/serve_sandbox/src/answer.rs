//! The server's answer as the contract's response.

use std::time::Duration;

use belljar_contract::GuestPath;
use belljar_guest::{
    Error, ErrorKind, Operation, Result, http,
    lend::Response,
    processes::{Execution, Outcome, Output},
};
use serde::{Deserialize, de::DeserializeOwned};

use crate::{failed, server};

#[derive(Deserialize)]
struct Answer<T> {
    result: T,
}

/// Reads what belongs to this operation.
pub(crate) fn read(response: &http::Response, operation: Operation) -> Result<Response> {
    match operation {
        Operation::Read => of(response, operation, Response::Content),
        Operation::ReadRange => of(response, operation, Response::Chunk),
        Operation::Write | Operation::Append | Operation::Copy => {
            of(response, operation, Response::Version)
        }
        Operation::Replace => of(response, operation, Response::Replaced),
        Operation::List => of(response, operation, Response::Listing),
        Operation::Glob => of(response, operation, Response::Glob),
        Operation::Search => of(response, operation, Response::Search),
        Operation::Stat => of(response, operation, Response::Info),
        Operation::Resolve => {
            let path: Answer<String> = server::told(response, 200, operation)?;
            let path = GuestPath::try_from(path.result)
                .map_err(|error| failed(operation, &format!("the server's path: {error}")))?;
            Ok(Response::Path(path))
        }
        Operation::Run => of(response, operation, Response::Execution),
        Operation::Start => of(response, operation, Response::Process),
        Operation::ReadOutput => of(response, operation, Response::Output),
        Operation::Wait => of(response, operation, Response::Ended),
        Operation::FindCommands => of(response, operation, Response::Commands),
        Operation::MakeDirectory
        | Operation::Remove
        | Operation::Rename
        | Operation::WriteInput
        | Operation::Signal
        | Operation::Open
        | Operation::Describe
        | Operation::Close => of(response, operation, |()| Response::Done),
    }
}

/// What a call comes to that was ended before it began. That a run is cancelled is an outcome, and no error.
pub(crate) fn not_begun(operation: Operation) -> Result<Response> {
    match operation {
        Operation::Run => Ok(Response::Execution(Execution {
            outcome: Outcome::Cancelled,
            stdout: Output::default(),
            stderr: Output::default(),
            duration: Duration::ZERO,
        })),
        _ => {
            let message = "the call was cancelled before it began";
            Err(Error::new(ErrorKind::Cancelled, operation, message))
        }
    }
}

fn of<T: DeserializeOwned>(
    response: &http::Response,
    operation: Operation,
    make: impl FnOnce(T) -> Response,
) -> Result<Response> {
    let answer: Answer<T> = server::told(response, 200, operation)?;
    Ok(make(answer.result))
}
