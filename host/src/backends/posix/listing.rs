//! `list`, and a tree as a place lists it.

use belljar_contract::{
    Context, GuestPath,
    files::{self, EntryKind, Listing, Name},
};

use super::{
    PosixBackend,
    fault::Fault,
    gather::find,
    shell::{self, Question, flags, number},
    tree::{Entry, Tree, join},
};

/// The most bytes of a listing: a million paths of the usual length.
const LISTING_BYTES: u64 = 96 << 20;

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

    pub(super) async fn list(
        &self,
        context: &Context,
        path: &GuestPath,
        limit: u32,
    ) -> Result<Listing, Fault> {
        let tree = self.tree(context, path, false).await?;
        let total = tree.entries.len() as u64;
        let above = if tree.base.is_empty() {
            0
        } else {
            tree.base.len() + 1
        };
        let entries = tree.entries.into_iter().take(limit as usize);
        let entry = |entry: Entry| files::Entry {
            size: (entry.kind == EntryKind::File).then_some(entry.size),
            kind: entry.kind,
            name: Name::from_bytes(entry.path[above..].to_vec()),
        };
        Ok(Listing {
            entries: entries.map(entry).collect(),
            total,
        })
    }
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
}
