//! An output that is read to its end, of which so much is kept.

use std::{
    io::Read,
    sync::{Arc, Mutex, PoisonError},
    thread,
};

/// What is kept of an output that is read to its end.
#[derive(Clone)]
pub(in crate::backends) struct Kept {
    bytes: Arc<Mutex<(Vec<u8>, bool)>>,
    most: usize,
    last: bool,
}

impl Kept {
    /// Keeps the first bytes.
    pub(in crate::backends) fn first(most: usize) -> Self {
        Self {
            bytes: Arc::default(),
            most,
            last: false,
        }
    }

    /// Keeps the last bytes.
    pub(in crate::backends) fn last(most: usize) -> Self {
        Self {
            last: true,
            ..Self::first(most)
        }
    }

    /// Reads all of it, on a thread of its own.
    pub(in crate::backends) fn fill(
        &self,
        mut from: impl Read + Send + 'static,
        done: impl FnOnce() + Send + 'static,
    ) {
        let kept = self.clone();
        thread::spawn(move || {
            // Each session has one of these for as long as it lasts, and most programs say nothing.
            let mut buffer = [0; 4 << 10];
            loop {
                match from.read(&mut buffer) {
                    Ok(0) => break,
                    Ok(read) => kept.add(&buffer[..read]),
                    Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                    Err(_) => break,
                }
            }
            done();
        });
    }

    fn add(&self, more: &[u8]) {
        let mut kept = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        let (bytes, overflowed) = &mut *kept;
        if self.last {
            bytes.extend_from_slice(more);
            let over = bytes.len().saturating_sub(self.most);
            bytes.drain(..over);
            *overflowed |= over > 0;
        } else {
            let room = self.most.saturating_sub(bytes.len());
            bytes.extend_from_slice(&more[..more.len().min(room)]);
            *overflowed |= more.len() > room;
        }
    }

    /// What was kept, and whether there was more.
    pub(in crate::backends) fn take(&self) -> (Vec<u8>, bool) {
        std::mem::take(&mut *self.bytes.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
