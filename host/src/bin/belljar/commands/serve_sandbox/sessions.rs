//! The sandboxes that are lent: how many, under which ids, and how they end.

use std::{
    collections::HashMap,
    num::NonZeroU32,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use belljar::Sandboxes;
use tokio::sync::Semaphore;

use super::{
    answer::Refusal,
    session::{Session, SessionId},
};
use crate::{failure::messages, turns::Turns};

/// All sessions of a server. Cheap to clone.
#[derive(Clone)]
pub(super) struct Sessions(Arc<Shared>);

struct Shared {
    sandboxes: Sandboxes,
    places: Arc<Semaphore>,
    most: u32,
    idle: Duration,
    turns: Arc<Turns>,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    by_id: HashMap<SessionId, Arc<Session>>,
    /// How many there have been.
    count: u64,
    /// No other one is opened.
    ending: bool,
}

impl Sessions {
    pub(super) fn new(sandboxes: Sandboxes, most: NonZeroU32, idle: Duration) -> Self {
        Self(Arc::new(Shared {
            sandboxes,
            places: Arc::new(Semaphore::new(most.get() as usize)),
            most: most.get(),
            idle,
            turns: Arc::new(Turns::new()),
            open: Mutex::default(),
        }))
    }

    /// What the calls of all sessions wait for.
    pub(super) fn turns(&self) -> Arc<Turns> {
        Arc::clone(&self.0.turns)
    }

    pub(super) fn find(&self, id: &SessionId) -> Result<Arc<Session>, Refusal> {
        let open = self.0.open();
        open.by_id.get(id).cloned().ok_or(Refusal::NoSuchSession)
    }

    /// Opens a sandbox. It goes on when its client does not wait: then nobody knows the id, and it is closed as
    /// idle.
    pub(super) async fn open(&self) -> Result<Arc<Session>, Refusal> {
        let place = Arc::clone(&self.0.places)
            .try_acquire_owned()
            .map_err(|_| Refusal::Full)?;
        let sessions = self.clone();
        let opening = tokio::spawn(async move {
            let shared = Arc::clone(&sessions.0);
            let opened = tokio::task::spawn_blocking(move || shared.sandboxes.sandbox_ambient());
            let sandbox = opened
                .await
                .map_err(|error| Refusal::Internal(error.to_string()))?
                .map_err(|error| Refusal::NotOpened(messages(&error).join(": ")))?;
            let id = SessionId::random().map_err(|error| Refusal::Internal(error.to_string()))?;
            let session = {
                let mut open = sessions.0.open();
                if open.ending {
                    None
                } else {
                    open.count += 1;
                    let idle = sessions.0.idle;
                    let session = Session::new(id, open.count, sandbox.clone(), idle, place);
                    let session = Arc::new(session);
                    open.by_id.insert(session.id.clone(), Arc::clone(&session));
                    Some(session)
                }
            };
            let Some(session) = session else {
                // Whoever ends the server waits for its place, which goes with this task.
                let _ = sandbox.close().await;
                return Err(Refusal::Ending);
            };
            tracing::info!("session {} is open", session.number);
            tokio::spawn(sessions.close_unused(Arc::clone(&session)));
            Ok(session)
        });
        opening
            .await
            .map_err(|error| Refusal::Internal(error.to_string()))?
    }

    /// Closes a session when nobody has asked for it in a while.
    async fn close_unused(self, session: Arc<Session>) {
        tokio::select! {
            () = session.calls.context().cancellation().cancelled() => return,
            () = session.unused() => {}
        }
        tracing::info!("session {} was not asked for in a while", session.number);
        let id = session.id.clone();
        drop(session);
        // That it is gone already is no error.
        if let Ok(Err(error)) = self.close(&id).await {
            tracing::warn!("a session did not end in order: {error}");
        }
    }

    /// Ends a session: from now on nobody finds it, its calls are cancelled and its processes end. It goes on
    /// when nobody waits for it.
    pub(super) async fn close(
        &self,
        id: &SessionId,
    ) -> Result<Result<(), belljar::Error>, Refusal> {
        let found = self.0.open().by_id.remove(id);
        let session = found.ok_or(Refusal::NoSuchSession)?;
        let closing = tokio::spawn(async move {
            session.calls.context().cancellation().cancel();
            let closed = session.sandbox.close().await;
            // Before whoever asked for the end hears of it, and whoever else holds the session yet.
            session.leave();
            tracing::info!("session {} is closed", session.number);
            closed
        });
        closing
            .await
            .map_err(|error| Refusal::Internal(error.to_string()))
    }

    /// Ends every session, and gives up what stands ready for others.
    pub(super) async fn end(&self) -> Result<(), String> {
        let ids: Vec<SessionId> = {
            let mut open = self.0.open();
            open.ending = true;
            open.by_id.keys().cloned().collect()
        };
        let mut closing = tokio::task::JoinSet::new();
        for id in ids {
            let sessions = self.clone();
            closing.spawn(async move { sessions.close(&id).await });
        }
        let mut failed = Vec::new();
        while let Some(closed) = closing.join_next().await {
            if let Ok(Ok(Err(error))) = closed {
                failed.push(error.to_string());
            }
        }
        // Those that were about to open or to close have their places yet.
        let _all = self.0.places.acquire_many(self.0.most).await;
        self.0.sandboxes.close().await;
        match failed.as_slice() {
            [] => Ok(()),
            failed => Err(failed.join("; ")),
        }
    }
}

impl Shared {
    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
