//! Directories that were made for a change, and go away again when it fails.

use std::{os::fd::OwnedFd, sync::Arc};

use rustix::{
    fs::{self, AtFlags, Mode, OFlags},
    io::Errno,
};

use super::{fault::Fault, platform::PASS};

/// The mode of a new directory, whatever the process's mask is.
const DIRECTORY_MODE: u32 = 0o755;

/// What was made, each in the one before; removed when dropped, unless kept.
#[derive(Default)]
pub(super) struct MadeDirectories {
    /// Where the first of them was made. One handle, however deep they go.
    parent: Option<Arc<OwnedFd>>,
    names: Vec<Vec<u8>>,
}

impl MadeDirectories {
    /// Makes a directory, or takes the one that another has made meanwhile.
    pub(super) fn make(
        &mut self,
        parent: &Arc<OwnedFd>,
        name: &[u8],
    ) -> Result<Arc<OwnedFd>, Fault> {
        let new = match fs::mkdirat(&**parent, name, Mode::from_raw_mode(DIRECTORY_MODE)) {
            Ok(()) => true,
            Err(Errno::EXIST) => false,
            Err(errno) => return Err(errno.into()),
        };
        if new {
            self.parent.get_or_insert_with(|| Arc::clone(parent));
            self.names.push(name.to_vec());
        } else if !self.names.is_empty() {
            // Somebody works in what we have made: it is no longer ours alone.
            self.parent = None;
            self.names.clear();
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        if new {
            let handle = fs::openat(&**parent, name, flags, Mode::empty())?;
            fs::fchmod(&handle, Mode::from_raw_mode(DIRECTORY_MODE))?;
            return Ok(Arc::new(handle));
        }
        match fs::openat(&**parent, name, PASS | OFlags::NOFOLLOW, Mode::empty()) {
            Ok(handle) => Ok(Arc::new(handle)),
            Err(Errno::LOOP) => Err(Fault::NotDirectory),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Leaves what was made where it is.
    pub(super) fn keep(mut self) {
        self.names.clear();
    }
}

impl Drop for MadeDirectories {
    fn drop(&mut self) {
        let Some(parent) = &self.parent else { return };
        while let Some(name) = self.names.pop() {
            let mut holder = Arc::clone(parent);
            for above in &self.names {
                match fs::openat(&*holder, above, PASS | OFlags::NOFOLLOW, Mode::empty()) {
                    Ok(handle) => holder = Arc::new(handle),
                    Err(_) => return,
                }
            }
            // Fails when somebody has put something in, and then it is to stay.
            if fs::unlinkat(&*holder, &name, AtFlags::REMOVEDIR).is_err() {
                return;
            }
        }
    }
}
