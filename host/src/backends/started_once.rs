//! What a session starts at its first call: once for all calls that come at once, and never after its end.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use belljar_contract::{Cancellation, Context, Error, ErrorKind, Operation, Result, blocking};
use tokio::sync::OnceCell;

use super::{executor::Executor, resident::no_thread};

/// Something that is started at most once.
pub(super) struct StartedOnce<T> {
    /// What calls share; who waits here for a start leaves their thread alone.
    shared: OnceCell<Arc<T>>,
    /// The same, locked while it starts: on a thread that may block and that goes on when its caller has gone.
    place: Arc<Mutex<Option<Arc<T>>>>,
    /// The session's end.
    ending: Cancellation,
}

impl<T: Send + Sync + 'static> StartedOnce<T> {
    pub(super) fn new() -> Self {
        Self {
            shared: OnceCell::new(),
            place: Arc::default(),
            ending: Cancellation::default(),
        }
    }

    /// What was started; else starts it. `start` has a thread, and a context that ends with the call and with the
    /// session.
    ///
    /// # Errors
    /// `closed` when the session has ended, also when it ends meanwhile; else what `failed` makes of a failure.
    pub(super) async fn get<E: Send + 'static>(
        &self,
        context: &Context,
        operation: Operation,
        start: impl FnOnce(&Context) -> std::result::Result<T, E> + Send + 'static,
        failed: impl FnOnce(E) -> Error,
    ) -> Result<&Arc<T>> {
        let shared = self.shared.get_or_try_init(async || {
            self.check(operation)?;
            let (context, place) = (context.child(), Arc::clone(&self.place));
            let (starting, ending) = (context.cancellation().clone(), self.ending.clone());
            let _ends = self.ending.on_cancel(move || starting.cancel());
            let work = move || {
                let mut place = lock(&place);
                // Whoever started it is not there any more to share it.
                if let Some(started) = &*place {
                    return Some(Ok(Arc::clone(started)));
                }
                // Whoever ends the session has looked already, or looks when this is done.
                if ending.is_cancelled() {
                    return None;
                }
                let started = start(&context).map(Arc::new);
                *place = started.as_ref().ok().cloned();
                Some(started)
            };
            match blocking::run(&Executor, work).await {
                Some(Some(Ok(started))) => Ok(started),
                Some(Some(Err(error))) => {
                    self.check(operation)?;
                    Err(failed(error))
                }
                Some(None) => Err(closed(operation)),
                None => Err(no_thread(operation)),
            }
        });
        let shared = shared.await?;
        self.check(operation)?;
        Ok(shared)
    }

    /// Ends the session: stops a start that goes on, waits for that, and gives what is there to be ended.
    ///
    /// # Errors
    /// When there is no thread to wait on.
    pub(super) async fn close(&self) -> Result<Option<Arc<T>>> {
        self.ending.cancel();
        let place = Arc::clone(&self.place);
        let left = blocking::run(&Executor, move || lock(&place).clone()).await;
        left.ok_or_else(|| no_thread(Operation::Close))
    }

    fn check(&self, operation: Operation) -> Result<()> {
        match self.ending.is_cancelled() {
            true => Err(closed(operation)),
            false => Ok(()),
        }
    }
}

fn closed(operation: Operation) -> Error {
    Error::new(ErrorKind::Closed, operation, "the session is closed")
}

/// A start that panicked left nothing here.
fn lock<T>(place: &Mutex<Option<Arc<T>>>) -> MutexGuard<'_, Option<Arc<T>>> {
    place.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::{
        convert::Infallible,
        future::Future,
        pin::{Pin, pin},
        sync::mpsc::{Sender, channel},
        task::Poll,
    };

    use belljar_contract::{Stop, blocking::block_on};

    use super::*;

    fn fails<E>(_: E) -> Error {
        Error::new(ErrorKind::BackendFailed, Operation::Read, "it failed")
    }

    fn wait<F: Future>(future: F) -> F::Output {
        block_on(&Context::new(), future).expect("nobody stops it")
    }

    /// A start that says when it goes on, and ends only when it is stopped.
    fn stopped(began: Sender<()>) -> impl FnOnce(&Context) -> std::result::Result<u32, Stop> {
        move |context| {
            began.send(()).expect("somebody waits for it");
            let (tell, told) = channel();
            let _registration = context.cancellation().on_cancel(move || {
                let _ = tell.send(());
            });
            told.recv().expect("it is stopped");
            Err(Stop::Cancelled)
        }
    }

    /// Polls once on a thread that may not block, so that the work goes to another.
    fn begin<F: Future>(future: Pin<&mut F>) {
        let waker = std::task::Waker::noop();
        let polled = future.poll(&mut std::task::Context::from_waker(waker));
        assert!(polled.is_pending());
    }

    #[test]
    fn the_end_stops_a_start_that_goes_on() {
        let session = StartedOnce::new();
        let (began, begun) = channel();
        std::thread::scope(|scope| {
            let call = scope.spawn(|| {
                let context = Context::new();
                wait(session.get(&context, Operation::Read, stopped(began), fails)).cloned()
            });
            begun.recv().expect("it begins");
            assert_eq!(wait(session.close()).expect("it ends"), None);
            let error = call.join().expect("no panic").expect_err("it is closed");
            assert_eq!(error.kind, ErrorKind::Closed);
        });
    }

    #[test]
    fn the_end_gets_what_comes_to_be_in_the_middle_of_it() {
        let session = StartedOnce::new();
        let (began, begun) = channel();
        let (go, gone) = channel();
        let start = move |_: &Context| {
            began.send(()).expect("somebody waits for it");
            gone.recv().expect("somebody says so");
            Ok::<_, Infallible>(7)
        };
        let context = Context::new();
        // Its caller never looks again.
        let mut call = pin!(session.get(&context, Operation::Read, start, fails));
        begin(call.as_mut());
        begun.recv().expect("it begins");
        let mut close = pin!(session.close());
        begin(close.as_mut());
        go.send(()).expect("it waits");
        assert_eq!(wait(close).expect("it ends"), Some(Arc::new(7)));
        let error = wait(call).expect_err("it is closed");
        assert_eq!(error.kind, ErrorKind::Closed);
    }

    #[test]
    fn a_caller_that_goes_leaves_what_was_started_to_the_next() {
        let session = StartedOnce::new();
        let (began, begun) = channel();
        let (go, gone) = channel();
        let context = Context::new();
        {
            let start = move |_: &Context| {
                began.send(()).expect("somebody waits for it");
                gone.recv().expect("somebody says so");
                Ok::<_, Infallible>(7)
            };
            begin(pin!(session.get(&context, Operation::Read, start, fails)));
            begun.recv().expect("it begins");
        }
        go.send(()).expect("it waits");
        let again = |_: &Context| -> std::result::Result<u32, Infallible> {
            panic!("it is started twice");
        };
        let got = wait(session.get(&context, Operation::Read, again, fails));
        assert_eq!(**got.expect("it is there"), 7);
    }

    #[test]
    fn what_has_ended_is_not_started() {
        let session = StartedOnce::<u32>::new();
        assert_eq!(wait(session.close()).expect("it ends"), None);
        let never = |_: &Context| -> std::result::Result<u32, Infallible> {
            panic!("it is started");
        };
        let context = Context::new();
        let error = wait(session.get(&context, Operation::Stat, never, fails));
        assert_eq!(error.expect_err("it is closed").kind, ErrorKind::Closed);
    }

    #[test]
    fn what_failed_is_tried_again() {
        let session = StartedOnce::new();
        let context = Context::new();
        let fail = |_: &Context| Err::<u32, _>(Stop::TimedOut);
        let error = wait(session.get(&context, Operation::Read, fail, fails));
        assert_eq!(error.expect_err("no").kind, ErrorKind::BackendFailed);
        let start = |_: &Context| Ok::<u32, Stop>(7);
        let got = wait(session.get(&context, Operation::Read, start, fails));
        assert_eq!(**got.expect("it is there"), 7);
    }

    #[test]
    fn it_is_shared() {
        let session = StartedOnce::new();
        let context = Context::new();
        let start = |_: &Context| Ok::<u32, Stop>(7);
        wait(session.get(&context, Operation::Read, start, fails)).expect("it starts");
        let again = |_: &Context| -> std::result::Result<u32, Stop> { panic!("twice") };
        let mut second = pin!(session.get(&context, Operation::Read, again, fails));
        let waker = std::task::Waker::noop();
        let polled = second
            .as_mut()
            .poll(&mut std::task::Context::from_waker(waker));
        assert!(matches!(polled, Poll::Ready(Ok(seven)) if **seven == 7));
    }
}
