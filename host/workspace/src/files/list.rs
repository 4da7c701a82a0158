//! `list`: the entries of a directory.

use std::collections::BinaryHeap;

use belljar_contract::{
    Context, GuestPath,
    files::{Entry, Listing, Name},
};

use super::{
    Workspace,
    fault::Fault,
    platform::{EntryBuffer, for_each_entry},
    status::{Kind, Status},
};

/// Lists the first `limit` entries of a directory, by name.
pub(super) fn list(
    workspace: &Workspace,
    context: &Context,
    path: &GuestPath,
    limit: u32,
) -> Result<Listing, Fault> {
    let directory = workspace.root.open_directory(path)?;
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    // The first names so far, the last of them on top: a directory of millions takes no more memory
    // than what is given.
    let mut first = BinaryHeap::<(Vec<u8>, u8)>::new();
    let mut total = 0_u64;
    for_each_entry(&directory, &mut EntryBuffer::new(), |name, kind| {
        if total.is_multiple_of(1024) {
            context.check()?;
        }
        total += 1;
        if first.len() < limit {
            first.push((name.to_vec(), code(kind)));
        } else if let Some(mut last) = first.peek_mut()
            && name < last.0.as_slice()
        {
            *last = (name.to_vec(), code(kind));
        }
        Ok::<_, Fault>(())
    })?;
    let mut entries = Vec::with_capacity(first.len());
    for (index, (name, kind)) in first.into_sorted_vec().into_iter().enumerate() {
        if index.is_multiple_of(1024) {
            context.check()?;
        }
        let mut kind = decode(kind);
        let mut size = None;
        if kind == Kind::File {
            match Status::of_name(&directory, &name)? {
                Some(status) => {
                    kind = status.kind;
                    size = (kind == Kind::File).then_some(status.size);
                }
                // It went away since: it is not there.
                None => {
                    total -= 1;
                    continue;
                }
            }
        }
        entries.push(Entry {
            name: Name::from_bytes(name),
            kind,
            size,
        });
    }
    Ok(Listing { entries, total })
}

/// A kind as something that has an order, which no result depends on: names differ.
const fn code(kind: Kind) -> u8 {
    match kind {
        Kind::File => 0,
        Kind::Directory => 1,
        Kind::Link => 2,
        Kind::Other => 3,
    }
}

const fn decode(code: u8) -> Kind {
    match code {
        0 => Kind::File,
        1 => Kind::Directory,
        2 => Kind::Link,
        _ => Kind::Other,
    }
}
