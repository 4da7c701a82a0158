//! Reaping what has lost its parent, as the first process of a container does.

use std::{
    collections::HashSet,
    io,
    process::{Child, Command},
    sync::{LazyLock, Mutex, MutexGuard, PoisonError},
    thread,
    time::Duration,
};

use belljar_tests::zombies;
use rustix::process::{WaitOptions, getpid, set_child_subreaper, waitpid};

/// The children that somebody waits for.
static OURS: LazyLock<Mutex<HashSet<u32>>> = LazyLock::new(Mutex::default);

fn ours() -> MutexGuard<'static, HashSet<u32>> {
    OURS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts a program that somebody will wait for.
pub(crate) fn spawn(command: &mut Command) -> io::Result<Child> {
    let mut ours = ours();
    let child = command.spawn()?;
    ours.insert(child.id());
    Ok(child)
}

/// After the wait.
pub(crate) fn forget(child: u32) {
    ours().remove(&child);
}

/// Makes this process the parent of what loses its own, and reaps it.
pub(crate) fn reap() {
    if set_child_subreaper(Some(getpid())).is_err() {
        return;
    }
    thread::spawn(|| {
        loop {
            thread::sleep(Duration::from_millis(30));
            let ours = ours();
            for orphan in zombies() {
                if !ours.contains(&orphan.as_raw_nonzero().get().unsigned_abs()) {
                    let _ = waitpid(Some(orphan), WaitOptions::NOHANG);
                }
            }
        }
    });
}
