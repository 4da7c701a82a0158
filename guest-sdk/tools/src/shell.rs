//! `shell`: text for the shell.

use std::collections::BTreeMap;

use belljar_guest::{ToolError, processes::Program, tool};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::execution::{Options, execute};

/// What to run, and how.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Shell {
    /// Text for /bin/sh: pipes, redirections, several commands.
    command: String,
    /// The working directory, relative to the workspace's root; the root when absent.
    #[serde(default)]
    directory: Option<String>,
    /// Environment variables to add.
    #[serde(default)]
    environment: BTreeMap<String, String>,
    /// What the command reads on standard input; nothing when absent.
    #[serde(default)]
    stdin: Option<String>,
    /// After how many seconds the command is ended; the sandbox's default when absent.
    #[serde(default)]
    timeout_seconds: Option<u64>,
    /// Bytes of each output to show; from a longer one the middle is left out. 30000 when absent.
    #[serde(default)]
    output_bytes: Option<u64>,
}

/// Runs shell text with /bin/sh to its end, and shows how it ended and what it printed. Everything it
/// started is ended with it, also in the background. For a single program, run needs no quoting.
#[tool(destructive, needs(run))]
pub(crate) fn shell(args: Shell) -> Result<String, ToolError> {
    let options = Options {
        directory: args.directory,
        environment: args.environment,
        stdin: args.stdin,
        timeout_seconds: args.timeout_seconds,
        output_bytes: args.output_bytes,
    };
    execute(Program::shell(args.command), options)
}
