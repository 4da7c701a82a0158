//! `remove`: of a file, a link, or a directory with everything in it.

use std::os::fd::OwnedFd;

use belljar_contract::{Context, GuestPath};
use rustix::{
    fs::{self, AtFlags, Mode, OFlags},
    io::Errno,
};

use super::{
    Workspace,
    fault::Fault,
    locks::lock,
    place::Place,
    platform::{EntryBuffer, for_each_entry},
    status::{Kind, Status},
};

/// How often a directory that others fill meanwhile is emptied again.
const TRIES: u32 = 8;

/// Removes what has a path; the link itself, if it is one.
pub(super) fn remove(
    workspace: &Workspace,
    context: &Context,
    path: &GuestPath,
    recursive: bool,
) -> Result<(), Fault> {
    let Some(place) = workspace.root.place(path)? else {
        return Err(Fault::IsRoot);
    };
    let _held = lock(context, vec![place.key()?])?;
    let status = place.status()?.ok_or(Fault::Missing)?;
    if status.kind != Kind::Directory {
        if path.must_be_directory() {
            return Err(Fault::NotDirectory);
        }
        return Ok(fs::unlinkat(&*place.parent, &place.name, AtFlags::empty())?);
    }
    match fs::unlinkat(&*place.parent, &place.name, AtFlags::REMOVEDIR) {
        Ok(()) => Ok(()),
        Err(Errno::NOTEMPTY | Errno::EXIST) if recursive => remove_tree(context, &place),
        Err(Errno::NOTEMPTY | Errno::EXIST) => Err(Fault::NotEmpty),
        Err(errno) => Err(errno.into()),
    }
}

/// A directory on the way down.
struct Level {
    /// Its name in the one above.
    name: Vec<u8>,
    status: Status,
    /// Directories in it that are still to be removed.
    pending: Vec<Vec<u8>>,
    tries: u32,
}

/// Removes a directory with everything in it. It holds one handle, however deep the tree is, and so
/// goes up by `..`, which it believes only when that is the directory it came down from.
fn remove_tree(context: &Context, place: &Place) -> Result<(), Fault> {
    let mut buffer = EntryBuffer::new();
    let (mut current, level) = enter(context, &place.parent, &place.name, &mut buffer)?;
    let mut levels = vec![level];
    while let Some(level) = levels.last_mut() {
        context.check()?;
        if let Some(name) = level.pending.pop() {
            match fs::unlinkat(&current, &name, AtFlags::REMOVEDIR) {
                Ok(()) | Err(Errno::NOENT) => continue,
                Err(Errno::NOTEMPTY | Errno::EXIST) => {}
                // It is no directory any more.
                Err(Errno::NOTDIR) => {
                    fs::unlinkat(&current, &name, AtFlags::empty())?;
                    continue;
                }
                Err(errno) => return Err(errno.into()),
            }
            let (below, level) = enter(context, &current, &name, &mut buffer)?;
            current = below;
            levels.push(level);
            continue;
        }
        let above = match levels.len() {
            1 => None,
            depth => Some(go_up(&current, &levels[depth - 2].status)?),
        };
        let removed = match &above {
            None => fs::unlinkat(&*place.parent, &place.name, AtFlags::REMOVEDIR),
            Some(above) => {
                let name = &levels[levels.len() - 1].name;
                fs::unlinkat(above, name, AtFlags::REMOVEDIR)
            }
        };
        match removed {
            Ok(()) | Err(Errno::NOENT) => {
                levels.pop();
                if let Some(above) = above {
                    current = above;
                }
            }
            // Others have put something in, or the system left something out as we read.
            Err(Errno::NOTEMPTY | Errno::EXIST) => {
                let depth = levels.len() - 1;
                let level = &mut levels[depth];
                level.tries += 1;
                if level.tries > TRIES {
                    return Err(Fault::NotEmpty);
                }
                fs::seek(&current, fs::SeekFrom::Start(0))?;
                level.pending = empty(context, &current, &mut buffer)?;
            }
            Err(errno) => return Err(errno.into()),
        }
    }
    Ok(())
}

/// Opens a directory, removes from it what is not one, and notes what is.
fn enter(
    context: &Context,
    above: &OwnedFd,
    name: &[u8],
    buffer: &mut EntryBuffer,
) -> Result<(OwnedFd, Level), Fault> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let directory = fs::openat(above, name, flags, Mode::empty()).map_err(|errno| match errno {
        Errno::LOOP | Errno::NOTDIR => Fault::Unsteady,
        errno => errno.into(),
    })?;
    let level = Level {
        name: name.to_vec(),
        status: Status::of(&directory)?,
        pending: empty(context, &directory, buffer)?,
        tries: 0,
    };
    Ok((directory, level))
}

fn empty(
    context: &Context,
    directory: &OwnedFd,
    buffer: &mut EntryBuffer,
) -> Result<Vec<Vec<u8>>, Fault> {
    let mut directories = Vec::new();
    let mut count = 0_u32;
    for_each_entry(directory, buffer, |name, kind| {
        count = count.wrapping_add(1);
        if count.is_multiple_of(256) {
            context.check()?;
        }
        if kind == Kind::Directory {
            directories.push(name.to_vec());
            return Ok(());
        }
        match fs::unlinkat(directory, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(Errno::ISDIR) => {
                directories.push(name.to_vec());
                Ok(())
            }
            Err(errno) => Err(Fault::System(errno)),
        }
    })?;
    Ok(directories)
}

fn go_up(current: &OwnedFd, expected: &Status) -> Result<OwnedFd, Fault> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let above = fs::openat(current, c"..", flags, Mode::empty())?;
    if Status::of(&above)?.is_same_file(expected) {
        Ok(above)
    } else {
        // The directory was moved elsewhere while we were in it.
        Err(Fault::Unsteady)
    }
}
