//! What is told to a client over HTTP, and the news that it reads no more.
//!
//! The protocol has it that a lost connection cancels nothing: the client may ask for the rest of a stream on
//! another one. One that does not within a few seconds is gone, and its calls are cancelled.

use std::{
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use futures_core::Stream;
use rmcp::{
    model::{RequestId, ServerJsonRpcMessage},
    transport::streamable_http_server::session::ServerSseMessage,
};
use tokio::{runtime::Handle, time::sleep};

use super::session::Session;

/// How long a client may take to ask for the rest of what it lost: it is told to after a second.
const GONE: Duration = Duration::from_secs(5);

type Messages = Pin<Box<dyn Stream<Item = ServerSseMessage> + Send + Sync>>;

/// Messages to a client, the answers of some requests among them.
pub(super) struct Watched {
    messages: Messages,
    session: Session,
    requests: Vec<RequestId>,
}

impl Watched {
    pub(super) fn new(
        messages: impl Stream<Item = ServerSseMessage> + Send + Sync + 'static,
        session: Session,
        requests: Vec<RequestId>,
    ) -> Self {
        Self {
            messages: Box::pin(messages),
            session,
            requests,
        }
    }

    /// One message, and nothing else.
    pub(super) fn one(message: ServerJsonRpcMessage, session: Session) -> Self {
        let message = ServerSseMessage::from_message(message);
        Self::new(One(Some(message)), session, Vec::new())
    }
}

impl Stream for Watched {
    type Item = ServerSseMessage;

    fn poll_next(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.messages.as_mut().poll_next(task)
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let lost = self.session.lose(std::mem::take(&mut self.requests));
        // Without a runtime everything has ended.
        let Ok(runtime) = Handle::try_current() else {
            return;
        };
        if lost.is_empty() {
            return;
        }
        let session = self.session.clone();
        runtime.spawn(async move {
            tokio::select! {
                () = sleep(GONE) => session.cancel_lost(&lost),
                () = session.ended() => {}
            }
        });
    }
}

struct One(Option<ServerSseMessage>);

impl Stream for One {
    type Item = ServerSseMessage;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Poll::Ready(self.0.take())
    }
}
