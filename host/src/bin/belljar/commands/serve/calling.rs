//! A call of a tool: its turn, what it tells meanwhile, how it is cancelled, and its answer.

use std::{pin::pin, sync::Arc};

use belljar::{CallError, Context, LogLevel, Progress, Tool};
use rmcp::{
    ErrorData, RoleServer,
    model::{
        CallToolRequestParams, CallToolResult, LoggingLevel, LoggingMessageNotificationParam,
        ProgressNotificationParam,
    },
    service::RequestContext,
};
use tokio::sync::{Semaphore, mpsc};

use super::{describe, session::Session};

/// A call that a client made.
pub(super) struct Calling {
    session: Session,
    request: RequestContext<RoleServer>,
    /// Everything that the call does.
    context: Context,
    /// How far it has come, as last told.
    done: Option<u64>,
}

impl Calling {
    pub(super) fn new(session: Session, request: RequestContext<RoleServer>) -> Self {
        let context = session.context(&request.id);
        Self {
            session,
            request,
            context,
            done: None,
        }
    }

    /// Calls a tool. A call that is cancelled is waited for: until its processes have ended it takes its turn.
    pub(super) async fn call(
        mut self,
        tool: Tool,
        request: CallToolRequestParams,
        turns: &Semaphore,
    ) -> Result<CallToolResult, ErrorData> {
        let cancelled = self.request.ct.clone();
        let turn = tokio::select! {
            turn = turns.acquire() => turn,
            () = cancelled.cancelled() => return Err(stopped()),
            () = self.session.ended() => return Err(stopped()),
        };
        let _turn = turn.map_err(|_| stopped())?;
        let sandbox = self.session.sandbox().await?.within(self.context.clone());
        let arguments = serde_json::to_string(&request.arguments.unwrap_or_default())
            .map_err(|error| ErrorData::invalid_params(error.to_string(), None))?;
        // A call tells so much and no more: its limits count the lines.
        let (tell, mut told) = mpsc::unbounded_channel();
        let tool = tool.with_progress(Arc::new(move |progress| {
            // Who is not there any more is told nothing.
            let _ = tell.send(progress);
        }));
        let name = request.name;
        let answer = {
            let mut call = pin!(tool.call(&sandbox, &name, &arguments));
            let mut is_cancelled = false;
            loop {
                tokio::select! {
                    answer = &mut call => break answer,
                    () = cancelled.cancelled(), if !is_cancelled => {
                        is_cancelled = true;
                        self.context.cancellation().cancel();
                    }
                    Some(progress) = told.recv() => self.tell(progress).await,
                }
            }
        };
        while let Ok(progress) = told.try_recv() {
            self.tell(progress).await;
        }
        match answer {
            Ok(answer) => Ok(describe::answer(answer)),
            Err(error) => refusal(&error),
        }
    }

    /// Tells the client, unless the call is cancelled.
    async fn tell(&mut self, progress: Progress) {
        if let Progress::Report { done, .. } = &progress {
            // The protocol has it that progress grows.
            if self.done.is_some_and(|before| before >= *done) {
                return;
            }
            self.done = Some(*done);
        }
        let cancelled = self.request.ct.clone();
        tokio::select! {
            () = cancelled.cancelled() => {}
            () = self.session.ended() => {}
            () = self.notify(progress) => {}
        }
    }

    #[expect(
        deprecated,
        reason = "a revision after those that are served has no messages of logs; these have them"
    )]
    async fn notify(&self, progress: Progress) {
        let peer = &self.request.peer;
        // A client that is gone is noticed elsewhere.
        let _ = match progress {
            Progress::Report {
                done,
                total,
                message,
            } => {
                let Some(token) = self.request.meta.get_progress_token() else {
                    return;
                };
                let mut report = ProgressNotificationParam::new(token, number(done));
                report.total = total.map(number);
                report.message = Some(message).filter(|message| !message.is_empty());
                peer.notify_progress(report).await
            }
            Progress::Log { level, message } => {
                if !self.session.wants(level) {
                    return;
                }
                let level = match level {
                    LogLevel::Debug => LoggingLevel::Debug,
                    LogLevel::Info => LoggingLevel::Info,
                    LogLevel::Warn => LoggingLevel::Warning,
                    LogLevel::Error => LoggingLevel::Error,
                };
                let line = LoggingMessageNotificationParam::new(level, message.into());
                peer.notify_logging_message(line).await
            }
        };
    }
}

/// The protocol's numbers are JSON's, which are exact up to 2^53.
fn number(count: u64) -> f64 {
    count as f64
}

/// What a failed call is answered. What a model can mend, or must know, is a result; that includes arguments that
/// do not fit, since revision 2025-11-25.
fn refusal(error: &CallError) -> Result<CallToolResult, ErrorData> {
    let message = error.to_string();
    match error {
        CallError::UnknownTool { .. } => Err(ErrorData::invalid_params(message, None)),
        CallError::Host { .. } => Err(ErrorData::internal_error(message, None)),
        _ => Ok(describe::failed(message)),
    }
}

fn stopped() -> ErrorData {
    ErrorData::internal_error("the call was cancelled", None)
}
