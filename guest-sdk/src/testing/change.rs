//! What changes one file: `write`, `append`, `replace` and `copy`.

use belljar_contract::{
    Expected, GuestPath, Version,
    files::{ReplaceOptions, Replaced, WriteOptions},
};
use belljar_workspace::files::{substitute, version_of};

use super::{
    fault::Fault,
    tree::{Node, Tree},
};

/// Checks that the file at `path` may be changed and is as expected; gives it, or none where it is
/// to be created.
fn begin<'t>(
    tree: &'t Tree,
    path: &GuestPath,
    expected: &Expected,
    make_parents: bool,
) -> Result<Option<&'t Node>, Fault> {
    let node = match tree.get(path) {
        // A name that must be a directory's is never a new file's.
        Err(Fault::Missing) if make_parents && !path.must_be_directory() => None,
        node => node?,
    };
    if *expected == Expected::Absent
        && let Some(node) = node
    {
        return Err(if path.must_be_directory() && !node.is_directory() {
            Fault::NotDirectory
        } else {
            Fault::Exists
        });
    }
    let Some(node) = node else {
        return match expected {
            _ if path.must_be_directory() => Err(Fault::NotDirectory),
            Expected::Version(_) => Err(Fault::Gone),
            Expected::Any | Expected::Absent => Ok(None),
        };
    };
    let Some(content) = &node.content else {
        return Err(Fault::Directory);
    };
    if path.must_be_directory() {
        return Err(Fault::NotDirectory);
    }
    if node.mode & 0o200 == 0 {
        return Err(Fault::Unwritable);
    }
    match expected {
        Expected::Version(version) if version_of(content) != *version => Err(Fault::Stale),
        _ => Ok(Some(node)),
    }
}

/// Puts a content where a change has begun.
fn put(
    tree: &mut Tree,
    path: &GuestPath,
    content: Vec<u8>,
    mode: Option<u32>,
    options: &WriteOptions,
) -> Result<Version, Fault> {
    let mut mode = mode.unwrap_or(0o644);
    if options.executable {
        // `x` wherever there is `r`.
        mode |= (mode & 0o444) >> 2;
    }
    if let Some(parent) = path.parent() {
        tree.make_directories(&parent)?;
    }
    let version = version_of(&content);
    tree.put(path, Node::file(content, mode));
    Ok(version)
}

pub(super) fn write(
    tree: &mut Tree,
    path: &GuestPath,
    bytes: Vec<u8>,
    options: &WriteOptions,
) -> Result<Version, Fault> {
    let before = begin(tree, path, &options.expected, options.make_parents)?;
    let mode = before.map(|node| node.mode);
    put(tree, path, bytes, mode, options)
}

pub(super) fn append(
    tree: &mut Tree,
    path: &GuestPath,
    bytes: &[u8],
    options: &WriteOptions,
) -> Result<Version, Fault> {
    let before = begin(tree, path, &options.expected, options.make_parents)?;
    let mode = before.map(|node| node.mode);
    let mut content = match before {
        Some(node) => node.readable()?.to_vec(),
        None => Vec::new(),
    };
    content.extend_from_slice(bytes);
    put(tree, path, content, mode, options)
}

pub(super) fn replace(
    tree: &mut Tree,
    path: &GuestPath,
    old: &[u8],
    new: &[u8],
    options: &ReplaceOptions,
    file_bytes: u64,
) -> Result<Replaced, Fault> {
    let before = begin(tree, path, &options.expected, false)?.ok_or(Fault::Missing)?;
    let mode = before.mode;
    let content = before.readable()?;
    if content.len() as u64 > file_bytes {
        return Err(Fault::TooLarge(file_bytes));
    }
    let (content, count) = substitute(content, old, new, options.all, file_bytes)?;
    let version = put(tree, path, content, Some(mode), &WriteOptions::default())?;
    Ok(Replaced { count, version })
}

/// The content and mode of the file that is copied.
pub(super) fn copy_source(tree: &Tree, source: &GuestPath) -> Result<(Vec<u8>, u32), Fault> {
    let node = tree.existing(source)?;
    Ok((node.readable()?.to_vec(), node.mode))
}

pub(super) fn copy(
    tree: &mut Tree,
    source: &GuestPath,
    (content, mode): (Vec<u8>, u32),
    target: &GuestPath,
    destination: &Expected,
) -> Result<Version, Fault> {
    begin(tree, target, destination, false)?;
    if source.as_str() == target.as_str() {
        return Ok(version_of(&content));
    }
    put(tree, target, content, Some(mode), &WriteOptions::default())
}
