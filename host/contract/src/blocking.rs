//! Work that occupies its thread, and a thread that waits for a future.
//!
//! A guest runs on a thread of its own, which may block: the engine then works right there, without
//! a hop to another thread. Everywhere else the same work must leave the async
//! executor alone. [`run`] tells the two apart, so that a backend need not.

use std::{
    cell::Cell,
    future::Future,
    pin::pin,
    sync::Arc,
    task::{Poll, Wake, Waker},
    thread::Thread,
    time::Duration,
};

use crate::context::{Context, Stop};

thread_local! {
    static MAY_BLOCK: Cell<bool> = const { Cell::new(false) };
    /// Wakes this thread; made once, as a call from a guest may wait very often.
    static UNPARK: Waker = Waker::from(Arc::new(Unpark(std::thread::current())));
}

/// Moves work to a thread that may block; what an executor offers for it (`spawn_blocking`).
pub trait Offload: Send + Sync {
    /// Runs the work on a thread that may block. It must run, or be dropped, soon.
    fn offload(&self, work: Box<dyn FnOnce() + Send>);
}

/// Offloads to a new thread for each work: correct everywhere, and slow.
#[derive(Clone, Copy, Debug, Default)]
pub struct SpawnThread;

impl Offload for SpawnThread {
    fn offload(&self, work: Box<dyn FnOnce() + Send>) {
        // Without a thread the work is dropped, and `run` says so.
        let _ = std::thread::Builder::new()
            .name("belljar-blocking".into())
            .spawn(work);
    }
}

/// Runs `work` here when this thread may block, else through `offload`.
/// `None` when the work was dropped before it was done.
pub async fn run<T: Send + 'static>(
    offload: &dyn Offload,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    if MAY_BLOCK.get() {
        return Some(work());
    }
    let slot = Arc::new(Slot::new());
    let fill = Fill(Arc::clone(&slot));
    offload.offload(Box::new(move || {
        let value = may_block(work);
        fill.0.fill(value);
    }));
    std::future::poll_fn(move |task| slot.poll(task.waker())).await
}

/// Runs `work` with this thread marked as one that may block.
pub fn may_block<T>(work: impl FnOnce() -> T) -> T {
    struct Restore(bool);
    impl Drop for Restore {
        fn drop(&mut self) {
            MAY_BLOCK.set(self.0);
        }
    }
    let _restore = Restore(MAY_BLOCK.replace(true));
    work()
}

/// How long after its deadline a call that does not end by itself is given up.
pub const DEADLINE_GRACE: Duration = Duration::from_millis(150);
/// How long after a cancellation a call that does not end by itself is given up: the time that a
/// process has to end, and some more for its output to come back.
pub const CANCEL_GRACE: Duration = Duration::from_millis(1000);

/// Waits on this thread, which is marked as one that may block, until `future` is done, or until the
/// context has stopped for longer than the grace above.
///
/// # Errors
/// [`Stop`] when the future was given up.
pub fn block_on<F: Future>(context: &Context, future: F) -> Result<F::Output, Stop> {
    may_block(|| {
        let mut future = pin!(future);
        let waker = UNPARK.with(Waker::clone);
        let mut task = std::task::Context::from_waker(&waker);
        // A future that is ready at once, as the engine's are, pays for nothing below.
        if let Poll::Ready(output) = future.as_mut().poll(&mut task) {
            return Ok(output);
        }
        let unpark = waker.clone();
        let _registration = context.cancellation().on_cancel(move || unpark.wake());
        let mut give_up: Option<(Stop, Duration)> = None;
        loop {
            if let Poll::Ready(output) = future.as_mut().poll(&mut task) {
                return Ok(output);
            }
            let now = context.now();
            if give_up.is_none()
                && let Err(stop) = context.check()
            {
                give_up = Some((stop, now + stop.grace()));
            }
            match give_up {
                Some((stop, at)) if now >= at => return Err(stop),
                Some((_, at)) => std::thread::park_timeout(at - now),
                None => match context.remaining() {
                    Some(remaining) => std::thread::park_timeout(remaining),
                    None => std::thread::park(),
                },
            }
        }
    })
}

impl Stop {
    const fn grace(self) -> Duration {
        match self {
            Self::TimedOut => DEADLINE_GRACE,
            Self::Cancelled => CANCEL_GRACE,
        }
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.unpark();
    }
}

/// A value that one thread gives to one task.
struct Slot<T>(std::sync::Mutex<State<T>>);

enum State<T> {
    Empty(Option<Waker>),
    Full(T),
    Abandoned,
}

impl<T> Slot<T> {
    const fn new() -> Self {
        Self(std::sync::Mutex::new(State::Empty(None)))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State<T>> {
        self.0
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn set(&self, state: State<T>) {
        let before = std::mem::replace(&mut *self.lock(), state);
        if let State::Empty(Some(waker)) = before {
            waker.wake();
        }
    }

    fn fill(&self, value: T) {
        self.set(State::Full(value));
    }

    fn poll(&self, waker: &Waker) -> Poll<Option<T>> {
        let mut state = self.lock();
        match std::mem::replace(&mut *state, State::Abandoned) {
            State::Full(value) => Poll::Ready(Some(value)),
            State::Abandoned => Poll::Ready(None),
            State::Empty(_) => {
                *state = State::Empty(Some(waker.clone()));
                Poll::Pending
            }
        }
    }
}

/// The filling end: says so when it goes away unfilled.
struct Fill<T>(Arc<Slot<T>>);

impl<T> Drop for Fill<T> {
    fn drop(&mut self) {
        if matches!(*self.0.lock(), State::Empty(_)) {
            self.0.set(State::Abandoned);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_runs_here_when_it_may_and_elsewhere_when_not() {
        let here = std::thread::current().id();
        let id = || std::thread::current().id();
        let inline = block_on(&Context::new(), run(&SpawnThread, id));
        assert_eq!(inline, Ok(Some(here)));
        // Polled outside `block_on`, the same work goes elsewhere.
        let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
        let mut future = pin!(run(&SpawnThread, id));
        let elsewhere = loop {
            match future
                .as_mut()
                .poll(&mut std::task::Context::from_waker(&waker))
            {
                Poll::Ready(id) => break id,
                Poll::Pending => std::thread::park(),
            }
        };
        assert!(elsewhere.is_some_and(|id| id != here));
    }

    #[test]
    fn a_future_that_ignores_its_deadline_is_given_up() {
        let context = Context::new().with_timeout(Duration::from_millis(10));
        assert_eq!(
            block_on(&context, std::future::pending::<()>()),
            Err(Stop::TimedOut)
        );
    }

    #[test]
    fn dropped_work_is_told() {
        struct Drops;
        impl Offload for Drops {
            fn offload(&self, work: Box<dyn FnOnce() + Send>) {
                drop(work);
            }
        }
        let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
        let mut future = pin!(run(&Drops, || ()));
        let answer = future
            .as_mut()
            .poll(&mut std::task::Context::from_waker(&waker));
        assert_eq!(answer, Poll::Ready(None));
    }
}
