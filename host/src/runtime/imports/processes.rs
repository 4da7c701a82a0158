//! The import `processes`.

use std::time::Duration;

use belljar_contract::{Operation, processes::ProcessId};

use crate::runtime::{
    bindings::belljar::sandbox::{processes as wit, types},
    convert,
    state::CallState,
};

type Answer<T> = wasmtime::Result<Result<T, types::Error>>;

impl wit::Host for CallState {
    fn run(&mut self, command: wit::Command, options: wit::RunOptions) -> Answer<wit::Execution> {
        self.ask(
            Operation::Run,
            sent(&command, &options),
            async |sandbox| {
                sandbox
                    .run(convert::command(command), convert::run_options(options))
                    .await
            },
            |execution| {
                let outputs = [&execution.stdout, &execution.stderr];
                let bytes = outputs
                    .map(|output| output.head.len() + output.tail.len())
                    .iter()
                    .sum();
                (convert::execution(execution), bytes)
            },
        )
    }

    fn start(&mut self, command: wit::Command, options: wit::RunOptions) -> Answer<wit::ProcessId> {
        self.ask(
            Operation::Start,
            sent(&command, &options),
            async |sandbox| {
                sandbox
                    .start(convert::command(command), convert::run_options(options))
                    .await
            },
            |process| (process.0, 0),
        )
    }

    fn read_output(
        &mut self,
        process: wit::ProcessId,
        output: wit::OutputStream,
        cursor: u64,
        limit: u64,
        wait: u64,
    ) -> Answer<wit::OutputChunk> {
        self.ask(
            Operation::ReadOutput,
            0,
            async |sandbox| {
                let (output, wait) = (convert::output_stream(output), Duration::from_millis(wait));
                sandbox
                    .read_output(ProcessId(process), output, cursor, limit, wait)
                    .await
            },
            |chunk| {
                let bytes = chunk.bytes.len();
                (convert::output_chunk(chunk), bytes)
            },
        )
    }

    fn write_input(&mut self, process: wit::ProcessId, bytes: Vec<u8>, close: bool) -> Answer<()> {
        self.ask(
            Operation::WriteInput,
            bytes.len(),
            async |sandbox| sandbox.write_input(ProcessId(process), bytes, close).await,
            |()| ((), 0),
        )
    }

    fn signal(&mut self, process: wit::ProcessId, signal: wit::SignalKind) -> Answer<()> {
        self.ask(
            Operation::Signal,
            0,
            async |sandbox| {
                sandbox
                    .signal(ProcessId(process), convert::signal_kind(signal))
                    .await
            },
            |()| ((), 0),
        )
    }

    fn wait(&mut self, process: wit::ProcessId, wait: u64) -> Answer<Option<wit::Ended>> {
        self.ask(
            Operation::Wait,
            0,
            async |sandbox| {
                sandbox
                    .wait(ProcessId(process), Duration::from_millis(wait))
                    .await
            },
            |ended| (ended.map(convert::ended), 0),
        )
    }
}

fn sent(command: &wit::Command, options: &wit::RunOptions) -> usize {
    let command = match command {
        wit::Command::Argv(argv) => argv.iter().map(String::len).sum(),
        wit::Command::Shell(text) => text.len(),
    };
    let environment: usize = options
        .environment
        .iter()
        .map(|(name, value)| name.len() + value.len())
        .sum();
    command + environment + options.stdin.len()
}
