//! `write`: a new content, at once or not at all.

use belljar_contract::{Context, Expected, GuestPath, Version, files::WriteOptions};
use rustix::io::Errno;

use super::{
    Workspace,
    change::Change,
    fault::Fault,
    made::MadeDirectories,
    temporary::{Temporary, mode_after},
    version::version_of,
};

/// How often parents that go away while we make them are made again.
const TRIES: u32 = 8;

/// Makes `bytes` the content of a file.
pub(super) fn write(
    workspace: &Workspace,
    context: &Context,
    path: &GuestPath,
    bytes: &[u8],
    options: &WriteOptions,
) -> Result<Version, Fault> {
    workspace.fits("the content", bytes.len() as u64)?;
    with_parents(options.make_parents, |made| {
        let change = Change::begin(workspace, context, path, &options.expected, made)?;
        put(context, &change, bytes, options)
    })?;
    Ok(version_of(bytes))
}

/// Does `attempt`, and again when the parents that it made or found went away meanwhile: another call that
/// failed has removed what it had made. What `attempt` made goes away when it fails.
pub(super) fn with_parents<T>(
    make_parents: bool,
    mut attempt: impl FnMut(Option<&mut MadeDirectories>) -> Result<T, Fault>,
) -> Result<T, Fault> {
    if !make_parents {
        return attempt(None);
    }
    let mut tries = TRIES;
    loop {
        let mut made = MadeDirectories::default();
        tries -= 1;
        match attempt(Some(&mut made)) {
            Err(Fault::System(Errno::NOENT)) if tries > 0 => {}
            Err(fault) => return Err(fault),
            Ok(value) => {
                made.keep();
                return Ok(value);
            }
        }
    }
}

/// Puts `bytes` in the place of a file whose change has begun.
pub(super) fn put(
    context: &Context,
    change: &Change,
    bytes: &[u8],
    options: &WriteOptions,
) -> Result<(), Fault> {
    let temporary = Temporary::beside(&change.place)?;
    temporary.write(context, bytes)?;
    let mode = mode_after(change.before.as_ref(), options.executable);
    temporary.settle(mode, change.before.map(|status| status.owner))?;
    context.check()?;
    if options.expected == Expected::Absent {
        temporary.create(&change.place)?;
    } else {
        temporary.replace(&change.place)?;
    }
    Ok(())
}
