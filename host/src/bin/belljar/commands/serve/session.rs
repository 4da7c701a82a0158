//! A client's session: its sandbox, its calls, and what it has been told.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering},
    },
    time::Duration,
};

use belljar::{Context, LogLevel, Sandbox, Sandboxes};
use rmcp::model::{ErrorData, Extensions, RequestId, ServerJsonRpcMessage};
use tokio::sync::{OnceCell, OwnedSemaphorePermit, watch};

/// Requests of a session that are not answered yet.
const MAX_CALLS: usize = 1024;
/// How long a sandbox may take to close: processes have 500 ms between SIGTERM and SIGKILL, a container a second
/// to go.
const CLOSING: Duration = Duration::from_millis(1300);
/// No version of the list of tools: the client has not asked for one.
const NOTHING_LISTED: u64 = u64::MAX;

/// A client's session. Cheap to clone; the transport puts it into each message, where the handler finds it.
#[derive(Clone)]
pub(super) struct Session(Arc<Inner>);

struct Inner {
    sandboxes: Arc<Sandboxes>,
    sandbox: OnceCell<Sandbox>,
    /// The parent of every call.
    context: Context,
    calls: watch::Sender<HashMap<RequestId, Call>>,
    is_initialized: AtomicBool,
    is_attended: AtomicBool,
    level: AtomicU8,
    listed: AtomicU64,
    /// One of as many sessions as there may be.
    _room: Option<OwnedSemaphorePermit>,
}

/// A request that is not answered yet.
struct Call {
    context: Context,
    /// Nobody reads what becomes of it.
    lost: bool,
    /// The memory that it takes.
    _held: Option<OwnedSemaphorePermit>,
}

/// Why a request is not taken.
#[derive(Debug, thiserror::Error)]
pub(super) enum Refused {
    /// There is one of this id.
    #[error("a request with the id {0} is not answered yet")]
    Duplicate(RequestId),
    /// There are too many.
    #[error("{MAX_CALLS} requests are not answered yet; this one is not taken")]
    TooMany,
}

impl Refused {
    /// What is answered to the request with this id.
    pub(super) fn answer(&self, id: &RequestId) -> ServerJsonRpcMessage {
        let id = match self {
            // It would be taken for the answer of the other one.
            Self::Duplicate(_) => None,
            Self::TooMany => Some(id.clone()),
        };
        ServerJsonRpcMessage::error(ErrorData::invalid_request(self.to_string(), None), id)
    }
}

impl Session {
    pub(super) fn new(sandboxes: Arc<Sandboxes>, room: Option<OwnedSemaphorePermit>) -> Self {
        Self(Arc::new(Inner {
            sandboxes,
            sandbox: OnceCell::new(),
            context: Context::new(),
            calls: watch::Sender::default(),
            is_initialized: AtomicBool::new(false),
            is_attended: AtomicBool::new(false),
            level: AtomicU8::new(rank(LogLevel::Info)),
            listed: AtomicU64::new(NOTHING_LISTED),
            _room: room,
        }))
    }

    /// The session that a message belongs to.
    pub(super) fn of(extensions: &Extensions) -> Result<&Self, ErrorData> {
        // What comes without one asked for no session: a protocol version that has none.
        extensions
            .get()
            .ok_or_else(|| ErrorData::invalid_request("there is no session: send initialize", None))
    }

    /// Whether this is the first time that the session is initialized.
    pub(super) fn initialize(&self) -> bool {
        !self.0.is_initialized.swap(true, Ordering::AcqRel)
    }

    /// Whether this is the first time that somebody attends to what the client is to be told.
    pub(super) fn attend(&self) -> bool {
        !self.0.is_attended.swap(true, Ordering::AcqRel)
    }

    /// The sandbox, which the first call opens.
    pub(super) async fn sandbox(&self) -> Result<&Sandbox, ErrorData> {
        let open = async || {
            let sandboxes = Arc::clone(&self.0.sandboxes);
            let opened = tokio::task::spawn_blocking(move || sandboxes.sandbox_ambient()).await;
            let message = match opened {
                Ok(Ok(sandbox)) => return Ok(sandbox.within(self.0.context.clone())),
                Ok(Err(error)) => crate::failure::messages(&error).join(": "),
                Err(error) => error.to_string(),
            };
            let message = format!("the sandbox does not open: {message}");
            Err(ErrorData::internal_error(message, None))
        };
        self.0.sandbox.get_or_try_init(open).await
    }

    /// Takes a request.
    pub(super) fn accept(
        &self,
        id: &RequestId,
        held: Option<OwnedSemaphorePermit>,
    ) -> Result<(), Refused> {
        let call = Call {
            context: self.0.context.child(),
            lost: false,
            _held: held,
        };
        let mut accepted = Ok(());
        self.0.calls.send_modify(|calls| {
            if calls.contains_key(id) {
                accepted = Err(Refused::Duplicate(id.clone()));
            } else if calls.len() >= MAX_CALLS {
                accepted = Err(Refused::TooMany);
            } else {
                calls.insert(id.clone(), call);
            }
        });
        accepted
    }

    /// Forgets a request: it is answered, or cancelled and will not be.
    pub(super) fn forget(&self, id: &RequestId) {
        self.0.calls.send_modify(|calls| {
            calls.remove(id);
        });
    }

    /// The context of a request.
    pub(super) fn context(&self, id: &RequestId) -> Context {
        let calls = self.0.calls.borrow();
        match calls.get(id) {
            Some(call) => call.context.clone(),
            None => self.0.context.child(),
        }
    }

    /// Notes that nobody reads any more what becomes of these requests; those are given that matter.
    pub(super) fn lose(&self, ids: Vec<RequestId>) -> Vec<RequestId> {
        let mut lost = ids;
        self.0.calls.send_modify(|calls| {
            lost.retain(|id| match calls.get_mut(id) {
                Some(call) => {
                    call.lost = true;
                    true
                }
                None => false,
            });
        });
        lost
    }

    /// Gives the requests that nobody read, to one who does now.
    pub(super) fn find(&self) -> Vec<RequestId> {
        let mut found = Vec::new();
        self.0.calls.send_modify(|calls| {
            for (id, call) in calls.iter_mut().filter(|(_, call)| call.lost) {
                call.lost = false;
                found.push(id.clone());
            }
        });
        found
    }

    /// Cancels these requests, where still nobody reads what becomes of them.
    pub(super) fn cancel_lost(&self, ids: &[RequestId]) {
        let calls = self.0.calls.borrow();
        for call in ids.iter().filter_map(|id| calls.get(id)) {
            if call.lost {
                call.context.cancellation().cancel();
            }
        }
    }

    /// Waits until every request is answered.
    pub(super) async fn answered(&self) {
        // The sender is here, so there is no error.
        let _ = self.0.calls.subscribe().wait_for(HashMap::is_empty).await;
    }

    /// Waits until the session ends.
    pub(super) async fn ended(&self) {
        self.0.context.cancellation().cancelled().await;
    }

    /// Cancels everything that runs, now and later.
    pub(super) fn cancel(&self) {
        self.0.context.cancellation().cancel();
    }

    /// Ends the session: its calls, and its sandbox with all its processes.
    pub(super) async fn close(&self) -> Result<(), String> {
        self.cancel();
        let Some(sandbox) = self.0.sandbox.get() else {
            return Ok(());
        };
        // Closing is no call of the session, which is cancelled.
        let closing = sandbox.within(Context::new());
        match tokio::time::timeout(CLOSING, closing.close()).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(crate::failure::messages(&error).join(": ")),
            Err(_) => Err("it did not end in time; something of it may be left".into()),
        }
    }

    /// Sets from where on the client wants to be told what tools log.
    pub(super) fn set_level(&self, level: u8) {
        self.0.level.store(level, Ordering::Release);
    }

    /// Whether the client wants to be told what a tool logs with this level.
    pub(super) fn wants(&self, level: LogLevel) -> bool {
        rank(level) >= self.0.level.load(Ordering::Acquire)
    }

    /// Notes which version of the list of tools the client was given.
    pub(super) fn list(&self, version: u64) {
        self.0.listed.store(version, Ordering::Release);
    }

    /// Whether the client has a list of tools, and this version is another one.
    pub(super) fn is_outdated(&self, version: u64) -> bool {
        let listed = self.0.listed.load(Ordering::Acquire);
        listed != NOTHING_LISTED && listed != version
    }
}

/// A level's place among the protocol's.
pub(super) const fn rank(level: LogLevel) -> u8 {
    match level {
        LogLevel::Debug => 0,
        LogLevel::Info => 1,
        LogLevel::Warn => 3,
        LogLevel::Error => 4,
    }
}
