//! `belljar serve-sandbox`: sandboxes of one configuration, lent over HTTP.
//!
//! | file | what |
//! |---|---|
//! | `routes` | the addresses, and who may ask |
//! | `sessions` | the sandboxes that are lent: how many, under which ids, and their end |
//! | `session` | one of them, and when it was last used |
//! | `calls` | its calls: how they are told apart, cancelled and answered |
//! | `narrowed` | calls that are to see less than the session has |
//! | `body` | what a request carries, bounded |
//! | `answer` | what is answered, results and refusals |
//!
//! What a method is and does is [`methods`](crate::methods)' to say, as for `belljar session`.

mod answer;
mod body;
mod calls;
mod narrowed;
mod routes;
mod session;
mod sessions;

use std::{num::NonZeroU32, time::Duration};

use belljar::{OpenOptions, Sandboxes};
use clap::Args;
use serde_json::json;

use self::{body::Bodies, sessions::Sessions};
use crate::{
    exit_code::{Exit, TABLE},
    failure::Failure,
    http::{ListenArguments, TokenArguments},
    interrupt::Interrupt,
    methods::CONVENTIONS,
    output::Output,
    sandbox::{self, SandboxArguments},
};

const PROTOCOL: &str = "\
Every request carries `Authorization: Bearer TOKEN`, and a body with `Content-Length` where it has
one; bodies and answers are JSON.

POST /v1/sessions
  opens a sandbox: 201 {\"session\": id, \"description\": as session.describe, \"idle\": milliseconds
  after which it is closed when nobody asks for it, \"caller\": text}
GET /v1/sessions/ID
  200, the same of an open sandbox, which it keeps open. Each answer has another `caller`.
DELETE /v1/sessions/ID
  ends its processes and closes it: 204
POST /v1/sessions/ID/calls
  {\"method\": name, \"params\": {…}}: an operation. 200 {\"result\": …}. A call whose client goes away is
  cancelled. Beside these there may be \"call\", a name which no other call of the session has (`caller`
  and a number, for one); \"timeout\", the milliseconds after which it ends, as timed-out;
  \"no-links\": true, to follow no link on the way to any path; \"within\", lists of globs: of a walk only
  what matches one of each list counts, by its path from the root.
DELETE /v1/sessions/ID/calls/CALL
  cancels a call, and answers what it came to, as the call itself does; of one whose client went
  away as well, for 5 seconds. A call that comes only after this does not begin: it is cancelled.

  curl -H \"Authorization: Bearer $TOKEN\" -d '{\"method\":\"files.read\",\"params\":{\"path\":\"a.txt\"}}' \\
    http://127.0.0.1:7433/v1/sessions/$ID/calls

A failed operation, and nothing else, is 422 {\"error\": {\"kind\", \"operation\", \"path\", \"message\"}},
with the contract's kinds. All else is {\"refused\": {\"code\", \"message\"}}:
  400 malformed, unknown-method, bad-parameters   401 unauthorized   405 no-such-method
  404 no-such-address, no-such-session, no-such-call   408 slow   409 call-exists
  411 length-required   413 too-large   500 internal, not-opened (the sandbox; the message says why)
  503 full (sessions), busy, ending";

/// How long everything may take to end: processes have 500 ms, and a container's engine takes its time.
const ENDING: Duration = Duration::from_secs(10);
/// How long the last answers may take to be read.
const FLUSHING: Duration = Duration::from_secs(1);

/// Lend sandboxes of the configuration over HTTP, to whoever has the token
///
/// Each session has a sandbox of its own. Where the configuration names a workspace they share it; else
/// each has an empty one. A sandbox that nobody asks for is closed after a while (--idle).
#[derive(Debug, Args)]
#[command(after_long_help = format!("{CONVENTIONS}\n\n{PROTOCOL}\n\n{TABLE}"))]
pub(crate) struct Arguments {
    #[command(flatten)]
    sandbox: SandboxArguments,
    #[command(flatten)]
    listen: ListenArguments,
    #[command(flatten)]
    token: TokenArguments,
    /// The most sandboxes at once
    #[arg(long, value_name = "NUMBER", default_value = "16")]
    sessions: NonZeroU32,
    /// Close a sandbox that nobody has asked for in this time: 30s, 10m, 1h
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = belljar::config::duration)]
    idle: Duration,
}

impl Arguments {
    pub(crate) async fn run(self, output: Output, interrupt: &Interrupt) -> Result<Exit, Failure> {
        let config = self.sandbox.config()?;
        let token = self.token.read()?;
        let listener = self.listen.bind()?;
        let options = OpenOptions {
            // A supervisor that owns all children would take those of a session beside it.
            owns_all_children: self.sessions == NonZeroU32::MIN,
            ..sandbox::open_options(&config)
        };
        let sandboxes = Sandboxes::open_ambient(&config, options)?;
        let sessions = Sessions::new(sandboxes, self.sessions, self.idle);
        let routes = routes::routes(token, sessions.clone(), Bodies::new(&config.limits));
        match output.is_json() {
            true => output.value(&json!({
                "listening": { "address": listener.address(), "url": listener.url() }
            }))?,
            false => output.note(&format!("listening on {}", listener.url())),
        }
        let mut ended = Ok(());
        let end = async {
            interrupt.heard().await;
            ended = tokio::time::timeout(ENDING, sessions.end())
                .await
                .unwrap_or_else(|_| {
                    Err("the sandboxes did not end in time; something of them may be left".into())
                });
        };
        listener.serve(routes, end, FLUSHING).await?;
        ended.map_err(|message| Failure::new(Exit::Host, message))?;
        Ok(interrupt.signal().map_or(Exit::Done, Exit::Signalled))
    }
}
