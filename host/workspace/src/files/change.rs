//! The beginning of every change to one file: where it is, that nobody else of ours changes
//! it meanwhile, and that it is what the caller expects.

use std::os::fd::OwnedFd;

use belljar_contract::{Context, Expected, GuestPath};
use rustix::{
    fs::{self, Access, AtFlags, OFlags},
    io::Errno,
};

use super::{
    Workspace,
    fault::Fault,
    locks::{Held, lock},
    made::MadeDirectories,
    place::{Place, Target, must_be_file},
    status::{Kind, Status},
    version::version_of_file,
};

/// How often a place is looked for again when its last name became a link meanwhile.
const TRIES: u32 = 8;

/// A place whose change has begun.
pub(super) struct Change {
    pub(super) place: Place,
    /// The regular file that is there.
    pub(super) before: Option<Status>,
    _held: Held,
}

impl Change {
    /// Finds the file that `path` leads to, locks it, and checks that it may be changed and is as
    /// expected.
    pub(super) fn begin(
        workspace: &Workspace,
        context: &Context,
        path: &GuestPath,
        expected: &Expected,
        mut made: Option<&mut MadeDirectories>,
    ) -> Result<Self, Fault> {
        let root = &workspace.root;
        if *expected == Expected::Absent {
            refuse_anything(root.place(path), path)?;
        }
        // A name that must be a directory's is never a new file's.
        if path.must_be_directory() {
            made = None;
        }
        for _ in 0..TRIES {
            let place = match root.target(path, made.as_deref_mut())? {
                Target::Directory(_) => return Err(Fault::Directory),
                Target::Place(..) if path.must_be_directory() => return Err(Fault::NotDirectory),
                Target::Place(place, _) => place,
            };
            let held = lock(context, vec![place.key()?])?;
            let before = place.status()?;
            match &before {
                Some(status) if status.kind == Kind::Link => continue,
                Some(status) => check_target(&place, status, expected)?,
                None => {}
            }
            let change = Self {
                place,
                before,
                _held: held,
            };
            change.check_version(workspace, context, expected)?;
            return Ok(change);
        }
        Err(Fault::Unsteady)
    }

    fn check_version(
        &self,
        workspace: &Workspace,
        context: &Context,
        expected: &Expected,
    ) -> Result<(), Fault> {
        let Expected::Version(version) = expected else {
            return Ok(());
        };
        if self.before.is_none() {
            return Err(Fault::Gone);
        }
        let (file, _) = self.open(OFlags::RDONLY)?;
        if version_of_file(context, &file, workspace.file_bytes)? == *version {
            Ok(())
        } else {
            Err(Fault::Stale)
        }
    }

    /// Opens the file that is there.
    pub(super) fn open(&self, access: OFlags) -> Result<(OwnedFd, Status), Fault> {
        self.place.open(access)
    }
}

/// With `absent`, whatever has the name is too much; a link is not followed for it.
fn refuse_anything(place: Result<Option<Place>, Fault>, path: &GuestPath) -> Result<(), Fault> {
    let status = match place {
        Ok(None) => return Err(Fault::Exists),
        Ok(Some(place)) => place.status()?,
        // Whether parents may be missing, the change says.
        Err(Fault::Missing | Fault::System(Errno::NOENT)) => None,
        Err(fault) => return Err(fault),
    };
    match status {
        None => Ok(()),
        Some(status) if path.must_be_directory() && status.kind != Kind::Directory => {
            Err(Fault::NotDirectory)
        }
        Some(_) => Err(Fault::Exists),
    }
}

fn check_target(place: &Place, status: &Status, expected: &Expected) -> Result<(), Fault> {
    if *expected == Expected::Absent {
        return Err(Fault::Exists);
    }
    must_be_file(status)?;
    if status.mode & 0o200 == 0 {
        return Err(Fault::Unwritable);
    }
    // A new file could take its place where the directory is ours to write, and that is not what the
    // file's permissions say.
    let flags = AtFlags::EACCESS | AtFlags::SYMLINK_NOFOLLOW;
    match fs::accessat(&*place.parent, &place.name, Access::WRITE_OK, flags) {
        Err(errno @ (Errno::ACCESS | Errno::PERM | Errno::ROFS)) => Err(errno.into()),
        // What else it says is of the call, not of the file: the change itself will tell.
        _ => Ok(()),
    }
}
