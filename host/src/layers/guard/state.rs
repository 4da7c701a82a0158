//! What a session has read.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use belljar_contract::Version;

use super::ranges::Ranges;

/// The most memory that is used to remember, in bytes, about: hundred thousand files with usual paths. Of more, those
/// longest not used are forgotten, and must be read again.
const MAX_COST: usize = 32 << 20;
/// What a file costs besides its path and ranges: its version, and the table's own.
const COST: usize = 240;
/// The most files in one version that are told apart when a file has another name.
const MAX_SAME: usize = 256;

/// What a session has read, and what it wrote itself: share one among all tools of a session.
///
/// ```
/// use std::sync::Arc;
/// use belljar::{Backend, layers::{Guard, GuardState}};
///
/// fn two_tools(backend: &Arc<dyn Backend>) -> [Guard; 2] {
///     let seen = Arc::new(GuardState::default());
///     [(); 2].map(|()| Guard::new(Arc::clone(backend), Arc::clone(&seen)))
/// }
/// # fn main() {}
/// ```
#[derive(Debug, Default)]
pub struct GuardState(Mutex<Records>);

#[derive(Debug, Default)]
struct Records {
    /// By the path's text, as it was spelt.
    by_path: HashMap<String, Record>,
    cost: usize,
    clock: u64,
}

#[derive(Debug)]
struct Record {
    /// None when only lines of it were found.
    version: Option<Version>,
    seen: Seen,
    used: u64,
}

#[derive(Debug)]
enum Seen {
    Whole,
    Part(Ranges),
}

/// How much of a file was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Much {
    Part,
    Whole,
}

impl Record {
    fn much(&self) -> Much {
        match self.seen {
            Seen::Whole => Much::Whole,
            Seen::Part(_) => Much::Part,
        }
    }

    fn cost(&self, path: &str) -> usize {
        let ranges = match &self.seen {
            Seen::Whole => 0,
            Seen::Part(ranges) => ranges.len(),
        };
        COST + path.len() + ranges * size_of::<(u64, u64)>()
    }
}

/// What is known of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Known {
    pub(super) version: Option<Version>,
    pub(super) much: Much,
}

impl GuardState {
    fn lock(&self) -> MutexGuard<'_, Records> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All of a file was read, or written.
    pub(super) fn whole(&self, path: &str, version: Version) {
        let version = Some(version);
        self.lock().put(path, version, Seen::Whole);
    }

    /// A file was changed of which only a part is known.
    pub(super) fn part(&self, path: &str, version: Version) {
        let seen = Seen::Part(Ranges::default());
        self.lock().put(path, Some(version), seen);
    }

    /// A part of a file was read.
    pub(super) fn range(&self, path: &str, version: Version, (start, end): (u64, u64), size: u64) {
        if start >= end && size > 0 {
            // Only the size and the version were asked for.
            return;
        }
        let mut records = self.lock();
        let version = Some(version);
        let mut ranges = match records.by_path.get_mut(path) {
            Some(record) if record.version == version => match &mut record.seen {
                Seen::Whole => return records.touch(path),
                Seen::Part(ranges) => std::mem::take(ranges),
            },
            _ => Ranges::default(),
        };
        ranges.add(start, end);
        let seen = match ranges.cover(size) {
            true => Seen::Whole,
            false => Seen::Part(ranges),
        };
        records.put(path, version, seen);
    }

    /// Lines of a file were found, in whatever version it had.
    pub(super) fn glimpse(&self, path: &str) {
        let mut records = self.lock();
        if !records.by_path.contains_key(path) {
            records.put(path, None, Seen::Part(Ranges::default()));
        }
    }

    /// What is known of a path.
    pub(super) fn known(&self, path: &str) -> Option<Known> {
        let mut records = self.lock();
        records.touch(path);
        records.by_path.get(path).map(|record| Known {
            version: record.version.clone(),
            much: record.much(),
        })
    }

    /// Other paths that were read in this version, and how much of each.
    pub(super) fn same(&self, version: &Version, path: &str) -> Vec<(String, Much)> {
        let records = self.lock();
        let same = |(other, record): &(&String, &Record)| {
            record.version.as_ref() == Some(version) && *other != path
        };
        let found = records.by_path.iter().filter(same).take(MAX_SAME);
        found
            .map(|(path, record)| (path.clone(), record.much()))
            .collect()
    }

    /// A file, link or directory was moved, with what is below it.
    pub(super) fn moved(&self, source: &str, target: &str) {
        let mut records = self.lock();
        let moving = records.take_below(source);
        records.take_below(target);
        for (path, record) in moving {
            let path = format!("{target}{}", &path[source.len()..]);
            records.put(&path, record.version, record.seen);
        }
    }

    /// A file, link or directory was removed, with what is below it.
    pub(super) fn removed(&self, path: &str) {
        self.lock().take_below(path);
    }
}

impl Records {
    fn touch(&mut self, path: &str) {
        self.clock += 1;
        if let Some(record) = self.by_path.get_mut(path) {
            record.used = self.clock;
        }
    }

    fn put(&mut self, path: &str, version: Option<Version>, seen: Seen) {
        self.clock += 1;
        let record = Record {
            version,
            seen,
            used: self.clock,
        };
        self.cost += record.cost(path);
        if let Some(before) = self.by_path.insert(path.to_owned(), record) {
            self.cost -= before.cost(path);
        }
        if self.cost > MAX_COST {
            self.forget();
        }
    }

    /// Forgets the eighth that was longest not used.
    fn forget(&mut self) {
        let mut used: Vec<u64> = self.by_path.values().map(|record| record.used).collect();
        let eighth = used.len() / 8;
        let (_, limit, _) = used.select_nth_unstable(eighth);
        let limit = *limit;
        self.by_path.retain(|_, record| record.used > limit);
        let costs = self.by_path.iter().map(|(path, record)| record.cost(path));
        self.cost = costs.sum();
    }

    fn take_below(&mut self, path: &str) -> Vec<(String, Record)> {
        let below = |other: &str| {
            let rest = other.strip_prefix(path);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let taken: Vec<_> = self.by_path.extract_if(|other, _| below(other)).collect();
        for (path, record) in &taken {
            self.cost -= record.cost(path);
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(text: &str) -> Version {
        Version::parse(text).expect("a version")
    }

    #[test]
    fn memory_is_bounded_and_the_latest_is_kept() {
        let state = GuardState::default();
        for number in 0..200_000 {
            state.whole(&format!("{number:0>100}"), version("v"));
        }
        let records = state.lock();
        assert!(records.cost <= MAX_COST && records.by_path.len() > 50_000);
        let cost: usize = records
            .by_path
            .iter()
            .map(|(path, record)| record.cost(path))
            .sum();
        assert_eq!(records.cost, cost);
        drop(records);
        assert!(state.known(&format!("{:0>100}", 199_999)).is_some());
        assert!(state.known(&format!("{:0>100}", 0)).is_none());
    }

    #[test]
    fn ranges_count_as_the_whole_once_they_cover_it() {
        let state = GuardState::default();
        let much = || state.known("a").map(|known| known.much);
        state.range("a", version("v"), (0, 0), 10);
        assert_eq!(much(), None);
        state.range("a", version("v"), (0, 6), 10);
        assert_eq!(much(), Some(Much::Part));
        state.range("a", version("v"), (6, 10), 10);
        assert_eq!(much(), Some(Much::Whole));
        state.range("a", version("w"), (6, 10), 10);
        assert_eq!(much(), Some(Much::Part));
    }

    #[test]
    fn what_moves_takes_its_record_along() {
        let state = GuardState::default();
        for path in ["d/a", "d", "da", "e/a"] {
            state.whole(path, version("v"));
        }
        state.moved("d", "e");
        let there = |path| state.known(path).is_some();
        assert!(there("e/a") && there("e") && there("da"));
        assert!(!there("d") && !there("d/a"));
        state.removed("e");
        assert!(!there("e/a") && there("da"));
    }
}
