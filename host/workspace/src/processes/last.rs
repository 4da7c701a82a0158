//! What a started process's output keeps: its last bytes, read from a cursor on.

use std::collections::VecDeque;

use belljar_contract::processes::OutputChunk;

use super::failure::Failure;

/// The last bytes of a stream, and how many there have been.
#[derive(Debug)]
pub(super) struct Last {
    kept: VecDeque<u8>,
    limit: usize,
    total: u64,
    ended: bool,
}

impl Last {
    pub(super) const fn new(limit: usize) -> Self {
        Self {
            kept: VecDeque::new(),
            limit,
            total: 0,
            ended: false,
        }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.total = self.total.saturating_add(bytes.len() as u64);
        push_bounded(&mut self.kept, self.limit, bytes);
    }

    /// Nothing more will come.
    pub(super) fn end(&mut self) {
        self.ended = true;
        self.kept.shrink_to_fit();
    }

    /// The bytes held.
    pub(super) fn held(&self) -> usize {
        self.kept.len()
    }

    /// Lets go of what is held; readers are told that it is gone.
    pub(super) fn forget(&mut self) {
        self.kept = VecDeque::new();
    }

    /// At most `limit` bytes from `cursor` on.
    pub(super) fn read(&self, cursor: u64, limit: u64) -> Result<OutputChunk, Failure> {
        let printed = self.total;
        if cursor > printed {
            return Err(Failure::CursorPast { cursor, printed });
        }
        let first = printed - self.kept.len() as u64;
        let from = cursor.max(first);
        let skip = usize::try_from(from - first).unwrap_or(usize::MAX);
        let most = usize::try_from(limit).unwrap_or(usize::MAX);
        let (one, two) = self.kept.as_slices();
        let (one, two) = match one.get(skip..) {
            Some(one) => (one, two),
            None => (&[][..], two.get(skip - one.len()..).unwrap_or_default()),
        };
        let one = &one[..one.len().min(most)];
        let two = &two[..two.len().min(most - one.len())];
        let bytes = [one, two].concat();
        let cursor_after = from + bytes.len() as u64;
        Ok(OutputChunk {
            bytes,
            cursor: cursor_after,
            dropped: from - cursor,
            ended: self.ended && cursor_after == printed,
        })
    }
}

/// Pushes to the end of `kept`, and lets go of its beginning over `limit`.
pub(super) fn push_bounded(kept: &mut VecDeque<u8>, limit: usize, bytes: &[u8]) {
    let bytes = &bytes[bytes.len().saturating_sub(limit)..];
    let over = (kept.len() + bytes.len()).saturating_sub(limit);
    kept.drain(..over);
    kept.extend(bytes);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_cursor_gives_each_byte_once_or_counts_it_as_dropped(
            pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..12),
            limit in 0usize..60,
            step in 1u64..30,
        ) {
            let mut last = Last::new(limit);
            let mut whole = Vec::new();
            let mut seen = Vec::new();
            let mut cursor = 0;
            for piece in &pieces {
                last.push(piece);
                whole.extend_from_slice(piece);
                let chunk = last.read(cursor, step).expect("the cursor is one that was given");
                prop_assert!(!chunk.ended);
                let from = usize::try_from(cursor + chunk.dropped).expect("small");
                prop_assert_eq!(&whole[from..from + chunk.bytes.len()], &chunk.bytes[..]);
                prop_assert_eq!(chunk.cursor, cursor + chunk.dropped + chunk.bytes.len() as u64);
                cursor = chunk.cursor;
                seen.extend(chunk.bytes);
            }
            last.end();
            loop {
                let chunk = last.read(cursor, step).expect("the cursor is one that was given");
                cursor = chunk.cursor;
                if chunk.ended {
                    break;
                }
                prop_assert!(!chunk.bytes.is_empty());
            }
            prop_assert_eq!(cursor, whole.len() as u64);
            prop_assert!(last.read(cursor + 1, 1).is_err());
        }
    }

    #[test]
    fn what_is_forgotten_is_dropped() {
        let mut last = Last::new(10);
        last.push(b"hello");
        last.end();
        last.forget();
        let chunk = last.read(1, 10).expect("the cursor is in range");
        assert_eq!(
            (chunk.bytes.len(), chunk.cursor, chunk.dropped, chunk.ended),
            (0, 5, 4, true)
        );
    }
}
