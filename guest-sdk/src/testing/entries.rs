//! What looks at or changes directory entries: `read` and `list` to `rename`.

use belljar_contract::{
    Expected, GuestPath,
    files::{Chunk, Content, Entry, Info, Listing},
};
use belljar_workspace::files::version_of;

use super::{fault::Fault, tree::Tree};

pub(super) fn read(tree: &Tree, path: &GuestPath, file_bytes: u64) -> Result<Content, Fault> {
    let content = tree.existing(path)?.readable()?;
    if content.len() as u64 > file_bytes {
        return Err(Fault::TooLarge(file_bytes));
    }
    Ok(Content {
        bytes: content.to_vec(),
        version: version_of(content),
    })
}

pub(super) fn read_range(
    tree: &Tree,
    path: &GuestPath,
    offset: u64,
    length: u64,
) -> Result<Chunk, Fault> {
    let content = tree.existing(path)?.readable()?;
    let within = |position: u64| {
        usize::try_from(position).map_or(content.len(), |position| position.min(content.len()))
    };
    let (start, end) = (within(offset), within(offset.saturating_add(length)));
    Ok(Chunk {
        bytes: content[start..end].to_vec(),
        size: content.len() as u64,
        version: version_of(content),
    })
}

pub(super) fn list(tree: &Tree, path: &GuestPath, limit: u32) -> Result<Listing, Fault> {
    if !tree.existing(path)?.is_directory() {
        return Err(Fault::NotDirectory);
    }
    let entries = tree.entries(path);
    let total = entries.len() as u64;
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let entry = |(name, node): (&str, &super::tree::Node)| Entry {
        name: name.into(),
        kind: node.kind(),
        size: node.content.as_ref().map(|content| content.len() as u64),
    };
    Ok(Listing {
        entries: entries.into_iter().take(limit).map(entry).collect(),
        total,
    })
}

pub(super) fn stat(tree: &Tree, path: &GuestPath) -> Result<Info, Fault> {
    let node = tree.existing(path)?;
    Ok(Info {
        kind: node.kind(),
        size: node
            .content
            .as_ref()
            .map_or(0, |content| content.len() as u64),
        modified: node.modified,
        mode: node.mode,
    })
}

/// There are no links: a path is what it says, when all but its last name is there.
pub(super) fn resolve(tree: &Tree, path: &GuestPath) -> Result<GuestPath, Fault> {
    match tree.get(path)? {
        Some(node) if path.must_be_directory() && !node.is_directory() => Err(Fault::NotDirectory),
        _ if path.is_root() => Ok(GuestPath::root()),
        // Parsed anew, it has lost its trailing slash.
        _ => GuestPath::parse(path.as_str(), "/").map_err(|_| Fault::Missing),
    }
}

pub(super) fn remove(tree: &mut Tree, path: &GuestPath, recursive: bool) -> Result<(), Fault> {
    if path.is_root() {
        return Err(Fault::IsRoot);
    }
    tree.existing(path)?;
    if !recursive && tree.below(path).next().is_some() {
        return Err(Fault::NotEmpty);
    }
    tree.take(path);
    Ok(())
}

pub(super) fn rename_source(tree: &Tree, source: &GuestPath) -> Result<(), Fault> {
    if source.is_root() {
        return Err(Fault::IsRoot);
    }
    tree.existing(source).map(|_| ())
}

/// Moves a source that is there.
pub(super) fn rename(
    tree: &mut Tree,
    source: &GuestPath,
    target: &GuestPath,
    destination: &Expected,
) -> Result<(), Fault> {
    if target.is_root() {
        return Err(Fault::IsRoot);
    }
    let moves_directory = tree.existing(source)?.is_directory();
    let there = tree.get(target)?;
    if target.must_be_directory() {
        match there {
            Some(node) if !node.is_directory() => return Err(Fault::NotDirectory),
            None if !moves_directory => return Err(Fault::NotDirectory),
            _ => {}
        }
    }
    match (destination, there) {
        (Expected::Any, _) | (Expected::Absent, None) => {}
        (Expected::Absent, Some(_)) => return Err(Fault::Exists),
        (Expected::Version(_), None) => return Err(Fault::Gone),
        (Expected::Version(version), Some(node)) => match (&node.content, moves_directory) {
            (Some(_), true) => return Err(Fault::NotDirectory),
            (Some(content), false) if version_of(content) != *version => return Err(Fault::Stale),
            (Some(_), false) => {}
            (None, false) => return Err(Fault::Directory),
            (None, true) => return Err(Fault::Stale),
        },
    }
    if source.as_str() == target.as_str() {
        return Ok(());
    }
    if target.starts_with(source) {
        return Err(Fault::IntoItself);
    }
    if let Some(node) = there {
        match (moves_directory, node.is_directory()) {
            (true, false) => return Err(Fault::NotDirectory),
            (false, true) => return Err(Fault::Directory),
            (true, true) if tree.below(target).next().is_some() => return Err(Fault::NotEmpty),
            _ => {}
        }
    }
    let taken = tree.take(source);
    tree.give(taken, source, target);
    Ok(())
}
