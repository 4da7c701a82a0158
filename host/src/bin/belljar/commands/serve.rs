//! `belljar serve`: the tools for an agent, by the Model Context Protocol.
//!
//! | file | what |
//! |---|---|
//! | `loader` | components, loaded while clients are answered, and again when their files change |
//! | `catalog` | the tools of all components together |
//! | `describe` | tools and answers as the protocol has them |
//! | `handler` | what is answered to the protocol's requests |
//! | `calling` | a call of a tool: progress, logs, cancellation |
//! | `session` | a client's session: its sandbox and its calls |
//! | `message` | what a client sends, or what is wrong with it |
//! | `stdio` | one client on standard input and output |
//! | `http`, `http_sessions`, `streams` | many clients over streamable HTTP |

mod calling;
mod catalog;
mod describe;
mod handler;
mod http;
mod http_sessions;
mod loader;
mod message;
mod session;
mod stdio;
mod streams;

use std::{num::NonZeroU32, sync::Arc, time::Duration};

use belljar::{OpenOptions, Sandboxes};
use clap::Args;
use serde_json::json;

use crate::{
    component::Component,
    engine::EngineArguments,
    exit_code::{Exit, TABLE},
    failure::Failure,
    http::{ListenArguments, TokenArguments},
    interrupt::Interrupt,
    output::Output,
    sandbox::{self, SandboxArguments},
};
use handler::Handler;
use http_sessions::Sessions;
use loader::Source;

/// Calls that run at once, of all sessions together. Each takes a thread.
const CONCURRENT_CALLS: u32 = 256;
/// What an answer may take after its call's time.
const ANSWERING: Duration = Duration::from_secs(10);

const PROTOCOL: &str = "\
Without --listen there is one client, on standard input and output, and one session, until standard
input ends. With --listen there are many, at http://ADDRESS/mcp, each with a session and a sandbox
of its own; requests carry `Authorization: Bearer TOKEN`.

An agent starts it by itself once it is configured, as with

  {\"mcpServers\": {\"belljar\": {\"command\": \"belljar\", \"args\": [\"serve\", \"--config\", \"/path/to/belljar.toml\"]}}}

Components are loaded while the client is answered; a list of tools is waited for until they are, for
eight seconds at most. A component whose file changes is loaded again: clients are told, and calls in
flight go on as they began. A file that is refused changes nothing, and standard error says why.

A cancelled call ends with its processes. Over HTTP a client that reads no more has five seconds to
resume before its calls are cancelled. The revisions of the protocol are those up to 2025-11-25.";

/// Serve the tools to agents, by the Model Context Protocol (MCP)
#[derive(Debug, Args)]
#[command(
    after_long_help = format!("{PROTOCOL}\n\n{TABLE}"),
    mut_arg("listen", |listen| listen.required(false)),
    mut_group("TokenArguments", |token| token.required(false)),
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    sandbox: SandboxArguments,
    #[command(flatten)]
    engine: EngineArguments,
    #[command(flatten)]
    listen: Option<ListenArguments>,
    #[command(flatten)]
    token: Option<TokenArguments>,
    #[command(flatten)]
    clients: ClientArguments,
    /// Components' files, or names of [tools.NAME] tables; all tables when absent
    components: Vec<String>,
}

/// Says which clients are served over HTTP, and for how long.
#[derive(Debug, Args)]
#[command(next_help_heading = "Listening")]
struct ClientArguments {
    /// Answer requests to this host too, beside loopback's names and the address; as NAME or NAME:PORT
    #[arg(long, value_name = "HOST", requires = "listen")]
    allow_host: Vec<String>,
    /// Answer pages of this origin in a browser too; as https://NAME:PORT
    #[arg(long, value_name = "ORIGIN", requires = "listen")]
    allow_origin: Vec<String>,
    /// The most sessions at once
    #[arg(long, value_name = "COUNT", default_value = "64", requires = "listen")]
    sessions: NonZeroU32,
    /// End a session when nothing was asked or told for this time: 10m, 2h
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = belljar::config::duration, requires = "listen")]
    idle: Duration,
}

impl Arguments {
    pub(crate) async fn run(self, output: Output, interrupt: &Interrupt) -> Result<Exit, Failure> {
        let config = self.sandbox.config()?;
        let components = match self.components.as_slice() {
            [] => Component::configured(&config)?,
            named => named
                .iter()
                .map(|name| Component::named(&config, name))
                .collect::<Result<_, _>>()?,
        };
        if components.is_empty() {
            return Err(Failure::usage("there are no tools to serve")
                .hint("name a component's file, or configure a [tools.NAME] table"));
        }
        let http = match (&self.listen, &self.token) {
            (Some(listen), Some(token)) => Some((listen.bind()?, token.read()?)),
            (None, None) => None,
            (Some(_), None) => {
                return Err(
                    Failure::usage("--listen needs a token that clients must carry")
                        .hint("give --token-file or --token-env"),
                );
            }
            (None, Some(_)) => {
                return Err(Failure::usage("a token is for clients over HTTP")
                    .hint("give --listen, as in --listen 127.0.0.1:8425"));
            }
        };
        let options = OpenOptions {
            // A supervisor that owns all children would take those of a session beside it.
            owns_all_children: http.is_none() || self.clients.sessions == NonZeroU32::MIN,
            ..sandbox::open_options(&config)
        };
        let sandboxes = Arc::new(Sandboxes::open_ambient(&config, options)?);
        let idle = self
            .clients
            .idle
            .max(config.call_limits.timeout + ANSWERING);
        let source = Source {
            config,
            engine: self.engine,
            concurrent_calls: CONCURRENT_CALLS,
        };
        let (shelf, failed) = loader::start(source, components);
        let handler = Handler::new(shelf, CONCURRENT_CALLS);
        let Some((listener, token)) = http else {
            return stdio::serve(handler, sandboxes, failed, interrupt).await;
        };
        let url = format!("{}{}", listener.url(), http::PATH);
        match output.is_json() {
            true => output.value(&json!({
                "listening": { "address": listener.address(), "url": url }
            }))?,
            false => output.note(&format!("listening on {url}")),
        }
        let most = usize::try_from(self.clients.sessions.get()).unwrap_or(usize::MAX);
        let sessions = Arc::new(Sessions::new(sandboxes, most, idle));
        let admission = http::Admission {
            token,
            hosts: self.clients.allow_host,
            origins: self.clients.allow_origin,
        };
        http::serve(listener, admission, handler, sessions, failed, interrupt).await
    }
}
