//! The workspace engine on the other end of a stream, as a backend.

use std::{
    sync::{Arc, Weak},
    time::Duration,
};

use belljar_contract::{Context, Error, ErrorKind, Operation, Request, Response, Result, blocking};
use belljar_protocol::{Client, facts::Facts};

use super::executor::Executor;

/// How long a resident has to end its processes when the session is closed.
const CLOSE_PATIENCE: Duration = Duration::from_secs(3);

/// Asks a resident, on this thread where it may block, else on one of the executor's.
#[derive(Clone)]
pub(super) struct Resident(Arc<Client>);

impl Resident {
    pub(super) fn new(client: Client) -> Self {
        Self(Arc::new(client))
    }

    pub(super) async fn call(&self, context: &Context, request: Request) -> Result<Response> {
        let (client, context) = (Arc::clone(&self.0), context.clone());
        let operation = request.operation();
        blocking::run(&Executor, move || client.call(&context, request))
            .await
            .unwrap_or_else(|| Err(no_thread(operation)))
    }

    /// What it sees of its own process and of what it runs in; none of it is proven.
    pub(super) async fn probe(&self, context: &Context) -> Result<Facts> {
        let (resident, context) = (self.clone(), context.clone());
        blocking::run(&Executor, move || resident.probe_here(&context))
            .await
            .unwrap_or_else(|| Err(no_thread(Operation::Describe)))
    }

    /// The same on this thread.
    pub(super) fn probe_here(&self, context: &Context) -> Result<Facts> {
        self.0.probe(context)
    }

    /// The same resident, for who does not keep its session open.
    pub(super) fn downgrade(&self) -> WeakResident {
        WeakResident(Arc::downgrade(&self.0))
    }

    /// Why it answers no more; none while it does.
    pub(super) fn death(&self) -> Option<String> {
        self.0.death()
    }

    /// Whether it answers in time; on this thread.
    pub(super) fn is_alive(&self, context: &Context) -> bool {
        self.0.ping(context).is_ok()
    }

    /// Ends the stream, and with it the resident and its processes; on this thread.
    pub(super) fn close_here(&self) {
        self.0.close(CLOSE_PATIENCE);
    }
}

/// A resident whose session somebody else keeps open.
pub(super) struct WeakResident(Weak<Client>);

impl WeakResident {
    /// The resident, while its session is open.
    pub(super) fn upgrade(&self) -> Option<Resident> {
        self.0.upgrade().map(Resident)
    }
}

/// There is no thread for blocking work.
pub(super) fn no_thread(operation: Operation) -> Error {
    let message = "there is no thread to work on";
    Error::new(ErrorKind::BackendFailed, operation, message)
}
