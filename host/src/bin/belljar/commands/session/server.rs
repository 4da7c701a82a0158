//! The loop between standard input and standard output, and how it ends.

use std::time::Duration;

use belljar::Sandbox;
use tokio::{
    sync::{OwnedSemaphorePermit, oneshot},
    task::JoinSet,
    time::timeout,
};

use super::{
    calls::Calls,
    message::{self, Answer, Message, RpcError},
};
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
/// How long everything may take to end: processes have 500 ms between SIGTERM and SIGKILL.
/// With the above it stays under the two seconds that a client may wait for.
const ENDING: Duration = Duration::from_millis(1300);
/// How long the last answers may take to be read.
const FLUSHING: Duration = Duration::from_millis(200);

/// Serves until standard input ends, nobody reads the answers, or a signal comes.
pub(super) async fn serve(sandbox: Sandbox, interrupt: &Interrupt) -> Result<Exit, Failure> {
    let (answers, written) = Answers::start()?;
    let mut server = Server {
        calls: Calls::new(sandbox),
        tasks: JoinSet::new(),
        answers,
    };
    let mut lines = lines::read_stdin()?;
    let exit = loop {
        tokio::select! {
            line = lines.recv() => match line {
                Some(Line::Whole(line, held)) => server.take(&line, held),
                Some(Line::TooLong) => {
                    let message = format!("the line is over {MAX_LINE_BYTES} bytes");
                    server.answer(Answer::nobody(RpcError::parse(message)), None);
                }
                None => {
                    let _ = timeout(LAST_WORDS, server.finish()).await;
                    break Exit::Done;
                }
            },
            Some(_) = server.tasks.join_next() => {}
            () = server.answers.reader_gone() => break Exit::Done,
            () = interrupt.heard() => {
                break interrupt.signal().map_or(Exit::Done, Exit::Signalled);
            }
        }
    };
    server.end(written).await?;
    Ok(exit)
}

struct Server {
    calls: Calls,
    tasks: JoinSet<()>,
    answers: Answers,
}

impl Server {
    /// Takes a line, and starts its calls. The memory that the line takes is held until they are done.
    fn take(&mut self, line: &[u8], held: OwnedSemaphorePermit) {
        if line.trim_ascii().is_empty() {
            return;
        }
        let answers = self.answers.clone();
        match message::parse(line) {
            Message::One(Err(refused)) => self.answer(refused, Some(held)),
            Message::One(Ok(request)) => {
                let call = self.calls.accept(request, false);
                self.tasks.spawn(async move {
                    if let Some((answer, room)) = call.await {
                        answers.send(&answer).await;
                        drop(room);
                    }
                    drop(held);
                });
            }
            Message::Batch(batch) => {
                let mut calls = JoinSet::new();
                let mut answered = Vec::new();
                for request in batch {
                    match request {
                        Ok(request) => {
                            calls.spawn(self.calls.accept(request, true));
                        }
                        Err(refused) => answered.push(refused),
                    }
                }
                self.tasks.spawn(async move {
                    let mut rooms = Vec::new();
                    while let Some(answer) = calls.join_next().await {
                        if let Some((answer, room)) = answer.ok().flatten() {
                            answered.push(answer);
                            rooms.push(room);
                        }
                    }
                    // A batch of notifications has no answer.
                    if !answered.is_empty() {
                        answers.send(&answered).await;
                    }
                    drop((held, rooms));
                });
            }
        }
    }

    /// Answers what is no request; also such a line takes its memory until this is written.
    fn answer(&mut self, answer: Answer, held: Option<OwnedSemaphorePermit>) {
        let answers = self.answers.clone();
        self.tasks.spawn(async move {
            answers.send(&answer).await;
            drop(held);
        });
    }

    /// Waits until every call is answered.
    async fn finish(&mut self) {
        while self.tasks.join_next().await.is_some() {}
    }

    /// Cancels what runs and ends the session, together; then what is left to say is said.
    async fn end(mut self, written: oneshot::Receiver<()>) -> Result<(), Failure> {
        let calls = self.calls.clone();
        calls.cancel_all();
        let ending = async { tokio::join!(calls.close(), self.finish()).0 };
        let closed = timeout(ENDING, ending).await;
        self.tasks.abort_all();
        drop(self);
        let _ = timeout(FLUSHING, written).await;
        match closed {
            Ok(closed) => Ok(closed?),
            Err(_) => Err(Failure::new(
                Exit::Host,
                "the session did not end in time; something of it may be left",
            )),
        }
    }
}
