//! `belljar exit-codes`.

use clap::Args;

use crate::{
    exit_code::{EXEC_TABLE, Exit, TABLE},
    failure::Failure,
    output::Output,
};

/// Show the exit codes
#[derive(Debug, Args)]
#[command(after_help = TABLE)]
pub(crate) struct Arguments {}

impl Arguments {
    pub(crate) fn run(self, output: Output) -> Result<Exit, Failure> {
        output.text(TABLE)?;
        output.text("\nOf `belljar exec`:")?;
        output.text(EXEC_TABLE)?;
        Ok(Exit::Done)
    }
}
