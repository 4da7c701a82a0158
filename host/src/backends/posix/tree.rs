//! A tree as a place listed it, and the walk over it.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use belljar_contract::{
    Context,
    files::{EntryKind, Skipped},
};
use belljar_workspace::files::IgnoreRules;

use super::{fault::Fault, ignoring::Ignoring};

/// An entry; its path is from the workspace's root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) path: Vec<u8>,
    pub(super) kind: EntryKind,
    pub(super) size: u64,
}

/// What a place lists, in the byte order of the paths.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Tree {
    /// Where it begins, without links.
    pub(super) base: Vec<u8>,
    pub(super) entries: Vec<Entry>,
    /// Directories that cannot be read.
    pub(super) denied: HashSet<Vec<u8>>,
}

/// What is done with an entry.
pub(super) enum Verdict<B> {
    Leave,
    Look,
    Enter(B),
}

impl Tree {
    /// Meets every entry of every directory that is entered, a directory before what is in it.
    pub(super) fn walk<B>(
        &self,
        context: &Context,
        ignoring: &Ignoring,
        start: B,
        skipped: &mut Skipped,
        mut meet: impl FnMut(&B, &Entry, &dyn Fn() -> bool, &mut Skipped) -> Result<Verdict<B>, Fault>,
    ) -> Result<Vec<(Vec<u8>, u64)>, Fault> {
        let mut rules = None;
        let mut above = Vec::new();
        let names = self.base.split(|byte| *byte == b'/');
        for name in names.filter(|name| !name.is_empty()) {
            rules = ignoring.of(&above, rules, skipped);
            above = join(&above, name);
        }
        rules = ignoring.of(&self.base, rules, skipped);
        let mut entered: HashMap<&[u8], (B, Option<Arc<IgnoreRules>>)> =
            HashMap::from([(self.base.as_slice(), (start, rules))]);
        let mut looks = Vec::new();
        for (index, entry) in self.entries.iter().enumerate() {
            if index.is_multiple_of(16) {
                context.check()?;
            }
            let Some((below, rules)) = entered.get(parent_of(&entry.path)) else {
                continue;
            };
            let is_directory = entry.kind == EntryKind::Directory;
            let is_ignored = || {
                rules
                    .as_ref()
                    .is_some_and(|rules| rules.exclude(&entry.path, is_directory))
            };
            match meet(below, entry, &is_ignored, skipped)? {
                Verdict::Leave => {}
                Verdict::Look => looks.push((entry.path.clone(), entry.size)),
                Verdict::Enter(_) if self.denied.contains(&entry.path) => skipped.unreadable += 1,
                Verdict::Enter(below) => {
                    let rules = ignoring.of(&entry.path, rules.clone(), skipped);
                    entered.insert(&entry.path, (below, rules));
                }
            }
        }
        Ok(looks)
    }
}

/// A path below another; either may be empty.
pub(super) fn join(above: &[u8], below: &[u8]) -> Vec<u8> {
    let slash: &[u8] = if above.is_empty() || below.is_empty() {
        b""
    } else {
        b"/"
    };
    [above, slash, below].concat()
}

pub(super) fn name_of(path: &[u8]) -> &[u8] {
    path.rsplit(|byte| *byte == b'/').next().unwrap_or(path)
}

fn parent_of(path: &[u8]) -> &[u8] {
    let name = name_of(path).len();
    path[..path.len() - name]
        .strip_suffix(b"/")
        .unwrap_or_default()
}
