//! The workspace's directory handle: everything that the engine opens, it opens beneath it.

use std::{
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    path::{Path, PathBuf},
    sync::Arc,
};

use belljar_contract::GuestPath;
use cap_std::{ambient_authority, fs::Dir};
use rustix::{
    fs::{self, Access, AtFlags, Mode, OFlags},
    io::Errno,
};

use super::{
    fault::Fault,
    made::MadeDirectories,
    place::{Place, Target},
    platform::{self, PASS},
    resolution::{Resolved, resolve},
    status::{Kind, Status},
};

/// Why a directory of the host cannot be a workspace.
///
/// ```
/// use belljar_contract::session::Limits;
/// use belljar_workspace::files::{OpenError, Workspace};
///
/// let refused = Workspace::open_ambient("/dev/null".as_ref(), &Limits::default());
/// assert!(matches!(refused, Err(OpenError::NotADirectory { .. })));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// Nothing has this path.
    #[error("there is no directory {}", path.display())]
    NotFound {
        /// What was to be opened.
        path: PathBuf,
    },
    /// It is a file.
    #[error("{} is not a directory", path.display())]
    NotADirectory {
        /// What was to be opened.
        path: PathBuf,
    },
    /// The system does not let this process open it.
    #[error("{} cannot be opened: permission denied", path.display())]
    AccessDenied {
        /// What was to be opened.
        path: PathBuf,
    },
    /// Anything else that the system says.
    #[error("{} cannot be opened", path.display())]
    Other {
        /// What was to be opened.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

/// A directory handle, and how paths beneath it are opened.
#[derive(Debug)]
pub(super) struct Root {
    handle: Arc<OwnedFd>,
    opens_beneath: bool,
}

impl Root {
    /// Opens a directory of the host.
    ///
    /// # Ambient authority
    /// The path is the host's, resolved with the process's own rights.
    pub(super) fn open_ambient(path: &Path) -> Result<Self, OpenError> {
        let path_of = || path.to_owned();
        let dir =
            Dir::open_ambient_dir(path, ambient_authority()).map_err(|source| {
                match source.kind() {
                    std::io::ErrorKind::NotFound => OpenError::NotFound { path: path_of() },
                    std::io::ErrorKind::NotADirectory => {
                        OpenError::NotADirectory { path: path_of() }
                    }
                    std::io::ErrorKind::PermissionDenied => {
                        OpenError::AccessDenied { path: path_of() }
                    }
                    _ => OpenError::Other {
                        path: path_of(),
                        source,
                    },
                }
            })?;
        Ok(Self::new(dir))
    }

    /// Takes a directory that was opened elsewhere.
    pub(super) fn new(dir: Dir) -> Self {
        let handle = OwnedFd::from(dir);
        let opens_beneath = platform::opens_beneath(handle.as_fd());
        Self {
            handle: Arc::new(handle),
            opens_beneath,
        }
    }

    /// The same, resolved a name at a time, as on systems without `openat2`.
    #[cfg(test)]
    pub(super) fn without_openat2(mut self) -> Self {
        self.opens_beneath = false;
        self
    }

    pub(super) fn handle(&self) -> Arc<OwnedFd> {
        Arc::clone(&self.handle)
    }

    /// Whether the system lets this process make and remove entries in the root.
    pub(super) fn is_writable(&self) -> bool {
        fs::accessat(
            &*self.handle,
            c".",
            Access::WRITE_OK | Access::EXEC_OK,
            AtFlags::EACCESS,
        )
        .is_ok()
    }

    /// Opens a directory, every link followed that the path lets us follow, to go through it.
    pub(super) fn pass(&self, path: &GuestPath) -> Result<Arc<OwnedFd>, Fault> {
        if path.is_root() {
            return Ok(self.handle());
        }
        if self.opens_beneath {
            let (text, follow) = (path.as_str().as_bytes(), !path.no_links());
            match platform::open_beneath(self.handle.as_fd(), text, PASS, follow) {
                Ok(handle) => return Ok(Arc::new(handle)),
                // Renames kept it from an answer: a name at a time there is one.
                Err(Errno::AGAIN) => {}
                Err(Errno::LOOP) if !follow => return Err(Fault::Link),
                Err(errno) => return Err(unresolved(errno)),
            }
        }
        match resolve(self, path, None)? {
            Resolved::Directory { handle, .. } => Ok(handle),
            Resolved::Entry { .. } => Err(Fault::NotDirectory),
            Resolved::Missing { .. } => Err(Fault::Missing),
        }
    }

    /// Opens a directory, every link followed that the path lets us follow, to read it.
    pub(super) fn open_directory(&self, path: &GuestPath) -> Result<OwnedFd, Fault> {
        let handle = self.pass(path)?;
        Ok(reopen_to_read(&handle)?)
    }

    /// Opens a directory by its names from `above` on, where none of them may be a link.
    pub(super) fn descend(
        &self,
        above: &Arc<OwnedFd>,
        names: &[Vec<u8>],
    ) -> Result<Arc<OwnedFd>, Fault> {
        let mut current = Arc::clone(above);
        let mut rest = names;
        while !rest.is_empty() {
            let (handle, taken) = self.descend_some(&current, rest)?;
            current = Arc::new(handle);
            rest = &rest[taken..];
        }
        Ok(current)
    }

    /// Opens as many names at once as one call takes; says how many.
    fn descend_some(&self, above: &OwnedFd, names: &[Vec<u8>]) -> Result<(OwnedFd, usize), Fault> {
        if self.opens_beneath {
            let mut path = Vec::new();
            let mut taken = 0;
            for name in names {
                if taken > 0 && path.len() + name.len() > 4000 {
                    break;
                }
                if taken > 0 {
                    path.push(b'/');
                }
                path.extend_from_slice(name);
                taken += 1;
            }
            return match platform::open_beneath(above.as_fd(), &path, PASS, false) {
                Ok(handle) => Ok((handle, taken)),
                // There was a directory where now is a link.
                Err(Errno::LOOP | Errno::XDEV) => Err(Fault::NotDirectory),
                Err(errno) => Err(errno.into()),
            };
        }
        match fs::openat(above, &names[0], PASS | OFlags::NOFOLLOW, Mode::empty()) {
            Ok(handle) => Ok((handle, 1)),
            Err(Errno::LOOP) => Err(Fault::NotDirectory),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Cuts a path without links into what one call opens, and the rest.
    pub(super) fn split_for_opening<'p>(
        &self,
        path: &'p [u8],
        longest: usize,
    ) -> (&'p [u8], &'p [u8]) {
        let cut = if self.opens_beneath {
            if path.len() <= longest {
                return (path, b"");
            }
            memchr::memrchr(b'/', &path[..longest])
        } else {
            memchr::memchr(b'/', path)
        };
        match cut {
            Some(cut) => (&path[..cut], &path[cut + 1..]),
            None => (path, b""),
        }
    }

    /// Opens a directory to list it, no name of its path a link.
    pub(super) fn open_real_directory(
        &self,
        above: BorrowedFd<'_>,
        path: &[u8],
    ) -> Result<OwnedFd, Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        if self.opens_beneath {
            platform::open_beneath(above, path, flags, false)
        } else {
            fs::openat(above, path, flags, Mode::empty())
        }
    }

    /// The directory that holds a path's last name, and the name, which is not looked at. None for
    /// the root.
    pub(super) fn place(&self, path: &GuestPath) -> Result<Option<Place>, Fault> {
        let (Some(parent), Some(name)) = (path.parent(), path.name()) else {
            return Ok(None);
        };
        Ok(Some(Place {
            parent: self.pass(&parent)?,
            name: name.as_bytes().to_vec(),
        }))
    }

    /// Where a path leads, the last name's link followed too, if the path lets us. Missing parents are made when there is
    /// a place to note them in.
    pub(super) fn target(
        &self,
        path: &GuestPath,
        made: Option<&mut MadeDirectories>,
    ) -> Result<Target, Fault> {
        if self.opens_beneath {
            match self.place(path) {
                Ok(None) => return Ok(Target::Directory(self.handle())),
                Ok(Some(place)) => match Status::of_name(&*place.parent, &place.name)? {
                    Some(status) if status.kind == Kind::Link => {}
                    Some(status) if status.kind == Kind::Directory => {
                        match fs::openat(
                            &*place.parent,
                            &place.name,
                            PASS | OFlags::NOFOLLOW,
                            Mode::empty(),
                        ) {
                            Ok(handle) => return Ok(Target::Directory(Arc::new(handle))),
                            Err(Errno::NOTDIR | Errno::LOOP | Errno::NOENT) => {}
                            Err(errno) => return Err(errno.into()),
                        }
                    }
                    status => return Ok(Target::Place(place, status)),
                },
                Err(Fault::System(Errno::NOENT)) if made.is_some() => {}
                Err(fault) => return Err(fault),
            }
        }
        Ok(match resolve(self, path, made)? {
            Resolved::Directory { handle, .. } => Target::Directory(handle),
            Resolved::Entry {
                parent,
                name,
                status,
                ..
            } => Target::Place(Place { parent, name }, Some(status)),
            Resolved::Missing { parent, name, .. } => Target::Place(Place { parent, name }, None),
        })
    }
}

/// Opens a directory again, to list it.
pub(super) fn reopen_to_read(directory: impl AsFd) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    fs::openat(directory, c".", flags, Mode::empty())
}

/// What an opening beneath the root says of links.
fn unresolved(errno: Errno) -> Fault {
    match errno {
        Errno::XDEV => Fault::Leaves,
        Errno::LOOP => Fault::TooManyLinks,
        errno => errno.into(),
    }
}
