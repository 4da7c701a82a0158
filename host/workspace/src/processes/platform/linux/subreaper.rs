//! Being the parent of what has lost its own.

use std::{
    io,
    sync::{Mutex, PoisonError},
};

/// How many want it, and whether it was so before the first.
static HELD: Mutex<(usize, bool)> = Mutex::new((0, false));

/// Keeps this operating-system process a child subreaper while it lives.
#[derive(Debug)]
pub(super) struct Subreaper(());

impl Subreaper {
    pub(super) fn set() -> io::Result<Self> {
        let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
        if held.0 == 0 {
            held.1 = rustix::process::child_subreaper()?.is_some();
            rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
        }
        held.0 += 1;
        Ok(Self(()))
    }
}

impl Drop for Subreaper {
    fn drop(&mut self) {
        let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
        held.0 -= 1;
        if held.0 == 0 && !held.1 {
            // It could be set, so it can be unset.
            let _ = rustix::process::set_child_subreaper(None);
        }
    }
}
