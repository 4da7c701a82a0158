//! A tree as a place lists it, with its ignore files, and the walk over it.

use std::{
    collections::{HashMap, HashSet},
    fmt::Write as _,
    sync::Arc,
};

use belljar_contract::{
    Context, GuestPath,
    files::{EntryKind, Skipped},
};
use belljar_workspace::files::IgnoreRules;

use super::{
    PosixBackend,
    fault::Fault,
    files::number,
    shell::{self, Question, flags, nonce},
};

/// The most bytes of a listing: a million paths of the usual length.
const LISTING_BYTES: u64 = 96 << 20;
/// What is asked for at once when many files are read: arguments that every system takes, and contents that need not
/// be held for long.
const BATCH_ARGUMENTS: usize = 64 << 10;
const BATCH_BYTES: u64 = 16 << 20;
/// The largest file that is searched.
pub(super) const LARGEST_SEARCHED: u64 = 64 << 20;

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

/// What was found where a file was to be read.
pub(super) enum Gathered {
    Content(Vec<u8>),
    Nothing,
    Link,
    Special,
    Unreadable,
}

/// What is done with an entry.
pub(super) enum Verdict<B> {
    Leave,
    Look,
    Enter(B),
}

/// The rules of ignore files, by directory.
#[derive(Default)]
pub(super) struct Ignoring {
    contents: HashMap<Vec<u8>, Gathered>,
    /// Whether they count.
    on: bool,
}

impl PosixBackend {
    /// Lists a directory, or everything below it.
    pub(super) async fn tree(
        &self,
        context: &Context,
        path: &GuestPath,
        deep: bool,
    ) -> Result<Tree, Fault> {
        let how = [if deep { "deep" } else { "flat" }];
        let answer = self
            .shell
            .ask(
                context,
                Question {
                    script: shell::LIST,
                    path: path.as_str(),
                    flags: &flags(path, &[]),
                    arguments: &how,
                    stdin: Vec::new(),
                    limit: LISTING_BYTES,
                },
            )
            .await
            .map_err(|fault| match fault {
                Fault::TooLarge { .. } => Fault::TreeTooLarge,
                fault => fault,
            })?;
        parse(&answer.body)
    }

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

    /// Reads many files by their paths from the root, none of them through a link at its end.
    pub(super) async fn gather(
        &self,
        context: &Context,
        files: &[(Vec<u8>, u64)],
        most: u64,
    ) -> Result<Vec<Gathered>, Fault> {
        let (word, most_text) = (nonce(), most.to_string());
        let paths: Vec<String> = files.iter().map(|(path, _)| argument(path)).collect();
        let mut arguments = vec![word.as_str(), &most_text];
        arguments.extend(paths.iter().map(String::as_str));
        let limit = files
            .iter()
            .map(|(_, size)| size.max(&(64 << 10)).saturating_mul(2).min(most) + 128)
            .sum::<u64>()
            + BATCH_BYTES;
        let answer = self
            .shell
            .ask(
                context,
                Question {
                    script: shell::GATHER,
                    path: "",
                    flags: "no_links",
                    arguments: &arguments,
                    stdin: Vec::new(),
                    limit,
                },
            )
            .await?;
        contents(&answer.body, word.as_bytes(), files.len())
    }
}

/// Cuts files, by their sizes, into what is read at once.
pub(super) fn batches(files: &[(Vec<u8>, u64)], most: u64) -> Vec<&[(Vec<u8>, u64)]> {
    let mut batches = Vec::new();
    let (mut from, mut bytes, mut arguments) = (0, 0, 0);
    for (index, (path, size)) in files.iter().enumerate() {
        // An escaped byte is five.
        let (size, length) = ((*size).min(most), path.len() * 5 + 16);
        if index > from && (bytes + size > BATCH_BYTES || arguments + length > BATCH_ARGUMENTS) {
            batches.push(&files[from..index]);
            (from, bytes, arguments) = (index, 0, 0);
        }
        bytes += size;
        arguments += length;
    }
    if from < files.len() {
        batches.push(&files[from..]);
    }
    batches
}

/// A path as an argument, which is text: as it is after a `=`, or escaped for `printf` after a `%`.
fn argument(path: &[u8]) -> String {
    match std::str::from_utf8(path) {
        Ok(text) => format!("={text}"),
        Err(_) => path.iter().fold("%".to_owned(), |mut text, byte| {
            // Writing to a string does not fail.
            let _ = write!(text, "\\0{byte:03o}");
            text
        }),
    }
}

/// Takes apart what was gathered.
fn contents(mut body: &[u8], word: &[u8], count: usize) -> Result<Vec<Gathered>, Fault> {
    let nonsense = || Fault::Nonsense("files that were read came back without their frame".into());
    let mut gathered = Vec::with_capacity(count);
    body = body.strip_prefix(word).ok_or_else(nonsense)?;
    while let Some((kind, rest)) = body.split_first() {
        if *kind == b'.' {
            break;
        }
        let end = find(rest, word).ok_or_else(nonsense)?;
        let content = &rest[..end];
        body = &rest[end + word.len()..];
        match kind {
            b'f' => gathered.push(Gathered::Content(content.to_vec())),
            b'n' => gathered.push(Gathered::Nothing),
            b'l' => gathered.push(Gathered::Link),
            b's' => gathered.push(Gathered::Special),
            b'u' => gathered.push(Gathered::Unreadable),
            // Reading the one before failed in the middle.
            b'x' => *gathered.last_mut().ok_or_else(nonsense)? = Gathered::Unreadable,
            _ => return Err(nonsense()),
        }
    }
    if gathered.len() == count {
        Ok(gathered)
    } else {
        Err(nonsense())
    }
}

fn find(bytes: &[u8], word: &[u8]) -> Option<usize> {
    let mut at = 0;
    while let Some(found) = bytes[at..].iter().position(|byte| *byte == word[0]) {
        if bytes[at + found..].starts_with(word) {
            return Some(at + found);
        }
        at += found + 1;
    }
    None
}

/// Reads a listing. A path has no two slashes in a row, so that a line's end and two slashes are a border.
fn parse(body: &[u8]) -> Result<Tree, Fault> {
    let nonsense = || Fault::Nonsense("a listing came back without its frame".into());
    let body = body.strip_prefix(b"//").ok_or_else(nonsense)?;
    let mut tree = Tree::default();
    let mut rest = body;
    let mut is_first = true;
    // What is last is only the end's mark.
    while let Some(end) = find(rest, b"\n//") {
        let record = &rest[..end];
        rest = &rest[end + 3..];
        let mut parts = record.splitn(3, |byte| *byte == b' ');
        let mut next = || parts.next().ok_or_else(nonsense);
        let (mode, size, path) = (next()?, next()?, next()?);
        if is_first {
            is_first = false;
            tree.base = path.to_vec();
            continue;
        }
        let Some(path) = path.strip_prefix(b"./") else {
            // The directory itself.
            continue;
        };
        let path = join(&tree.base, path);
        if mode == b"denied" {
            tree.denied.insert(path);
            continue;
        }
        let text = |bytes| std::str::from_utf8(bytes).map_err(|_| nonsense());
        let mode = u32::from_str_radix(text(mode)?, 16).map_err(|_| nonsense())?;
        tree.entries.push(Entry {
            path,
            kind: kind_of(mode),
            size: number(text(size)?)?,
        });
    }
    if is_first || !rest.is_empty() {
        return Err(nonsense());
    }
    tree.entries
        .sort_unstable_by(|one, two| one.path.cmp(&two.path));
    tree.entries.dedup_by(|one, two| one.path == two.path);
    Ok(tree)
}

/// What a mode says that something is.
pub(super) const fn kind_of(mode: u32) -> EntryKind {
    match mode & 0o170_000 {
        0o100_000 => EntryKind::File,
        0o040_000 => EntryKind::Directory,
        0o120_000 => EntryKind::Link,
        _ => EntryKind::Other,
    }
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

impl Ignoring {
    fn of(
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listing_is_taken_apart_whatever_its_names_are() {
        let body = b"//base 0 d\n//41ed 0 .\n//81a4 3 ./b\n/x\n//81a4 1 ./b\n//a000 5 ./a b\xff\n//denied 0 ./c\n//";
        let tree = parse(body).unwrap();
        assert_eq!(tree.base, b"d");
        let paths: Vec<&[u8]> = tree.entries.iter().map(|entry| &*entry.path).collect();
        assert_eq!(paths, [&b"d/a b\xff"[..], b"d/b", b"d/b\n/x"]);
        assert_eq!(tree.entries[0].kind, EntryKind::Link);
        assert!(tree.denied.contains(&b"d/c"[..]));
        for bad in [
            &b""[..],
            b"//",
            b"//base 0 d",
            b"//base 0 d\n//81a4 3 ./b",
            b"x",
        ] {
            assert!(parse(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn what_was_gathered_is_taken_apart() {
        let gathered = contents(b"WfaWfbWxWnW.", b"W", 3).unwrap();
        assert!(matches!(&gathered[0], Gathered::Content(bytes) if bytes == b"a"));
        assert!(matches!(gathered[1], Gathered::Unreadable));
        assert!(contents(b"Wfa", b"W", 1).is_err());
        assert!(contents(b"WfaW.", b"W", 2).is_err());
    }
}
