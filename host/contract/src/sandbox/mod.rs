//! The handle to an open session: where every argument is validated, once.
//!
//! A guest's import, a line of JSON-RPC, the command line and an application all come through here.
//! What a backend gets from it is a valid [`Request`]; what a caller gets is the result that belongs to
//! the function, or an error.

mod files;
mod options;
mod processes;
mod validate;

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use validate::{invalid, not_root};

use crate::{
    backend::Backend,
    context::Context,
    error::{Error, ErrorKind, Result},
    request::{Operation, Request, Response},
    session::{Capability, Description},
};

pub use self::{
    files::{MAX_FILTERS, MAX_SEARCH_PATTERN_BYTES},
    options::{QueryOptions, RunOptions, ScopeOptions},
    processes::MAX_COMMAND_NAMES,
};

/// An open session on a backend. Cheap to clone; every clone is the same session.
///
/// A handle carries the [`Context`] that its calls run in; [`within`](Self::within) gives a
/// handle for another one.
#[derive(Clone)]
pub struct Sandbox {
    session: Arc<Session>,
    context: Context,
}

struct Session {
    backend: Arc<dyn Backend>,
    closed: AtomicBool,
}

impl fmt::Debug for Sandbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sandbox")
            .field("backend", &self.session.backend.describe().backend)
            .field("closed", &self.is_closed())
            .finish_non_exhaustive()
    }
}

/// Takes the response that belongs to the request, or says that the backend is at fault.
macro_rules! ask {
    ($self:ident, $operation:expr, $request:expr, $variant:ident) => {
        match $self.call($request).await? {
            Response::$variant(value) => Ok(value),
            _ => Err($crate::sandbox::mismatch($operation)),
        }
    };
    ($self:ident, $operation:expr, $request:expr) => {
        match $self.call($request).await? {
            Response::Done => Ok(()),
            _ => Err($crate::sandbox::mismatch($operation)),
        }
    };
}
use ask;

fn mismatch(operation: Operation) -> Error {
    Error::new(
        ErrorKind::BackendFailed,
        operation,
        "the backend gave a response of another operation",
    )
}

impl Sandbox {
    /// Opens a handle on a backend that is ready.
    #[must_use]
    pub fn new(backend: Arc<dyn Backend>) -> Self {
        let session = Session {
            backend,
            closed: AtomicBool::new(false),
        };
        Self {
            session: Arc::new(session),
            context: Context::new(),
        }
    }

    /// The same session, for calls that run in `context`.
    #[must_use]
    pub fn within(&self, context: Context) -> Self {
        Self {
            session: Arc::clone(&self.session),
            context,
        }
    }

    /// The same session through a layer around its backend: closed with it, and never the other way.
    #[must_use]
    pub fn layered(&self, layer: impl FnOnce(Arc<dyn Backend>) -> Arc<dyn Backend>) -> Self {
        let below = Below(Arc::clone(&self.session));
        Self {
            context: self.context.clone(),
            ..Self::new(layer(Arc::new(below)))
        }
    }

    /// The context that this handle's calls run in.
    #[must_use]
    pub const fn context(&self) -> &Context {
        &self.context
    }

    /// Describes the sandbox.
    #[must_use]
    pub fn describe(&self) -> Arc<Description> {
        self.session.backend.describe()
    }

    /// Whether the session was closed.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.session.closed.load(Ordering::Acquire)
    }

    /// Ends every process of the session and releases what it holds. A second close does nothing.
    ///
    /// # Errors
    /// As [`Backend::close`].
    pub async fn close(&self) -> Result<()> {
        if self.session.closed.swap(true, Ordering::AcqRel) {
            return Ok(());
        }
        self.session.backend.close().await
    }

    /// The one way to the backend: an open session, a call that may still run, and a
    /// capability for what it needs.
    async fn call(&self, request: Request) -> Result<Response> {
        let operation = request.operation();
        self.session.allows(operation)?;
        let check = self.context.check();
        check.map_err(|stop| stop.during(operation))?;
        self.session.backend.call(&self.context, request).await
    }
}

impl Session {
    /// Says whether the session is open and has what the operation needs.
    fn allows(&self, operation: Operation) -> Result<()> {
        if self.closed.load(Ordering::Acquire) {
            return Err(Error::new(
                ErrorKind::Closed,
                operation,
                "the session is closed",
            ));
        }
        let Some(needed) = needed(operation) else {
            return Ok(());
        };
        let description = self.backend.describe();
        match description.can(needed) {
            true => Ok(()),
            false => Err(lacks(&description, needed, operation)),
        }
    }
}

/// A session as the backend of a layer: it stays open when the layered handle is closed.
struct Below(Arc<Session>);

#[async_trait::async_trait]
impl Backend for Below {
    fn describe(&self) -> Arc<Description> {
        self.0.backend.describe()
    }

    async fn call(&self, context: &Context, request: Request) -> Result<Response> {
        // The handle around the layer has looked at the context.
        self.0.allows(request.operation())?;
        self.0.backend.call(context, request).await
    }

    async fn close(&self) -> Result<()> {
        Ok(())
    }
}

/// The capability that an operation needs.
const fn needed(operation: Operation) -> Option<Capability> {
    match operation {
        Operation::Read
        | Operation::ReadRange
        | Operation::List
        | Operation::Glob
        | Operation::Search
        | Operation::Stat
        | Operation::Resolve => Some(Capability::Read),
        Operation::Write
        | Operation::Append
        | Operation::Replace
        | Operation::MakeDirectory
        | Operation::Remove
        | Operation::Rename
        | Operation::Copy => Some(Capability::Write),
        Operation::Run | Operation::FindCommands => Some(Capability::Run),
        Operation::Start
        | Operation::ReadOutput
        | Operation::WriteInput
        | Operation::Signal
        | Operation::Wait => Some(Capability::Start),
        Operation::Open | Operation::Describe | Operation::Close => None,
    }
}

/// Why a sandbox does not do what it lacks the capability for: its policy leaves nothing of it, or
/// its backend cannot.
fn lacks(description: &Description, needed: Capability, operation: Operation) -> Error {
    let policy = &description.policy;
    let left = match needed {
        Capability::Read => &policy.read,
        Capability::Write => &policy.write,
        Capability::Run | Capability::Start => &policy.programs,
        _ => &None,
    };
    if left.as_ref().is_some_and(Vec::is_empty) {
        let message = format!("the policy does not let this tool {needed}");
        return Error::new(ErrorKind::AccessDenied, operation, message);
    }
    let message = format!("the {} backend cannot {needed}", description.backend);
    Error::new(ErrorKind::Unsupported, operation, message)
}
