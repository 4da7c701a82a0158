//! Replacing bytes by bytes, as `files.replace` does: exactly once, or everywhere.
//!
//! It works on bytes alone, so that every implementation of the contract can share it.

use belljar_contract::ErrorKind;
use memchr::memmem;

/// Why nothing was replaced.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SubstituteError {
    /// There is nothing to look for.
    #[error("the text to replace is empty")]
    Empty,
    /// It does not occur.
    #[error("the text to replace does not occur{}", near_line(*near))]
    NoMatch {
        /// The number of the line, from 1, that would match if white space did not count.
        near: Option<u64>,
    },
    /// It occurs more than once.
    #[error("the text to replace occurs {count} times; give more of what is around it")]
    SeveralMatches {
        /// Occurrences, overlapping ones counted each.
        count: u64,
    },
    /// The result is too large.
    #[error("the result is over the session's {limit} bytes")]
    TooLarge {
        /// The most bytes that the result may have.
        limit: u64,
    },
}

impl SubstituteError {
    /// The contract's kind for this error.
    #[must_use]
    pub const fn kind(&self) -> ErrorKind {
        match self {
            Self::Empty => ErrorKind::InvalidArgument,
            Self::NoMatch { .. } => ErrorKind::NoMatch,
            Self::SeveralMatches { .. } => ErrorKind::SeveralMatches,
            Self::TooLarge { .. } => ErrorKind::TooLarge,
        }
    }
}

fn near_line(near: Option<u64>) -> String {
    near.map_or_else(String::new, |line| {
        format!("; line {line} begins the same but for white space")
    })
}

/// Replaces `old` by `new` in `content`: exactly one occurrence, or with `all` every one from the
/// left. Gives the result, of at most `limit` bytes, and how many were replaced.
///
/// ```
/// use belljar_workspace::files::{SubstituteError, substitute};
///
/// assert_eq!(substitute(b"a-b", b"-", b"$1", false, 100), Ok((b"a$1b".to_vec(), 1)));
/// assert_eq!(substitute(b"aaa", b"aa", b"b", true, 100), Ok((b"ba".to_vec(), 1)));
/// assert_eq!(
///     substitute(b"aaa", b"aa", b"b", false, 100),
///     Err(SubstituteError::SeveralMatches { count: 2 }),
/// );
/// ```
///
/// # Errors
/// [`SubstituteError`] says which of the conditions does not hold.
pub fn substitute(
    content: &[u8],
    old: &[u8],
    new: &[u8],
    all: bool,
    limit: u64,
) -> Result<(Vec<u8>, u64), SubstituteError> {
    if old.is_empty() {
        return Err(SubstituteError::Empty);
    }
    let finder = memmem::Finder::new(old);
    let count = if all {
        finder.find_iter(content).count()
    } else {
        overlapping(&finder, content)
    } as u64;
    match count {
        0 => {
            let near = near(content, old);
            return Err(SubstituteError::NoMatch { near });
        }
        1 => {}
        _ if all => {}
        _ => return Err(SubstituteError::SeveralMatches { count }),
    }
    // In u128 no product of two sizes overflows.
    let size = content.len() as u128 - u128::from(count) * old.len() as u128
        + u128::from(count) * new.len() as u128;
    let size = usize::try_from(size)
        .ok()
        .filter(|size| *size as u64 <= limit)
        .ok_or(SubstituteError::TooLarge { limit })?;
    let mut result = Vec::with_capacity(size);
    let mut rest = 0;
    for at in finder.find_iter(content) {
        result.extend_from_slice(&content[rest..at]);
        result.extend_from_slice(new);
        rest = at + old.len();
    }
    result.extend_from_slice(&content[rest..]);
    Ok((result, count))
}

/// Occurrences, where each may begin within the one before: in linear time, also in `aaaa…`, where a search
/// that begins anew after each first byte takes quadratic time.
fn overlapping(finder: &memmem::Finder<'_>, content: &[u8]) -> usize {
    let old = finder.needle();
    let Some(first) = finder.find(content) else {
        return 0;
    };
    if finder.find(&content[first + 1..]).is_none() {
        return 1;
    }
    // Knuth, Morris and Pratt: for each beginning of `old`, its longest end that is a beginning too.
    let mut borders = vec![0; old.len()];
    let mut length = 0;
    for at in 1..old.len() {
        while length > 0 && old[at] != old[length] {
            length = borders[length - 1];
        }
        length += usize::from(old[at] == old[length]);
        borders[at] = length;
    }
    let (mut count, mut matched) = (0, 0);
    for byte in &content[first..] {
        while matched > 0 && old[matched] != *byte {
            matched = borders[matched - 1];
        }
        matched += usize::from(old[matched] == *byte);
        if matched == old.len() {
            count += 1;
            matched = borders[matched - 1];
        }
    }
    count
}

/// Where the first line of `old` that says something would match without its white space at both ends.
fn near(content: &[u8], old: &[u8]) -> Option<u64> {
    let wanted = old
        .split(|byte| *byte == b'\n')
        .map(<[u8]>::trim_ascii)
        .find(|line| !line.is_empty())?;
    let at = content
        .split(|byte| *byte == b'\n')
        .position(|line| line.trim_ascii() == wanted)?;
    Some(at as u64 + 1)
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    #[test]
    fn what_is_near_is_told_and_not_taken() {
        let content = b"alpha\n   beta\ngamma\n";
        let refused = substitute(content, b"    beta", b"    delta", false, 100);
        assert_eq!(refused, Err(SubstituteError::NoMatch { near: Some(2) }));
        let refused = substitute(content, b"omega", b"", true, 100);
        assert_eq!(refused, Err(SubstituteError::NoMatch { near: None }));
        assert_eq!(
            substitute(b"", b"a", b"", false, 1).map_err(|error| error.kind()),
            Err(ErrorKind::NoMatch)
        );
    }

    #[test]
    fn the_result_has_a_limit() {
        assert_eq!(
            substitute(b"aaaa", b"a", b"bbb", true, 11),
            Err(SubstituteError::TooLarge { limit: 11 })
        );
        assert!(substitute(b"aaaa", b"a", b"bbb", true, 12).is_ok());
    }

    /// The same, as slowly and plainly as can be.
    fn plain(content: &[u8], old: &[u8], new: &[u8], all: bool) -> Option<(Vec<u8>, u64)> {
        let at = |from: usize| content[from..].starts_with(old);
        if !all && (0..content.len()).filter(|from| at(*from)).count() != 1 {
            return None;
        }
        let (mut result, mut count, mut from) = (Vec::new(), 0, 0);
        while from < content.len() {
            if at(from) {
                result.extend_from_slice(new);
                from += old.len();
                count += 1;
            } else {
                result.push(content[from]);
                from += 1;
            }
        }
        (count > 0).then_some((result, count))
    }

    proptest! {
        #[test]
        fn it_is_what_the_plain_way_gives(
            content in vec(0_u8..3, 0..40),
            old in vec(0_u8..3, 1..5),
            new in vec(0_u8..3, 0..5),
            all: bool,
        ) {
            let got = substitute(&content, &old, &new, all, 1000).ok();
            prop_assert_eq!(got, plain(&content, &old, &new, all));
        }

        #[test]
        fn overlapping_occurrences_count_each(content in vec(0_u8..2, 0..40), old in vec(0_u8..2, 1..5)) {
            let count = (0..content.len()).filter(|from| content[*from..].starts_with(&old)).count();
            prop_assert_eq!(overlapping(&memmem::Finder::new(&old), &content), count);
        }
    }
}
