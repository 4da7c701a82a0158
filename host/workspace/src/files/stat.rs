//! `stat` and `resolve`: what a path is, and where it leads.

use belljar_contract::{
    GuestPath,
    files::{EntryKind, Info},
};

use super::{
    Workspace,
    fault::Fault,
    place::Target,
    resolution::{Names, Resolved, resolve as resolve_names},
    status::Status,
};

/// Says what a path is.
pub(super) fn stat(workspace: &Workspace, path: &GuestPath) -> Result<Info, Fault> {
    let status = look(workspace, path)?;
    if path.must_be_directory() && status.kind != EntryKind::Directory {
        return Err(Fault::NotDirectory);
    }
    Ok(Info {
        kind: status.kind,
        size: if status.kind == EntryKind::File {
            status.size
        } else {
            0
        },
        modified: status.modified_nanoseconds(),
        mode: status.mode,
    })
}

/// Looks at a name where it is, unless it is a link: a directory need not let us in for that.
fn look(workspace: &Workspace, path: &GuestPath) -> Result<Status, Fault> {
    if let Some(place) = workspace.root.place(path)? {
        let status = place.status()?.ok_or(Fault::Missing)?;
        if status.kind != EntryKind::Link {
            return Ok(status);
        }
    }
    match workspace.root.target(path, None)? {
        Target::Directory(handle) => Ok(Status::of(&*handle)?),
        Target::Place(_, status) => status.ok_or(Fault::Missing),
    }
}

/// Gives a path with every link resolved.
pub(super) fn resolve(workspace: &Workspace, path: &GuestPath) -> Result<GuestPath, Fault> {
    match resolve_names(&workspace.root, path, None)? {
        Resolved::Entry { .. } if path.must_be_directory() => Err(Fault::NotDirectory),
        Resolved::Directory { names, .. }
        | Resolved::Entry { names, .. }
        | Resolved::Missing { names, .. } => to_path(&names),
    }
}

fn to_path(names: &Names) -> Result<GuestPath, Fault> {
    if names.is_empty() {
        return Ok(GuestPath::root());
    }
    let text = String::from_utf8(names.join(&b'/')).map_err(|_| Fault::NotUtf8)?;
    GuestPath::parse(&text, "/").map_err(|_| Fault::TooLarge {
        what: "the resolved path",
        limit: belljar_contract::MAX_PATH_BYTES as u64,
        hint: "",
    })
}
