//! The first matches, whatever the order in which threads find them.

use std::{
    collections::BTreeMap,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use belljar_contract::files::{Match, Name};

use super::lines::{Found, MOST_BYTES};

/// Matches by path and line. What comes after the first `limit` of them, or after those that fill the
/// memory an answer may take, is cut, and so is all that would come after it.
pub(super) struct Collected {
    limit: usize,
    state: Mutex<State>,
    /// Whether there is a cut at all; to look at without waiting.
    has_cut: AtomicBool,
}

#[derive(Default)]
struct State {
    matches: BTreeMap<(Vec<u8>, u64), Found>,
    bytes: usize,
    cut: Option<(Vec<u8>, u64)>,
}

impl Collected {
    pub(super) fn new(limit: u32) -> Self {
        Self {
            limit: usize::try_from(limit).unwrap_or(usize::MAX),
            state: Mutex::default(),
            has_cut: AtomicBool::new(false),
        }
    }

    pub(super) const fn limit(&self) -> usize {
        self.limit
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a match in a file of this path, or one after it, could still be given.
    pub(super) fn wants(&self, path: &[u8]) -> bool {
        if !self.has_cut.load(Ordering::Acquire) {
            return true;
        }
        let state = self.lock();
        let cut = state.cut.as_ref();
        self.limit > 0 && cut.is_none_or(|(cut, _)| path <= cut.as_slice())
    }

    /// Adds a file's matches.
    pub(super) fn add(&self, path: &[u8], found: Vec<Found>) {
        if found.is_empty() {
            return;
        }
        let mut state = self.lock();
        for found in found {
            let key = (path.to_vec(), found.number);
            if state.cut.as_ref().is_some_and(|cut| *cut <= key) {
                break;
            }
            state.bytes += found.bytes;
            state.matches.insert(key, found);
            while state.matches.len() > self.limit || state.bytes > MOST_BYTES {
                let Some((key, last)) = state.matches.pop_last() else {
                    break;
                };
                state.bytes -= last.bytes;
                state.cut = Some(key);
                self.has_cut.store(true, Ordering::Release);
            }
        }
    }

    /// The matches in order, and whether there are more.
    pub(super) fn into_matches(self) -> (Vec<Match>, bool) {
        let state = self
            .state
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        let matches = state
            .matches
            .into_iter()
            .map(|((path, line_number), found)| Match {
                path: Name::from_bytes(path),
                line_number,
                offset: found.offset,
                line: found.line,
                before: found.before,
                after: found.after,
            })
            .collect();
        (matches, state.cut.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(number: u64, bytes: usize) -> Found {
        Found {
            number,
            bytes,
            ..Found::default()
        }
    }

    #[test]
    fn the_first_are_kept_in_any_order_and_the_rest_is_not_wanted() {
        let collected = Collected::new(2);
        collected.add(b"b", vec![found(1, 1), found(2, 1)]);
        assert!(collected.wants(b"z"));
        collected.add(b"a", vec![found(7, 1)]);
        assert!(collected.wants(b"a") && collected.wants(b"b") && !collected.wants(b"c"));
        let (matches, more) = collected.into_matches();
        let keys: Vec<_> = matches
            .iter()
            .map(|found| (found.path.text.as_str(), found.line_number))
            .collect();
        assert_eq!((keys, more), (vec![("a", 7), ("b", 1)], true));
    }

    #[test]
    fn what_takes_too_much_memory_is_cut_without_a_gap() {
        let collected = Collected::new(100);
        collected.add(b"b", vec![found(1, MOST_BYTES - 10)]);
        collected.add(b"c", vec![found(1, 20)]);
        collected.add(b"d", vec![found(1, 1)]);
        let (matches, more) = collected.into_matches();
        assert_eq!((matches.len(), more), (1, true));
    }
}
