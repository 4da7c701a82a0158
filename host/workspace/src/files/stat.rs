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
    let status = match workspace.root.target(path, None)? {
        Target::Directory(handle) => Status::of(&*handle)?,
        Target::Place(_, None) => return Err(Fault::Missing),
        Target::Place(_, Some(_)) if path.must_be_directory() => return Err(Fault::NotDirectory),
        Target::Place(_, Some(status)) => status,
    };
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
