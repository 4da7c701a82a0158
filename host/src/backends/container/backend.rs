//! A session in a container.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use belljar_contract::{
    Backend, Context, Error, ErrorKind, Operation, Request, Response, Result, async_trait,
    blocking, session::Description,
};
use belljar_protocol::facts::Facts;
use tokio::sync::{Mutex, OnceCell};

use super::start::{Running, Starter};
use crate::backends::{executor::Executor, resident::no_thread};

/// How long the engine may take to remove a container at the end.
const REMOVE_TIMEOUT: Duration = Duration::from_secs(30);

/// How long the program that carried the stream may take to end after it.
const ATTACHED_PATIENCE: Duration = Duration::from_secs(5);

/// The container starts at the first call, once for all that come at once.
pub(super) struct ContainerBackend {
    starter: Arc<Starter>,
    running: OnceCell<Running>,
    /// What became of the container, asked once.
    fate: Mutex<Option<String>>,
    closed: AtomicBool,
    description: Arc<Description>,
}

impl ContainerBackend {
    pub(super) fn new(starter: Arc<Starter>, description: Arc<Description>) -> Self {
        Self {
            starter,
            running: OnceCell::new(),
            fate: Mutex::new(None),
            closed: AtomicBool::new(false),
            description,
        }
    }

    async fn running(&self, context: &Context, operation: Operation) -> Result<&Running> {
        self.running
            .get_or_try_init(async || {
                if self.closed.load(Ordering::Acquire) {
                    let message = "the session is closed";
                    return Err(Error::new(ErrorKind::Closed, operation, message));
                }
                let (starter, context) = (Arc::clone(&self.starter), context.clone());
                let started = blocking::run(&Executor, move || starter.start(&context)).await;
                match started {
                    Some(started) => started.map_err(|failed| failed.during(operation)),
                    None => Err(no_thread(operation)),
                }
            })
            .await
    }

    /// What the resident sees; starts the container where it does not run.
    pub(super) async fn probe(&self, context: &Context) -> Result<Facts> {
        let running = self.running(context, Operation::Open).await?;
        running.resident.probe(context).await
    }

    /// Adds to an error of a dead session what became of its container.
    async fn explained(&self, running: &Running, mut error: Error) -> Error {
        let mut fate = self.fate.lock().await;
        let fate = match &*fate {
            Some(fate) => fate.clone(),
            None => {
                let (starter, container) = (Arc::clone(&self.starter), running.container.clone());
                let asked = blocking::run(&Executor, move || starter.fate(&container)).await;
                let known = asked.unwrap_or_default();
                fate.insert(known).clone()
            }
        };
        error.message = format!("{fate}; {}", error.message);
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
        self.closed.store(true, Ordering::Release);
        let Some(running) = self.running.get() else {
            return Ok(());
        };
        // The resident ends its processes, then itself, and with it the container.
        running.resident.close().await?;
        let (starter, container) = (Arc::clone(&self.starter), running.container.clone());
        let held = running.take_held();
        let removed = blocking::run(&Executor, move || {
            if let Some(attached) = held.attached {
                // However it ended: what counts is the container.
                let _ = attached.end(ATTACHED_PATIENCE);
            }
            let ended = match starter.options.reconnect {
                true => starter.stop(&container, REMOVE_TIMEOUT),
                false => starter.remove(&container, REMOVE_TIMEOUT),
            };
            // From here on another session may have its place.
            drop(held.standing);
            ended
        })
        .await;
        match removed {
            Some(removed) => removed.map_err(|error| {
                let left = format!(
                    "the container {} may be left behind; `belljar prune` removes it",
                    running.container
                );
                let mut error = error.during(Operation::Close);
                error.message = format!("{left}; {}", error.message);
                error
            }),
            None => Err(no_thread(Operation::Close)),
        }
    }
}
