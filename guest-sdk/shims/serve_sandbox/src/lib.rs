//! A backend over HTTP: sandboxes that `belljar serve-sandbox` lends, on another machine.
//!
//! Each function of the contract is one request, and its answer is the contract's own. `belljar serve-sandbox --help`
//! has the protocol.
//!
//! | setting | |
//! |---|---|
//! | `url` | where the server listens: `https://sandboxes.example:7433` |
//! | `token` | the token that it asks for; a secret |
//!
//! | file | what |
//! |---|---|
//! | `server` | requests to the server, and what its refusals mean |
//! | `call` | a request of the contract as one of the server's calls |
//! | `answer` | its answer as the contract's response |
//!
//! When the host ends a call, its connection is closed, and the server cancels what it does, down to its processes. What
//! came of it is fetched by the call's name. Names must differ between all instances of the session, which know nothing
//! of each other and have nothing random: so each asks the server once for the beginning of its own.

mod answer;
mod call;
mod server;
#[cfg(test)]
mod tests;

use std::{cell::RefCell, time::Duration};

use belljar_guest::{
    Error, ErrorKind, Operation, Result,
    http::HttpError,
    lend::{Backend, Lease, Opened, Request, Response},
    session::Description,
};
use serde::{Deserialize, Serialize};

use self::server::Server;

/// A session is renewed so many times within the time after which the server closes what nobody asks for.
const RENEWALS: u32 = 3;

/// What finds the session again.
#[derive(Serialize, Deserialize)]
struct Ticket {
    session: String,
    description: Description,
}

/// What the server says of a session.
#[derive(Deserialize)]
struct Told {
    session: String,
    description: Description,
    /// In milliseconds.
    idle: u64,
    caller: String,
}

/// A session on the server.
struct Lent {
    server: Server,
    ticket: Ticket,
    names: RefCell<Names>,
}

/// The names of this instance's calls.
#[derive(Default)]
struct Names {
    /// What none but this instance's begin with; asked for with the first call.
    caller: Option<String>,
    count: u64,
}

impl Lent {
    fn address(&self) -> String {
        format!("/{}", self.ticket.session)
    }

    /// A name for the next call.
    fn name(&self, operation: Operation) -> Result<std::result::Result<String, HttpError>> {
        let mut names = self.names.borrow_mut();
        let caller = match names.caller.take() {
            Some(caller) => caller,
            None => match self.server.get(&self.address()) {
                Ok(response) => server::told::<Told>(&response, 200, operation)?.caller,
                Err(error) => return Ok(Err(error)),
            },
        };
        names.count += 1;
        let name = format!("{caller}-{}", names.count);
        names.caller = Some(caller);
        Ok(Ok(name))
    }
}

impl Lease for Lent {
    fn open() -> Result<Opened> {
        let operation = Operation::Open;
        let response = Server::configured()?.post("", Vec::new());
        let response = response.map_err(|error| error.during(operation))?;
        let told: Told = server::told(&response, 201, operation)?;
        let renewal = Duration::from_millis(told.idle) / RENEWALS;
        let ticket = Ticket {
            session: told.session,
            description: told.description,
        };
        let ticket = serde_json::to_vec(&ticket);
        let ticket = ticket.map_err(|error| failed(operation, &error.to_string()))?;
        Ok(Opened::new(ticket).renewed_every(renewal))
    }

    fn resume(ticket: &[u8]) -> Result<Self> {
        let ticket = serde_json::from_slice(ticket)
            .map_err(|error| failed(Operation::Open, &format!("the ticket: {error}")))?;
        Ok(Self {
            server: Server::configured()?,
            ticket,
            names: RefCell::default(),
        })
    }

    fn renew(&self) -> Result<()> {
        let operation = Operation::Open;
        let response = self.server.get(&self.address());
        let response = response.map_err(|error| error.during(operation))?;
        server::told::<Told>(&response, 200, operation).map(drop)
    }

    fn close(&self) -> Result<()> {
        let operation = Operation::Close;
        let response = self.server.delete(&self.address());
        let response = response.map_err(|error| error.during(operation))?;
        match response.status {
            // A session that is not there has nothing left.
            204 | 404 => Ok(()),
            _ => Err(server::refused(&response, operation)),
        }
    }
}

impl Backend for Lent {
    fn describe(&self) -> Description {
        self.ticket.description.clone()
    }

    fn call(&self, request: Request) -> Result<Response> {
        let operation = request.operation();
        let name = match self.name(operation)? {
            Ok(name) => name,
            Err(HttpError::Stopped) => return answer::not_begun(operation),
            Err(error) => return Err(error.during(operation)),
        };
        let calls = format!("{}/calls", self.address());
        let sent = self.server.post(&calls, call::body(request, &name));
        let stopped = matches!(sent, Err(HttpError::Stopped));
        let response = match stopped {
            true => self.server.delete(&format!("{calls}/{name}")),
            false => sent,
        };
        let response = response.map_err(|error| error.during(operation))?;
        match stopped && response.status == 404 {
            // It had not come, and will not begin.
            true => answer::not_begun(operation),
            false => answer::read(&response, operation),
        }
    }
}

fn failed(operation: Operation, message: &str) -> Error {
    Error::new(ErrorKind::BackendFailed, operation, message)
}

belljar_guest::backend!(Lent);
