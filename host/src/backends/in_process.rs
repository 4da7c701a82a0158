//! The workspace engine in this process, as a backend.

use std::sync::{Arc, Mutex, PoisonError};

use belljar_contract::{
    Backend, Context, Error, ErrorKind, Operation, Request, Response, Result, async_trait,
    blocking, session::Description,
};
use belljar_workspace::Engine;
use tempfile::TempDir;

use super::{executor::Executor, resident::no_thread};

/// Asks an engine on this thread where it may block, else on one of the executor's.
pub(super) struct InProcessBackend {
    engine: Arc<Engine>,
    description: Arc<Description>,
    /// Removed after the processes have ended.
    temporary: Mutex<Option<TempDir>>,
}

impl InProcessBackend {
    pub(super) fn new(
        engine: Engine,
        description: Description,
        temporary: Option<TempDir>,
    ) -> Self {
        Self {
            engine: Arc::new(engine),
            description: Arc::new(description),
            temporary: Mutex::new(temporary),
        }
    }

    async fn on_engine<T: Send + 'static>(
        &self,
        operation: Operation,
        work: impl FnOnce(&Engine) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let engine = Arc::clone(&self.engine);
        blocking::run(&Executor, move || work(&engine))
            .await
            .unwrap_or_else(|| Err(no_thread(operation)))
    }
}

#[async_trait]
impl Backend for InProcessBackend {
    fn describe(&self) -> Arc<Description> {
        Arc::clone(&self.description)
    }

    async fn call(&self, context: &Context, request: Request) -> Result<Response> {
        let context = context.clone();
        self.on_engine(request.operation(), move |engine| {
            engine.call(&context, request)
        })
        .await
    }

    async fn close(&self) -> Result<()> {
        let temporary = self
            .temporary
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        self.on_engine(Operation::Close, move |engine| {
            engine.close();
            temporary.map_or(Ok(()), TempDir::close).map_err(|error| {
                let message = "the temporary workspace could not be removed whole";
                Error::new(ErrorKind::BackendFailed, Operation::Close, message).because(error)
            })
        })
        .await
    }
}
