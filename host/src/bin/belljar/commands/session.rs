//! `belljar session`: the whole contract as JSON-RPC 2.0, a message a line on standard input and output.
//!
//! | file | what |
//! |---|---|
//! | `message` | a line as JSON-RPC: ids, batches, errors |
//! | `calls` | the calls that run, their ids, and how they are cancelled |
//! | `server` | the loop between them, and its end |

mod calls;
mod message;
mod server;

use clap::Args;

use crate::{
    exit_code::{Exit, TABLE},
    failure::Failure,
    interrupt::Interrupt,
    methods::CONVENTIONS,
    sandbox::{self, SandboxArguments},
};

const PROTOCOL: &str = "\
  {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"files.write\",\"params\":{\"path\":\"a.txt\",
   \"bytes\":\"aGk=\",\"options\":{\"expected\":\"absent\",\"make-parents\":true}}}
  {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"…the version…\"}

A failed operation is the error -32000, its data {kind, operation, path, message}. session.close
ends the session. -32700: not JSON. -32600: not a request. -32601: no such
method. -32602: wrong parameters, the field named. -32001: too many calls wait, or a batch's
answers are too large together.

Requests run at once; answers come in the order of their ends, each with its id as it was.
{\"method\":\"$/cancel\",\"params\":{\"id\":1}} (or session.cancel) cancels a request that runs; as a
request it answers whether there was one. A cancelled request is still answered.

The session ends with standard input, standard output or a signal: what runs then is cancelled
(at the end of standard input a third of a second later), and every process ends.";

/// Serve the whole contract as JSON-RPC 2.0 on standard input and output, a message a line
#[derive(Debug, Args)]
#[command(after_long_help = format!("{CONVENTIONS}\n\n{PROTOCOL}\n\n{TABLE}"))]
pub(crate) struct Arguments {
    #[command(flatten)]
    sandbox: SandboxArguments,
}

impl Arguments {
    pub(crate) async fn run(self, interrupt: &Interrupt) -> Result<Exit, Failure> {
        let config = self.sandbox.config()?;
        let sandbox = sandbox::open(&config)?;
        server::serve(sandbox, interrupt).await
    }
}
