//! Where an entry is: a directory's handle and a name in it.

use std::{os::fd::OwnedFd, sync::Arc};

use rustix::{
    fs::{self, Mode, OFlags},
    io::Errno,
};

use super::{
    fault::Fault,
    locks::Key,
    status::{Kind, Status},
};

/// A name in a directory. What is done to it is done by the handle, whatever happens to the path.
pub(super) struct Place {
    pub(super) parent: Arc<OwnedFd>,
    pub(super) name: Vec<u8>,
}

/// Where a path leads when every link is followed.
pub(super) enum Target {
    /// To a directory.
    Directory(Arc<OwnedFd>),
    /// To anything else, or to nothing.
    Place(Place, Option<Status>),
}

impl Place {
    /// What has the name now, a link not followed.
    pub(super) fn status(&self) -> Result<Option<Status>, Fault> {
        Ok(Status::of_name(&*self.parent, &self.name)?)
    }

    /// What the place is called by the locks: the same however the path was spelt.
    pub(super) fn key(&self) -> Result<Key, Fault> {
        let parent = Status::of(&*self.parent)?;
        Ok(Key::new(&parent, &self.name))
    }

    /// Opens the file at this name: never a link, and nothing that blocks.
    pub(super) fn open(&self, access: OFlags) -> Result<(OwnedFd, Status), Fault> {
        let flags = access | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = match fs::openat(&*self.parent, &self.name, flags, Mode::empty()) {
            Ok(file) => file,
            // Somebody made it a link since we looked.
            Err(Errno::LOOP) => return Err(Fault::Unsteady),
            Err(errno) => return Err(errno.into()),
        };
        let status = Status::of(&file)?;
        must_be_file(&status)?;
        Ok((file, status))
    }
}

/// Says what is wrong with something that should have content.
pub(super) const fn must_be_file(status: &Status) -> Result<(), Fault> {
    match status.kind {
        Kind::File => Ok(()),
        Kind::Directory => Err(Fault::Directory),
        Kind::Link | Kind::Other => Err(Fault::NotFile),
    }
}
