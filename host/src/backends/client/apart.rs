//! Waiting for a client, which may need its caller's runtime, and may never answer.

use belljar_contract::{Context, Stop, blocking::block_on};

/// Why there is no answer of a client.
#[derive(Debug)]
pub(super) enum Unanswered {
    /// Nobody waits for it any more.
    Stopped(Stop),
    /// There is no thread to wait on.
    NoThread(std::io::Error),
    /// It panicked.
    Gone,
}

/// Waits on another thread, and no longer than the context lasts: whoever waits for a program must be able to run one
/// that ends it, and a client may forget its context.
pub(super) async fn apart<T: Send + 'static>(
    context: &Context,
    asked: impl Future<Output = T> + Send + 'static,
) -> Result<T, Unanswered> {
    let (context, runtime) = (context.clone(), tokio::runtime::Handle::try_current().ok());
    let (answer, answered) = tokio::sync::oneshot::channel();
    let work = move || {
        let _runtime = runtime.as_ref().map(tokio::runtime::Handle::enter);
        // Nobody waits any more when it is not received.
        let _ = answer.send(block_on(&context, asked));
    };
    std::thread::Builder::new()
        .name("belljar-client".into())
        .spawn(work)
        .map_err(Unanswered::NoThread)?;
    let answer = answered.await.map_err(|_| Unanswered::Gone)?;
    answer.map_err(Unanswered::Stopped)
}
