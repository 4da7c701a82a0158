//! What a file is: the parts of `stat` that the engine uses, the same on every system.

use belljar_contract::files::EntryKind;
use rustix::{
    fd::AsFd,
    fs::{self, AtFlags},
    io::Errno,
};

use super::platform;

/// What a name stands for, links not followed.
pub(crate) type Kind = EntryKind;

/// What the system says of a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Status {
    pub(crate) kind: Kind,
    /// The low 12 bits.
    pub(crate) mode: u32,
    pub(crate) size: u64,
    pub(crate) device: u64,
    pub(crate) inode: u64,
    /// User and group.
    pub(crate) owner: (u32, u32),
    /// Seconds and nanoseconds.
    pub(crate) modified: (i64, i64),
    pub(crate) changed: (i64, i64),
}

impl Status {
    /// Asks for an open file.
    pub(super) fn of(file: impl AsFd) -> Result<Self, Errno> {
        Ok(platform::status(&fs::fstat(file)?))
    }

    /// Asks for a name in a directory, and not for what a link points to. None when nothing has it.
    pub(super) fn of_name(directory: impl AsFd, name: &[u8]) -> Result<Option<Self>, Errno> {
        match fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(platform::status(&stat))),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(errno),
        }
    }

    /// Whether both are one file.
    pub(super) const fn is_same_file(&self, other: &Self) -> bool {
        self.device == other.device && self.inode == other.inode
    }

    /// Nanoseconds since 1970, at the ends of the range when outside it.
    pub(super) fn modified_nanoseconds(&self) -> i64 {
        let (seconds, nanoseconds) = self.modified;
        seconds
            .saturating_mul(1_000_000_000)
            .saturating_add(nanoseconds)
    }
}
