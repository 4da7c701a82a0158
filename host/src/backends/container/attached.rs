//! An engine's program whose standard input and output are a session's stream.

use std::time::Duration;

use belljar_protocol::Stream;

use super::{
    super::program::{self, Left},
    CliError, CliFailure,
    classify::classify,
    cli::Cli,
};

/// A program that runs, as long as its container.
pub(super) struct Attached {
    cli: Cli,
    command: String,
    program: program::Attached,
}

impl Attached {
    /// Starts the program, and gives its stream.
    ///
    /// # Errors
    /// [`CliError`] when it does not start.
    pub(super) fn start(cli: &Cli, arguments: &[String]) -> Result<(Self, Stream), CliError> {
        let command = arguments.first().cloned().unwrap_or_default();
        match program::Attached::start(cli.command(arguments)) {
            Ok((program, input, output)) => {
                let attached = Self {
                    cli: cli.clone(),
                    command,
                    program,
                };
                Ok((attached, Stream::new(output.into(), input.into())))
            }
            Err(error) => Err(CliError {
                engine: cli.engine(),
                command,
                failure: cli.not_started(error),
                words: String::new(),
            }),
        }
    }

    /// Whether the program has ended, without waiting for it.
    pub(super) fn has_ended(&self) -> bool {
        self.program.has_ended()
    }

    /// Waits until the program has ended, and kills it when it takes longer than it may. Only for a
    /// program whose container has run nothing but ours: what it said is believed.
    ///
    /// # Errors
    /// [`CliError`] when it hung, or ended with another code than 0.
    pub(super) fn end(self, patience: Duration) -> Result<(), CliError> {
        let Left { ended, words } = self.program.end(patience);
        let failure = match ended {
            None => CliFailure::Hangs { after: patience },
            Some(Ok(status)) if status.success() => return Ok(()),
            Some(Ok(status)) => classify(status.code(), &words),
            Some(Err(error)) => self.cli.not_started(error),
        };
        Err(CliError {
            engine: self.cli.engine(),
            command: self.command,
            failure,
            words,
        })
    }
}
