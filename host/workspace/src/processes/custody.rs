//! Whoever has a running leader has to end it, with all that it started.

use std::{sync::Arc, time::Duration};

use super::{
    leader::Leader,
    platform::{Frozen, Left, Platform},
};

/// How often it is tried to kill what is dropped while it runs, a millisecond each.
const TRIES: u32 = 1000;

/// A leader that is killed and reaped, with all that it started, when this is dropped before it was.
#[derive(Debug)]
pub(super) struct Custody {
    platform: Arc<Platform>,
    leader: Arc<Leader>,
    over: bool,
}

impl Custody {
    pub(super) const fn new(platform: Arc<Platform>, leader: Arc<Leader>) -> Self {
        Self {
            platform,
            leader,
            over: false,
        }
    }

    pub(super) const fn leader(&self) -> &Arc<Leader> {
        &self.leader
    }

    pub(super) const fn platform(&self) -> &Arc<Platform> {
        &self.platform
    }

    /// Reaps the leader, whose process has ended.
    pub(super) fn reap(&mut self) {
        self.over = true;
        self.platform.reap(&self.leader);
    }
}

impl Drop for Custody {
    fn drop(&mut self) {
        if self.over {
            return;
        }
        let mut frozen = Frozen::default();
        for _ in 0..TRIES {
            if self.platform.kill_all(&self.leader, &mut frozen) == Left::Nothing {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        self.reap();
    }
}
