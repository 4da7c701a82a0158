//! A session with a place.

use std::{
    sync::{Arc, PoisonError},
    time::Duration,
};

use belljar_contract::{
    Backend, Context, Error, ErrorKind, Operation, Request, Response, Result, async_trait,
    blocking, session::Description,
};
use belljar_protocol::facts::Facts;
use tokio::sync::Mutex;

use super::{
    super::{
        executor::Executor,
        program::{Attached, Left},
        resident::no_thread,
        started_once::StartedOnce,
    },
    RemoteError, RemoteFailure,
    connect::{Connected, Connector},
};

/// How long a program whose session is lost may take to say why: its calls wait for it.
const SAY_WHY: Duration = Duration::from_millis(500);

/// How long a program whose session was closed may take to end.
const END_PATIENCE: Duration = Duration::from_secs(3);

/// The connection is made at the first call, once for all that come at once.
pub(super) struct RemoteBackend {
    connector: Arc<Connector>,
    connected: StartedOnce<Connected>,
    /// What became of the connection, found out once.
    fate: Mutex<Option<RemoteError>>,
    description: Arc<Description>,
}

impl RemoteBackend {
    pub(super) fn new(connector: Connector, description: Description) -> Self {
        Self {
            connector: Arc::new(connector),
            connected: StartedOnce::new(),
            fate: Mutex::new(None),
            description: Arc::new(description),
        }
    }

    async fn connected(&self, context: &Context, operation: Operation) -> Result<&Arc<Connected>> {
        let connector = Arc::clone(&self.connector);
        let connect = move |context: &Context| connector.connect(context);
        let failed = |failed: RemoteError| failed.during(operation);
        self.connected
            .get(context, operation, connect, failed)
            .await
    }

    /// What the resident sees; connects where that was not done.
    pub(super) async fn probe(&self, context: &Context) -> Result<Facts> {
        let connected = self.connected(context, Operation::Open).await?;
        connected.resident.probe(context).await
    }

    /// Adds to an error of a lost session what became of the program that carried it.
    async fn explained(&self, connected: &Connected, mut error: Error) -> Error {
        let mut fate = self.fate.lock().await;
        let fate = match &*fate {
            Some(fate) => fate.clone(),
            None => {
                let how = connected.resident.death().unwrap_or_default();
                let attached = taken(connected);
                let left = match attached {
                    Some(attached) => blocking::run(&Executor, move || attached.end(SAY_WHY)).await,
                    None => None,
                };
                let (failure, words) = match left {
                    Some(Left {
                        ended: Some(Ok(status)),
                        words,
                    }) => {
                        let code = status.code();
                        (RemoteFailure::Ended { code }, words)
                    }
                    Some(Left { words, .. }) => (RemoteFailure::Lost { how }, words),
                    None => (RemoteFailure::Lost { how }, String::new()),
                };
                let known = self.connector.failed(failure, words);
                fate.insert(known).clone()
            }
        };
        error.message = format!("{fate}; {}", error.message);
        error.because(fate)
    }

    /// Ends a session and what carries it. That its processes have ended is known when the stream's end has come
    /// back, with which the program ends.
    async fn end(&self, connected: &Connected) -> Result<()> {
        let was_lost = connected.resident.death().is_some();
        let (resident, attached) = (connected.resident.clone(), taken(connected));
        let left = blocking::run(&Executor, move || {
            resident.close_here();
            attached.map(|attached| attached.end(END_PATIENCE))
        })
        .await;
        let Some(left) = left.ok_or_else(|| no_thread(Operation::Close))? else {
            return Ok(());
        };
        match left.ended {
            None if !was_lost => {
                let how = "the stream's end was not answered, so what ran there may run on until the resident misses its host";
                let failure = RemoteFailure::Lost {
                    how: how.to_owned(),
                };
                let error = self.connector.failed(failure, left.words);
                Err(error.during(Operation::Close))
            }
            _ => Ok(()),
        }
    }
}

/// The program, once.
fn taken(connected: &Connected) -> Option<Attached> {
    let attached = &connected.attached;
    attached
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .take()
}

#[async_trait]
impl Backend for RemoteBackend {
    fn describe(&self) -> Arc<Description> {
        Arc::clone(&self.description)
    }

    async fn call(&self, context: &Context, request: Request) -> Result<Response> {
        let connected = self.connected(context, request.operation()).await?;
        match connected.resident.call(context, request).await {
            Err(error)
                if error.kind == ErrorKind::BackendUnavailable
                    && connected.resident.death().is_some() =>
            {
                Err(self.explained(connected, error).await)
            }
            answer => answer,
        }
    }

    async fn close(&self) -> Result<()> {
        match self.connected.close().await? {
            Some(connected) => self.end(&connected).await,
            None => Ok(()),
        }
    }
}
