//! The files of the workspace that a command line itself opens or looks for.

use std::{io, os::fd::OwnedFd, path::Path};

use belljar_contract::GuestPath;
use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt as _};
use rustix::fs::{Mode, OFlags};

/// Names are resolved beneath the root's handle, and by text first, as the contract has it.
pub(super) struct Files<'a> {
    root: &'a str,
    handle: Dir,
    directory: GuestPath,
    writable: bool,
}

/// For what a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Write,
    Append,
}

impl<'a> Files<'a> {
    pub(super) fn new(
        root: &'a str,
        handle: &OwnedFd,
        directory: GuestPath,
        writable: bool,
    ) -> io::Result<Self> {
        Ok(Self {
            root,
            handle: Dir::from(handle.try_clone()?),
            directory,
            writable,
        })
    }

    /// The working directory.
    pub(super) const fn directory(&self) -> &GuestPath {
        &self.directory
    }

    /// Where a path leads from the working directory.
    fn resolve(&self, text: &str) -> Result<GuestPath, String> {
        let whole = match text.starts_with('/') {
            true => text.to_owned(),
            false => format!("{}/{}/{text}", self.root, self.directory.as_str()),
        };
        GuestPath::parse(&whole, self.root).map_err(|error| format!("{text}: {error}"))
    }

    /// Makes another directory the working one, and gives its handle.
    pub(super) fn enter(&mut self, text: &str) -> Result<OwnedFd, String> {
        let path = self.resolve(text)?;
        let failed = |error: io::Error| format!("{text}: {error}");
        let directory = self.handle.open_dir(below(&path)).map_err(failed)?;
        self.directory = path;
        Ok(directory.into())
    }

    /// Opens a file.
    pub(super) fn open(&self, text: &str, access: Access) -> Result<OwnedFd, String> {
        let failed = |error: io::Error| format!("{text}: {error}");
        if text == "/dev/null" {
            let null = rustix::fs::open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty());
            return null.map_err(|error| failed(error.into()));
        }
        if access != Access::Read && !self.writable {
            return Err(format!("{text}: the workspace is read-only"));
        }
        let path = self.resolve(text)?;
        let mut options = OpenOptions::new();
        match access {
            Access::Read => options.read(true),
            Access::Write => options.write(true).create(true).truncate(true),
            Access::Append => options.append(true).create(true),
        };
        // What is not a file must not be waited for.
        let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
        options.custom_flags(i32::try_from(flags.bits()).unwrap_or_default());
        let file = self
            .handle
            .open_with(below(&path), &options)
            .map_err(failed)?;
        if !file.metadata().map_err(failed)?.is_file() {
            return Err(format!("{text}: not a file"));
        }
        Ok(file.into())
    }

    /// Whether there is something.
    pub(super) fn exists(&self, text: &str) -> bool {
        self.resolve(text)
            .is_ok_and(|path| self.handle.symlink_metadata(below(&path)).is_ok())
    }

    /// The names in a directory; none where it is none.
    pub(super) fn names(&self, text: &str) -> Vec<String> {
        let Ok(path) = self.resolve(text) else {
            return Vec::new();
        };
        let Ok(entries) = self.handle.read_dir(below(&path)) else {
            return Vec::new();
        };
        let name = |entry: cap_std::fs::DirEntry| entry.file_name().into_string().ok();
        entries.flatten().filter_map(name).collect()
    }
}

fn below(path: &GuestPath) -> &Path {
    match path.is_root() {
        true => Path::new("."),
        false => Path::new(path.as_str()),
    }
}
