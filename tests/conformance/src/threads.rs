//! Threads as futures: work at the same time, and waiting, without an async runtime.

use std::{
    future::{Future, poll_fn},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, PoisonError},
    task::{Poll, Waker},
    time::Duration,
};

use crate::check::Failure;

struct Shared<T> {
    value: Option<Result<T, Failure>>,
    waker: Option<Waker>,
}

/// Runs `work` on a new thread from now on; the future is its result, and a panic a failure.
pub(crate) fn spawn<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> impl Future<Output = Result<T, Failure>> + Send {
    let shared = Arc::new(Mutex::new(Shared {
        value: None,
        waker: None,
    }));
    let filled = Arc::clone(&shared);
    let spawned = std::thread::Builder::new()
        .name("belljar-conformance".into())
        .spawn(move || {
            let value = catch_unwind(AssertUnwindSafe(work))
                .unwrap_or_else(|panic| Err(Failure::wrong(panicked(panic.as_ref()))));
            let mut filled = filled.lock().unwrap_or_else(PoisonError::into_inner);
            filled.value = Some(value);
            if let Some(waker) = filled.waker.take() {
                waker.wake();
            }
        })
        .map(drop)
        .map_err(|error| Failure::unmet(format!("no thread: {error}")));
    let mut failed = spawned.err();
    poll_fn(move |task| {
        if let Some(failure) = failed.take() {
            return Poll::Ready(Err(failure));
        }
        let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
        match shared.value.take() {
            Some(value) => Poll::Ready(value),
            None => {
                shared.waker = Some(task.waker().clone());
                Poll::Pending
            }
        }
    })
}

/// Waits without occupying the executor.
pub(crate) async fn delay(duration: Duration) -> Result<(), Failure> {
    spawn(move || {
        std::thread::sleep(duration);
        Ok(())
    })
    .await
}

/// What a panic said.
pub(crate) fn panicked(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("panicked: {}", text.unwrap_or("without a text"))
}
