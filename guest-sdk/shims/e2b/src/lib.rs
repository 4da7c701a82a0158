#![doc = include_str!("../README.md")]
//!
//! # How it is made
//!
//! | file | what |
//! |---|---|
//! | `settings` | what the operator set, checked once |
//! | `ticket` | what finds a sandbox again |
//! | `control` | sandboxes made, kept and killed, by E2B's API |
//! | `envd` | files and programs, by what serves in the sandbox |
//! | `stream` | a program's events, out of the Connect protocol's frames |
//! | `refusal` | what the other side's errors come to |
//!
//! The protocol is published in `e2b-dev/E2B` (`spec/openapi.yml`, `spec/envd`); how a request finds its sandbox, and
//! what is said when there is none, in `e2b-dev/infra` (`packages/shared/pkg/proxy`).
//!
//! A command's standard input cannot be sent while its events are read, because a request here is sent whole before its
//! response is read whole. So it travels as a file, in a directory that the instance of the component made for itself
//! and nobody can guess; the command has it open, and the file is gone, before it begins.

mod control;
mod envd;
mod refusal;
mod settings;
mod stream;
#[cfg(test)]
mod tests;
mod ticket;

use std::time::Duration;

use belljar_guest::{
    Operation, Result,
    lend::{Client, Failure, Lease, Machine, Opened, Output, Traits},
};

use self::{control::Control, envd::Envd, settings::Settings, ticket::Ticket};

/// A sandbox is kept alive this many times within its time.
const RENEWALS: u32 = 3;

/// A session in a sandbox.
pub struct Session {
    settings: Settings,
    ticket: Ticket,
    envd: Envd,
}

impl Session {
    fn new(settings: Settings, ticket: Ticket) -> Self {
        let envd = Envd::new(&settings, &ticket);
        Self {
            settings,
            ticket,
            envd,
        }
    }

    fn control(&self) -> Control<'_> {
        Control::new(&self.settings)
    }
}

impl Lease for Session {
    fn open() -> Result<Opened> {
        let settings = Settings::read()?;
        let ticket = Control::new(&settings).make()?;
        let period = Duration::from_secs(settings.timeout) / RENEWALS;
        let session = Self::new(settings, ticket);
        if let Err(error) = session.envd.make_root() {
            // Why it did not open counts more.
            let _ = session.close();
            return Err(error);
        }
        Ok(Opened::new(session.ticket.to_bytes()).renewed_every(period))
    }

    fn resume(ticket: &[u8]) -> Result<Self> {
        let ticket = Ticket::from_bytes(ticket)?;
        Ok(Self::new(Settings::read()?, ticket))
    }

    fn renew(&self) -> Result<()> {
        self.control().keep(&self.ticket)
    }

    fn close(&self) -> Result<()> {
        self.control().kill(&self.ticket)
    }
}

impl Client for Session {
    fn describe(&self) -> std::result::Result<Machine, Failure> {
        Ok(Machine {
            root: self.settings.root.clone(),
            scratch: self.settings.scratch.clone(),
            durable: false,
            traits: Traits {
                stdin: true,
                bytes: true,
            },
            instructions: format!(
                "This is a Linux machine lent by E2B, of the template {:?}. It is removed when the session ends.{}",
                self.settings.template,
                match self.settings.internet {
                    true => "",
                    false => " It has no internet.",
                }
            ),
        })
    }

    fn read(&self, path: &str) -> std::result::Result<Vec<u8>, Failure> {
        self.envd.read(path)
    }

    fn write(&self, path: &str, bytes: &[u8]) -> std::result::Result<(), Failure> {
        self.envd.write(path, bytes)
    }

    fn exec(&self, command: &str, stdin: &[u8]) -> std::result::Result<Output, Failure> {
        self.envd.exec(command, stdin)
    }
}

belljar_guest::client!(Session);

/// An error of opening.
fn failed(kind: belljar_guest::ErrorKind, message: impl Into<String>) -> belljar_guest::Error {
    belljar_guest::Error::new(kind, Operation::Open, message.into())
}
