//! The `belljar` command: the library from a shell, and the contract from any language.
//!
//! Each subcommand is a file in [`commands`]: its arguments, what it does with the library's
//! public interface, and what it prints. It leaves to others: what a tool may do (the library's
//! layers), what a call means (the contract), and what a configuration says (the library's `config`).
//!
//! This is the one place that reads the environment and the working directory ([`ambient`]), prints
//! ([`output`]), catches signals ([`interrupt`]) and ends the process ([`exit_code`]).

mod ambient;
mod arguments;
mod commands;
mod component;
mod engine;
mod exit_code;
mod failure;
mod http;
mod interrupt;
mod methods;
mod output;
mod progress;
mod registry;
mod sandbox;
mod stdio;
mod turns;

use arguments::Arguments;
use clap::Parser as _;
use exit_code::Exit;
use interrupt::Interrupt;
use output::Output;
use tracing_subscriber::{
    filter::{LevelFilter, Targets},
    layer::SubscriberExt as _,
    util::SubscriberInitExt as _,
};

fn main() {
    let arguments = Arguments::parse();
    let output = Output::new(arguments.json);
    diagnose(arguments.verbose);
    let exit = run(arguments, output);
    // The process ends here whatever its threads wait for: one may be reading a terminal.
    std::process::exit(exit.code());
}

fn run(arguments: Arguments, output: Output) -> Exit {
    let runtime = match arguments.command.runtime().build() {
        Ok(runtime) => runtime,
        Err(error) => return output.failure(&error.into()),
    };
    let exit = runtime.block_on(async {
        let interrupt = match Interrupt::listen() {
            Ok(interrupt) => interrupt,
            Err(error) => return output.failure(&error.into()),
        };
        let result = arguments.command.run(output, &interrupt).await;
        match (result, interrupt.signal()) {
            (Ok(exit), _) => exit,
            // Whatever failed after a signal failed because of it.
            (Err(_), Some(signal)) => Exit::Signalled(signal),
            (Err(failure), None) => output.failure(&failure),
        }
    });
    runtime.shutdown_background();
    exit
}

/// Shows the library's own warnings on standard error, and more when asked to.
fn diagnose(verbose: u8) {
    let level = match verbose {
        0 => LevelFilter::WARN,
        1 => LevelFilter::INFO,
        _ => LevelFilter::DEBUG,
    };
    // What a library has to say is in our own errors.
    let ours = Targets::new()
        .with_target("belljar", level)
        .with_default(match verbose {
            0 | 1 => LevelFilter::OFF,
            _ => LevelFilter::WARN,
        });
    tracing_subscriber::fmt()
        .with_max_level(level)
        .with_writer(std::io::stderr)
        .with_target(false)
        .without_time()
        .finish()
        .with(ours)
        .init();
}
