//! A sandbox that is lent.

use std::{
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use belljar::{Context, Sandbox};
use rustix::rand::{GetRandomFlags, getrandom};
use serde_json::{Value, json};
use tokio::{sync::OwnedSemaphorePermit, time::sleep};

use super::calls::Calls;

/// What finds a session: 128 random bits. Nobody guesses it, and the token is asked for all the same.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct SessionId(String);

impl SessionId {
    pub(super) fn random() -> std::io::Result<Self> {
        use fmt::Write as _;
        let mut bytes = [0; 16];
        // So few bytes come at once, or not at all.
        if getrandom(&mut bytes, GetRandomFlags::empty())? != bytes.len() {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        let mut text = String::new();
        for byte in bytes {
            // A text takes all that is written to it.
            let _ = write!(text, "{byte:02x}");
        }
        Ok(Self(text))
    }

    /// An id as a client names it, whether there is such a session or not.
    pub(super) const fn named(text: String) -> Self {
        Self(text)
    }
}

/// An open session.
pub(super) struct Session {
    pub(super) id: SessionId,
    /// What logs call it: the id is not for them.
    pub(super) number: u64,
    pub(super) sandbox: Sandbox,
    pub(super) calls: Calls,
    idle: Duration,
    callers: AtomicU64,
    used: Mutex<Used>,
    /// One of so many that may be open, until its sandbox is closed.
    place: Mutex<Option<OwnedSemaphorePermit>>,
}

/// When a session was asked for.
struct Used {
    now: usize,
    last: Duration,
}

impl Session {
    pub(super) fn new(
        id: SessionId,
        number: u64,
        sandbox: Sandbox,
        idle: Duration,
        place: OwnedSemaphorePermit,
    ) -> Self {
        let context = Context::new();
        Self {
            id,
            number,
            sandbox,
            idle,
            callers: AtomicU64::new(0),
            used: Mutex::new(Used {
                now: 0,
                last: context.now(),
            }),
            calls: Calls::new(context),
            place: Mutex::new(Some(place)),
        }
    }

    /// Leaves its place to another: its sandbox is closed.
    pub(super) fn leave(&self) {
        let mut place = self.place.lock().unwrap_or_else(PoisonError::into_inner);
        drop(place.take());
    }

    /// What a client is told of it.
    pub(super) fn told(&self) -> Value {
        let caller = self.callers.fetch_add(1, Ordering::Relaxed);
        json!({
            "session": self.id.0,
            "description": *self.sandbox.describe(),
            "idle": u64::try_from(self.idle.as_millis()).unwrap_or(u64::MAX),
            "caller": format!("c{caller}"),
        })
    }

    /// Keeps the session from being closed as idle until what this gives is dropped, and for a while after that.
    pub(super) fn in_use(self: &Arc<Self>) -> InUse {
        self.used().now += 1;
        InUse(Arc::clone(self))
    }

    /// Waits until nobody has asked for it in a while.
    pub(super) async fn unused(&self) {
        loop {
            let left = {
                let used = self.used();
                let since = self.calls.context().now().saturating_sub(used.last);
                match used.now {
                    0 => self.idle.saturating_sub(since),
                    _ => self.idle,
                }
            };
            if left.is_zero() {
                return;
            }
            sleep(left).await;
        }
    }

    fn used(&self) -> MutexGuard<'_, Used> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A session that is asked for.
pub(super) struct InUse(Arc<Session>);

impl Drop for InUse {
    fn drop(&mut self) {
        let now = self.0.calls.context().now();
        let mut used = self.0.used();
        used.now -= 1;
        used.last = now;
    }
}
