//! Waiting for a stream no longer than a call may.
//!
//! Who reads waits in one poll for the stream, for the waker and for the deadline; who writes looks in
//! short steps.

use std::{os::fd::OwnedFd, time::Duration};

use belljar_contract::Context;
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
};

use super::state::Ended;
use crate::wake::Waker;

/// How often who cannot write looks whether it still should.
pub(super) const STEP: Duration = Duration::from_millis(20);

/// What bounds a wait.
pub(super) struct Wait<'a> {
    pub(super) waker: &'a Waker,
    pub(super) context: &'a Context,
}

impl Wait<'_> {
    pub(super) fn check(&self) -> Result<(), Ended> {
        if self.waker.is_over() {
            return Err(Ended::Closed);
        }
        self.context.check().map_err(Ended::Stopped)
    }

    /// Waits until there is something to read, at most for `patience`; false when there is not. Only
    /// who reads may wait so: it takes every wake.
    pub(super) fn readable(
        &self,
        descriptor: &OwnedFd,
        patience: Option<Duration>,
    ) -> Result<bool, Ended> {
        self.check()?;
        let bound = self.at_most(patience);
        let mut waited = [PollFd::new(descriptor, PollFlags::IN), self.waker.awaited()];
        match poll(&mut waited, bound.as_ref()) {
            Ok(0) | Err(Errno::INTR) => Ok(false),
            Ok(_) => {
                let ready = !waited[0].revents().is_empty();
                if !waited[1].revents().is_empty() {
                    self.check()?;
                    self.waker.sleep_again();
                    self.check()?;
                }
                Ok(ready)
            }
            Err(errno) => Err(errno.into()),
        }
    }

    /// Waits for a step until something can be written; false when it cannot.
    pub(super) fn writable(&self, descriptor: &OwnedFd) -> Result<bool, Ended> {
        self.check()?;
        // In short steps, and without the waker: a wake is for the thread that reads.
        let bound = self.at_most(Some(STEP));
        match poll(
            &mut [PollFd::new(descriptor, PollFlags::OUT)],
            bound.as_ref(),
        ) {
            Ok(0) | Err(Errno::INTR) => Ok(false),
            Ok(_) => Ok(true),
            Err(errno) => Err(errno.into()),
        }
    }

    fn at_most(&self, patience: Option<Duration>) -> Option<Timespec> {
        let bound = match (self.context.remaining(), patience) {
            (Some(remaining), Some(patience)) => Some(remaining.min(patience)),
            (remaining, patience) => remaining.or(patience),
        };
        bound.and_then(|bound| Timespec::try_from(bound).ok())
    }
}
