//! A session in a Pod.

use std::sync::Arc;

use belljar_contract::{
    Backend, Context, Error, ErrorKind, Operation, Request, Response, Result, async_trait,
    blocking, session::Description,
};
use belljar_protocol::facts::Facts;
use tokio::sync::OnceCell;

use super::{KubernetesError, fate::PodFate, running::Running, start::Starter};
use crate::backends::{
    executor::Executor, pool::Shelf, resident::no_thread, started_once::StartedOnce,
};

/// The Pod starts at the first call, once for all that come at once.
pub(super) struct KubernetesBackend {
    starter: Arc<Starter>,
    /// Where one may stand that has started already.
    shelf: Option<Arc<Shelf<Starter>>>,
    running: StartedOnce<Running>,
    /// What became of the Pod, asked once.
    fate: OnceCell<PodFate>,
    description: Arc<Description>,
}

impl KubernetesBackend {
    pub(super) fn new(
        starter: Arc<Starter>,
        description: Arc<Description>,
        shelf: Option<Arc<Shelf<Starter>>>,
    ) -> Self {
        Self {
            starter,
            shelf,
            running: StartedOnce::new(),
            fate: OnceCell::new(),
            description,
        }
    }

    async fn running(&self, context: &Context, operation: Operation) -> Result<&Arc<Running>> {
        let (starter, shelf) = (Arc::clone(&self.starter), self.shelf.clone());
        let start = move |context: &Context| match shelf.and_then(|shelf| shelf.take(&starter)) {
            Some(running) => Ok(running),
            None => starter.start(context, false),
        };
        let failed = |failed: KubernetesError| failed.during(operation);
        self.running.get(context, operation, start, failed).await
    }

    /// What the resident sees; starts the Pod where it does not run.
    pub(super) async fn probe(&self, context: &Context) -> Result<Facts> {
        let running = self.running(context, Operation::Open).await?;
        running.resident.probe(context).await
    }

    /// Adds to an error of a dead session what became of its Pod.
    async fn explained(&self, running: &Running, mut error: Error) -> Error {
        let fate = self.fate.get_or_try_init(async || {
            let (starter, pod) = (Arc::clone(&self.starter), running.pod.clone());
            let asked = blocking::run(&Executor, move || starter.fate(&pod)).await;
            asked.ok_or(())
        });
        // Without a thread to ask on, the next call asks.
        if let Ok(fate) = fate.await {
            let words = match running.carrier.words() {
                words if words.is_empty() => String::new(),
                words => format!("; it said: {words}"),
            };
            error.message = format!("{fate}; {}{words}", error.message);
            return error.because(fate.clone());
        }
        error
    }
}

#[async_trait]
impl Backend for KubernetesBackend {
    fn describe(&self) -> Arc<Description> {
        Arc::clone(&self.description)
    }

    async fn call(&self, context: &Context, request: Request) -> Result<Response> {
        let running = self.running(context, request.operation()).await?;
        match running.resident.call(context, request).await {
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
        let ending = Arc::clone(&running);
        let ended = blocking::run(&Executor, move || ending.end()).await;
        let ended = ended.ok_or_else(|| no_thread(Operation::Close))?;
        ended.map_err(|error| {
            let mut error = error.during(Operation::Close);
            error.message = format!(
                "the Pod may be left behind, where it ends by itself; `belljar prune` removes it; {}",
                error.message
            );
            error
        })
    }
}
