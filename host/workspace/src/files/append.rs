//! `append`: more at the end of a file, or as much as before.

use std::os::fd::OwnedFd;

use belljar_contract::{Context, GuestPath, Version, files::WriteOptions};
use rustix::fs::{self, Mode, OFlags};

use super::{
    Workspace,
    change::Change,
    fault::Fault,
    temporary::{mode_after, write_all},
    version::{version_of, version_of_file},
    write::{put, with_parents},
};

/// Adds `bytes` at the end of a file.
pub(super) fn append(
    workspace: &Workspace,
    context: &Context,
    path: &GuestPath,
    bytes: &[u8],
    options: &WriteOptions,
) -> Result<Version, Fault> {
    workspace.fits("the content", bytes.len() as u64)?;
    with_parents(options.make_parents, |made| {
        let change = Change::begin(workspace, context, path, &options.expected, made)?;
        let Some(before) = &change.before else {
            put(context, &change, bytes, options)?;
            return Ok(version_of(bytes));
        };
        // Readable too, for the version: what cannot be told is not begun.
        let (file, status) = change.open(OFlags::RDWR | OFlags::APPEND)?;
        let grown = Grown {
            file: &file,
            size: status.size,
            done: false,
        };
        write_all(context, &file, bytes)?;
        let version = version_of_file(context, &file, workspace.file_bytes)?;
        if options.executable {
            let mode = mode_after(Some(before), true);
            fs::fchmod(&file, Mode::from_raw_mode(mode))?;
        }
        grown.done();
        Ok(version)
    })
}

/// A file that gets back its size when it is dropped before it is done.
struct Grown<'a> {
    file: &'a OwnedFd,
    size: u64,
    done: bool,
}

impl Grown<'_> {
    fn done(mut self) {
        self.done = true;
    }
}

impl Drop for Grown<'_> {
    fn drop(&mut self) {
        if !self.done {
            // To make a file shorter needs no room. Should it fail all the same, the caller has the
            // error that came first.
            let _ = fs::ftruncate(self.file, self.size);
        }
    }
}
