//! A component that lends sandboxes: audited, compiled, linked.

use std::sync::Arc;

use belljar_contract::{Context, Error, ErrorKind, Operation, Result};
use wasmtime::component::Linker;

use super::{
    super::{
        audit::{WasiMode, World as WorldName, audit},
        cache::{Code, CompilationCache, EntryName},
        engine::{Base, EngineError},
        load_error::LoadError,
    },
    backend::LentBackend,
    bindings::{
        backend::{Backend, BackendPre},
        client::{Client, ClientPre},
    },
    convert,
    instance::{Exports, Instance, Linked},
    limits::{LenderLimits, TICKET_BYTES},
    machine::LentMachine,
    outgoing::Outgoing,
    session::{self, Session, Ticket},
    state::{LenderState, Settings, World},
};

/// A component, with the engine that it was compiled for: an engine of its own, because its instances are kept, and
/// in the tools' pool would take their places.
pub(crate) struct Lender {
    pub(super) base: Base,
    pub(super) linked: Linked,
    pub(super) limits: LenderLimits,
}

/// A sandbox that a component lends.
pub(crate) enum Lent {
    Backend(Box<LentBackend>),
    Machine(LentMachine),
}

impl Lender {
    /// Makes an engine, and loads a component that lends sandboxes.
    ///
    /// # Errors
    /// [`LoadError`] when it is none, or imports what its world does not have.
    pub(crate) fn load(
        bytes: &[u8],
        cache: Option<CompilationCache>,
        limits: LenderLimits,
    ) -> std::result::Result<Self, LoadError> {
        let worlds = [WorldName::Backend, WorldName::Client];
        let (world, _) = audit(bytes, WasiMode::Deny, &worlds)?;
        let base = Base::on_demand(cache)?;
        let cache = base.cache.as_ref();
        let cache = cache.map(|cache| (cache, EntryName::new(&base.compatibility, world, bytes)));
        let cached = cache
            .as_ref()
            .and_then(|(cache, name)| cache.load(&base.engine, name));
        let compiled = match cached {
            Some(cached) => cached.component,
            None => {
                let compiled = base.compile(bytes)?;
                if let Some((cache, name)) = &cache {
                    cache.store(name, &Code::Component(compiled.clone()), std::iter::empty());
                }
                compiled
            }
        };
        let mut linker = Linker::<LenderState>::new(&base.engine);
        let linked = match world {
            WorldName::Client => {
                Client::add_to_linker::<_, LenderState>(&mut linker, |state| state)
                    .and_then(|()| linker.instantiate_pre(&compiled))
                    .and_then(ClientPre::new)
                    .map(Linked::Client)
            }
            WorldName::Backend | WorldName::Tool => {
                Backend::add_to_linker::<_, LenderState>(&mut linker, |state| state)
                    .and_then(|()| linker.instantiate_pre(&compiled))
                    .and_then(BackendPre::new)
                    .map(Box::new)
                    .map(Linked::Backend)
            }
        };
        let linked = linked.map_err(|error| LoadError::Mismatch {
            reason: format!("{error:#}"),
        })?;
        Ok(Self {
            base,
            linked,
            limits,
        })
    }

    /// Has it make a sandbox, and waits for it on this thread.
    ///
    /// # Errors
    /// What the component says, and `backend-failed` when it fails or lies.
    pub(crate) fn open(
        self: &Arc<Self>,
        context: &Context,
        settings: Settings,
        outgoing: Arc<dyn Outgoing>,
    ) -> Result<Lent> {
        let context = context.with_timeout(self.limits.timeout);
        session::apart(Operation::Open, || {
            self.open_here(&context, settings, outgoing)
        })
    }

    fn open_here(
        self: &Arc<Self>,
        context: &Context,
        settings: Settings,
        outgoing: Arc<dyn Outgoing>,
    ) -> Result<Lent> {
        let operation = Operation::Open;
        let settings = Arc::new(settings);
        let world = World {
            settings: Arc::clone(&settings),
            outgoing,
        };
        let mut instance = Instance::new(self, world.clone(), context, operation)?;
        let (opened, _) = instance.call(self, context, operation, |(exports, store)| {
            Ok(match exports {
                Exports::Backend(backend) => {
                    let opened = backend.belljar_sandbox_lease().call_open(store)?;
                    opened.map(|opened| (opened.ticket, opened.renew_every))
                }
                Exports::Client(client) => {
                    let opened = client.belljar_sandbox_lease().call_open(store)?;
                    opened.map(|opened| (opened.ticket, opened.renew_every))
                }
            })
        });
        let (ticket, renew_every) =
            opened?.map_err(|error| convert::error(&settings, operation, None, error))?;
        if ticket.len() > TICKET_BYTES {
            let message = format!("the backend component's ticket is over {TICKET_BYTES} bytes");
            return Err(Error::new(ErrorKind::BackendFailed, operation, message));
        }
        let session = Session::new(Arc::clone(self), world, Ticket(ticket), renew_every);
        // From here on there is something to close, whatever comes.
        match &self.linked {
            Linked::Backend(_) => LentBackend::new(session, context)
                .map(Box::new)
                .map(Lent::Backend),
            Linked::Client(_) => LentMachine::new(session, context).map(Lent::Machine),
        }
    }
}

impl From<EngineError> for LoadError {
    fn from(error: EngineError) -> Self {
        Self::Engine(error)
    }
}
