//! `tree`: a directory and what is below it, to a depth.

use std::fmt::Write as _;

use belljar_guest::{
    ErrorKind, ToolError,
    files::{Found, Glob, Skipped},
    tool,
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{advice::advise, shown};

/// Levels shown when the call does not say.
const DEFAULT_DEPTH: u32 = 3;
/// The most levels: each is a walk of its own.
const MAX_DEPTH: u32 = 20;
/// Entries shown when the call does not say.
const DEFAULT_ENTRIES: u32 = 500;

/// What to show.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tree {
    /// The directory, relative to the workspace's root; the root when absent.
    #[serde(default)]
    path: Option<String>,
    /// How many levels to show, 1 to 20; 3 when absent.
    #[serde(default)]
    depth: Option<u32>,
    /// Show entries whose name begins with a dot too.
    #[serde(default)]
    hidden: bool,
    /// Show entries that .gitignore and .ignore files exclude too.
    #[serde(default)]
    ignored: bool,
    /// How many entries to show at most, the upper levels first; 500 when absent.
    #[serde(default)]
    limit: Option<u32>,
}

/// Shows a directory tree, indented, to a depth; without hidden and ignored entries unless asked for.
#[tool(read_only, idempotent, needs(read))]
pub(crate) fn tree(args: Tree) -> Result<String, ToolError> {
    let depth = args.depth.unwrap_or(DEFAULT_DEPTH);
    if !(1..=MAX_DEPTH).contains(&depth) {
        let message = format!("depth is 1 to {MAX_DEPTH}");
        return Err(ToolError::of(ErrorKind::InvalidArgument, message));
    }
    let base = args.path.as_deref().unwrap_or(".");
    let mut room = args.limit.unwrap_or(DEFAULT_ENTRIES);
    let mut entries: Vec<Found> = Vec::new();
    let mut total = 0;
    let mut skipped = Skipped::default();
    for level in 1..=depth {
        let pattern = vec!["*"; level as usize].join("/");
        let found = Glob::new(pattern)
            .base(base)
            .hidden(args.hidden)
            .ignored(args.ignored)
            .limit(room)
            .run()
            .map_err(advise)?;
        if found.total == 0 {
            break;
        }
        total += found.total;
        // The deepest walk has met what the others met, too.
        skipped = found.skipped;
        room = room.saturating_sub(u32::try_from(found.paths.len()).unwrap_or(u32::MAX));
        entries.extend(found.paths);
    }
    // By names and not by bytes: what is in a directory follows the directory.
    entries.sort_by(|one, two| names(one).cmp(names(two)));
    let mut text = String::new();
    let above = entries
        .iter()
        .map(|found| names(found).count())
        .min()
        .unwrap_or_default();
    for found in &entries {
        let level = names(found).count() - above;
        let name = found.path.text.rsplit('/').next().unwrap_or_default();
        let name = shown::name(&name.into());
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "{:1$}{name}{2}",
            "",
            level * 2,
            shown::mark(found.kind)
        );
    }
    let count = shown::count(total, "entry");
    let skipped = shown::skipped(skipped);
    if (entries.len() as u64) < total {
        let _ = write!(text, "[{} of {count}{skipped}]", entries.len());
    } else {
        let _ = write!(text, "[{count}{skipped}]");
    }
    Ok(text)
}

fn names(found: &Found) -> impl Iterator<Item = &str> {
    found.path.text.split('/')
}

#[cfg(test)]
mod tests {
    use belljar_guest::testing::{MemorySandbox, with_sandbox};

    use super::*;

    fn shown(path: Option<&str>, depth: u32, limit: u32) -> Result<String, ToolError> {
        let memory = MemorySandbox::new()
            .file("a/b/c", "")
            .file("a/d", "")
            .file("a-b", "")
            .file(".h/x", "")
            .file(".gitignore", "out\n")
            .file("out/y", "");
        let args = Tree {
            path: path.map(str::to_owned),
            depth: Some(depth),
            hidden: false,
            ignored: false,
            limit: Some(limit),
        };
        with_sandbox(&memory, || tree(args))
    }

    #[test]
    fn what_is_in_a_directory_follows_it() {
        let all = "a/\n  b/\n    c\n  d\na-b\n[5 entries]";
        assert_eq!(shown(None, 3, 100).unwrap(), all);
        assert_eq!(shown(None, 1, 100).unwrap(), "a/\na-b\n[2 entries]");
        assert_eq!(shown(Some("a"), 9, 100).unwrap(), "b/\n  c\nd\n[3 entries]");
    }

    #[test]
    fn the_upper_levels_come_first_when_there_are_too_many() {
        assert_eq!(
            shown(None, 3, 3).unwrap(),
            "a/\n  b/\na-b\n[3 of 5 entries]"
        );
    }

    #[test]
    fn a_depth_of_none_is_refused() {
        assert_eq!(
            shown(None, 0, 3).unwrap_err().kind,
            Some(ErrorKind::InvalidArgument)
        );
    }
}
