//! `belljar fs`: the contract's file functions by hand.

mod change;
mod expected;
mod look;
mod show;

use clap::{Args, Subcommand};

use crate::{
    exit_code::{Exit, TABLE},
    failure::Failure,
    interrupt::Interrupt,
    output::Output,
    sandbox::{SandboxArguments, with_sandbox},
};

/// Use the sandbox's files by hand
///
/// Each subcommand is a function of the contract; with --json it prints what the function gives, as
/// the contract names it, bytes in base64. Paths are the sandbox's.
#[derive(Debug, Args)]
#[command(after_long_help = TABLE)]
pub(crate) struct Arguments {
    #[command(flatten)]
    sandbox: SandboxArguments,
    #[command(subcommand)]
    operation: Operation,
}

#[derive(Debug, Subcommand)]
enum Operation {
    Read(look::Read),
    List(look::List),
    Stat(look::Stat),
    Resolve(look::Resolve),
    Glob(look::Glob),
    Search(look::Search),
    Write(change::Write),
    Append(change::Append),
    Replace(change::Replace),
    Mkdir(change::Mkdir),
    Remove(change::Remove),
    Rename(change::Rename),
    Copy(change::Copy),
}

impl Arguments {
    pub(crate) async fn run(self, output: Output, interrupt: &Interrupt) -> Result<Exit, Failure> {
        let config = self.sandbox.config()?;
        with_sandbox(&config, interrupt, async |sandbox| {
            match self.operation {
                Operation::Read(read) => read.run(&sandbox, output).await,
                Operation::List(list) => list.run(&sandbox, output).await,
                Operation::Stat(stat) => stat.run(&sandbox, output).await,
                Operation::Resolve(resolve) => resolve.run(&sandbox, output).await,
                Operation::Glob(glob) => glob.run(&sandbox, output).await,
                Operation::Search(search) => search.run(&sandbox, output).await,
                Operation::Write(write) => write.run(&sandbox, output).await,
                Operation::Append(append) => append.run(&sandbox, output).await,
                Operation::Replace(replace) => replace.run(&sandbox, output).await,
                Operation::Mkdir(mkdir) => mkdir.run(&sandbox, output).await,
                Operation::Remove(remove) => remove.run(&sandbox, output).await,
                Operation::Rename(rename) => rename.run(&sandbox, output).await,
                Operation::Copy(copy) => copy.run(&sandbox, output).await,
            }?;
            Ok(Exit::Done)
        })
        .await
    }
}
