//! `run`: a program with its arguments, without a shell.

use std::collections::BTreeMap;

use belljar_guest::{ToolError, processes::Program, tool};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::execution::{Options, execute};

/// What to run, and how.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Run {
    /// The program and its arguments, one item each; nothing is expanded or quoted.
    argv: Vec<String>,
    /// The working directory, relative to the workspace's root; the root when absent.
    #[serde(default)]
    directory: Option<String>,
    /// Environment variables to add.
    #[serde(default)]
    environment: BTreeMap<String, String>,
    /// What the program reads on standard input; nothing when absent.
    #[serde(default)]
    stdin: Option<String>,
    /// After how many seconds the program is ended; the sandbox's default when absent.
    #[serde(default)]
    timeout_seconds: Option<u64>,
    /// Bytes of each output to show; from a longer one the middle is left out. 30000 when absent.
    #[serde(default)]
    output_bytes: Option<u64>,
}

/// Runs a program to its end, without a shell, and shows how it ended and what it printed.
/// Everything it started is ended with it.
#[tool(destructive, needs(run))]
pub(crate) fn run(args: Run) -> Result<String, ToolError> {
    let options = Options {
        directory: args.directory,
        environment: args.environment,
        stdin: args.stdin,
        timeout_seconds: args.timeout_seconds,
        output_bytes: args.output_bytes,
    };
    execute(Program::argv(args.argv), options)
}
