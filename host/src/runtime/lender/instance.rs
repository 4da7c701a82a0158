//! An instance of a component that lends sandboxes: it serves one call at a time.

use belljar_contract::{Context, Error, ErrorKind, Operation, Result};
use wasmtime::{Store, Trap, UpdateDeadline};

use super::{
    super::{call::is_fuel_exhausted, state::Ended},
    bindings::{
        backend::{Backend, BackendPre},
        client::{Client, ClientPre},
    },
    convert,
    loaded::Lender,
    state::{LenderState, World},
};

/// A component that is compiled and linked.
pub(super) enum Linked {
    Backend(Box<BackendPre<LenderState>>),
    Client(ClientPre<LenderState>),
}

/// What an instance exports.
pub(super) enum Exports {
    Backend(Box<Backend>),
    Client(Client),
}

pub(super) struct Instance {
    store: Store<LenderState>,
    exports: Exports,
}

/// The exports and the store of an instance, for one call.
pub(super) type Entered<'a> = (&'a Exports, &'a mut Store<LenderState>);

impl Instance {
    /// Makes one; not yet with a session.
    pub(super) fn new(
        lender: &Lender,
        world: World,
        context: &Context,
        operation: Operation,
    ) -> Result<Self> {
        let mut state = LenderState::new(world, lender.limits);
        state.begin(context.clone());
        let mut store = Store::new(&lender.base.engine, state);
        store.limiter(|state| state);
        let memory = usize::try_from(lender.limits.memory_bytes).unwrap_or(usize::MAX);
        store.set_hostcall_fuel(memory);
        store.set_epoch_deadline(1);
        store.epoch_deadline_callback(|mut store| match store.data_mut().check() {
            Ok(()) => Ok(UpdateDeadline::Continue(1)),
            Err(ended) => Err(wasmtime::Error::new(ended)),
        });
        let _running = lender.base.ticker.run();
        let instantiated = match &lender.linked {
            Linked::Backend(linked) => linked
                .instantiate(&mut store)
                .map(Box::new)
                .map(Exports::Backend),
            Linked::Client(linked) => linked.instantiate(&mut store).map(Exports::Client),
        };
        match instantiated {
            Ok(exports) => Ok(Self { store, exports }),
            Err(error) => Err(classify(&error, store.data_mut(), operation)),
        }
    }

    /// Makes a call, and says whether the instance can make another.
    pub(super) fn call<T>(
        &mut self,
        lender: &Lender,
        context: &Context,
        operation: Operation,
        enter: impl FnOnce(Entered<'_>) -> wasmtime::Result<T>,
    ) -> (Result<T>, bool) {
        self.store.data_mut().begin(context.clone());
        self.store.set_epoch_deadline(1);
        let _running = lender.base.ticker.run();
        let entered = enter((&self.exports, &mut self.store));
        let state = self.store.data_mut();
        match entered {
            Ok(value) => {
                // One that was told of its end may have ended anything.
                let fit = !state.was_stopped() && context.check().is_ok() && state.is_fresh();
                (Ok(value), fit)
            }
            Err(error) => (Err(classify(&error, state, operation)), false),
        }
    }

    /// Gives it its session.
    pub(super) fn resume(
        &mut self,
        lender: &Lender,
        context: &Context,
        operation: Operation,
        ticket: &[u8],
    ) -> Result<()> {
        let resumed = self.call(
            lender,
            context,
            operation,
            |(exports, store)| match exports {
                Exports::Backend(backend) => {
                    backend.belljar_sandbox_lease().call_resume(store, ticket)
                }
                Exports::Client(client) => {
                    client.belljar_sandbox_lease().call_resume(store, ticket)
                }
            },
        );
        let settings = &self.store.data().world.settings;
        resumed
            .0?
            .map_err(|error| convert::error(settings, operation, None, error))
    }
}

/// Tells what a failed call was.
fn classify(error: &wasmtime::Error, state: &mut LenderState, operation: Operation) -> Error {
    let failed = |what: &str| {
        let message = format!("the backend component was ended by its {what}");
        Error::new(ErrorKind::BackendFailed, operation, message)
    };
    if let Some(ended) = error.downcast_ref::<Ended>() {
        return match ended {
            Ended::Cancelled => belljar_contract::Stop::Cancelled.during(operation),
            Ended::Limit(super::super::call::LimitKind::Time) => {
                belljar_contract::Stop::TimedOut.during(operation)
            }
            Ended::Limit(kind) => failed(&kind.to_string()),
        };
    }
    if is_fuel_exhausted(error) {
        return failed("limit of copied bytes");
    }
    match error.downcast_ref::<Trap>() {
        Some(Trap::StackOverflow) => failed("stack limit"),
        Some(Trap::AllocationTooLarge) => failed("memory limit"),
        _ => {
            let said = state.take_panic();
            let trap = said.unwrap_or_else(|| state.world.settings.told(&format!("{error:#}")));
            let message = format!("the backend component crashed: {trap}");
            Error::new(ErrorKind::BackendFailed, operation, message)
        }
    }
}
