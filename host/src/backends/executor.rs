//! Where blocking work goes.

use belljar_contract::blocking::{Offload, SpawnThread};

/// Tokio's threads for blocking work, where there is a runtime; else a thread of its own.
pub(super) struct Executor;

impl Offload for Executor {
    fn offload(&self, work: Box<dyn FnOnce() + Send>) {
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn_blocking(work)),
            Err(_) => SpawnThread.offload(work),
        }
    }
}
