//! Standard output: answers, a line each, and the news that nobody reads them any more.

use std::io::{self, Write as _};

use belljar::Cancellation;
use rustix::event::{PollFd, PollFlags, poll};
use serde::Serialize;
use tokio::sync::{mpsc, oneshot};

/// Lines that wait to be written; while these are full, calls wait with their answers.
const WAITING: usize = 16;

/// Where answers go. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Answers {
    lines: mpsc::Sender<Vec<u8>>,
    /// Nobody reads any more.
    closed: Cancellation,
}

impl Answers {
    /// Starts to write. What comes back says when the last line is written.
    pub(crate) fn start() -> io::Result<(Self, oneshot::Receiver<()>)> {
        let (lines, mut receive) = mpsc::channel::<Vec<u8>>(WAITING);
        let (written, last) = oneshot::channel();
        let closed = Cancellation::default();
        let gone = closed.clone();
        std::thread::Builder::new()
            .name("belljar-stdout".into())
            .spawn(move || {
                while let Some(line) = receive.blocking_recv() {
                    if write(&line).is_err() {
                        gone.cancel();
                        return;
                    }
                }
                // Nobody waits for it when the process ends early.
                let _ = written.send(());
            })?;
        let gone = closed.clone();
        std::thread::Builder::new()
            .name("belljar-reader".into())
            .spawn(move || {
                if reader_is_gone() {
                    gone.cancel();
                }
            })?;
        Ok((Self { lines, closed }, last))
    }

    /// Writes a value as a line.
    pub(crate) async fn send(&self, value: &impl Serialize) {
        let Ok(mut line) = serde_json::to_vec(value) else {
            // Answers are made of JSON already.
            tracing::error!("an answer cannot be written as JSON");
            return;
        };
        line.push(b'\n');
        // Who reads no more needs no answer.
        let _ = self.lines.send(line).await;
    }

    /// Waits until nobody reads any more.
    pub(crate) async fn reader_gone(&self) {
        self.closed.cancelled().await;
    }
}

fn write(line: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(line)?;
    stdout.flush()
}

/// Waits, perhaps for ever, until the reader of standard output has gone: a client that was
/// killed must not be outlived, also when there is nothing to tell it.
fn reader_is_gone() -> bool {
    let stdout = io::stdout();
    // No events are asked for: an error or a hang-up is always told.
    let mut descriptors = [PollFd::new(&stdout, PollFlags::empty())];
    loop {
        match poll(&mut descriptors, None) {
            Ok(_) => {
                let told = descriptors[0].revents();
                return told.intersects(PollFlags::ERR | PollFlags::HUP);
            }
            Err(rustix::io::Errno::INTR) => {}
            // Then the next answer finds out.
            Err(_) => return false,
        }
    }
}
