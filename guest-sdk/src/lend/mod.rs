//! Components that are backends: a vendor's shim, which lends a sandbox by what it reaches over HTTP.
//!
//! A session is a [`Lease`]. What it can do is one of two:
//!
//! | trait | exported by | its author writes |
//! |---|---|---|
//! | [`Client`] | [`client!`](crate::client!) | reading and writing whole files, and running a shell's command; the host makes the contract of these |
//! | [`Backend`] | [`backend!`](crate::backend!) | the whole contract: a [`Request`] in, a [`Response`] out |
//!
//! Such a component imports [`http`](crate::http), [`settings`](crate::settings) and
//! [`progress`](crate::progress), and has nothing else of the world.
//!
//! ```
//! use belljar_guest::{
//!     Operation, Result, http, settings,
//!     lend::{Client, Failure, Lease, Machine, Opened, Output, Traits},
//! };
//!
//! /// A session with the vendor: where it is.
//! struct Lent {
//!     url: String,
//! }
//!
//! impl Lease for Lent {
//!     fn open() -> Result<Opened> {
//!         let url = settings::required("url")?;
//!         let made = http::Request::post(&url).send().map_err(|error| error.during(Operation::Open))?;
//!         Ok(Opened::new(format!("{url}/{}", made.text())))
//!     }
//!
//!     fn resume(ticket: &[u8]) -> Result<Self> {
//!         Ok(Self { url: String::from_utf8_lossy(ticket).into_owned() })
//!     }
//!
//!     fn close(&self) -> Result<()> {
//!         let removed = http::Request::delete(&self.url).send();
//!         removed.map(drop).map_err(|error| error.during(Operation::Close))
//!     }
//! }
//!
//! impl Client for Lent {
//!     fn describe(&self) -> Result<Machine, Failure> {
//!         Ok(Machine::at("/work").with_traits(Traits { stdin: true, bytes: true }))
//!     }
//!
//!     fn read(&self, path: &str) -> Result<Vec<u8>, Failure> {
//!         Ok(http::Request::get(format!("{}/files{path}", self.url)).send()?.body)
//!     }
//!
//!     fn write(&self, path: &str, bytes: &[u8]) -> Result<(), Failure> {
//!         http::Request::put(format!("{}/files{path}", self.url)).body(bytes).send()?;
//!         Ok(())
//!     }
//!
//!     fn exec(&self, command: &str, stdin: &[u8]) -> Result<Output, Failure> {
//!         let asked = serde_json::json!({ "command": command, "stdin": stdin });
//!         let said = http::Request::post(format!("{}/exec", self.url)).json(&asked).send()?;
//!         Ok(Output { code: 0, stdout: said.body, stderr: Vec::new() })
//!     }
//! }
//!
//! belljar_guest::client!(Lent);
//! # belljar_guest::testing::with_settings([("url", "https://lent.example")], || {
//! # let answer = |request: &http::Request| Ok(http::Response { status: 200, headers: vec![], body: request.url.clone().into() });
//! # belljar_guest::testing::with_http(answer, || {
//! let opened = Lent::open()?;
//! let lent = Lent::resume(&opened.ticket)?;
//! assert!(lent.read("/work/a").is_ok());
//! # Ok::<(), belljar_guest::Error>(())
//! # })}).unwrap();
//! ```

mod backend;
mod client;
#[cfg(target_family = "wasm")]
#[doc(hidden)]
pub mod exported;

use std::time::Duration;

pub use belljar_contract::{Launch, Query, Request, Response, Scope};

pub use self::{
    backend::Backend,
    client::{Client, Failure, Machine, Output, Traits},
};
use crate::Result;

/// A session with the other side: made once, and taken up by each instance of the component.
///
/// An instance has no memory that counts: calls at the same time have one each, and one that failed or was cancelled is
/// thrown away. What must last is in the ticket, or at the other side.
pub trait Lease: Sized + 'static {
    /// Makes a sandbox.
    ///
    /// # Errors
    /// As `lease.open`.
    fn open() -> Result<Opened>;

    /// Takes it up again, as a rule without asking anybody.
    ///
    /// # Errors
    /// `backend-failed` when the ticket is none.
    fn resume(ticket: &[u8]) -> Result<Self>;

    /// Has the sandbox live on; called as often as [`Opened::renew_every`] says.
    ///
    /// # Errors
    /// `backend-unavailable` when it is gone.
    fn renew(&self) -> Result<()> {
        Ok(())
    }

    /// Ends every process in the sandbox, and removes it.
    ///
    /// # Errors
    /// `backend-unavailable` and `backend-failed` when something may be left.
    fn close(&self) -> Result<()>;
}

/// A sandbox that was made.
#[derive(Clone, PartialEq, Eq)]
pub struct Opened {
    /// What finds it again; at most 64 KiB.
    pub ticket: Vec<u8>,
    /// How often it must be renewed to live on; none: it lives until it is closed.
    pub renew_every: Option<Duration>,
}

impl Opened {
    /// A sandbox that lives until it is closed.
    #[must_use]
    pub fn new(ticket: impl Into<Vec<u8>>) -> Self {
        Self {
            ticket: ticket.into(),
            renew_every: None,
        }
    }

    /// One that must be renewed so often.
    #[must_use]
    pub const fn renewed_every(mut self, period: Duration) -> Self {
        self.renew_every = Some(period);
        self
    }
}

impl std::fmt::Debug for Opened {
    /// Leaves out the ticket, which may hold a secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Opened")
            .field("renew_every", &self.renew_every)
            .finish_non_exhaustive()
    }
}
