//! The directory tree in memory.
//!
//! It is one map from whole paths to what has them, in the byte order of the paths, which is the order
//! of the contract's results. Nothing recurses, however deep the tree is.

use std::{
    collections::BTreeMap,
    ops::Bound,
    time::{SystemTime, UNIX_EPOCH},
};

use belljar_contract::{GuestPath, files::EntryKind};

use super::fault::Fault;

/// Everything in the workspace, by its path relative to the root; the root has the empty one.
#[derive(Debug)]
pub(super) struct Tree(BTreeMap<String, Node>);

/// What has a path.
#[derive(Clone, Debug)]
pub(super) struct Node {
    /// The content of a file; none for a directory.
    pub(super) content: Option<Vec<u8>>,
    pub(super) mode: u32,
    /// Nanoseconds since 1970.
    pub(super) modified: i64,
}

impl Node {
    pub(super) fn directory() -> Self {
        Self {
            content: None,
            mode: 0o755,
            modified: now(),
        }
    }

    pub(super) fn file(content: Vec<u8>, mode: u32) -> Self {
        Self {
            content: Some(content),
            mode,
            modified: now(),
        }
    }

    pub(super) const fn is_directory(&self) -> bool {
        self.content.is_none()
    }

    pub(super) const fn kind(&self) -> EntryKind {
        match self.content {
            Some(_) => EntryKind::File,
            None => EntryKind::Directory,
        }
    }

    /// The content of a file that may be read.
    pub(super) fn readable(&self) -> Result<&[u8], Fault> {
        match &self.content {
            None => Err(Fault::Directory),
            Some(_) if self.mode & 0o400 == 0 => Err(Fault::Unreadable),
            Some(content) => Ok(content),
        }
    }
}

fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
    })
}

impl Default for Tree {
    fn default() -> Self {
        Self(BTreeMap::from([(String::new(), Node::directory())]))
    }
}

impl Tree {
    /// What has a path; none when only its last name is missing.
    pub(super) fn get(&self, path: &GuestPath) -> Result<Option<&Node>, Fault> {
        let mut ancestor = path.parent();
        if let Some(parent) = &ancestor {
            // The nearest directory that is there decides: above it there are only directories.
            match self.0.get(parent.as_str()) {
                Some(node) if node.is_directory() => {}
                Some(_) => return Err(Fault::NotDirectory),
                None => {
                    while let Some(above) = ancestor {
                        match self.0.get(above.as_str()) {
                            Some(node) if node.is_directory() => return Err(Fault::Missing),
                            Some(_) => return Err(Fault::NotDirectory),
                            None => ancestor = above.parent(),
                        }
                    }
                    return Err(Fault::Missing);
                }
            }
        }
        Ok(self.0.get(path.as_str()))
    }

    /// What has a path, which must be there.
    pub(super) fn existing(&self, path: &GuestPath) -> Result<&Node, Fault> {
        let node = self.get(path)?.ok_or(Fault::Missing)?;
        if path.must_be_directory() && !node.is_directory() {
            return Err(Fault::NotDirectory);
        }
        Ok(node)
    }

    /// Puts a node at a path whose parent is there.
    pub(super) fn put(&mut self, path: &GuestPath, node: Node) {
        self.0.insert(path.as_str().to_owned(), node);
        self.touch_parent(path);
    }

    /// Makes a directory and those above it.
    pub(super) fn make_directories(&mut self, path: &GuestPath) -> Result<(), Fault> {
        match self.get(path) {
            Ok(Some(node)) if node.is_directory() => return Ok(()),
            Ok(Some(_)) if path.must_be_directory() => return Err(Fault::NotDirectory),
            Ok(Some(_)) => return Err(Fault::Exists),
            Ok(None) | Err(Fault::Missing) => {}
            Err(fault) => return Err(fault),
        }
        let mut missing = Some(path.clone());
        while let Some(path) = missing {
            if self.0.contains_key(path.as_str()) {
                break;
            }
            self.0.insert(path.as_str().to_owned(), Node::directory());
            missing = path.parent();
        }
        self.touch_parent(path);
        Ok(())
    }

    fn touch_parent(&mut self, path: &GuestPath) {
        if let Some(parent) = path.parent()
            && let Some(node) = self.0.get_mut(parent.as_str())
        {
            node.modified = now();
        }
    }

    /// Everything below a path, with whole paths, in their byte order.
    pub(super) fn below(&self, path: &GuestPath) -> impl Iterator<Item = (&str, &Node)> {
        let start = prefix(path);
        self.0
            .range::<str, _>((Bound::Excluded(start.as_str()), Bound::Unbounded))
            .map(|(path, node)| (path.as_str(), node))
            .take_while({
                let start = start.clone();
                move |(path, _)| path.starts_with(&start)
            })
            .collect::<Vec<_>>()
            .into_iter()
    }

    /// The entries of a directory, by name.
    pub(super) fn entries(&self, path: &GuestPath) -> Vec<(&str, &Node)> {
        let start = prefix(path).len();
        self.below(path)
            .map(|(path, node)| (&path[start..], node))
            .filter(|(name, _)| !name.contains('/'))
            .collect()
    }

    /// Takes a path and everything below it away.
    pub(super) fn take(&mut self, path: &GuestPath) -> Vec<(String, Node)> {
        let below: Vec<String> = self.below(path).map(|(path, _)| path.to_owned()).collect();
        let taken = std::iter::once(path.as_str().to_owned())
            .chain(below)
            .filter_map(|path| self.0.remove_entry(&path))
            .collect();
        self.touch_parent(path);
        taken
    }

    /// Puts what was taken from `source` at `target`.
    pub(super) fn give(
        &mut self,
        taken: Vec<(String, Node)>,
        source: &GuestPath,
        target: &GuestPath,
    ) {
        for (path, node) in taken {
            let rest = &path[source.as_str().len()..];
            self.0.insert(format!("{}{rest}", target.as_str()), node);
        }
        self.touch_parent(target);
    }
}

/// What the paths below begin with.
fn prefix(path: &GuestPath) -> String {
    if path.is_root() {
        String::new()
    } else {
        format!("{}/", path.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> GuestPath {
        GuestPath::parse(text, "/").unwrap()
    }

    #[test]
    fn what_only_begins_alike_is_not_below() {
        let mut tree = Tree::default();
        for text in ["a", "a/b", "a/b/c", "a-b", "a0"] {
            tree.put(&path(text), Node::directory());
        }
        let below: Vec<&str> = tree.below(&path("a")).map(|(path, _)| path).collect();
        assert_eq!(below, ["a/b", "a/b/c"]);
        let taken = tree.take(&path("a"));
        tree.give(taken, &path("a"), &path("z"));
        let all: Vec<&str> = tree.below(&path(".")).map(|(path, _)| path).collect();
        assert_eq!(all, ["a-b", "a0", "z", "z/b", "z/b/c"]);
    }

    #[test]
    fn the_nearest_thing_that_is_there_decides() {
        let mut tree = Tree::default();
        tree.put(&path("f"), Node::file(Vec::new(), 0o644));
        assert!(matches!(tree.get(&path("f/x/y")), Err(Fault::NotDirectory)));
        assert!(matches!(tree.get(&path("g/x/y")), Err(Fault::Missing)));
        assert!(matches!(tree.get(&path("g")), Ok(None)));
        assert!(matches!(
            tree.existing(&path("f/")),
            Err(Fault::NotDirectory)
        ));
    }
}
