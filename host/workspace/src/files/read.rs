//! `read` and `read-range`.

use std::os::fd::OwnedFd;

use belljar_contract::{
    Context, GuestPath,
    files::{Chunk, Content},
};
use rustix::{buffer::spare_capacity, fs::OFlags, io::Errno};

use super::{
    Workspace,
    fault::Fault,
    place::{Target, must_be_file},
    status::Status,
    version::{read_part, version_of},
};

/// What is read between two looks at the context.
const PIECE: usize = 1 << 20;
/// How often a file is looked for again when it became a link meanwhile.
const TRIES: u32 = 8;

/// Reads a whole file.
pub(super) fn read(
    workspace: &Workspace,
    context: &Context,
    path: &GuestPath,
) -> Result<Content, Fault> {
    let (file, status) = open(workspace, path)?;
    let bytes = read_whole(context, &file, &status, workspace.file_bytes)?;
    let version = version_of(&bytes);
    Ok(Content { bytes, version })
}

/// Reads a part of one.
pub(super) fn read_range(
    workspace: &Workspace,
    context: &Context,
    path: &GuestPath,
    offset: u64,
    length: u64,
) -> Result<Chunk, Fault> {
    if length > workspace.file_bytes {
        return Err(Fault::TooLarge {
            what: "the length",
            limit: workspace.file_bytes,
            hint: "",
        });
    }
    let (file, _) = open(workspace, path)?;
    let part = read_part(context, &file, workspace.file_bytes, offset, length)?;
    Ok(Chunk {
        bytes: part.bytes,
        size: part.size,
        version: part.version,
    })
}

/// Opens the regular file that a path leads to, to read it.
pub(super) fn open(workspace: &Workspace, path: &GuestPath) -> Result<(OwnedFd, Status), Fault> {
    for _ in 0..TRIES {
        let (place, status) = match workspace.root.target(path, None)? {
            Target::Directory(_) => return Err(Fault::Directory),
            Target::Place(_, None) => return Err(Fault::Missing),
            Target::Place(place, Some(status)) => (place, status),
        };
        if path.must_be_directory() {
            return Err(Fault::NotDirectory);
        }
        // Looked at before it is opened: to open a FIFO would wake who waits at its other end.
        must_be_file(&status)?;
        match place.open(OFlags::RDONLY) {
            Err(Fault::Unsteady) => {}
            other => return other,
        }
    }
    Err(Fault::Unsteady)
}

/// Reads everything up to the limit.
pub(super) fn read_whole(
    context: &Context,
    file: &OwnedFd,
    status: &Status,
    limit: u64,
) -> Result<Vec<u8>, Fault> {
    let too_large = || Fault::TooLarge {
        what: "the file",
        limit,
        hint: "; read it in ranges",
    };
    if status.size > limit {
        return Err(too_large());
    }
    // One more than it has, so that its end is seen without growing.
    let size = usize::try_from(status.size).unwrap_or(0);
    let mut bytes = Vec::with_capacity(size.saturating_add(1));
    loop {
        if bytes.len() == bytes.capacity() {
            bytes.reserve(PIECE.min(bytes.len().max(4096)));
        }
        let room = bytes.capacity() - bytes.len();
        match rustix::io::read(file, spare_capacity(&mut bytes)) {
            Ok(0) => return Ok(bytes),
            Ok(_) if bytes.len() as u64 > limit => return Err(too_large()),
            // All that it had, and there was room for more: no need to ask again for its end.
            Ok(count) if count < room && bytes.len() as u64 == status.size => return Ok(bytes),
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
        context.check()?;
    }
}
