//! `rename`: another name for a file, a link or a directory, at once.

use std::os::fd::AsFd;

use belljar_contract::{Context, Error, Expected, GuestPath, Operation};
use rustix::{
    fs::{self, AtFlags, OFlags},
    io::Errno,
};

use super::{
    Workspace,
    fault::Fault,
    locks::lock,
    place::Place,
    platform,
    status::{Kind, Status},
    version::version_of_file,
};

/// Moves what has the path `source` to `target`.
pub(super) fn rename(
    workspace: &Workspace,
    context: &Context,
    source: &GuestPath,
    target: &GuestPath,
    destination: &Expected,
) -> Result<(), Error> {
    let of_source = |fault: Fault| fault.at(Operation::Rename, source);
    let of_target = |fault: Fault| fault.at(Operation::Rename, target);
    let place = |path| workspace.root.place(path)?.ok_or(Fault::IsRoot);
    let from = place(source).map_err(of_source)?;
    let moved = look(&from, source).map_err(of_source)?;
    moved.ok_or(Fault::Missing).map_err(of_source)?;
    let to = place(target).map_err(of_target)?;
    let keys = vec![from.key().map_err(of_source)?, to.key().map_err(of_target)?];
    let same_name = keys[0] == keys[1];
    let _held = lock(context, keys).map_err(of_source)?;
    let moved = look(&from, source)
        .and_then(|moved| moved.ok_or(Fault::Missing))
        .map_err(of_source)?;
    let replaced = look(&to, target).map_err(of_target)?;
    (|| {
        if replaced.is_none() && target.must_be_directory() && moved.kind != Kind::Directory {
            return Err(Fault::NotDirectory);
        }
        check_destination(
            workspace,
            context,
            &to,
            &moved,
            replaced.as_ref(),
            destination,
        )?;
        context.check()?;
        if same_name {
            return Ok(());
        }
        if *destination == Expected::Absent {
            return onto_nothing(&from, &to);
        }
        match replaced {
            // The system does nothing when both are names of one file, and both names stay.
            Some(replaced) if replaced.is_same_file(&moved) && moved.kind != Kind::Directory => {
                Ok(fs::unlinkat(&*from.parent, &from.name, AtFlags::empty())?)
            }
            _ => plainly(&from, &to),
        }
    })()
    .map_err(of_target)
}

/// What is at a place; a path that must be a directory's is only that.
fn look(place: &Place, path: &GuestPath) -> Result<Option<Status>, Fault> {
    match place.status()? {
        Some(status) if path.must_be_directory() && status.kind != Kind::Directory => {
            Err(Fault::NotDirectory)
        }
        status => Ok(status),
    }
}

fn check_destination(
    workspace: &Workspace,
    context: &Context,
    to: &Place,
    moved: &Status,
    replaced: Option<&Status>,
    destination: &Expected,
) -> Result<(), Fault> {
    match (destination, replaced) {
        (Expected::Any, _) | (Expected::Absent, None) => Ok(()),
        (Expected::Absent, Some(_)) => Err(Fault::Exists),
        (Expected::Version(_), None) => Err(Fault::Gone),
        (Expected::Version(version), Some(status)) => match (moved.kind, status.kind) {
            (Kind::Directory, Kind::File) => Err(Fault::NotDirectory),
            (_, Kind::File) => {
                let (file, _) = to.open(OFlags::RDONLY)?;
                if version_of_file(context, &file, workspace.file_bytes)? == *version {
                    Ok(())
                } else {
                    Err(Fault::Stale)
                }
            }
            (Kind::File | Kind::Link | Kind::Other, Kind::Directory) => Err(Fault::Directory),
            _ => Err(Fault::Stale),
        },
    }
}

fn plainly(from: &Place, to: &Place) -> Result<(), Fault> {
    fs::renameat(&*from.parent, &from.name, &*to.parent, &to.name).map_err(refused)
}

fn onto_nothing(from: &Place, to: &Place) -> Result<(), Fault> {
    let renamed =
        platform::rename_onto_nothing(from.parent.as_fd(), &from.name, to.parent.as_fd(), &to.name);
    match renamed {
        // The file system cannot, or it is a directory into itself, which the plain call tells. Nothing
        // was there under our lock; a process may have been quicker.
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => match to.status()? {
            None => plainly(from, to),
            Some(_) => Err(Fault::Exists),
        },
        renamed => renamed.map_err(refused),
    }
}

fn refused(errno: Errno) -> Fault {
    match errno {
        Errno::INVAL => Fault::IntoItself,
        Errno::NOTEMPTY | Errno::EXIST => Fault::NotEmpty,
        Errno::XDEV => Fault::AcrossFileSystems,
        errno => errno.into(),
    }
}
