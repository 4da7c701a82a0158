//! Ignore files of the tree in memory.

use std::{path::Path, sync::Arc};

use belljar_contract::{GuestPath, files::Skipped};
use ignore::{
    Match,
    gitignore::{Gitignore, GitignoreBuilder},
};

use super::tree::Tree;

/// The names of ignore files, the stronger first.
const NAMES: [&str; 2] = [".ignore", ".gitignore"];

/// The rules of one directory, and of those above it.
#[derive(Debug)]
pub(super) struct Rules {
    /// Of this directory, the stronger first.
    own: Vec<Gitignore>,
    above: Option<Arc<Self>>,
    /// Where, in a path from the root, the part begins that is relative to this directory.
    below: usize,
}

impl Rules {
    /// The rules in a directory: its own, over those `above` it.
    pub(super) fn of(
        tree: &Tree,
        directory: &GuestPath,
        above: Option<Arc<Self>>,
        skipped: &mut Skipped,
    ) -> Option<Arc<Self>> {
        let mut own = Vec::new();
        for name in NAMES {
            let Ok(path) = directory.join(name) else {
                continue;
            };
            match tree.get(&path) {
                Ok(Some(node)) if !node.is_directory() => match node.readable() {
                    Ok(content) => own.extend(parse(content)),
                    Err(_) => skipped.unreadable += 1,
                },
                _ => {}
            }
        }
        if own.is_empty() {
            return above;
        }
        let below = match directory.as_str().len() {
            0 => 0,
            length => length + 1,
        };
        Some(Arc::new(Self { own, above, below }))
    }

    /// The rules in a directory: those of every directory from the root down to it.
    pub(super) fn down_to(
        tree: &Tree,
        directory: &GuestPath,
        skipped: &mut Skipped,
    ) -> Option<Arc<Self>> {
        let mut way = vec![directory.clone()];
        while let Some(parent) = way.last().and_then(GuestPath::parent) {
            way.push(parent);
        }
        way.iter().rev().fold(None, |above, directory| {
            Self::of(tree, directory, above, skipped)
        })
    }

    /// Whether a path from the root is excluded; its parents are not.
    pub(super) fn exclude(&self, path: &str, is_directory: bool) -> bool {
        let mut level = Some(self);
        while let Some(rules) = level {
            let relative = Path::new(path.get(rules.below..).unwrap_or_default());
            for own in &rules.own {
                match own.matched(relative, is_directory) {
                    Match::None => {}
                    Match::Ignore(_) => return true,
                    Match::Whitelist(_) => return false,
                }
            }
            level = rules.above.as_deref();
        }
        false
    }
}

fn parse(content: &[u8]) -> Option<Gitignore> {
    let text = String::from_utf8_lossy(content);
    // Every path it is asked for is relative to its directory.
    let mut builder = GitignoreBuilder::new("");
    for line in text.strip_prefix('\u{feff}').unwrap_or(&text).lines() {
        // A line that is no pattern is left out, as git does.
        let _ = builder.add_line(None, line);
    }
    builder.build().ok().filter(|rules| !rules.is_empty())
}
