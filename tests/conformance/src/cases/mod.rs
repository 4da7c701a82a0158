//! The cases, by topic.

use std::sync::LazyLock;

use crate::case::Case;

mod atomicity;
mod cancellation;
mod directories;
mod escapes;
mod escapes_by_race;
mod field_cases;
mod files_append;
mod files_move;
mod files_read;
mod files_replace;
mod files_write;
mod glob;
mod glob_scope;
mod limits;
mod links;
mod links_changed;
mod paths;
mod permissions;
mod processes_end;
mod processes_environment;
mod processes_run;
mod processes_started;
mod processes_started_end;
mod processes_started_streams;
mod processes_streams;
mod search;
mod search_lines;
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
    atomicity::CASES,
    directories::CASES,
    files_move::CASES,
    paths::CASES,
    links::CASES,
    links_changed::CASES,
    escapes::CASES,
    escapes_by_race::CASES,
    special::CASES,
    permissions::CASES,
    glob::CASES,
    glob_scope::CASES,
    search::CASES,
    search_lines::CASES,
    processes_run::CASES,
    processes_environment::CASES,
    processes_streams::CASES,
    processes_end::CASES,
    processes_started::CASES,
    processes_started_streams::CASES,
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::cases;

    #[test]
    fn a_name_stands_once_and_says_its_topic() {
        let names: BTreeSet<_> = cases().iter().map(|case| case.name).collect();
        assert_eq!(names.len(), cases().len());
        for case in cases() {
            assert!(case.name.contains('/'), "{}", case.name);
            assert!(case.about.ends_with('.'), "{}", case.name);
        }
    }
}
