//! `copy`: a second file with a file's content and mode, at once.

use std::os::fd::{AsFd, OwnedFd};

use belljar_contract::{Context, Error, Expected, GuestPath, Operation, Version};
use rustix::io::Errno;

use super::{
    Workspace,
    change::Change,
    fault::Fault,
    platform, read,
    status::Status,
    temporary::{Temporary, write_all},
    version::version_of_file,
};

/// What the system copies between two looks at the context.
const PIECE: usize = 8 << 20;

/// Copies the file `source` to `target`.
pub(super) fn copy(
    workspace: &Workspace,
    context: &Context,
    source: &GuestPath,
    target: &GuestPath,
    destination: &Expected,
) -> Result<Version, Error> {
    let of_source = |fault: Fault| fault.at(Operation::Copy, source);
    let of_target = |fault: Fault| fault.at(Operation::Copy, target);
    let (from, status) = read::open(workspace, source).map_err(of_source)?;
    let change = Change::begin(workspace, context, target, destination, None).map_err(of_target)?;
    if change
        .before
        .is_some_and(|before| before.is_same_file(&status))
    {
        return version_of_file(context, &from, workspace.file_bytes).map_err(of_source);
    }
    place_copy(workspace, context, &from, &status, &change, destination).map_err(of_target)
}

fn place_copy(
    workspace: &Workspace,
    context: &Context,
    from: &OwnedFd,
    status: &Status,
    change: &Change,
    destination: &Expected,
) -> Result<Version, Fault> {
    let temporary = Temporary::beside(&change.place)?;
    copy_content(context, from, temporary.file())?;
    // Whose the copy is: the owner of what it replaces, else us. A program that runs as the source's
    // owner must not come to run as another.
    let owner = change.before.map(|before| before.owner);
    let theirs = owner.unwrap_or(Status::of(temporary.file())?.owner);
    let mode = if theirs == status.owner {
        status.mode
    } else {
        status.mode & 0o1777
    };
    temporary.settle(mode, owner)?;
    context.check()?;
    let file = if *destination == Expected::Absent {
        temporary.create(&change.place)?
    } else {
        temporary.replace(&change.place)?
    };
    // After the rename, which is in the version of a large file. It is done: a stop comes too late.
    version_of_file(&Context::new(), &file, workspace.file_bytes)
}

fn copy_content(context: &Context, from: &OwnedFd, to: &OwnedFd) -> Result<(), Fault> {
    let mut copied = false;
    loop {
        context.check()?;
        match platform::copy_range(from.as_fd(), to.as_fd(), PIECE) {
            Ok(0) if copied => return Ok(()),
            // Some file systems say that there is nothing where there is: reading tells.
            Ok(0) => return read_and_write(context, from, to),
            Ok(_) => copied = true,
            Err(Errno::INTR) => {}
            Err(Errno::XDEV | Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP | Errno::PERM)
                if !copied =>
            {
                return read_and_write(context, from, to);
            }
            Err(errno) => return Err(errno.into()),
        }
    }
}

fn read_and_write(context: &Context, from: &OwnedFd, to: &OwnedFd) -> Result<(), Fault> {
    let mut piece = vec![0; 1 << 20];
    loop {
        context.check()?;
        match rustix::io::read(from, &mut piece) {
            Ok(0) => return Ok(()),
            Ok(count) => write_all(context, to, &piece[..count])?,
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
}
