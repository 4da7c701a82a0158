//! One client on standard input and output.

use std::{io, pin::Pin, sync::Arc, time::Duration};

use belljar::Sandboxes;
use rmcp::{
    RoleServer, ServiceExt as _,
    model::{
        ClientJsonRpcMessage, ClientNotification, ClientRequest, ErrorData, GetExtensions as _,
        JsonRpcMessage, ServerJsonRpcMessage,
    },
    service::ServerInitializeError,
    transport::Transport,
};
use tokio::{
    sync::{OwnedSemaphorePermit, mpsc, oneshot},
    time::{Sleep, sleep, timeout},
};

use super::{handler::Handler, message, session::Session};
use crate::{
    exit_code::Exit,
    failure::Failure,
    interrupt::Interrupt,
    stdio::{
        answers::Answers,
        lines::{self, Line, MAX_LINE_BYTES},
    },
};

/// How long calls go on after the end of standard input: a client that sends its requests and closes
/// gets its answers, and one that has died is not outlived for long.
const LAST_WORDS: Duration = Duration::from_millis(300);
/// How long everything may take to end, with which all stays under the two seconds that a client may wait for.
const ENDING: Duration = Duration::from_millis(1300);
/// How long the last answers may take to be read.
const FLUSHING: Duration = Duration::from_millis(200);

/// Serves until standard input ends, nobody reads the answers, a signal comes, or the tools fail to load.
pub(super) async fn serve(
    handler: Handler,
    sandboxes: Arc<Sandboxes>,
    failed: oneshot::Receiver<Failure>,
    interrupt: &Interrupt,
) -> Result<Exit, Failure> {
    let session = Session::new(sandboxes, None);
    let (answers, written) = Answers::start()?;
    let transport = Lines {
        lines: lines::read_stdin()?,
        answers,
        session: session.clone(),
        is_begun: false,
        last_words: None,
    };
    let serving = async {
        match handler.serve(transport).await {
            Ok(service) => {
                // It says why it ended, which is known here.
                let _ = service.waiting().await;
                Ok(())
            }
            Err(ServerInitializeError::InitializeFailed(error)) => {
                Err(Failure::new(Exit::NotOpened, error.message))
            }
            // The client left before it said anything.
            Err(_) => Ok(()),
        }
    };
    let mut serving = Some(Box::pin(serving));
    let served = async {
        match &mut serving {
            Some(serving) => serving.await,
            None => Ok(()),
        }
    };
    let exit = tokio::select! {
        served = served => {
            serving = None;
            served.map(|()| Exit::Done)
        }
        () = session.ended() => Ok(Exit::Done),
        () = interrupt.heard() => Ok(interrupt.signal().map_or(Exit::Done, Exit::Signalled)),
        Ok(failure) = failed => {
            // Who waits for the tools is told why there are none.
            let _ = timeout(FLUSHING, session.answered()).await;
            Err(failure)
        }
    };
    session.cancel();
    // What was cancelled is still answered, while the sandbox closes.
    let rest = async {
        if let Some(serving) = serving {
            let _ = timeout(ENDING, serving).await;
        }
    };
    let (closed, ()) = tokio::join!(session.close(), rest);
    let _ = timeout(FLUSHING, written).await;
    let exit = exit?;
    closed.map_err(|reason| {
        Failure::new(Exit::Host, format!("the sandbox is not closed: {reason}"))
    })?;
    Ok(exit)
}

/// Messages, a line each.
struct Lines {
    lines: mpsc::Receiver<Line>,
    answers: Answers,
    session: Session,
    /// The client has sent `initialize`.
    is_begun: bool,
    /// Since the end of the input.
    last_words: Option<Pin<Box<Sleep>>>,
}

impl Transport<RoleServer> for Lines {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        let (answers, session) = (self.answers.clone(), self.session.clone());
        async move {
            answers.send(&message).await;
            let id = match message {
                JsonRpcMessage::Response(response) => Some(response.id),
                JsonRpcMessage::Error(error) => error.id,
                _ => None,
            };
            if let Some(id) = id {
                session.forget(&id);
            }
            Ok(())
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        while self.last_words.is_none() {
            tokio::select! {
                line = self.lines.recv() => match line {
                    Some(Line::Whole(line, held)) => {
                        if let Some(message) = self.take(line.trim_ascii(), held) {
                            return Some(message);
                        }
                    }
                    Some(Line::TooLong) => {
                        let text = format!("the line is over {MAX_LINE_BYTES} bytes");
                        self.answer(ServerJsonRpcMessage::error(ErrorData::parse_error(text, None), None));
                    }
                    None => self.last_words = Some(Box::pin(sleep(LAST_WORDS))),
                },
                () = self.answers.reader_gone() => {
                    self.session.cancel();
                    return None;
                }
                () = self.session.ended() => return None,
            }
        }
        // This future may be dropped and made anew meanwhile; the time goes on.
        if let Some(last_words) = &mut self.last_words {
            tokio::select! {
                () = last_words => {}
                () = self.session.answered() => {}
            }
        }
        self.session.cancel();
        None
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        Ok(())
    }
}

impl Lines {
    /// Takes a line: a message for the handler, or what is answered here.
    fn take(&mut self, line: &[u8], held: OwnedSemaphorePermit) -> Option<ClientJsonRpcMessage> {
        if line.is_empty() {
            return None;
        }
        let mut message = match message::parse(line) {
            Ok(message) => message?,
            Err(refused) => {
                self.answer(*refused);
                return None;
            }
        };
        let session = self.session.clone();
        match &mut message {
            JsonRpcMessage::Request(request) => {
                let begins = matches!(request.request, ClientRequest::InitializeRequest(_));
                let id = &request.id;
                let refused = if self.is_begun || begins || may_come_first(&request.request) {
                    session
                        .accept(id, Some(held))
                        .map_err(|refused| refused.answer(id))
                } else {
                    let error = first(request.request.method());
                    Err(ServerJsonRpcMessage::error(error, Some(id.clone())))
                };
                if let Err(answer) = refused {
                    self.answer(answer);
                    return None;
                }
                self.is_begun |= begins;
                request.request.extensions_mut().insert(session);
            }
            JsonRpcMessage::Notification(notification) if self.is_begun => {
                if let ClientNotification::CancelledNotification(cancelled) =
                    &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    session.forget(id);
                }
                notification.notification.extensions_mut().insert(session);
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) if self.is_begun => {}
            _ => return None,
        }
        Some(message)
    }

    fn answer(&self, message: ServerJsonRpcMessage) {
        let answers = self.answers.clone();
        tokio::spawn(async move { answers.send(&message).await });
    }
}

/// What the protocol allows before `initialize`.
const fn may_come_first(request: &ClientRequest) -> bool {
    matches!(
        request,
        ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_)
    )
}

fn first(method: &str) -> ErrorData {
    match method {
        "initialize" => ErrorData::invalid_params("these are no parameters of initialize", None),
        _ => ErrorData::invalid_request("the session is not initialized: send initialize", None),
    }
}
