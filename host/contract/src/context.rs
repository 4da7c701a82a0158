//! What bounds a call: its cancellation and its deadline.

use std::{
    collections::BTreeMap,
    future::poll_fn,
    sync::{
        Arc, LazyLock, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicBool, Ordering},
    },
    task::Poll,
    time::{Duration, Instant},
};

use crate::{
    error::{Error, ErrorKind},
    request::Operation,
};

/// How long a process has between SIGTERM and SIGKILL after a cancellation and at the end of its session.
pub const KILL_GRACE: Duration = Duration::from_millis(500);

/// Why a call must stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stop {
    /// Its caller cancelled it.
    #[error("the call was cancelled")]
    Cancelled,
    /// Its deadline passed.
    #[error("the call's time limit passed")]
    TimedOut,
}

impl Stop {
    /// The contract's error for it.
    #[must_use]
    pub fn during(self, operation: Operation) -> Error {
        let kind = match self {
            Self::Cancelled => ErrorKind::Cancelled,
            Self::TimedOut => ErrorKind::TimedOut,
        };
        Error::new(kind, operation, self.to_string())
    }
}

/// A call's cancellation and deadline: cheap to clone, passed down to everything that works
/// for the call.
///
/// ```
/// use std::time::Duration;
/// use belljar_contract::{Context, Stop};
///
/// let call = Context::new().with_timeout(Duration::from_secs(30));
/// let step = call.child();
/// step.cancellation().cancel();
/// assert_eq!(step.check(), Err(Stop::Cancelled));
/// assert_eq!(call.check(), Ok(()));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Context {
    cancellation: Cancellation,
    /// Since [`start`].
    deadline: Option<Duration>,
}

/// The moment that every [`Context::now`] of this process counts from.
#[expect(clippy::disallowed_methods, reason = "this is where time enters")]
static START: LazyLock<Instant> = LazyLock::new(Instant::now);

impl Context {
    /// Makes a context that nobody has cancelled, without a deadline.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes a context for a part of this call: cancelled with it, and never the other way.
    #[must_use]
    pub fn child(&self) -> Self {
        Self {
            cancellation: self.cancellation.child(),
            deadline: self.deadline,
        }
    }

    /// The same call, ended at the latest after `timeout`.
    #[must_use]
    pub fn with_timeout(&self, timeout: Duration) -> Self {
        let asked = self.now().saturating_add(timeout);
        let deadline = self.deadline.map_or(asked, |deadline| deadline.min(asked));
        Self {
            cancellation: self.cancellation.clone(),
            deadline: Some(deadline),
        }
    }

    /// The call's cancellation.
    #[must_use]
    pub const fn cancellation(&self) -> &Cancellation {
        &self.cancellation
    }

    /// Monotonic time.
    #[must_use]
    pub fn now(&self) -> Duration {
        START.elapsed()
    }

    /// The time left; none without a deadline.
    #[must_use]
    pub fn remaining(&self) -> Option<Duration> {
        self.deadline
            .map(|deadline| deadline.saturating_sub(self.now()))
    }

    /// Says whether the call may go on.
    ///
    /// # Errors
    /// [`Stop`] when it may not.
    pub fn check(&self) -> Result<(), Stop> {
        if self.cancellation.is_cancelled() {
            Err(Stop::Cancelled)
        } else if self.remaining() == Some(Duration::ZERO) {
            Err(Stop::TimedOut)
        } else {
            Ok(())
        }
    }
}

/// A switch that goes one way: cancelled, and with it every child.
#[derive(Clone, Debug, Default)]
pub struct Cancellation(Arc<Inner>);

#[derive(Default)]
struct Inner {
    cancelled: AtomicBool,
    waiting: Mutex<Waiting>,
    /// Keeps a child registered with its parent while the child lives.
    _parent: Option<Registration>,
}

#[derive(Default)]
struct Waiting {
    next: u64,
    callbacks: BTreeMap<u64, Box<dyn FnOnce() + Send>>,
}

impl Inner {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn cancel(&self) {
        let callbacks = {
            let mut waiting = self.waiting();
            self.cancelled.store(true, Ordering::Release);
            std::mem::take(&mut waiting.callbacks)
        };
        for callback in callbacks.into_values() {
            callback();
        }
    }
}

impl std::fmt::Debug for Inner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Inner").field(&self.cancelled).finish()
    }
}

impl Cancellation {
    /// Cancels, once; the callbacks run on this thread.
    pub fn cancel(&self) {
        self.0.cancel();
    }

    /// Whether it was cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.cancelled.load(Ordering::Acquire)
    }

    /// Makes a cancellation that is cancelled with this one, and never the other way.
    #[must_use]
    pub fn child(&self) -> Self {
        let inner = Arc::new_cyclic(|child: &Weak<Inner>| {
            let child = child.clone();
            let parent = self.on_cancel(move || {
                if let Some(child) = child.upgrade() {
                    child.cancel();
                }
            });
            Inner {
                _parent: Some(parent),
                ..Inner::default()
            }
        });
        // A parent that was cancelled already called back before there was a child to tell.
        if self.is_cancelled() {
            inner.cancel();
        }
        Self(inner)
    }

    /// Calls `callback` when it is cancelled, or at once when it was; never after the registration is dropped.
    #[must_use = "the callback is forgotten when the registration is dropped"]
    pub fn on_cancel(&self, callback: impl FnOnce() + Send + 'static) -> Registration {
        let mut waiting = self.0.waiting();
        if self.is_cancelled() {
            drop(waiting);
            callback();
            return Registration {
                of: Weak::new(),
                id: 0,
            };
        }
        let id = waiting.next;
        waiting.next += 1;
        waiting.callbacks.insert(id, Box::new(callback));
        Registration {
            of: Arc::downgrade(&self.0),
            id,
        }
    }

    /// Waits until it is cancelled.
    pub async fn cancelled(&self) {
        let mut registration = None;
        poll_fn(|task| {
            if self.is_cancelled() {
                return Poll::Ready(());
            }
            let waker = task.waker().clone();
            registration = Some(self.on_cancel(move || waker.wake()));
            if self.is_cancelled() {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        })
        .await;
    }
}

/// Keeps a callback registered while it lives.
#[derive(Debug)]
pub struct Registration {
    of: Weak<Inner>,
    id: u64,
}

impl Drop for Registration {
    fn drop(&mut self) {
        if let Some(of) = self.of.upgrade() {
            let callback = of.waiting().callbacks.remove(&self.id);
            drop(callback);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU32;

    use super::*;

    #[test]
    fn a_child_follows_its_parent_and_never_the_other_way() {
        let parent = Cancellation::default();
        let (one, two) = (parent.child(), parent.child());
        one.cancel();
        assert!(one.is_cancelled() && !two.is_cancelled() && !parent.is_cancelled());
        parent.cancel();
        assert!(two.is_cancelled());
        assert!(parent.child().is_cancelled());
    }

    #[test]
    fn a_callback_runs_once_and_not_after_its_registration() {
        let count = Arc::new(AtomicU32::new(0));
        let add = |count: &Arc<AtomicU32>| {
            let count = Arc::clone(count);
            move || {
                count.fetch_add(1, Ordering::Relaxed);
            }
        };
        let cancellation = Cancellation::default();
        drop(cancellation.on_cancel(add(&count)));
        let _kept = cancellation.on_cancel(add(&count));
        cancellation.cancel();
        cancellation.cancel();
        let _late = cancellation.on_cancel(add(&count));
        assert_eq!(count.load(Ordering::Relaxed), 2);
    }

    #[test]
    fn the_nearer_deadline_holds() {
        let context = Context::new().with_timeout(Duration::from_secs(1));
        let longer = context.with_timeout(Duration::from_secs(60));
        assert!(
            longer
                .remaining()
                .is_some_and(|left| left <= Duration::from_secs(1))
        );
        assert_eq!(
            context.with_timeout(Duration::ZERO).check(),
            Err(Stop::TimedOut)
        );
    }
}
