//! The layer that holds to a policy.

use std::sync::Arc;

use belljar_contract::{
    Backend, Context, Error, ErrorKind, Operation, Request, Response, Result, async_trait,
    session::Description,
};

use crate::layers::derived::Derived;

use super::{Policy, describe, programs::StartedPrograms};

/// A backend that does for a tool what its policy allows, and answers `access-denied`, or
/// `read-only`, to the rest.
///
/// What a policy denies it also hides: a path that may not be looked at is not in any
/// listing or result, and whether there is something at it is not told.
///
/// ```
/// use std::sync::Arc;
/// use belljar::{Backend, session::Capability, layers::{Policy, PolicyBackend}};
///
/// fn for_a_reader(backend: Arc<dyn Backend>) -> Arc<dyn Backend> {
///     let reader = PolicyBackend::new(backend, Policy::nothing().and_read());
///     assert!(!reader.describe().writable && !reader.describe().can(Capability::Run));
///     Arc::new(reader)
/// }
/// # fn main() {}
/// ```
pub struct PolicyBackend {
    pub(super) below: Arc<dyn Backend>,
    pub(super) policy: Policy,
    pub(super) started: Arc<StartedPrograms>,
    described: Derived,
}

impl PolicyBackend {
    /// Narrows a backend. Processes that were started elsewhere are out of reach where the
    /// policy names programs; [`sharing`](Self::sharing) brings them within it.
    #[must_use]
    pub fn new(below: Arc<dyn Backend>, policy: Policy) -> Self {
        Self {
            below,
            policy,
            started: Arc::default(),
            described: Derived::default(),
        }
    }

    /// Knows the processes of a session by its record, which every layer of the session shares.
    #[must_use]
    pub fn sharing(mut self, started: Arc<StartedPrograms>) -> Self {
        self.started = started;
        self
    }

    pub(super) async fn ask(&self, context: &Context, request: Request) -> Result<Response> {
        self.below.call(context, request).await
    }
}

#[async_trait]
impl Backend for PolicyBackend {
    fn describe(&self) -> Arc<Description> {
        let below = self.below.describe();
        if self.policy.is_everything() {
            return below;
        }
        self.described
            .of(below, |below| describe::narrow(below, &self.policy))
    }

    async fn call(&self, context: &Context, request: Request) -> Result<Response> {
        let operation = request.operation();
        match operation {
            Operation::Read
            | Operation::ReadRange
            | Operation::List
            | Operation::Glob
            | Operation::Search
            | Operation::Stat
            | Operation::Resolve => {
                if !self.policy.read {
                    return Err(denied(operation, "look at files"));
                }
                match self.policy.read_paths {
                    Some(_) => self.look(context, request).await,
                    None => self.ask(context, request).await,
                }
            }
            Operation::Write
            | Operation::Append
            | Operation::Replace
            | Operation::MakeDirectory
            | Operation::Remove
            | Operation::Rename
            | Operation::Copy => {
                if !self.policy.write {
                    let message = "the policy does not let this tool change files";
                    return Err(Error::new(ErrorKind::ReadOnly, operation, message));
                }
                self.change(context, request).await
            }
            Operation::Run
            | Operation::Start
            | Operation::ReadOutput
            | Operation::WriteInput
            | Operation::Signal
            | Operation::Wait
            | Operation::FindCommands => {
                if !self.policy.run {
                    return Err(denied(operation, "run programs"));
                }
                self.process(context, request).await
            }
            // These are no requests.
            Operation::Open | Operation::Describe | Operation::Close => {
                Err(denied(operation, "do this"))
            }
        }
    }

    async fn close(&self) -> Result<()> {
        self.below.close().await
    }
}

pub(super) fn denied(operation: Operation, what: &str) -> Error {
    let message = format!("the policy does not let this tool {what}");
    Error::new(ErrorKind::AccessDenied, operation, message)
}
