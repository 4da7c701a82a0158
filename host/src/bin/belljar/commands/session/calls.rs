//! The calls that run: how many, under which ids, and how they are cancelled.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use belljar::{Context, Operation, Sandbox};
use serde_json::value::RawValue;

use super::message::{Answer, Cancel, Id, IdKey, Request, RpcError};
use crate::{
    methods::{self, result},
    turns::{Room, Turns},
};

/// Calls that run or wait for their turn.
const MAX_WAITING: usize = 4096;

/// The calls of a session. Cheap to clone.
#[derive(Clone)]
pub(super) struct Calls(Arc<Shared>);

struct Shared {
    sandbox: Sandbox,
    turns: Turns,
    accepted: AtomicUsize,
    by_id: Mutex<HashMap<IdKey, Context>>,
    /// The parent of every call that was accepted until now.
    all: Mutex<Context>,
}

impl Calls {
    pub(super) fn new(sandbox: Sandbox) -> Self {
        Self(Arc::new(Shared {
            all: Mutex::default(),
            sandbox,
            turns: Turns::new(),
            accepted: AtomicUsize::new(0),
            by_id: Mutex::default(),
        }))
    }

    /// Takes a request. What is to be known at once (its id, a cancellation) is done here, in the
    /// order of the lines; the rest in the future, which gives the answer, or none to a notification.
    ///
    /// In a batch, which is answered as a whole, an answer that there is no room for is left out: it could
    /// wait for those beside it.
    pub(super) fn accept(
        &self,
        request: Request,
        in_batch: bool,
    ) -> impl Future<Output = Option<(Answer, Room)>> + use<> {
        let Request { id, method, params } = request;
        let accepted = if matches!(method.as_str(), "$/cancel" | "session.cancel") {
            Accepted::Done(self.cancel(params.get()))
        } else {
            match self.register(id.as_ref(), &method) {
                Ok(call) => Accepted::Call(call),
                Err(error) => Accepted::Done(Err(error)),
            }
        };
        async move {
            let (result, room) = match accepted {
                Accepted::Done(done) => (done.and_then(|cancelled| Ok(result(&cancelled)?)), None),
                Accepted::Call(call) => call.run(params.get(), in_batch).await,
            };
            id.map(|id| (Answer::new(id, result), room))
        }
    }

    fn register(&self, id: Option<&Id>, method: &str) -> Result<Call, RpcError> {
        let operation = methods::operation(method)?;
        // A null id names nothing, and may be used by several.
        let key = id.map(Id::key).filter(|key| *key != IdKey::Null);
        let mut by_id = lock(&self.0.by_id);
        if key.as_ref().is_some_and(|key| by_id.contains_key(key)) {
            return Err(RpcError::invalid_request(
                "id: a request with this id is not answered yet",
            ));
        }
        if self.0.accepted.load(Ordering::Acquire) >= MAX_WAITING {
            return Err(RpcError::busy());
        }
        let context = lock(&self.0.all).child();
        if let Some(key) = &key {
            by_id.insert(key.clone(), context.clone());
        }
        self.0.accepted.fetch_add(1, Ordering::AcqRel);
        Ok(Call {
            shared: Arc::clone(&self.0),
            operation,
            key,
            context,
        })
    }

    /// Cancels a call by its id; says whether there was one.
    fn cancel(&self, params: &str) -> Result<bool, RpcError> {
        let Cancel { id } = methods::parse(params)?;
        let id = Id::parse(&id)
            .ok_or_else(|| RpcError::invalid_params("params.id: neither text nor a number"))?;
        let found = lock(&self.0.by_id).get(&id.key()).cloned();
        if let Some(context) = &found {
            context.cancellation().cancel();
        }
        Ok(found.is_some())
    }

    /// Cancels every call that was accepted until now.
    pub(super) fn cancel_all(&self) {
        self.0.cancel_all();
    }

    /// Ends the session.
    pub(super) async fn close(&self) -> Result<(), belljar::Error> {
        self.0.sandbox.close().await
    }
}

impl Shared {
    fn cancel_all(&self) {
        let before = std::mem::take(&mut *lock(&self.all));
        before.cancellation().cancel();
    }
}

type Answered = Result<Box<RawValue>, RpcError>;

enum Accepted {
    Done(Result<bool, RpcError>),
    Call(Call),
}

/// A call that was accepted; its id is free again when it is dropped.
struct Call {
    shared: Arc<Shared>,
    operation: Operation,
    key: Option<IdKey>,
    context: Context,
}

impl Call {
    async fn run(self, params: &str, in_batch: bool) -> (Answered, Room) {
        let sandbox = self.shared.sandbox.within(self.context.clone());
        if self.operation == Operation::Close {
            // It waits for no turn, and what runs ends with the session.
            self.shared.cancel_all();
            let closed = methods::call(&sandbox, self.operation, params).await;
            return (closed.map_err(RpcError::from), None);
        }
        let turns = &self.shared.turns;
        let turn = turns
            .turn(self.operation, self.context.cancellation())
            .await;
        let value = match methods::call(&sandbox, self.operation, params).await {
            Ok(value) => value,
            Err(error) => return (Err(error.into()), None),
        };
        let bytes = value.get().len();
        let room = match in_batch {
            true => turns.room_now(bytes),
            false => turns.room(bytes).await,
        };
        drop(turn);
        match room {
            Ok(room) => (Ok(value), room),
            Err(_) => (Err(RpcError::busy()), None),
        }
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        if let Some(key) = &self.key {
            lock(&self.shared.by_id).remove(key);
        }
        self.shared.accepted.fetch_sub(1, Ordering::AcqRel);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
