//! What the functions give, for people: a line for each thing, whatever is in its name.

use belljar::files::{EntryKind, GlobResult, Info, Line, Listing, Match, SearchResult, Skipped};

use crate::{failure::Failure, output::Output};

pub(super) fn listing(listing: &Listing, output: Output) -> Result<(), Failure> {
    for entry in &listing.entries {
        let size = entry
            .size
            .map_or_else(|| "-".to_owned(), |size| size.to_string());
        output.line(&format!(
            "{size:>12}  {}{}",
            entry.name.text,
            mark(entry.kind)
        ))?;
    }
    more(listing.entries.len(), listing.total, output);
    Ok(())
}

pub(super) fn info(info: &Info, output: Output) -> Result<(), Failure> {
    output.line(&format!("kind      {}", kind(info.kind)))?;
    output.line(&format!("size      {}", info.size))?;
    output.line(&format!("mode      {:04o}", info.mode))?;
    output.line(&format!("modified  {} ns", info.modified))
}

pub(super) fn glob(found: &GlobResult, output: Output) -> Result<(), Failure> {
    for found in &found.paths {
        output.line(&format!("{}{}", found.path.text, mark(found.kind)))?;
    }
    more(found.paths.len(), found.total, output);
    skipped(found.skipped, output);
    Ok(())
}

pub(super) fn search(found: &SearchResult, output: Output) -> Result<(), Failure> {
    for found in &found.matches {
        lines(found, output)?;
    }
    if found.more {
        output.note(&format!(
            "there are more than these {} lines",
            found.matches.len()
        ));
    }
    skipped(found.skipped, output);
    Ok(())
}

/// A match as `path:line:text`, and its context with `-` instead of the colons.
fn lines(found: &Match, output: Output) -> Result<(), Failure> {
    let path = &found.path.text;
    let number = found.line_number;
    let before = (number.saturating_sub(found.before.len() as u64)..).zip(&found.before);
    for (number, line) in before {
        output.line(&format!("{path}-{number}-{}", text(line)))?;
    }
    output.line(&format!("{path}:{number}:{}", text(&found.line)))?;
    for (number, line) in (number + 1..).zip(&found.after) {
        output.line(&format!("{path}-{number}-{}", text(line)))?;
    }
    Ok(())
}

/// A line; its tabs stay, for they are text.
fn text(line: &Line) -> String {
    match line.dropped {
        0 => line.text.clone(),
        dropped => format!("{} [{dropped} bytes more]", line.text),
    }
}

const fn kind(kind: EntryKind) -> &'static str {
    match kind {
        EntryKind::File => "file",
        EntryKind::Directory => "directory",
        EntryKind::Link => "link",
        EntryKind::Other => "other",
    }
}

const fn mark(kind: EntryKind) -> &'static str {
    match kind {
        EntryKind::File => "",
        EntryKind::Directory => "/",
        EntryKind::Link => "@",
        EntryKind::Other => "|",
    }
}

fn more(shown: usize, total: u64, output: Output) {
    if total > shown as u64 {
        output.note(&format!("{shown} of {total}"));
    }
}

fn skipped(skipped: Skipped, output: Output) {
    let counts = [
        (skipped.links, "links"),
        (skipped.binary, "binary files"),
        (skipped.unreadable, "unreadable"),
        (skipped.special, "special files"),
    ];
    let told: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    if !told.is_empty() {
        output.note(&format!("not looked at: {}", told.join(", ")));
    }
}
