//! The sessions of clients over HTTP: how many, how long, and what becomes of a call whose client is gone.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use belljar::Sandboxes;
use futures_core::Stream;
use rmcp::{
    RoleServer,
    model::{
        ClientJsonRpcMessage, ClientNotification, GetExtensions as _, JsonRpcMessage,
        ServerJsonRpcMessage,
    },
    transport::{
        Transport,
        streamable_http_server::session::{
            ServerSseMessage, SessionId, SessionManager,
            local::{LocalSessionManager, LocalSessionManagerError},
        },
    },
};
use tokio::{sync::Semaphore, task::JoinSet};

use super::{http::RETRY, session::Session, streams::Watched};

/// Why a session does not do what it is asked.
#[derive(Debug, thiserror::Error)]
pub(super) enum SessionError {
    #[error("as many sessions are open as may be")]
    Full,
    #[error(transparent)]
    Local(#[from] LocalSessionManagerError),
}

/// The sessions.
pub(super) struct Sessions {
    /// Carries messages between requests and sessions.
    local: LocalSessionManager,
    sandboxes: Arc<Sandboxes>,
    room: Arc<Semaphore>,
    open: Mutex<HashMap<SessionId, Session>>,
}

impl Sessions {
    /// At most so many, each ended when nothing was asked or told for so long.
    pub(super) fn new(sandboxes: Arc<Sandboxes>, most: usize, idle: Duration) -> Self {
        let mut local = LocalSessionManager::default();
        local.session_config.keep_alive = Some(idle);
        local.session_config.sse_retry = Some(RETRY);
        Self {
            local,
            sandboxes,
            room: Arc::new(Semaphore::new(most)),
            open: Mutex::default(),
        }
    }

    /// Whether no other session can be opened now.
    pub(super) fn is_full(&self) -> bool {
        self.room.available_permits() == 0
    }

    /// Ends every session.
    pub(super) async fn close(&self) -> Result<(), String> {
        self.room.close();
        let sessions: Vec<Session> = self.open().values().cloned().collect();
        let mut closing = JoinSet::new();
        for session in sessions {
            closing.spawn(async move { session.close().await });
        }
        let mut closed = Ok(());
        while let Some(result) = closing.join_next().await {
            closed = closed.and(result.unwrap_or_else(|error| Err(error.to_string())));
        }
        self.sandboxes.close().await;
        closed
    }

    fn open(&self) -> MutexGuard<'_, HashMap<SessionId, Session>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn session(&self, id: &SessionId) -> Result<Session, SessionError> {
        let session = self.open().get(id).cloned();
        Ok(session.ok_or_else(|| LocalSessionManagerError::SessionNotFound(id.clone()))?)
    }
}

impl SessionManager for Sessions {
    type Error = SessionError;
    type Transport = Attached<<LocalSessionManager as SessionManager>::Transport>;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), SessionError> {
        let room = Arc::clone(&self.room).try_acquire_owned();
        let room = room.map_err(|_| SessionError::Full)?;
        let (id, inner) = self.local.create_session().await?;
        let session = Session::new(Arc::clone(&self.sandboxes), Some(room));
        self.open().insert(id.clone(), session.clone());
        Ok((id, Attached { inner, session }))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, SessionError> {
        Ok(self.local.initialize_session(id, message).await?)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, SessionError> {
        Ok(self.local.has_session(id).await?)
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), SessionError> {
        let session = self.open().remove(id);
        if let Some(session) = session {
            session.cancel();
        }
        Ok(self.local.close_session(id).await?)
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionError> {
        let session = self.session(id)?;
        let JsonRpcMessage::Request(request) = &message else {
            let stream = self.local.create_stream(id, message).await?;
            return Ok(Watched::new(stream, session, Vec::new()));
        };
        let request_id = request.id.clone();
        if let Err(refused) = session.accept(&request_id, None) {
            return Ok(Watched::one(refused.answer(&request_id), session));
        }
        let stream = match self.local.create_stream(id, message).await {
            Ok(stream) => stream,
            Err(error) => {
                session.forget(&request_id);
                return Err(error.into());
            }
        };
        Ok(Watched::new(stream, session, vec![request_id]))
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), SessionError> {
        Ok(self.local.accept_message(id, message).await?)
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionError> {
        let session = self.session(id)?;
        let stream = self.local.create_standalone_stream(id).await?;
        Ok(Watched::new(stream, session, Vec::new()))
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, SessionError> {
        let session = self.session(id)?;
        let stream = self.local.resume(id, last_event_id).await?;
        let found = session.find();
        Ok(Watched::new(stream, session, found))
    }
}

/// A transport whose messages know their session.
pub(super) struct Attached<T> {
    inner: T,
    session: Session,
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for Attached<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), T::Error>> + Send + 'static {
        let id = match &message {
            JsonRpcMessage::Response(response) => Some(response.id.clone()),
            JsonRpcMessage::Error(error) => error.id.clone(),
            _ => None,
        };
        let session = self.session.clone();
        let sending = self.inner.send(message);
        async move {
            let sent = sending.await;
            if let Some(id) = id {
                session.forget(&id);
            }
            sent
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        let mut message = match self.inner.receive().await {
            Some(message) => message,
            None => {
                // What runs ends at once: it is waited for.
                self.session.cancel();
                return None;
            }
        };
        let session = self.session.clone();
        match &mut message {
            JsonRpcMessage::Request(request) => {
                request.request.extensions_mut().insert(session);
            }
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) =
                    &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    session.forget(id);
                }
                notification.notification.extensions_mut().insert(session);
            }
            _ => {}
        }
        Some(message)
    }

    async fn close(&mut self) -> Result<(), T::Error> {
        if let Err(reason) = self.session.close().await {
            tracing::warn!("the sandbox of a session is not closed: {reason}");
        }
        self.inner.close().await
    }
}

impl<T> Drop for Attached<T> {
    fn drop(&mut self) {
        self.session.cancel();
    }
}
