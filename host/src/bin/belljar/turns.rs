//! How many calls run at once, and how much of their answers is held: for whoever serves many.

use std::sync::Arc;

use belljar::{Cancellation, Operation};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};

use crate::methods::is_large;

/// Calls that run at once. Each may occupy a thread.
const MAX_RUNNING: usize = 256;
/// Calls that run at once of those whose results may be as large as a file, or larger.
const MAX_LARGE: usize = 16;
/// Bytes of answers that are held at once until they are written; while there is no room, a call keeps its
/// turn. A client that does not read takes no more than that.
const MAX_ANSWER_BYTES: usize = 512 << 20;
/// A smaller answer takes no room: there are at most as many as calls.
const SMALL_ANSWER_BYTES: usize = 64 << 10;
/// Permits count kibibytes, which keeps them within a semaphore's range.
const UNIT: usize = 1 << 10;

/// The memory that an answer takes until it is written; a small one takes none.
pub(crate) type Room = Option<OwnedSemaphorePermit>;

/// There is no room for an answer.
#[derive(Debug)]
pub(crate) struct Full;

/// What calls wait for before they run, and before they are answered.
#[derive(Debug)]
pub(crate) struct Turns {
    running: Semaphore,
    running_large: Semaphore,
    answers: Arc<Semaphore>,
}

/// A call's turn, until it is dropped.
#[derive(Debug)]
#[expect(dead_code, reason = "held until it is dropped")]
pub(crate) struct Turn<'a>(Option<SemaphorePermit<'a>>, Option<SemaphorePermit<'a>>);

impl Turns {
    pub(crate) fn new() -> Self {
        Self {
            running: Semaphore::new(MAX_RUNNING),
            running_large: Semaphore::new(MAX_LARGE),
            answers: Arc::new(Semaphore::new(MAX_ANSWER_BYTES / UNIT)),
        }
    }

    /// Waits for a call's turn. One that is cancelled before it does not wait: it says so itself.
    pub(crate) async fn turn(&self, operation: Operation, cancellation: &Cancellation) -> Turn<'_> {
        let one = wait(&self.running, cancellation).await;
        let large = match is_large(operation) {
            true => wait(&self.running_large, cancellation).await,
            false => None,
        };
        Turn(one, large)
    }

    /// Waits until there is room for an answer of this size.
    pub(crate) async fn room(&self, bytes: usize) -> Result<Room, Full> {
        let Some(units) = units(bytes) else {
            return Ok(None);
        };
        let room = Arc::clone(&self.answers).acquire_many_owned(units).await;
        room.map(Some).map_err(|_| Full)
    }

    /// Room for an answer of this size, where there is some now.
    pub(crate) fn room_now(&self, bytes: usize) -> Result<Room, Full> {
        let Some(units) = units(bytes) else {
            return Ok(None);
        };
        let room = Arc::clone(&self.answers).try_acquire_many_owned(units);
        room.map(Some).map_err(|_| Full)
    }
}

/// What an answer takes; none for a small one.
fn units(bytes: usize) -> Option<u32> {
    if bytes <= SMALL_ANSWER_BYTES {
        return None;
    }
    // It is there once more when it is made a message. One that is larger than all there is waits for all.
    let units = bytes.saturating_mul(2).min(MAX_ANSWER_BYTES) / UNIT;
    Some(u32::try_from(units).unwrap_or(u32::MAX))
}

async fn wait<'a>(of: &'a Semaphore, cancellation: &Cancellation) -> Option<SemaphorePermit<'a>> {
    tokio::select! {
        turn = of.acquire() => turn.ok(),
        () = cancellation.cancelled() => None,
    }
}
