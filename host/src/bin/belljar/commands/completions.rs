//! `belljar completions`.

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use crate::{exit_code::Exit, failure::Failure, output::Output};

/// Print completions for a shell
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    shell: Shell,
}

impl Arguments {
    pub(crate) fn run(self, output: Output) -> Result<Exit, Failure> {
        let mut script = Vec::new();
        let mut command = crate::arguments::Arguments::command();
        clap_complete::generate(self.shell, &mut command, "belljar", &mut script);
        output.bytes(&script)?;
        Ok(Exit::Done)
    }
}
