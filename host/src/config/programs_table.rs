//! Interprets the `[sandbox.virtual.programs]` table.

use std::{collections::BTreeMap, path::PathBuf};

use toml::Spanned;

use super::{
    document::Virtual,
    error::{Problem, ProblemKind},
    interpret::Reading,
};

/// Names that a command line has for itself.
const TAKEN: [&str; 2] = ["cd", "sh"];

/// What is wrong, whoever made it.
pub(super) fn problems(programs: &BTreeMap<String, PathBuf>) -> Vec<Problem> {
    let problem = |name: &String| {
        Some(Problem {
            key: key(name),
            position: None,
            kind: ProblemKind::BadValue(wrong(name)?),
        })
    };
    programs.keys().filter_map(problem).collect()
}

fn key(name: &str) -> String {
    format!("sandbox.virtual.programs.{name}")
}

/// Reads the table. Whether a file is a program shows when it is loaded.
pub(super) fn read(
    reading: &mut Reading<'_>,
    table: Option<&Spanned<Virtual>>,
) -> BTreeMap<String, PathBuf> {
    let mut programs = BTreeMap::new();
    let Some(table) = table else {
        return programs;
    };
    for (name, file) in &table.get_ref().programs {
        let key = key(name.get_ref());
        if let Some(message) = wrong(name.get_ref()) {
            reading.bad(key, name.span().start, message);
        } else if let Some(path) = reading.path(key, file) {
            programs.insert(name.get_ref().clone(), path);
        }
    }
    programs
}

/// What is wrong with a program's name.
fn wrong(name: &str) -> Option<String> {
    if TAKEN.contains(&name) {
        return Some("a command line has this name for itself; give the program another".into());
    }
    let is_plain = |one: char| one.is_ascii_alphanumeric() || matches!(one, '.' | '_' | '-' | '+');
    match !name.is_empty() && name.chars().all(is_plain) {
        true => None,
        false => Some("a program's name is made of letters, digits and ._-+".into()),
    }
}
