//! What a request carries: read with its size known, in time, and within the memory that all have together.

use std::{future::poll_fn, pin::Pin, sync::Arc, time::Duration};

use axum::body::{Body, HttpBody as _};
use belljar::Limits;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};

use super::answer::Refusal;

/// Bytes of bodies that are held at once, until their calls are done.
const MAX_HELD_BYTES: usize = 512 << 20;
/// What each request counts at least: what a call costs besides its body.
const LEAST_BYTES: usize = 64 << 10;
/// Permits count kibibytes, which keeps them within a semaphore's range.
const UNIT: usize = 1 << 10;
/// How long a client may be silent before its body is whole, and how long it waits for room for it.
const PATIENCE: Duration = Duration::from_secs(30);

/// Reads bodies.
#[derive(Clone, Debug)]
pub(super) struct Bodies {
    most: usize,
    held: Arc<Semaphore>,
}

/// A body, and the memory that it takes.
#[derive(Debug)]
pub(super) struct Whole {
    pub(super) bytes: Vec<u8>,
    pub(super) held: OwnedSemaphorePermit,
}

impl Bodies {
    /// Bounded by what a call within these limits can carry.
    pub(super) fn new(limits: &Limits) -> Self {
        // `replace` has two contents.
        let contents = limits.file_bytes.saturating_mul(2).max(limits.stdin_bytes);
        let base64 = contents.div_ceil(3).saturating_mul(4);
        // A character of an argument takes at most six in JSON.
        let arguments = limits.argument_bytes.saturating_mul(6);
        let most = base64
            .saturating_add(arguments)
            .saturating_add(LEAST_BYTES as u64);
        Self {
            most: usize::try_from(most)
                .unwrap_or(usize::MAX)
                .min(MAX_HELD_BYTES),
            held: Arc::new(Semaphore::new(MAX_HELD_BYTES / UNIT)),
        }
    }

    /// Reads a body.
    pub(super) async fn read(&self, mut body: Body) -> Result<Whole, Refusal> {
        let length = body.size_hint().exact().ok_or(Refusal::LengthRequired)?;
        let length = usize::try_from(length)
            .ok()
            .filter(|length| *length <= self.most)
            .ok_or(Refusal::TooLarge(self.most))?;
        let units = u32::try_from(length.max(LEAST_BYTES).div_ceil(UNIT)).unwrap_or(u32::MAX);
        let held = timeout(PATIENCE, Arc::clone(&self.held).acquire_many_owned(units))
            .await
            .ok()
            .and_then(Result::ok)
            .ok_or(Refusal::Busy)?;
        let mut bytes = Vec::with_capacity(length);
        loop {
            let frame = poll_fn(|task| Pin::new(&mut body).poll_frame(task));
            let Some(frame) = timeout(PATIENCE, frame).await.map_err(|_| Refusal::Slow)? else {
                return Ok(Whole { bytes, held });
            };
            let frame = frame.map_err(|error| Refusal::Malformed(format!("the body: {error}")))?;
            // What is no data are trailers, which say nothing here.
            if let Ok(data) = frame.into_data() {
                bytes.extend_from_slice(&data);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_write_fits() {
        let limits = Limits::default();
        let bodies = Bodies::new(&limits);
        let largest = usize::try_from(limits.stdin_bytes).unwrap() / 3 * 4;
        assert!(bodies.most > largest && bodies.most < 2 * largest);
        let endless = Limits {
            file_bytes: u64::MAX,
            ..limits
        };
        assert_eq!(Bodies::new(&endless).most, MAX_HELD_BYTES);
    }
}
