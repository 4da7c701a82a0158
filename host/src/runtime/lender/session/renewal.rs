//! Has a sandbox live on, from time to time.

use std::{
    sync::{Arc, Condvar, Mutex, PoisonError},
    time::Duration,
};

/// The shortest period that a component may ask for: a session at rest costs little.
const SHORTEST: Duration = Duration::from_millis(500);

/// Renews while it lives.
pub(super) struct Renewal(Arc<Ended>);

#[derive(Default)]
struct Ended {
    ended: Mutex<bool>,
    told: Condvar,
}

impl Renewal {
    /// Renews each `period` by `renew`, until that says that there is nothing to renew any more. None when there is no
    /// thread for it.
    pub(super) fn start(
        period: Duration,
        renew: impl Fn() -> bool + Send + 'static,
    ) -> Option<Self> {
        let period = period.max(SHORTEST);
        let ended = Arc::new(Ended::default());
        let told = Arc::clone(&ended);
        let work = move || {
            while !told.wait(period) {
                if !renew() {
                    return;
                }
            }
        };
        let spawned = super::thread().spawn(work);
        if let Err(error) = &spawned {
            tracing::warn!(error = %error, "no thread for renewing a sandbox");
        }
        spawned.ok().map(|_| Self(ended))
    }
}

impl Ended {
    /// Whether the end came within the period.
    fn wait(&self, period: Duration) -> bool {
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self
            .told
            .wait_timeout_while(ended, period, |ended| !*ended)
            .unwrap_or_else(PoisonError::into_inner);
        *waited.0
    }
}

impl Drop for Renewal {
    fn drop(&mut self) {
        *self.0.ended.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.0.told.notify_all();
    }
}
