//! The contract over a component of the world `backend`.

use std::sync::Arc;

use belljar_contract::{
    Backend, Context, Operation, Request, Response, Result, Stop, async_trait,
    processes::{Execution, Outcome},
    session::Description,
};

use super::{
    ask, convert,
    described::{Allowed, described},
    session::Session,
};

/// A sandbox that a component lends, before it is said what is allowed in it.
pub(crate) struct LentBackend {
    session: Session,
    described: super::bindings::backend::exports::belljar::sandbox::session::Description,
}

impl LentBackend {
    /// Asks it what it is.
    pub(super) fn new(session: Session, context: &Context) -> Result<Self> {
        let operation = Operation::Describe;
        let described = session.call_here(context, operation, |(exports, store)| {
            let backend = ask::backend(exports)?;
            backend.belljar_sandbox_session().call_describe(store)
        })?;
        Ok(Self { session, described })
    }

    /// Makes the contract's backend of it.
    ///
    /// # Errors
    /// `backend-failed` when its description is none.
    pub(crate) fn within(self, allowed: &Allowed) -> Result<Arc<dyn Backend>> {
        let description = described(self.described, allowed, self.session.settings())
            .map_err(|bad| ask::bad(&bad, Operation::Describe))?;
        Ok(Arc::new(Contract {
            session: self.session,
            description: Arc::new(description),
        }))
    }
}

struct Contract {
    session: Session,
    description: Arc<Description>,
}

#[async_trait]
impl Backend for Contract {
    fn describe(&self) -> Arc<Description> {
        Arc::clone(&self.description)
    }

    async fn call(&self, context: &Context, request: Request) -> Result<Response> {
        let operation = request.operation();
        let path = ask::path_of(&request);
        let limit = self.session.limits().timeout + ask::lasts(&request);
        let bounded = context.with_timeout(limit);
        let limits = self.description.limits;
        let asked = self
            .session
            .call(&bounded, operation, move |entered| {
                ask::ask(entered, request, &limits)
            })
            .await?;
        let settings = self.session.settings();
        let answer = ask::answer(asked, operation, |error| {
            convert::error(settings, operation, path, error)
        });
        // What a component says of a call that is over is that it is over.
        match (answer, bounded.check()) {
            (Err(_), Err(stop)) => Err(stop.during(operation)),
            // It is not told why its call is over, and ends a run as cancelled.
            (Ok(Response::Execution(execution)), Err(Stop::TimedOut))
                if execution.outcome == Outcome::Cancelled =>
            {
                Ok(Response::Execution(Execution {
                    outcome: Outcome::TimedOut,
                    ..execution
                }))
            }
            (answer, _) => answer,
        }
    }

    async fn close(&self) -> Result<()> {
        self.session.close().await
    }
}
