//! Other Unix systems: no step is taken that POSIX does not have, and what replaces it says so.

use std::{
    hash::{BuildHasher, RandomState},
    os::fd::{AsFd, BorrowedFd, OwnedFd},
};

use rustix::{
    fs::{self, AtFlags, FileType, OFlags, Stat},
    io::Errno,
};

use crate::files::status::{Kind, Status};

/// How a directory is opened that is only gone through.
pub(crate) const PASS: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::CLOEXEC);

/// There is no such call: paths are resolved a name at a time.
pub(crate) fn opens_beneath(_root: BorrowedFd<'_>) -> bool {
    false
}

/// There is no such call.
pub(crate) fn open_beneath(
    _root: BorrowedFd<'_>,
    _path: &[u8],
    _flags: OFlags,
    _follow: bool,
) -> Result<OwnedFd, Errno> {
    Err(Errno::NOSYS)
}

/// There is no such call.
pub(crate) fn rename_onto_nothing(
    _from: BorrowedFd<'_>,
    _name: &[u8],
    _to: BorrowedFd<'_>,
    _new_name: &[u8],
) -> Result<(), Errno> {
    Err(Errno::NOSYS)
}

/// There is no such call.
pub(crate) fn copy_range(
    _from: BorrowedFd<'_>,
    _to: BorrowedFd<'_>,
    _length: usize,
) -> Result<usize, Errno> {
    Err(Errno::NOSYS)
}

/// Bytes that nobody can guess: hashes under keys that the system gave this process.
pub(crate) fn unguessable() -> Result<[u8; 16], Errno> {
    let keys = RandomState::new();
    let halves = [keys.hash_one(0_u8), keys.hash_one(1_u8)];
    let mut bytes = [0; 16];
    for (to, from) in bytes.chunks_exact_mut(8).zip(halves) {
        to.copy_from_slice(&from.to_le_bytes());
    }
    Ok(bytes)
}

/// What the system says of a file.
#[expect(
    clippy::useless_conversion,
    reason = "the widths differ between systems"
)]
pub(crate) fn status(stat: &Stat) -> Status {
    Status {
        kind: kind(FileType::from_raw_mode(stat.st_mode)),
        mode: u32::from(stat.st_mode) & 0o7777,
        size: u64::try_from(stat.st_size).unwrap_or(0),
        device: u64::try_from(stat.st_dev).unwrap_or(0),
        inode: u64::from(stat.st_ino),
        owner: (stat.st_uid, stat.st_gid),
        modified: (
            i64::from(stat.st_mtime),
            i64::try_from(stat.st_mtime_nsec).unwrap_or(0),
        ),
        changed: (
            i64::from(stat.st_ctime),
            i64::try_from(stat.st_ctime_nsec).unwrap_or(0),
        ),
    }
}

fn kind(kind: FileType) -> Kind {
    match kind {
        FileType::RegularFile => Kind::File,
        FileType::Directory => Kind::Directory,
        FileType::Symlink => Kind::Link,
        _ => Kind::Other,
    }
}

/// The C library keeps its own memory.
pub(crate) struct EntryBuffer(());

impl EntryBuffer {
    pub(crate) fn new() -> Self {
        Self(())
    }
}

/// Calls `each` with the name and kind of every entry but `.` and `..`, in no order.
pub(crate) fn for_each_entry<E: From<Errno>>(
    directory: &OwnedFd,
    _buffer: &mut EntryBuffer,
    mut each: impl FnMut(&[u8], Kind) -> Result<(), E>,
) -> Result<(), E> {
    // Not opened again: a directory that may be listed need not let us pass.
    let same = rustix::io::fcntl_dupfd_cloexec(directory, 0)?;
    for entry in fs::Dir::new(same)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name == b"." || name == b".." {
            continue;
        }
        let kind = match entry.file_type() {
            FileType::Unknown => {
                match fs::statat(directory.as_fd(), name, AtFlags::SYMLINK_NOFOLLOW) {
                    Ok(stat) => status(&stat).kind,
                    Err(Errno::NOENT) => continue,
                    Err(_) => Kind::Other,
                }
            }
            known => kind(known),
        };
        each(name, kind)?;
    }
    Ok(())
}
