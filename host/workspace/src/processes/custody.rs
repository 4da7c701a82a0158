//! Whoever has a running leader has to end it, with all that it started.

use std::{sync::Arc, time::Duration};

use super::{
    body::Body,
    platform::{Frozen, Left},
};

/// How often it is tried to kill what is dropped while it runs, a millisecond each.
const TRIES: u32 = 1000;

/// A leader that is killed and reaped, with all that it started, when this is dropped before it was.
#[derive(Debug)]
pub(super) struct Custody {
    body: Arc<dyn Body>,
    over: bool,
}

impl Custody {
    pub(super) const fn new(body: Arc<dyn Body>) -> Self {
        Self { body, over: false }
    }

    pub(super) const fn body(&self) -> &Arc<dyn Body> {
        &self.body
    }

    /// Reaps the leader, whose process has ended.
    pub(super) fn reap(&mut self) {
        self.over = true;
        self.body.reap();
    }
}

impl Drop for Custody {
    fn drop(&mut self) {
        if self.over {
            return;
        }
        let mut frozen = Frozen::default();
        for _ in 0..TRIES {
            if self.body.kill_all(&mut frozen) == Left::Nothing {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        self.reap();
    }
}
