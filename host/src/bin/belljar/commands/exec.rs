//! `belljar exec`: a program in the sandbox, connected to this terminal or pipe.
//!
//! Where the sandbox can start processes the three streams are passed on as they come; where it
//! can only run them to their end, input is read whole and the output comes afterwards.

mod streams;

use std::time::Duration;

use belljar::{
    Capability, Command, ErrorKind, RunOptions, Sandbox,
    processes::{Outcome, OutputStream},
};
use clap::Args;
use serde_json::json;

use self::streams::{dropped, print, streamed};
use crate::{
    ambient,
    exit_code::{
        EXEC_FAILED, EXEC_NOT_EXECUTABLE, EXEC_NOT_FOUND, EXEC_OUT_OF_MEMORY, EXEC_TABLE,
        EXEC_TIMED_OUT, Exit,
    },
    failure::Failure,
    interrupt::Interrupt,
    output::Output,
    sandbox::{SandboxArguments, with_sandbox},
};

/// Run a program in the sandbox
///
/// Standard input is passed on, and the program's outputs and exit code are this command's. The
/// program gets the sandbox's environment, and of this one only what --env names.
#[derive(Debug, Args)]
#[command(after_long_help = EXEC_TABLE)]
pub(crate) struct Arguments {
    #[command(flatten)]
    sandbox: SandboxArguments,
    /// End it after this time: 500ms, 30s, 2m; without, it may run on
    #[arg(long, value_name = "TIME", value_parser = belljar::config::duration)]
    timeout: Option<Duration>,
    /// The working directory in the workspace
    #[arg(long, value_name = "FOLDER")]
    dir: Option<String>,
    /// Pass on a variable of this command's own environment; may be given several times
    #[arg(long, value_name = "NAME")]
    env: Vec<String>,
    /// The program and its arguments, after `--`
    #[arg(required = true, last = true, value_names = ["PROGRAM", "ARG"])]
    program: Vec<String>,
}

impl Arguments {
    pub(crate) async fn run(self, output: Output, interrupt: &Interrupt) -> Result<Exit, Failure> {
        match self.execute(output, interrupt).await {
            Ok(exit) => Ok(match interrupt.signal() {
                Some(signal) => Exit::Signalled(signal),
                None => exit,
            }),
            Err(failure) => {
                let exit = exit_of(&failure);
                Err(failure.with_exit(exit))
            }
        }
    }

    async fn execute(self, output: Output, interrupt: &Interrupt) -> Result<Exit, Failure> {
        let options = RunOptions {
            directory: self.dir.clone(),
            environment: environment(&self.env)?,
            timeout: self
                .timeout
                .map(|timeout| u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX)),
            ..RunOptions::default()
        };
        let config = self.sandbox.config()?;
        with_sandbox(&config, interrupt, async |sandbox| {
            let description = sandbox.describe();
            let options = RunOptions {
                // The output is passed on, so as much of it as may be is held until it is.
                output_limit: Some(description.limits.output_maximum),
                ..options
            };
            let command = Command::Argv(self.program);
            let outcome = match description.can(Capability::Start) && !output.is_json() {
                true => {
                    streamed(&sandbox, command, options, interrupt, output)
                        .await?
                        .outcome
                }
                false => whole(&sandbox, command, options, output).await?,
            };
            Ok(Exit::Program(code(outcome)))
        })
        .await
    }
}

/// The code for a failure that came before the program, or instead of it.
fn exit_of(failure: &Failure) -> Exit {
    match (failure.exit, failure.kind()) {
        (Exit::Signalled(signal), _) => Exit::Signalled(signal),
        (_, Some(ErrorKind::ProgramNotFound)) => Exit::Program(EXEC_NOT_FOUND),
        (_, Some(ErrorKind::NotExecutable)) => Exit::Program(EXEC_NOT_EXECUTABLE),
        _ => Exit::Program(EXEC_FAILED),
    }
}

fn code(outcome: Outcome) -> u8 {
    match outcome {
        // A system keeps eight bits of an exit code.
        Outcome::Exited(code) => u8::try_from(code & 0xff).unwrap_or(u8::MAX),
        Outcome::Signalled(signal) => u8::try_from(signal).unwrap_or(0).saturating_add(128),
        Outcome::TimedOut => EXEC_TIMED_OUT,
        Outcome::Cancelled => 130,
        Outcome::OutOfMemory => EXEC_OUT_OF_MEMORY,
    }
}

/// The named variables of this process. Their values never stand in an argument vector.
fn environment(names: &[String]) -> Result<Vec<(String, String)>, Failure> {
    let value = |name: &String| {
        if name.contains('=') {
            // The value may be a secret: it is not repeated.
            return Err(Failure::usage("--env takes a variable's name, not its value")
                .hint("set the variable for this command: NAME=value belljar exec --env NAME …; other users can read argument vectors"));
        }
        let value = ambient::variable(name).ok_or_else(|| {
            Failure::usage(format!("--env {name}: there is no such variable here"))
        })?;
        let value = value
            .into_string()
            .map_err(|_| Failure::usage(format!("--env {name}: its value is not UTF-8")))?;
        Ok((name.clone(), value))
    };
    names.iter().map(value).collect()
}

/// Runs the program to its end, and prints what it printed.
async fn whole(
    sandbox: &Sandbox,
    command: Command,
    options: RunOptions,
    output: Output,
) -> Result<Outcome, Failure> {
    let limits = sandbox.describe().limits;
    // Asked only when it can be answered: nothing is read from a terminal for nothing.
    let stdin = match sandbox.describe().can(Capability::Run) {
        true => tokio::task::spawn_blocking(move || ambient::read_stdin(limits.stdin_bytes))
            .await
            .map_err(|error| Failure::new(Exit::Host, error))??,
        false => Vec::new(),
    };
    let timeout = options
        .timeout
        .or(u64::try_from(limits.timeout_maximum.as_millis()).ok());
    let options = RunOptions {
        stdin,
        timeout,
        ..options
    };
    let execution = sandbox.run(command, options).await?;
    if output.is_json() {
        output.value(&json!(execution))?;
        return Ok(execution.outcome);
    }
    for (part, target) in [
        (&execution.stdout, OutputStream::Stdout),
        (&execution.stderr, OutputStream::Stderr),
    ] {
        print(target, &part.head)?;
        dropped(output, target, part.dropped);
        print(target, &part.tail)?;
    }
    Ok(execution.outcome)
}
