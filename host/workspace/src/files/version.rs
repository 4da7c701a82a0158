//! Versions: what a file's content is called.

use std::os::fd::OwnedFd;

use belljar_contract::{Context, Version};
use blake3::Hasher;
use rustix::io::Errno;

use super::{fault::Fault, status::Status};

/// What is read at once: large enough for the hash's widest instructions, small enough to be asked for a
/// stop after.
const PIECE: usize = 256 << 10;

/// The version of a content: its BLAKE3 digest.
///
/// ```
/// use belljar_workspace::files::version_of;
///
/// assert_eq!(version_of(b"a"), version_of(b"a"));
/// assert_ne!(version_of(b"a"), version_of(b"b"));
/// ```
#[must_use]
pub fn version_of(bytes: &[u8]) -> Version {
    of_text(blake3::hash(bytes).to_hex().as_str())
}

fn of_text(text: &str) -> Version {
    match Version::parse(text) {
        Ok(version) => version,
        // Hexadecimal digits are always a version.
        Err(_) => unreachable!(),
    }
}

/// The version of a file too large to be read for it: its identity, size and times.
fn of_identity(status: &Status) -> Version {
    let mut hasher = Hasher::new();
    for number in [status.device, status.inode, status.size] {
        hasher.update(&number.to_le_bytes());
    }
    for (seconds, nanoseconds) in [status.modified, status.changed] {
        hasher.update(&seconds.to_le_bytes());
        hasher.update(&nanoseconds.to_le_bytes());
    }
    // The prefix keeps it apart from every content's version.
    of_text(&format!("large-{}", hasher.finalize().to_hex()))
}

/// A part of a file, and what was learned of the whole on the way.
pub(super) struct Part {
    pub(super) bytes: Vec<u8>,
    pub(super) size: u64,
    pub(super) version: Version,
}

/// Reads `length` bytes from `offset` on, and the version and size of the whole file, all of one
/// content where the file is small enough to be hashed.
pub(super) fn read_part(
    context: &Context,
    file: &OwnedFd,
    largest_hashed: u64,
    offset: u64,
    length: u64,
) -> Result<Part, Fault> {
    let status = Status::of(file)?;
    if status.size > largest_hashed {
        return read_large(context, file, &status, offset, length);
    }
    let end = offset.saturating_add(length);
    let mut hasher = Hasher::new();
    let mut bytes = Vec::new();
    let mut size = 0_u64;
    let small = usize::try_from(status.size).unwrap_or(PIECE);
    let mut piece = vec![0; small.saturating_add(1).min(PIECE)];
    loop {
        context.check()?;
        let count = match rustix::io::read(file, &mut piece) {
            Err(Errno::INTR) => continue,
            count => count?,
        };
        if count == 0 {
            let version = of_text(hasher.finalize().to_hex().as_str());
            return Ok(Part {
                bytes,
                size,
                version,
            });
        }
        hasher.update(&piece[..count]);
        let (from, to) = overlap(size, count, offset, end);
        bytes.extend_from_slice(&piece[from..to]);
        size += count as u64;
        if size > largest_hashed {
            // It grew under us.
            return read_large(context, file, &Status::of(file)?, offset, length);
        }
    }
}

/// Which bytes of a piece that begins at `at` are between `start` and `end`.
fn overlap(at: u64, count: usize, start: u64, end: u64) -> (usize, usize) {
    let within = |position: u64| {
        usize::try_from(position.saturating_sub(at)).map_or(count, |position| position.min(count))
    };
    let from = within(start);
    (from, within(end).max(from))
}

fn read_large(
    context: &Context,
    file: &OwnedFd,
    status: &Status,
    offset: u64,
    length: u64,
) -> Result<Part, Fault> {
    let end = offset.saturating_add(length).min(status.size);
    let mut bytes = Vec::new();
    let mut at = offset;
    while at < end {
        context.check()?;
        let wanted = usize::try_from(end - at).unwrap_or(PIECE).min(PIECE);
        let filled = bytes.len();
        bytes.resize(filled + wanted, 0);
        let count = match rustix::io::pread(file, &mut bytes[filled..], at) {
            Err(Errno::INTR) => 0,
            Ok(0) => {
                bytes.truncate(filled);
                break;
            }
            count => count?,
        };
        bytes.truncate(filled + count);
        at += count as u64;
    }
    Ok(Part {
        bytes,
        size: status.size,
        version: of_identity(status),
    })
}

/// The version of an open file, from its beginning whatever its position is.
pub(super) fn version_of_file(
    context: &Context,
    file: &OwnedFd,
    largest_hashed: u64,
) -> Result<Version, Fault> {
    rustix::fs::seek(file, rustix::fs::SeekFrom::Start(0))?;
    Ok(read_part(context, file, largest_hashed, 0, 0)?.version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_cut_from_pieces_wherever_its_edges_are() {
        assert_eq!(overlap(0, 10, 0, 10), (0, 10));
        assert_eq!(overlap(0, 10, 3, 5), (3, 5));
        assert_eq!(overlap(10, 10, 3, 5), (0, 0));
        assert_eq!(overlap(10, 10, 15, u64::MAX), (5, 10));
        assert_eq!(overlap(10, 10, 40, 50), (10, 10));
        assert_eq!(overlap(0, 10, u64::MAX, u64::MAX), (10, 10));
    }
}
