//! `replace`: bytes for bytes in a file.

use belljar_contract::{
    Context, Expected, GuestPath,
    files::{ReplaceOptions, Replaced, WriteOptions},
};
use rustix::fs::OFlags;

use super::{
    Workspace,
    change::Change,
    fault::Fault,
    read::read_whole,
    substitution::{SubstituteError, substitute},
    version::version_of,
    write::put,
};

/// Replaces `old` by `new` in a file.
pub(super) fn replace(
    workspace: &Workspace,
    context: &Context,
    path: &GuestPath,
    old: &[u8],
    new: &[u8],
    options: &ReplaceOptions,
) -> Result<Replaced, Fault> {
    if old.is_empty() {
        return Err(SubstituteError::Empty.into());
    }
    // A version is checked against the very bytes that are replaced in, below.
    let at_first = match &options.expected {
        Expected::Version(_) => &Expected::Any,
        other => other,
    };
    let change = Change::begin(workspace, context, path, at_first, None)?;
    if change.before.is_none() {
        return Err(match options.expected {
            Expected::Version(_) => Fault::Gone,
            Expected::Any | Expected::Absent => Fault::Missing,
        });
    }
    let (file, status) = change.open(OFlags::RDONLY)?;
    let content = read_whole(context, &file, &status, workspace.file_bytes)?;
    if let Expected::Version(version) = &options.expected
        && version_of(&content) != *version
    {
        return Err(Fault::Stale);
    }
    let (content, count) = substitute(&content, old, new, options.all, workspace.file_bytes)?;
    put(context, &change, &content, &WriteOptions::default())?;
    Ok(Replaced {
        count,
        version: version_of(&content),
    })
}
