//! Ignore files: `.gitignore` and `.ignore`, read through the walk's own handles.

use std::{ffi::OsStr, os::fd::OwnedFd, os::unix::ffi::OsStrExt, path::Path, sync::Arc};

use ignore::{
    Match,
    gitignore::{Gitignore, GitignoreBuilder},
};
use rustix::{
    fs::{self, Mode, OFlags},
    io::Errno,
};

use crate::files::status::{Kind, Status};

/// The largest ignore file: a thousand times the usual. A larger one counts as unreadable.
const LARGEST: usize = 1 << 20;

/// The names of ignore files, the stronger first.
pub(super) const NAMES: [&[u8]; 2] = [b".ignore", b".gitignore"];

/// The rules of one directory, and those above it.
///
/// ```
/// use belljar_workspace::files::IgnoreRules;
///
/// let (rules, unreadable) = IgnoreRules::of([None, Some(b"*.o\n")], b"src", None);
/// let rules = rules.expect("there is a rule");
/// assert!(rules.exclude(b"src/a.o", false) && !rules.exclude(b"src/a.c", false));
/// assert_eq!(unreadable, 0);
/// ```
#[derive(Debug)]
pub struct Rules {
    /// Of this directory, the stronger first.
    own: Vec<Gitignore>,
    above: Option<Arc<Self>>,
    /// Where, in a path from the workspace's root, the part begins that is relative to this directory.
    below: usize,
}

impl Rules {
    /// The names of ignore files, the stronger first.
    pub const NAMES: [&[u8]; 2] = NAMES;
    /// The most bytes of one that is applied.
    pub const LARGEST: usize = LARGEST;

    /// Whether a path from the workspace's root is excluded. Its parents were asked before.
    #[must_use]
    pub fn exclude(&self, path: &[u8], is_directory: bool) -> bool {
        let mut rules = Some(self);
        while let Some(level) = rules {
            let relative = path.get(level.below..).unwrap_or_default();
            for own in &level.own {
                match own.matched(Path::new(OsStr::from_bytes(relative)), is_directory) {
                    Match::None => {}
                    Match::Ignore(_) => return true,
                    Match::Whitelist(_) => return false,
                }
            }
            rules = level.above.as_deref();
        }
        false
    }

    /// Reads a directory's ignore files, of which `present` says which are there. `path` is the directory's from the
    /// root. Gives how many could not be read, too.
    pub(super) fn load(
        directory: &OwnedFd,
        path: &[u8],
        present: [bool; 2],
        above: Option<Arc<Self>>,
    ) -> (Option<Arc<Self>>, u64) {
        let mut contents = [None, None];
        let mut unreadable = 0;
        for ((content, name), present) in contents.iter_mut().zip(NAMES).zip(present) {
            if present {
                match read(directory, name) {
                    Ok(bytes) => *content = bytes,
                    Err(_) => unreadable += 1,
                }
            }
        }
        let [ignore, gitignore] = &contents;
        let (rules, failed) = Self::of([ignore.as_deref(), gitignore.as_deref()], path, above);
        (rules, unreadable + failed)
    }

    /// The rules in a directory: those of its ignore files, in the order of [`NAMES`](Self::NAMES), over those
    /// `above` it. `path` is the directory's from the root. Gives how many of the files could not be applied, too.
    #[must_use]
    pub fn of(
        contents: [Option<&[u8]>; 2],
        path: &[u8],
        above: Option<Arc<Self>>,
    ) -> (Option<Arc<Self>>, u64) {
        let mut own = Vec::new();
        let mut unreadable = 0;
        for content in contents.into_iter().flatten() {
            if content.len() > LARGEST {
                unreadable += 1;
                continue;
            }
            match parse(content) {
                Ok(rules) if rules.is_empty() => {}
                Ok(rules) => own.push(rules),
                // Its patterns are too large together.
                Err(_) => unreadable += 1,
            }
        }
        if own.is_empty() {
            return (above, unreadable);
        }
        let below = if path.is_empty() { 0 } else { path.len() + 1 };
        let rules = Self { own, above, below };
        (Some(Arc::new(rules)), unreadable)
    }
}

/// Reads a regular file; none when there is none. A link is not followed, as git does not.
fn read(directory: &OwnedFd, name: &[u8]) -> Result<Option<Vec<u8>>, Errno> {
    match Status::of_name(directory, name)? {
        Some(status) if status.kind == Kind::File => {}
        _ => return Ok(None),
    }
    let flags =
        OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = match fs::openat(directory, name, flags, Mode::empty()) {
        Ok(file) => file,
        Err(Errno::NOENT | Errno::LOOP) => return Ok(None),
        Err(errno) => return Err(errno),
    };
    let status = Status::of(&file)?;
    if status.kind != Kind::File {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    let mut piece = [0; 8192];
    loop {
        match rustix::io::read(&file, &mut piece) {
            Ok(0) => return Ok(Some(bytes)),
            Ok(count) => bytes.extend_from_slice(&piece[..count]),
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
        if bytes.len() > LARGEST {
            return Err(Errno::FBIG);
        }
    }
}

fn parse(bytes: &[u8]) -> Result<Gitignore, ignore::Error> {
    let text = String::from_utf8_lossy(bytes);
    // Every path it is asked for is relative to its directory.
    let mut builder = GitignoreBuilder::new("");
    for line in text.strip_prefix('\u{feff}').unwrap_or(&text).lines() {
        // As git does, a line that is no pattern is left out.
        let _ = builder.add_line(None, line);
    }
    builder.build()
}
