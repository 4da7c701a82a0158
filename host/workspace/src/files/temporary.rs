//! A file in the making: beside the one that it will replace, and gone when it does not.

use std::{
    os::fd::{AsFd, OwnedFd},
    sync::Arc,
};

use belljar_contract::Context;
use rustix::{
    fs::{self, AtFlags, Gid, Mode, OFlags, Uid},
    io::Errno,
};

use super::{fault::Fault, place::Place, platform, status::Status};

/// What is written between two looks at the context.
const PIECE: usize = 1 << 20;
/// The bits by which a program runs as the file's owner or group.
const SET_ID: u32 = 0o6000;

/// A new file under a hidden name that nobody can guess. It is removed when dropped, unless it has
/// taken its place.
pub(super) struct Temporary {
    parent: Arc<OwnedFd>,
    name: String,
    file: OwnedFd,
    placed: bool,
}

impl Temporary {
    /// Makes an empty file beside `place`.
    pub(super) fn beside(place: &Place) -> Result<Self, Fault> {
        let random = u128::from_le_bytes(platform::unguessable()?);
        let name = format!(".belljar-{random:032x}.tmp");
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        // Nobody else reads it before it has its mode.
        let file = fs::openat(&*place.parent, &name, flags, Mode::from_raw_mode(0o600))?;
        Ok(Self {
            parent: Arc::clone(&place.parent),
            name,
            file,
            placed: false,
        })
    }

    /// The open file, at its end.
    pub(super) const fn file(&self) -> &OwnedFd {
        &self.file
    }

    /// Writes everything.
    pub(super) fn write(&self, context: &Context, bytes: &[u8]) -> Result<(), Fault> {
        write_all(context, &self.file, bytes)
    }

    /// Gives it its mode, and its owner where the one before had another and the system lets us.
    pub(super) fn settle(&self, mode: u32, owner: Option<(u32, u32)>) -> Result<(), Fault> {
        let mut mode = mode;
        if let Some((user, group)) = owner {
            let ours = Status::of(&self.file)?.owner;
            let (user, group) = (Uid::from_raw(user), Gid::from_raw(group));
            if ours != (user.as_raw(), group.as_raw())
                && fs::fchown(&self.file, Some(user), Some(group)).is_err()
            {
                // A program of theirs must not become one that runs as us.
                mode &= !SET_ID;
            }
        }
        fs::fchmod(&self.file, Mode::from_raw_mode(mode & 0o7777))?;
        Ok(())
    }

    /// Takes the place, whatever file or link has it.
    pub(super) fn replace(mut self, place: &Place) -> Result<OwnedFd, Fault> {
        fs::renameat(&*self.parent, &self.name, &*place.parent, &place.name)?;
        self.placed = true;
        self.into_file()
    }

    /// Takes the place if nothing has it.
    pub(super) fn create(mut self, place: &Place) -> Result<OwnedFd, Fault> {
        let renamed = platform::rename_onto_nothing(
            self.parent.as_fd(),
            self.name.as_bytes(),
            place.parent.as_fd(),
            &place.name,
        );
        match renamed {
            Ok(()) => self.placed = true,
            Err(Errno::EXIST) => return Err(Fault::Exists),
            // A second name can only be given where there is none; the first goes when we are dropped.
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                match fs::linkat(
                    &*self.parent,
                    &self.name,
                    &*place.parent,
                    &place.name,
                    AtFlags::empty(),
                ) {
                    Ok(()) => {}
                    Err(Errno::EXIST) => return Err(Fault::Exists),
                    Err(errno) => return Err(errno.into()),
                }
            }
            Err(errno) => return Err(errno.into()),
        }
        self.into_file()
    }

    fn into_file(self) -> Result<OwnedFd, Fault> {
        Ok(self
            .file
            .try_clone()
            .map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.placed {
            // Nothing is to be done when even this fails: the error that brought us here is what
            // the caller must know.
            let _ = fs::unlinkat(&*self.parent, &self.name, AtFlags::empty());
        }
    }
}

/// Writes everything at the file's position.
pub(super) fn write_all(context: &Context, file: &OwnedFd, bytes: &[u8]) -> Result<(), Fault> {
    let mut rest = bytes;
    while !rest.is_empty() {
        context.check()?;
        match rustix::io::write(file, &rest[..rest.len().min(PIECE)]) {
            Ok(0) => return Err(Errno::NOSPC.into()),
            Ok(count) => rest = &rest[count..],
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    Ok(())
}

/// The mode of a file that is written: kept, or a new one's, with execute permission where asked for.
pub(super) const fn mode_after(before: Option<&Status>, executable: bool) -> u32 {
    let mode = match before {
        Some(status) => status.mode,
        None => 0o644,
    };
    if executable {
        mode | ((mode & 0o444) >> 2)
    } else {
        mode
    }
}
