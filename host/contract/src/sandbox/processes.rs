//! The functions of `processes`, and `session.find-commands`.

use std::time::Duration;

use super::{Sandbox, ask, invalid, options::RunOptions};
use crate::{
    error::{Error, ErrorKind, Result},
    processes::{Command, Ended, Execution, OutputChunk, OutputStream, ProcessId, SignalKind},
    request::{Operation, Request, Response},
    session::CommandInfo,
};

/// The most names in one `find-commands`: more is a scan, not a question.
pub const MAX_COMMAND_NAMES: usize = 100;

impl Sandbox {
    /// Runs a program to its end.
    ///
    /// # Errors
    /// As `processes.run`.
    pub async fn run(&self, command: Command, options: RunOptions) -> Result<Execution> {
        let launch = self.launch(Operation::Run, command, options)?;
        ask!(self, Operation::Run, Request::Run(launch), Execution)
    }

    /// Starts a program that may outlive this call.
    ///
    /// # Errors
    /// As `processes.start`.
    pub async fn start(&self, command: Command, options: RunOptions) -> Result<ProcessId> {
        let launch = self.launch(Operation::Start, command, options)?;
        ask!(self, Operation::Start, Request::Start(launch), Process)
    }

    /// Reads what a started process printed.
    ///
    /// # Errors
    /// As `processes.read-output`.
    pub async fn read_output(
        &self,
        process: ProcessId,
        output: OutputStream,
        cursor: u64,
        limit: u64,
        wait: Duration,
    ) -> Result<OutputChunk> {
        let operation = Operation::ReadOutput;
        let most = self.describe().limits.output_maximum;
        if limit > most {
            let message = format!("the limit is over the session's {most} bytes");
            return Err(Error::new(ErrorKind::TooLarge, operation, message));
        }
        ask!(
            self,
            operation,
            Request::ReadOutput {
                process,
                output,
                cursor,
                limit,
                wait
            },
            Output
        )
    }

    /// Writes to a started process's standard input.
    ///
    /// # Errors
    /// As `processes.write-input`.
    pub async fn write_input(
        &self,
        process: ProcessId,
        bytes: impl Into<Vec<u8>>,
        close: bool,
    ) -> Result<()> {
        let operation = Operation::WriteInput;
        let bytes = bytes.into();
        self.fits_stdin(operation, &bytes)?;
        ask!(
            self,
            operation,
            Request::WriteInput {
                process,
                bytes,
                close
            }
        )
    }

    /// Sends a signal to a started process.
    ///
    /// # Errors
    /// As `processes.signal`.
    pub async fn signal(&self, process: ProcessId, signal: SignalKind) -> Result<()> {
        ask!(self, Operation::Signal, Request::Signal { process, signal })
    }

    /// Waits for a started process to end.
    ///
    /// # Errors
    /// As `processes.wait`.
    pub async fn wait(&self, process: ProcessId, wait: Duration) -> Result<Option<Ended>> {
        ask!(
            self,
            Operation::Wait,
            Request::Wait { process, wait },
            Ended
        )
    }

    /// Looks commands up.
    ///
    /// # Errors
    /// As `session.find-commands`.
    pub async fn find_commands(&self, names: Vec<String>) -> Result<Vec<CommandInfo>> {
        let operation = Operation::FindCommands;
        if names.len() > MAX_COMMAND_NAMES {
            let message = format!("more than {MAX_COMMAND_NAMES} names");
            return Err(Error::new(ErrorKind::TooLarge, operation, message));
        }
        if names
            .iter()
            .any(|name| name.is_empty() || name.contains(['/', '\0']))
        {
            return Err(invalid(
                operation,
                "a command's name is not empty and has no / or NUL",
            ));
        }
        ask!(self, operation, Request::FindCommands { names }, Commands)
    }
}
