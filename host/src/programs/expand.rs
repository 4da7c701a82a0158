//! File names in the place of patterns.

use belljar_workspace::files::Glob;

use super::{arguments::Word, files::Files};

/// The most names that one pattern becomes: arguments have a limit too.
const MAX_NAMES: usize = 10_000;

/// A word as the arguments that it stands for: itself, or the names that it matches, in the order of their bytes. A
/// pattern that matches nothing stands for itself, and a wildcard matches no dot at the beginning of a name.
pub(super) fn expand(word: &Word, files: &Files<'_>) -> Result<Vec<String>, String> {
    if !word.is_pattern() {
        return Ok(vec![word.text()]);
    }
    let parts = word.parts();
    let last = parts.len() - 1;
    let mut found = vec![String::new()];
    for (at, part) in parts.iter().enumerate() {
        let slash = if at < last { "/" } else { "" };
        // What is no pattern after all, as a lone [, is text.
        let glob = match part.is_pattern {
            true => Glob::new(&part.pattern).ok(),
            false => None,
        };
        let Some(glob) = glob else {
            for path in &mut found {
                path.push_str(&part.text);
                path.push_str(slash);
            }
            continue;
        };
        let shows_hidden = part.text.starts_with('.');
        let mut next = Vec::new();
        for path in &found {
            let directory = if path.is_empty() { "." } else { path };
            for name in files.names(directory) {
                let is_shown = shows_hidden || !name.starts_with('.');
                if is_shown && glob.is_match(&name, true) {
                    next.push(format!("{path}{name}{slash}"));
                }
                if next.len() > MAX_NAMES {
                    return Err(format!("{}: more than {MAX_NAMES} names", word.text()));
                }
            }
        }
        found = next;
    }
    found.retain(|path| files.exists(path));
    found.sort_unstable();
    match found.is_empty() {
        true => Ok(vec![word.text()]),
        false => Ok(found),
    }
}
