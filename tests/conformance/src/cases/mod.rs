//! The cases, by topic.

use std::sync::LazyLock;

use crate::case::Case;

mod cancellation;
mod directories;
mod escapes;
mod field_cases;
mod files_append;
mod files_move;
mod files_read;
mod files_replace;
mod files_write;
mod glob;
mod limits;
mod links;
mod paths;
mod processes_end;
mod processes_run;
mod processes_started;
mod processes_started_end;
mod processes_streams;
mod search;
mod session;
mod special;
mod versions;
mod workspace;

/// Every case, by topic.
const TOPICS: &[&[Case]] = &[
    files_read::CASES,
    files_write::CASES,
    files_append::CASES,
    files_replace::CASES,
    versions::CASES,
    directories::CASES,
    files_move::CASES,
    paths::CASES,
    links::CASES,
    escapes::CASES,
    special::CASES,
    glob::CASES,
    search::CASES,
    processes_run::CASES,
    processes_streams::CASES,
    processes_end::CASES,
    processes_started::CASES,
    processes_started_end::CASES,
    workspace::CASES,
    session::CASES,
    limits::CASES,
    cancellation::CASES,
    field_cases::CASES,
];

/// Gives every case of the suite, in its order.
#[must_use]
pub fn cases() -> &'static [Case] {
    static ALL: LazyLock<Vec<Case>> = LazyLock::new(|| TOPICS.concat());
    &ALL
}
