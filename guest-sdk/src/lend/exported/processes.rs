//! The export `processes`.

use std::time::Duration;

use belljar_contract::{Operation, Request, processes::ProcessId};

use super::{super::Backend, Exported, convert, done};
use crate::bindings::{
    backend::exports::belljar::sandbox::processes as wit, tool::belljar::sandbox::types,
};

type Answer<T> = Result<T, types::Error>;

impl<T: Backend> wit::Guest for Exported<T> {
    fn run(command: wit::Command, options: wit::RunOptions) -> Answer<wit::Execution> {
        convert::launch(Operation::Run, command, options)
            .and_then(|launch| Self::answer(Request::Run(launch), variant!(Execution)))
            .map(convert::execution)
            .map_err(convert::error)
    }

    fn start(command: wit::Command, options: wit::RunOptions) -> Answer<u64> {
        convert::launch(Operation::Start, command, options)
            .and_then(|launch| Self::answer(Request::Start(launch), variant!(Process)))
            .map(|process| process.0)
            .map_err(convert::error)
    }

    fn read_output(
        process: u64,
        output: wit::OutputStream,
        cursor: u64,
        limit: u64,
        wait: u64,
    ) -> Answer<wit::OutputChunk> {
        let request = Request::ReadOutput {
            process: ProcessId(process),
            output: convert::output_stream(output),
            cursor,
            limit,
            wait: Duration::from_millis(wait),
        };
        Self::answer(request, variant!(Output))
            .map(convert::output_chunk)
            .map_err(convert::error)
    }

    fn write_input(process: u64, bytes: Vec<u8>, close: bool) -> Answer<()> {
        let request = Request::WriteInput {
            process: ProcessId(process),
            bytes,
            close,
        };
        Self::answer(request, done).map_err(convert::error)
    }

    fn signal(process: u64, signal: wit::SignalKind) -> Answer<()> {
        let request = Request::Signal {
            process: ProcessId(process),
            signal: convert::signal_kind(signal),
        };
        Self::answer(request, done).map_err(convert::error)
    }

    fn wait(process: u64, wait: u64) -> Answer<Option<wit::Ended>> {
        let request = Request::Wait {
            process: ProcessId(process),
            wait: Duration::from_millis(wait),
        };
        Self::answer(request, variant!(Ended))
            .map(|ended| ended.map(convert::ended))
            .map_err(convert::error)
    }
}
