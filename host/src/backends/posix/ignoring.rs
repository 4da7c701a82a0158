//! The ignore files of a listed tree, as the engine reads them.

use std::{collections::HashMap, sync::Arc};

use belljar_contract::{
    Context,
    files::{EntryKind, Skipped},
};
use belljar_workspace::files::IgnoreRules;

use super::{
    PosixBackend,
    fault::Fault,
    gather::{Gathered, batches},
    tree::{Entry, Tree, join, name_of},
};

/// The rules of ignore files, by directory.
#[derive(Default)]
pub(super) struct Ignoring {
    contents: HashMap<Vec<u8>, Gathered>,
    /// Whether they count.
    on: bool,
}

impl PosixBackend {
    /// Reads every ignore file that counts in a tree.
    pub(super) async fn ignoring(&self, context: &Context, tree: &Tree) -> Result<Ignoring, Fault> {
        let mut files = Vec::new();
        // From the root down to the base's parent nothing is listed: what is not there answers so.
        let mut above = Vec::new();
        for name in tree
            .base
            .split(|byte| *byte == b'/')
            .filter(|name| !name.is_empty())
        {
            files.extend(IgnoreRules::NAMES.map(|file| (join(&above, file), 0)));
            above = join(&above, name);
        }
        let is_rules = |entry: &&Entry| {
            entry.kind == EntryKind::File && IgnoreRules::NAMES.contains(&name_of(&entry.path))
        };
        files.extend(
            tree.entries
                .iter()
                .filter(is_rules)
                .map(|entry| (entry.path.clone(), entry.size)),
        );
        let mut contents = HashMap::new();
        let most = IgnoreRules::LARGEST as u64 + 1;
        for batch in batches(&files, most) {
            let gathered = self.gather(context, batch, most).await?;
            contents.extend(batch.iter().map(|(path, _)| path.clone()).zip(gathered));
        }
        Ok(Ignoring { contents, on: true })
    }
}

impl Ignoring {
    /// The rules of a directory: its own, after those above it.
    pub(super) fn of(
        &self,
        directory: &[u8],
        above: Option<Arc<IgnoreRules>>,
        skipped: &mut Skipped,
    ) -> Option<Arc<IgnoreRules>> {
        if !self.on {
            return None;
        }
        let mut found = [None; 2];
        for (found, name) in found.iter_mut().zip(IgnoreRules::NAMES) {
            match self.contents.get(&join(directory, name)) {
                Some(Gathered::Content(bytes)) => *found = Some(bytes.as_slice()),
                Some(Gathered::Unreadable) => skipped.unreadable += 1,
                Some(Gathered::Nothing | Gathered::Link | Gathered::Special) | None => {}
            }
        }
        let (rules, unreadable) = IgnoreRules::of(found, directory, above);
        skipped.unreadable += unreadable;
        rules
    }
}
