//! What a `run` keeps of an output: its first and its last bytes.

use std::collections::VecDeque;

use belljar_contract::processes::Output;

/// Keeps the first half of its limit and the last half of what is pushed, and counts the rest.
///
/// It grows with what is pushed, never over the limit.
///
/// ```
/// use belljar_workspace::processes::HeadAndTail;
///
/// let mut kept = HeadAndTail::new(4);
/// kept.push(b"abc");
/// kept.push(b"defg");
/// let output = kept.into_output();
/// assert_eq!((output.head, output.dropped, output.tail), (b"ab".to_vec(), 3, b"fg".to_vec()));
/// ```
#[derive(Debug)]
pub struct HeadAndTail {
    head: Vec<u8>,
    head_limit: usize,
    tail: VecDeque<u8>,
    tail_limit: usize,
    total: u64,
}

impl HeadAndTail {
    /// Keeps at most `limit` bytes.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        let head_limit = limit / 2;
        Self {
            head: Vec::new(),
            head_limit,
            tail: VecDeque::new(),
            tail_limit: limit - head_limit,
            total: 0,
        }
    }

    /// Takes the next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.total = self.total.saturating_add(bytes.len() as u64);
        let room = self.head_limit - self.head.len();
        let (first, rest) = bytes.split_at(room.min(bytes.len()));
        self.head.extend_from_slice(first);
        super::last::push_bounded(&mut self.tail, self.tail_limit, rest);
    }

    /// What was kept; all of it in `head` when nothing was dropped.
    #[must_use]
    pub fn into_output(self) -> Output {
        let kept = (self.head.len() + self.tail.len()) as u64;
        let dropped = self.total - kept;
        let mut head = self.head;
        let mut tail = Vec::from(self.tail);
        if dropped == 0 {
            head.append(&mut tail);
        }
        Output {
            head,
            tail,
            dropped,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_keeps_both_ends_whatever_the_pieces(
            pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..12),
            limit in 0usize..120,
        ) {
            let mut kept = HeadAndTail::new(limit);
            for piece in &pieces {
                kept.push(piece);
            }
            let whole = pieces.concat();
            let output = kept.into_output();
            if whole.len() <= limit {
                prop_assert_eq!(output, Output { head: whole, tail: vec![], dropped: 0 });
            } else {
                let head = limit / 2;
                let tail = limit - head;
                prop_assert_eq!(&output.head, &whole[..head]);
                prop_assert_eq!(&output.tail, &whole[whole.len() - tail..]);
                prop_assert_eq!(output.dropped, (whole.len() - limit) as u64);
            }
        }
    }
}
