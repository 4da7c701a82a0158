//! The cases, by topic.

use std::sync::LazyLock;

use crate::case::Case;

mod escapes;
mod files_append;
mod files_read;
mod files_replace;
mod files_write;
mod links;
mod paths;
mod versions;

/// Every case, by topic.
const TOPICS: &[&[Case]] = &[
    files_read::CASES,
    files_write::CASES,
    files_append::CASES,
    files_replace::CASES,
    versions::CASES,
    links::CASES,
    escapes::CASES,
    paths::CASES,
];

/// Gives every case of the suite, in its order.
#[must_use]
pub fn cases() -> &'static [Case] {
    static ALL: LazyLock<Vec<Case>> = LazyLock::new(|| TOPICS.concat());
    &ALL
}
