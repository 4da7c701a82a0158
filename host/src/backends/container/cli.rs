//! Runs an engine's program: bounded in time and in what it prints, with nothing of the caller's
//! environment but what it needs, and gone when the call is.

use std::{
    path::Path,
    process::{Command, Stdio},
    sync::Arc,
    time::Duration,
};

use belljar_contract::Context;

use super::{
    super::program::{How, MAX_ANSWER, Program, Supervised},
    CliError, CliFailure, ContainerEngine, EngineEnvironment,
    classify::classify,
};

/// How long a call may take that starts and fetches nothing. A daemon under load takes seconds.
pub(super) const CALL_TIMEOUT: Duration = Duration::from_secs(30);

/// An engine's program.
#[derive(Clone, Debug)]
pub(super) struct Cli {
    engine: ContainerEngine,
    program: Program,
}

/// One call of the program.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call<'a> {
    pub(super) arguments: &'a [String],
    /// Its standard input; none for an empty one.
    pub(super) input: Option<&'a [u8]>,
    /// How long it may take.
    pub(super) timeout: Duration,
}

/// What the program printed on its way to success.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    pub(super) stdout: Vec<u8>,
}

impl Cli {
    pub(super) fn new(
        engine: ContainerEngine,
        program: Option<&Path>,
        environment: EngineEnvironment,
    ) -> Self {
        let program = program.map_or_else(|| engine.program().into(), Path::to_owned);
        Self {
            engine,
            program: Program::new(program, environment),
        }
    }

    pub(super) const fn engine(&self) -> ContainerEngine {
        self.engine
    }

    /// The program with its environment, in a process group of its own, for who supervises it by themselves.
    pub(super) fn command(&self, arguments: &[String]) -> Command {
        self.program.command(arguments)
    }

    /// Runs the program to its end; on this thread, which may block.
    ///
    /// # Errors
    /// [`CliError`] when it is missing, hangs, is stopped by the context, or ends with another code than 0.
    pub(super) fn call(&self, context: &Context, call: Call<'_>) -> Result<Answer, CliError> {
        let failed = |failure, words: String| CliError {
            engine: self.engine,
            command: call.arguments.first().cloned().unwrap_or_default(),
            failure,
            words,
        };
        if let Err(stop) = context.check() {
            return Err(failed(CliFailure::Stopped(stop), String::new()));
        }
        let mut command = self.command(call.arguments);
        command
            .stdin(call.input.map_or_else(Stdio::null, |_| Stdio::piped()))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let child = command.spawn();
        let child = child.map_err(|error| failed(self.not_started(error), String::new()))?;
        let ended = Supervised::new(child, call.input).wait(context, call.timeout);
        let words = String::from_utf8_lossy(&ended.stderr).trim().to_owned();
        match ended.how {
            How::Stopped(stop) => Err(failed(CliFailure::Stopped(stop), words)),
            How::Hangs => {
                let after = call.timeout;
                Err(failed(CliFailure::Hangs { after }, words))
            }
            How::Exited(status) if status.success() => match ended.overflowed {
                true => Err(failed(
                    CliFailure::AnswerTooLarge { most: MAX_ANSWER },
                    words,
                )),
                false => Ok(Answer {
                    stdout: ended.stdout,
                }),
            },
            How::Exited(status) => Err(failed(classify(status.code(), &words), words)),
            How::Lost(error) => {
                let source = Arc::new(error);
                let program = self.program.path().to_owned();
                Err(failed(CliFailure::NotStarted { program, source }, words))
            }
        }
    }

    /// An answer that is not understood, as an error.
    pub(super) fn not_understood(&self, arguments: &[String]) -> CliError {
        CliError {
            engine: self.engine,
            command: arguments.first().cloned().unwrap_or_default(),
            failure: CliFailure::AnswerNotUnderstood,
            words: String::new(),
        }
    }

    pub(super) fn not_started(&self, error: std::io::Error) -> CliFailure {
        let program = self.program.path().to_owned();
        match error.kind() {
            std::io::ErrorKind::NotFound => CliFailure::ProgramMissing {
                program,
                engine: self.engine,
            },
            _ => CliFailure::NotStarted {
                program,
                source: Arc::new(error),
            },
        }
    }
}

#[cfg(all(test, unix))]
#[path = "cli_tests.rs"]
mod tests;
