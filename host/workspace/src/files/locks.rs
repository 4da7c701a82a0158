//! Locks by which the changes to one file happen one after another.
//!
//! They are the whole process's, not a workspace's: two sessions on one directory, or on a
//! directory and one below it, wait for each other too. Only locks that are held take memory.

use std::{
    collections::HashSet,
    sync::{Condvar, LazyLock, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use belljar_contract::Context;

use super::{fault::Fault, status::Status};

/// How often a waiting call looks whether it was cancelled: well within the 100 ms it has.
const LOOK: Duration = Duration::from_millis(20);

static LOCKS: LazyLock<Locks> = LazyLock::new(Locks::default);

#[derive(Default)]
struct Locks {
    held: Mutex<HashSet<Key>>,
    released: Condvar,
}

/// A name in a directory, by the directory's identity.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Key {
    device: u64,
    inode: u64,
    name: Box<[u8]>,
}

impl Key {
    pub(super) fn new(parent: &Status, name: &[u8]) -> Self {
        Self {
            device: parent.device,
            inode: parent.inode,
            name: name.into(),
        }
    }
}

/// Locks that are held while this lives.
#[derive(Debug)]
pub(super) struct Held(Vec<Key>);

/// Waits until nobody else has any of `keys`, and takes them all at once.
pub(super) fn lock(context: &Context, mut keys: Vec<Key>) -> Result<Held, Fault> {
    keys.sort_unstable();
    keys.dedup();
    let mut held = held();
    while keys.iter().any(|key| held.contains(key)) {
        context.check()?;
        let waited = LOCKS.released.wait_timeout(held, LOOK);
        held = waited.unwrap_or_else(PoisonError::into_inner).0;
    }
    held.extend(keys.iter().cloned());
    Ok(Held(keys))
}

impl Drop for Held {
    fn drop(&mut self) {
        let mut held = held();
        for key in &self.0 {
            held.remove(key);
        }
        drop(held);
        LOCKS.released.notify_all();
    }
}

fn held() -> MutexGuard<'static, HashSet<Key>> {
    LOCKS.held.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    fn key(name: &str) -> Key {
        Key {
            // No file system has it: other tests of this process lock real ones.
            device: u64::MAX,
            inode: 1,
            name: name.as_bytes().into(),
        }
    }

    fn count() -> usize {
        held().iter().filter(|key| key.device == u64::MAX).count()
    }

    #[test]
    fn one_at_a_time_in_any_order_and_nothing_is_left() {
        let inside = AtomicU32::new(0);
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let inside = &inside;
                scope.spawn(move || {
                    for round in 0..200 {
                        let mut keys = vec![key("a"), key("b"), key("a")];
                        if (thread + round) % 2 == 0 {
                            keys.reverse();
                        }
                        let _held = lock(&Context::new(), keys).unwrap();
                        assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                        inside.fetch_sub(1, Ordering::SeqCst);
                    }
                });
            }
        });
        let taken = lock(&Context::new(), vec![key("a")]).unwrap();
        assert!(count() >= 1);
        let late = Context::new().with_timeout(Duration::from_millis(1));
        assert!(lock(&late, vec![key("a")]).is_err());
        drop(taken);
        assert!(!held().contains(&key("a")) && !held().contains(&key("b")));
    }
}
