//! A session: instances for calls at the same time, and the sandbox's life from its opening to its end.

mod renewal;
mod slots;

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use belljar_contract::{Cancellation, Context, Error, ErrorKind, Operation, Result};
use tokio::sync::oneshot;

use self::{renewal::Renewal, slots::Slots};
use super::{
    convert,
    instance::{Entered, Exports, Instance},
    limits::{KEPT, LenderLimits},
    loaded::Lender,
    state::{Settings, World},
};

/// A guest's thread: the deepest recursion of a guest takes one MiB, and the host's own frames far less than the rest.
const STACK_BYTES: usize = 4 << 20;
/// How long the session's end waits for calls that it has cancelled; a run gets half a second to end.
const LAST_CALLS: Duration = Duration::from_millis(1500);

/// What finds the sandbox again; nobody but the component is told.
pub(super) struct Ticket(pub(super) Vec<u8>);

/// An open session. Dropped without having been closed, it has the sandbox removed by a thread of its own.
pub(super) struct Session {
    shared: Arc<Shared>,
    _renewal: Option<Renewal>,
}

struct Shared {
    lender: Arc<Lender>,
    world: World,
    ticket: Ticket,
    idle: Mutex<Vec<Instance>>,
    slots: Arc<Slots>,
    /// The session's end, for every call.
    ending: Cancellation,
}

impl Session {
    pub(super) fn new(
        lender: Arc<Lender>,
        world: World,
        ticket: Ticket,
        renew_every: Option<u64>,
    ) -> Self {
        let slots = Arc::new(Slots::new(lender.limits.instances));
        let shared = Arc::new(Shared {
            lender,
            world,
            ticket,
            idle: Mutex::default(),
            slots,
            ending: Cancellation::default(),
        });
        let renewal = renew_every.and_then(|period| {
            let renewing = Arc::downgrade(&shared);
            Renewal::start(Duration::from_millis(period), move || {
                renewing.upgrade().is_some_and(|shared| shared.renew())
            })
        });
        Self {
            shared,
            _renewal: renewal,
        }
    }

    pub(super) fn settings(&self) -> &Arc<Settings> {
        &self.shared.world.settings
    }

    pub(super) fn limits(&self) -> LenderLimits {
        self.shared.lender.limits
    }

    /// Makes a call on this thread, which has room for a guest's stack.
    pub(super) fn call_here<T>(
        &self,
        context: &Context,
        operation: Operation,
        enter: impl FnOnce(Entered<'_>) -> wasmtime::Result<T>,
    ) -> Result<T> {
        self.shared.call(context, operation, enter)
    }

    /// Makes a call on a thread of its own. A guest's stack may be on the caller's already, and two are
    /// more than a thread has; and who waits here may be dropped.
    pub(super) async fn call<T: Send + 'static>(
        &self,
        context: &Context,
        operation: Operation,
        enter: impl FnOnce(Entered<'_>) -> wasmtime::Result<T> + Send + 'static,
    ) -> Result<T> {
        let context = context.child();
        let _dropped = CancelOnDrop(context.cancellation().clone());
        let ends = context.cancellation().clone();
        let _ending = self.shared.ending.on_cancel(move || ends.cancel());
        let shared = Arc::clone(&self.shared);
        on_thread(operation, move || shared.call(&context, operation, enter)).await
    }

    /// Ends the session.
    pub(super) async fn close(&self) -> Result<()> {
        let shared = Arc::clone(&self.shared);
        on_thread(Operation::Close, move || shared.close()).await
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if self.shared.ending.is_cancelled() {
            return;
        }
        let shared = Arc::clone(&self.shared);
        let close = move || {
            if let Err(error) = shared.close() {
                tracing::warn!(error = %error, "a sandbox that was not closed could not be removed");
            }
        };
        // Without a thread the sandbox is left to the end that the other side gives it.
        let _ = thread().spawn(close);
    }
}

impl Shared {
    fn call<T>(
        &self,
        context: &Context,
        operation: Operation,
        enter: impl FnOnce(Entered<'_>) -> wasmtime::Result<T>,
    ) -> Result<T> {
        context.check().map_err(|stop| stop.during(operation))?;
        let _slot = self.slots.take(context, operation)?;
        let kept = self.lock().pop();
        let mut instance = match kept {
            Some(instance) => instance,
            None => self.instance(context, operation)?,
        };
        let (answer, fit) = instance.call(&self.lender, context, operation, enter);
        if fit {
            let mut idle = self.lock();
            if idle.len() < KEPT {
                idle.push(instance);
            }
        }
        answer
    }

    fn instance(&self, context: &Context, operation: Operation) -> Result<Instance> {
        let mut instance = Instance::new(&self.lender, self.world.clone(), context, operation)?;
        instance.resume(&self.lender, context, operation, &self.ticket.0)?;
        Ok(instance)
    }

    /// Whether the session goes on.
    fn renew(&self) -> bool {
        if self.ending.is_cancelled() {
            return false;
        }
        let operation = Operation::Open;
        let context = Context::new().with_timeout(self.lender.limits.timeout);
        let renewed = self.call(&context, operation, |(exports, store)| match exports {
            Exports::Backend(backend) => backend.belljar_sandbox_lease().call_renew(store),
            Exports::Client(client) => client.belljar_sandbox_lease().call_renew(store),
        });
        let settings = &self.world.settings;
        let renewed = renewed.and_then(|renewed| {
            renewed.map_err(|error| convert::error(settings, operation, None, error))
        });
        if let Err(error) = renewed {
            tracing::warn!(error = %error, "a sandbox could not be renewed");
        }
        true
    }

    fn close(&self) -> Result<()> {
        self.ending.cancel();
        let last = Context::new().with_timeout(LAST_CALLS);
        self.slots.wait_for_all(&last);
        let operation = Operation::Close;
        let context = Context::new().with_timeout(self.lender.limits.timeout);
        let mut instance = self.instance(&context, operation)?;
        self.lock().clear();
        let (closed, _) =
            instance.call(
                &self.lender,
                &context,
                operation,
                |(exports, store)| match exports {
                    Exports::Backend(backend) => backend.belljar_sandbox_lease().call_close(store),
                    Exports::Client(client) => client.belljar_sandbox_lease().call_close(store),
                },
            );
        let settings = &self.world.settings;
        closed?.map_err(|error| convert::error(settings, operation, None, error))
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Instance>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct CancelOnDrop(Cancellation);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

fn thread() -> std::thread::Builder {
    std::thread::Builder::new()
        .name("belljar-lender".into())
        .stack_size(STACK_BYTES)
}

async fn on_thread<T: Send + 'static>(
    operation: Operation,
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    let (answer, answered) = oneshot::channel();
    let work = move || {
        // Nobody waits any more when it is not received.
        let _ = answer.send(work());
    };
    let no_thread = |why: String| {
        let message = format!("there is no thread for a call of the backend component: {why}");
        Error::new(ErrorKind::Busy, operation, message)
    };
    thread()
        .spawn(work)
        .map_err(|error| no_thread(error.to_string()))?;
    answered.await.unwrap_or_else(|_| {
        let message = "the backend component's thread ended without an answer";
        Err(Error::new(ErrorKind::BackendFailed, operation, message))
    })
}

/// Works on a thread that has room for a guest's stack, and waits for it here.
pub(super) fn apart<T: Send>(
    operation: Operation,
    work: impl FnOnce() -> Result<T> + Send,
) -> Result<T> {
    std::thread::scope(|scope| {
        let failed = |message| Error::new(ErrorKind::Busy, operation, message);
        let running = thread()
            .spawn_scoped(scope, work)
            .map_err(|error| failed(error.to_string()))?;
        running.join().unwrap_or_else(|_| {
            let message = "the backend component's thread ended without an answer".to_owned();
            Err(failed(message))
        })
    })
}
