//! The value of `BELLJAR_PROCESS`, by which what has left its process group is found.

use std::{
    fmt::Write as _,
    hash::{BuildHasher as _, RandomState},
    sync::LazyLock,
};

/// The name of the variable by which what belongs to a process is found.
pub const VARIABLE: &str = "BELLJAR_PROCESS";

/// What the markers of this operating-system process begin with.
static PREFIX: LazyLock<String> = LazyLock::new(|| random(2));

/// Makes a marker of a process, which nobody can guess and which is never made again.
#[must_use]
pub fn marker() -> String {
    format!("{}-{}", *PREFIX, random(1))
}

/// Whether this operating-system process has made it.
pub(super) fn is_ours(marker: &str) -> bool {
    marker
        .strip_prefix(PREFIX.as_str())
        .is_some_and(|rest| rest.starts_with('-'))
}

/// Hexadecimal digits, 16 for each word. A `RandomState`'s keys come from the system's random numbers, and
/// what it hashes does not tell them.
fn random(words: usize) -> String {
    let mut text = String::new();
    for word in 0..words {
        // Writing to a string does not fail.
        let _ = write!(text, "{:016x}", RandomState::new().hash_one(word));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_another_and_all_are_ours() {
        let markers: std::collections::BTreeSet<_> = (0..1000).map(|_| marker()).collect();
        assert_eq!(markers.len(), 1000);
        assert!(markers.iter().all(|marker| is_ours(marker)));
        assert!(!is_ours(
            "0123456789abcdef0123456789abcdef-0123456789abcdef"
        ));
    }
}
