//! `belljar exec`: a program in the sandbox, connected to this terminal or pipe.
//!
//! Where the sandbox can start processes the three streams are passed on as they come; where it
//! can only run them to their end, input is read whole and the output comes afterwards.

use std::{
    io::{self, Read as _, Write as _},
    time::Duration,
};

use belljar::{
    Capability, Command, ErrorKind, RunOptions, Sandbox,
    processes::{Ended, Outcome, OutputStream, ProcessId},
};
use clap::Args;
use serde_json::json;

use crate::{
    ambient, duration,
    exit_code::{
        EXEC_FAILED, EXEC_NOT_EXECUTABLE, EXEC_NOT_FOUND, EXEC_OUT_OF_MEMORY, EXEC_TABLE,
        EXEC_TIMED_OUT, Exit,
    },
    failure::Failure,
    interrupt::Interrupt,
    output::Output,
    sandbox::{SandboxArguments, with_sandbox},
};

/// How long one question for more output waits. It costs a thread while it does.
const READ_WAIT: Duration = Duration::from_secs(10);
/// Bytes asked for at once: what a pipe holds.
const READ_BYTES: u64 = 64 << 10;
/// How long input waits before it is offered again, at first and at most.
const RETRY: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(50));

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
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
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

/// Starts the program, and passes its streams on until it ends.
async fn streamed(
    sandbox: &Sandbox,
    command: Command,
    options: RunOptions,
    interrupt: &Interrupt,
    output: Output,
) -> Result<Ended, Failure> {
    let process = sandbox.start(command, options).await?;
    let input = tokio::spawn(feed(sandbox.clone(), process));
    let outputs = async {
        tokio::try_join!(
            drain(sandbox, process, OutputStream::Stdout, output),
            drain(sandbox, process, OutputStream::Stderr, output),
        )
    };
    let drained = tokio::select! {
        drained = outputs => drained,
        () = interrupt.heard() => Err(Failure::interrupted()),
    };
    input.abort();
    drained?;
    loop {
        if let Some(ended) = sandbox.wait(process, READ_WAIT).await? {
            return Ok(ended);
        }
    }
}

/// Passes one output on until it ends.
async fn drain(
    sandbox: &Sandbox,
    process: ProcessId,
    stream: OutputStream,
    output: Output,
) -> Result<(), Failure> {
    let mut cursor = 0;
    loop {
        let chunk = sandbox
            .read_output(process, stream, cursor, READ_BYTES, READ_WAIT)
            .await?;
        dropped(output, stream, chunk.dropped);
        if !chunk.bytes.is_empty() {
            // A reader that is slow must not keep the other output waiting.
            let print = tokio::task::spawn_blocking(move || print(stream, &chunk.bytes));
            print
                .await
                .map_err(|error| Failure::new(Exit::Host, error))??;
        }
        if chunk.ended {
            return Ok(());
        }
        cursor = chunk.cursor;
    }
}

/// Passes standard input on until it ends, or the program's does.
async fn feed(sandbox: Sandbox, process: ProcessId) {
    let (send, mut receive) = tokio::sync::mpsc::channel::<Vec<u8>>(1);
    // A thread of its own: a read from a terminal comes back when it likes, or never.
    let reader = std::thread::Builder::new()
        .name("belljar-stdin".into())
        .spawn(move || {
            let mut stdin = io::stdin().lock();
            let mut buffer = vec![0; 64 << 10];
            loop {
                match stdin.read(&mut buffer) {
                    Ok(0) => return,
                    Ok(read) => {
                        if send.blocking_send(buffer[..read].to_vec()).is_err() {
                            return;
                        }
                    }
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => {
                        tracing::warn!("standard input cannot be read: {error}");
                        return;
                    }
                }
            }
        });
    if let Err(error) = reader {
        tracing::warn!("standard input is not passed on: {error}");
    }
    while let Some(bytes) = receive.recv().await {
        if !offer(&sandbox, process, &bytes, false).await {
            return;
        }
    }
    offer(&sandbox, process, &[], true).await;
}

/// Offers input until it is taken; false when the program takes no more.
async fn offer(sandbox: &Sandbox, process: ProcessId, bytes: &[u8], close: bool) -> bool {
    let (mut pause, most) = RETRY;
    loop {
        match sandbox.write_input(process, bytes, close).await {
            Ok(()) => return true,
            Err(error) if error.kind == ErrorKind::Busy => {
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(most);
            }
            // A program that reads no more is no error, and its end is told elsewhere.
            Err(_) => return false,
        }
    }
}

fn print(stream: OutputStream, bytes: &[u8]) -> io::Result<()> {
    match stream {
        OutputStream::Stdout => {
            let mut stdout = io::stdout().lock();
            stdout.write_all(bytes)?;
            stdout.flush()
        }
        OutputStream::Stderr => io::stderr().write_all(bytes),
    }
}

fn dropped(output: Output, stream: OutputStream, bytes: u64) {
    if bytes == 0 {
        return;
    }
    let name = match stream {
        OutputStream::Stdout => "standard output",
        OutputStream::Stderr => "standard error",
    };
    output.note(&format!(
        "belljar: {bytes} bytes of {name} came faster than they were read, and are gone"
    ));
}
