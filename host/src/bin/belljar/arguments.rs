//! The command line's outline.

use clap::{Parser, Subcommand};

use crate::{
    commands::{
        completions, config, conformance, doctor, exec, exit_codes, fs, init, inspect, prune, pull,
        push, replay, run, serve, serve_sandbox, session, tools,
    },
    exit_code::{Exit, TABLE},
    failure::Failure,
    interrupt::Interrupt,
    output::Output,
};

/// Runs an AI agent's tools as WebAssembly components in a sandbox.
///
/// Without --config the nearest belljar.toml counts, in the current folder or above it; without
/// one the sandbox is the current folder, files only, read-only unless --writable.
#[derive(Debug, Parser)]
#[command(name = "belljar", version, after_long_help = TABLE)]
pub(crate) struct Arguments {
    /// Print JSON, also for errors
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Say more on standard error; twice for more
    #[arg(long, short, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Run(run::Arguments),
    Replay(replay::Arguments),
    Tools(tools::Arguments),
    Inspect(inspect::Arguments),
    Exec(exec::Arguments),
    Fs(fs::Arguments),
    Serve(serve::Arguments),
    Session(session::Arguments),
    ServeSandbox(serve_sandbox::Arguments),
    Conformance(conformance::Arguments),
    Doctor(doctor::Arguments),
    Prune(prune::Arguments),
    Pull(pull::Arguments),
    Push(push::Arguments),
    Init(init::Arguments),
    Config(config::Arguments),
    Completions(completions::Arguments),
    ExitCodes(exit_codes::Arguments),
}

impl Command {
    /// The executor that it runs on.
    pub(crate) fn runtime(&self) -> tokio::runtime::Builder {
        let mut builder = match self {
            // Many calls at once, some with megabytes to encode.
            Self::Serve(_) | Self::Session(_) | Self::ServeSandbox(_) => {
                let mut builder = tokio::runtime::Builder::new_multi_thread();
                builder.worker_threads(2);
                builder
            }
            _ => tokio::runtime::Builder::new_current_thread(),
        };
        builder.enable_all();
        builder
    }

    /// Does it.
    pub(crate) async fn run(self, output: Output, interrupt: &Interrupt) -> Result<Exit, Failure> {
        match self {
            Self::Run(arguments) => arguments.run(output, interrupt).await,
            Self::Replay(arguments) => arguments.run(output, interrupt).await,
            Self::Tools(arguments) => arguments.run(output, interrupt).await,
            Self::Inspect(arguments) => arguments.run(output, interrupt).await,
            Self::Exec(arguments) => arguments.run(output, interrupt).await,
            Self::Fs(arguments) => arguments.run(output, interrupt).await,
            Self::Serve(arguments) => arguments.run(output, interrupt).await,
            Self::Session(arguments) => arguments.run(interrupt).await,
            Self::ServeSandbox(arguments) => arguments.run(output, interrupt).await,
            Self::Conformance(arguments) => arguments.run(output, interrupt).await,
            Self::Doctor(arguments) => arguments.run(output, interrupt).await,
            Self::Prune(arguments) => arguments.run(output, interrupt).await,
            Self::Pull(arguments) => arguments.run(output, interrupt).await,
            Self::Push(arguments) => arguments.run(output, interrupt).await,
            Self::Init(arguments) => arguments.run(output),
            Self::Config(arguments) => arguments.run(output, interrupt).await,
            Self::Completions(arguments) => arguments.run(output),
            Self::ExitCodes(arguments) => arguments.run(output),
        }
    }
}
