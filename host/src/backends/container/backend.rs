//! A session in a container.

use std::sync::{Arc, OnceLock};

use belljar_contract::{
    Backend, Context, Error, ErrorKind, Operation, Request, Response, Result, async_trait,
    blocking, session::Description,
};
use belljar_protocol::facts::Facts;
use tokio::sync::OnceCell;

use super::{fate::ContainerFate, not_started::Failed, running::Running, start::Starter};
use crate::backends::{
    executor::Executor, pool::Shelf, resident::no_thread, started_once::StartedOnce,
};

/// The container starts at the first call, once for all that come at once.
pub(super) struct ContainerBackend {
    starter: Arc<Starter>,
    /// Where one may stand that has started already.
    shelf: Option<Arc<Shelf<Starter>>>,
    running: StartedOnce<Running>,
    /// What is required cannot be had, and will not be at the next call either.
    unmet: OnceLock<Error>,
    /// What became of the container, asked once.
    fate: OnceCell<ContainerFate>,
    description: Arc<Description>,
}

impl ContainerBackend {
    pub(super) fn new(
        starter: Arc<Starter>,
        description: Arc<Description>,
        shelf: Option<Arc<Shelf<Starter>>>,
    ) -> Self {
        Self {
            starter,
            shelf,
            running: StartedOnce::new(),
            unmet: OnceLock::new(),
            fate: OnceCell::new(),
            description,
        }
    }

    async fn running(&self, context: &Context, operation: Operation) -> Result<&Arc<Running>> {
        if let Some(unmet) = self.unmet.get() {
            return Err(unmet.clone().during(operation));
        }
        let (starter, shelf) = (Arc::clone(&self.starter), self.shelf.clone());
        let start = move |context: &Context| match shelf.and_then(|shelf| shelf.take(&starter)) {
            Some(running) => Ok(running),
            None => starter.start(context),
        };
        let failed = |failed: Failed| {
            let is_final = matches!(failed, Failed::Unmet(_));
            let error = failed.during(operation);
            if is_final {
                self.unmet.get_or_init(|| error.clone());
            }
            error
        };
        self.running.get(context, operation, start, failed).await
    }

    /// What the resident sees; starts the container where it does not run.
    pub(super) async fn probe(&self, context: &Context) -> Result<Facts> {
        let running = self.running(context, Operation::Open).await?;
        running.resident.probe(context).await
    }

    /// Adds to an error of a dead session what became of its container.
    async fn explained(&self, running: &Running, mut error: Error) -> Error {
        let fate = self.fate.get_or_try_init(async || {
            let (starter, container) = (Arc::clone(&self.starter), running.container.clone());
            let asked = blocking::run(&Executor, move || starter.cli.fate(&container)).await;
            asked.ok_or(())
        });
        // Without a thread to ask on, the next call asks.
        if let Ok(fate) = fate.await {
            error.message = format!("{fate}; {}", error.message);
            return error.because(fate.clone());
        }
        error
    }
}

#[async_trait]
impl Backend for ContainerBackend {
    fn describe(&self) -> Arc<Description> {
        Arc::clone(&self.description)
    }

    async fn call(&self, context: &Context, request: Request) -> Result<Response> {
        let running = self.running(context, request.operation()).await?;
        let answer = running.resident.call(context, request).await;
        match answer {
            Err(error)
                if error.kind == ErrorKind::BackendUnavailable
                    && running.resident.death().is_some() =>
            {
                Err(self.explained(running, error).await)
            }
            answer => answer,
        }
    }

    async fn close(&self) -> Result<()> {
        let Some(running) = self.running.close().await? else {
            return Ok(());
        };
        let (starter, ending) = (Arc::clone(&self.starter), Arc::clone(&running));
        let ended = blocking::run(&Executor, move || ending.end(&starter.cli)).await;
        let ended = ended.ok_or_else(|| no_thread(Operation::Close))?;
        ended.map_err(|error| {
            let left = format!(
                "the container {} may be left behind; `belljar prune` removes it",
                running.container
            );
            let mut error = error.during(Operation::Close);
            error.message = format!("{left}; {}", error.message);
            error
        })
    }
}
