//! Which bytes of a file have been read.

/// The most ranges that are kept apart; what is read beyond is not counted.
const MAX_RANGES: usize = 64;

/// Ranges of bytes, sorted, none touching another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Ranges(Vec<(u64, u64)>);

impl Ranges {
    /// Adds the bytes from `start` to `end`.
    pub(super) fn add(&mut self, start: u64, end: u64) {
        if start >= end {
            return;
        }
        let (mut from, mut to) = (start, end);
        let mut apart = Vec::with_capacity(self.0.len() + 1);
        for &(start, end) in &self.0 {
            if end < from || to < start {
                apart.push((start, end));
            } else {
                (from, to) = (from.min(start), to.max(end));
            }
        }
        if apart.len() < MAX_RANGES {
            apart.push((from, to));
            apart.sort_unstable();
            self.0 = apart;
        }
    }

    /// Whether they are all of a file of this size.
    pub(super) fn cover(&self, size: u64) -> bool {
        size == 0 || matches!(self.0.as_slice(), [(0, end)] if *end >= size)
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_grow_together() {
        let mut ranges = Ranges::default();
        assert!(ranges.cover(0) && !ranges.cover(1));
        ranges.add(5, 5);
        ranges.add(4, 6);
        ranges.add(0, 2);
        ranges.add(8, 10);
        assert_eq!(ranges.0, [(0, 2), (4, 6), (8, 10)]);
        ranges.add(2, 4);
        assert_eq!(ranges.0, [(0, 6), (8, 10)]);
        assert!(!ranges.cover(10));
        ranges.add(1, 9);
        assert!(ranges.cover(10) && !ranges.cover(11));
    }

    #[test]
    fn too_many_ranges_are_not_kept() {
        let mut ranges = Ranges::default();
        for at in 0..1000 {
            ranges.add(at * 2, at * 2 + 1);
        }
        assert_eq!(ranges.len(), MAX_RANGES);
        ranges.add(0, 2000);
        assert!(ranges.cover(2000));
    }
}
