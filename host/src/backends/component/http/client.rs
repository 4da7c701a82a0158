//! A client with a runtime of its own: a component's calls are on threads that have none.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use belljar_contract::{Context, blocking};
use tokio::{runtime::Runtime, sync::oneshot};

use super::{send::Sender, tls};
use crate::backends::{ComponentError, ComponentOptions};

/// Threads for names that are looked up: a server of names that does not answer takes one for half a minute.
const LOOKUPS: usize = 16;

/// A request, as a component gave it.
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) url: String,
    pub(crate) headers: Vec<(String, Vec<u8>)>,
    pub(crate) body: Vec<u8>,
    pub(crate) timeout: Duration,
}

/// A response.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, Vec<u8>)>,
    pub(crate) body: Vec<u8>,
}

/// Why there is no response.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// It is not granted.
    Denied(String),
    /// It is no request.
    Invalid(String),
    /// No connection, or it broke.
    Unreachable(String),
    /// The request's time passed.
    TimedOut,
    /// The call is over.
    Stopped,
    /// A body is over its limit.
    TooLarge,
}

/// Sends the requests of one session.
pub(crate) struct Client {
    sender: Arc<Sender>,
    /// There until it is dropped.
    runtime: Option<Runtime>,
}

impl Client {
    /// Makes a client for the grants of these options.
    ///
    /// # Ambient authority
    /// It reads the system's certificates, and the file that the options name.
    ///
    /// # Errors
    /// [`ComponentError`] when a grant is none, and when there are no certificates or no thread.
    pub(crate) fn open_ambient(options: &ComponentOptions) -> Result<Self, ComponentError> {
        for grant in &options.http {
            grant.validated()?;
        }
        // A component that reaches nothing, or nothing by TLS, needs no certificates.
        let certificates = match options.http.is_empty() {
            true => tls::nobody(),
            false => tls::believed_ambient(options.ca.as_deref())?,
        };
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .max_blocking_threads(LOOKUPS)
            .thread_name("belljar-http")
            .enable_all()
            .build()
            .map_err(ComponentError::NoThread)?;
        let most = options.component_limits.body_bytes;
        let sender = Sender::new(options.http.clone(), most, &certificates)?;
        Ok(Self {
            sender: Arc::new(sender),
            runtime: Some(runtime),
        })
    }

    /// Sends a request and waits on this thread; when the context is over, no longer.
    ///
    /// # Errors
    /// [`Failure`].
    pub(crate) fn send(&self, context: &Context, request: Request) -> Result<Response, Failure> {
        context.check().map_err(|_| Failure::Stopped)?;
        let Some(runtime) = &self.runtime else {
            return Err(Failure::Stopped);
        };
        let (left, over) = match context.remaining() {
            Some(remaining) if remaining <= request.timeout => (remaining, Failure::Stopped),
            _ => (request.timeout, Failure::TimedOut),
        };
        let sender = Arc::clone(&self.sender);
        let (answer, answered) = oneshot::channel();
        let task = runtime.spawn(async move {
            let sent = match far(left) {
                true => Ok(sender.send(request).await),
                false => tokio::time::timeout(left, sender.send(request)).await,
            };
            // Nobody waits any more when it is not received.
            let _ = answer.send(sent.unwrap_or(Err(over)));
        });
        // However the wait ends, nothing of the request is left: its connection is closed when it is not done.
        let _aborts = Aborts(task.abort_handle());
        let wait = async {
            tokio::select! {
                biased;
                sent = answered => sent.unwrap_or_else(|_| {
                    Err(Failure::Unreachable("the request was lost".to_owned()))
                }),
                () = context.cancellation().cancelled() => Err(Failure::Stopped),
            }
        };
        // It ends by itself: its time is looked at where there is a clock, its cancellation here.
        blocking::block_on(&Context::new(), wait).unwrap_or(Err(Failure::Stopped))
    }
}

/// Whether a moment is too far away for a clock; no request lasts so long.
fn far(left: Duration) -> bool {
    #[expect(
        clippy::disallowed_methods,
        reason = "what the runtime's clock can hold"
    )]
    let now = Instant::now();
    now.checked_add(left).is_none()
}

impl Drop for Client {
    fn drop(&mut self) {
        // It may be dropped where nothing may block.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

struct Aborts(tokio::task::AbortHandle);

impl Drop for Aborts {
    fn drop(&mut self) {
        self.0.abort();
    }
}
