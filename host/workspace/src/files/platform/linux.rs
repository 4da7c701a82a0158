//! Linux: `openat2`, `renameat2`, `copy_file_range`, `getdents64` and `getrandom`.

use std::{
    mem::MaybeUninit,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
};

use rustix::{
    fs::{self, AtFlags, FileType, Mode, OFlags, RawDir, RenameFlags, ResolveFlags, Stat},
    io::Errno,
    rand::{GetRandomFlags, getrandom},
};

use crate::files::status::{Kind, Status};

/// How a directory is opened that is only gone through: search permission is enough.
pub(crate) const PASS: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// Whether the kernel, and whatever filters system calls here, lets us open beneath a handle.
pub(crate) fn opens_beneath(root: BorrowedFd<'_>) -> bool {
    open_beneath(root, b".", PASS, true).is_ok()
}

/// Opens a path that never leaves `root`, in one step. `Errno::XDEV` when it would.
pub(crate) fn open_beneath(
    root: BorrowedFd<'_>,
    path: &[u8],
    flags: OFlags,
    follow: bool,
) -> Result<OwnedFd, Errno> {
    let mut resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    if !follow {
        resolve |= ResolveFlags::NO_SYMLINKS;
    }
    // The kernel says EAGAIN when a rename anywhere might have mattered to a `..`.
    for _ in 0..32 {
        match fs::openat2(root, path, flags | OFlags::CLOEXEC, Mode::empty(), resolve) {
            Err(Errno::AGAIN | Errno::INTR) => {}
            other => return other,
        }
    }
    Err(Errno::AGAIN)
}

/// Renames unless something has the new name: `Errno::EXIST`. `Errno::INVAL` or
/// `Errno::NOSYS` where the file system or the kernel cannot.
pub(crate) fn rename_onto_nothing(
    from: BorrowedFd<'_>,
    name: &[u8],
    to: BorrowedFd<'_>,
    new_name: &[u8],
) -> Result<(), Errno> {
    fs::renameat_with(from, name, to, new_name, RenameFlags::NOREPLACE)
}

/// Copies up to `length` bytes from one file's position to the other's.
pub(crate) fn copy_range(
    from: BorrowedFd<'_>,
    to: BorrowedFd<'_>,
    length: usize,
) -> Result<usize, Errno> {
    fs::copy_file_range(from, None, to, None, length)
}

/// Bytes that nobody can guess.
pub(crate) fn unguessable() -> Result<[u8; 16], Errno> {
    let mut bytes = [0; 16];
    getrandom(&mut bytes, GetRandomFlags::empty())?;
    Ok(bytes)
}

/// What the system says of a file.
pub(crate) fn status(stat: &Stat) -> Status {
    Status {
        kind: kind(FileType::from_raw_mode(stat.st_mode)),
        mode: stat.st_mode & 0o7777,
        size: u64::try_from(stat.st_size).unwrap_or(0),
        device: stat.st_dev,
        inode: stat.st_ino,
        owner: (stat.st_uid, stat.st_gid),
        modified: (
            stat.st_mtime,
            i64::try_from(stat.st_mtime_nsec).unwrap_or(0),
        ),
        changed: (
            stat.st_ctime,
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

/// Memory for reading directories, kept by a thread from one to the next.
pub(crate) struct EntryBuffer(Vec<MaybeUninit<u8>>);

impl EntryBuffer {
    pub(crate) fn new() -> Self {
        // The C library's size: a thousand names at a time.
        Self(vec![MaybeUninit::uninit(); 32 << 10])
    }
}

/// Calls `each` with the name and kind of every entry but `.` and `..`, in no order. One that goes away
/// meanwhile may be missing.
pub(crate) fn for_each_entry<E: From<Errno>>(
    directory: &OwnedFd,
    buffer: &mut EntryBuffer,
    mut each: impl FnMut(&[u8], Kind) -> Result<(), E>,
) -> Result<(), E> {
    let mut entries = RawDir::new(directory, &mut buffer.0);
    while let Some(entry) = entries.next() {
        let entry = match entry {
            Err(Errno::INTR) => continue,
            entry => entry?,
        };
        let name = entry.file_name().to_bytes();
        if name == b"." || name == b".." {
            continue;
        }
        let kind = match entry.file_type() {
            // Some file systems do not keep the kind with the name.
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
