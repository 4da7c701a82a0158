//! Resolving a path a name at a time, with every link on the way.
//!
//! One `openat2` opens most paths (see [`root`](super::root)). This is for what it does not answer: where a
//! link that is to be written through points to, what a path's resolved text is, where missing
//! parents are to be made; and for systems without it. Each step works on a handle and one name
//! that is not followed, so that a name which is swapped meanwhile gives another answer and never another
//! tree.

use std::{os::fd::OwnedFd, sync::Arc};

use belljar_contract::GuestPath;
use rustix::{
    fs::{self, Mode, OFlags},
    io::Errno,
};

use super::{
    fault::Fault,
    made::MadeDirectories,
    platform::PASS,
    root::Root,
    status::{Kind, Status},
};

/// The most links on one way: what Linux follows.
pub(super) const MAX_LINKS: u32 = 40;
/// The most steps of one resolution. Links that point up and down again may ask for millions, and
/// each is a system call.
const MAX_STEPS: usize = 100_000;

/// Names from the root on, without links.
pub(super) type Names = Vec<Vec<u8>>;

/// What a path leads to, when every link has been followed.
pub(super) enum Resolved {
    /// A directory.
    Directory { handle: Arc<OwnedFd>, names: Names },
    /// Something else. `names` ends with `name`.
    Entry {
        parent: Arc<OwnedFd>,
        name: Vec<u8>,
        names: Names,
        status: Status,
    },
    /// Nothing, and no link led here: `name` is the path's own last name.
    Missing {
        parent: Arc<OwnedFd>,
        name: Vec<u8>,
        names: Names,
    },
}

enum Step {
    Name {
        name: Vec<u8>,
        from_link: bool,
    },
    Up,
    /// What came before must be a directory.
    Here,
}

/// Resolves a path; one without links ends at the first that is met. Missing parents are made when there is a place to note them in.
pub(super) fn resolve(
    root: &Root,
    path: &GuestPath,
    mut made: Option<&mut MadeDirectories>,
) -> Result<Resolved, Fault> {
    let mut pending: Vec<Step> = path
        .names()
        .rev()
        .map(|name| Step::Name {
            name: name.as_bytes().to_vec(),
            from_link: false,
        })
        .collect();
    let mut names = Names::new();
    let mut current = root.handle();
    let mut links = 0;
    let mut steps = 0;
    while let Some(step) = pending.pop() {
        steps += 1;
        if steps > MAX_STEPS {
            return Err(Fault::TooManyLinks);
        }
        let (name, from_link) = match step {
            Step::Here => continue,
            Step::Up => {
                // Not by opening `..`: the directory may have been moved meanwhile, and its parent
                // be anywhere.
                names.pop().ok_or(Fault::Leaves)?;
                steps += names.len();
                current = root.descend(&root.handle(), &names)?;
                continue;
            }
            Step::Name { name, from_link } => (name, from_link),
        };
        let Some(status) = Status::of_name(&*current, &name)? else {
            if from_link {
                return Err(Fault::DanglingLink);
            }
            if pending.is_empty() {
                let parent = current;
                names.push(name.clone());
                return Ok(Resolved::Missing {
                    parent,
                    name,
                    names,
                });
            }
            let Some(made) = made.as_deref_mut() else {
                return Err(Fault::Missing);
            };
            current = made.make(&current, &name)?;
            names.push(name);
            continue;
        };
        match status.kind {
            Kind::Directory => {
                match fs::openat(&*current, &name, PASS | OFlags::NOFOLLOW, Mode::empty()) {
                    Ok(handle) => current = Arc::new(handle),
                    // It was swapped for something else: look again.
                    Err(Errno::NOTDIR | Errno::LOOP | Errno::NOENT) => {
                        pending.push(Step::Name { name, from_link });
                        continue;
                    }
                    Err(errno) => return Err(errno.into()),
                }
                names.push(name);
            }
            Kind::Link if path.no_links() => return Err(Fault::Link),
            Kind::Link => {
                links += 1;
                if links > MAX_LINKS {
                    return Err(Fault::TooManyLinks);
                }
                let text = match fs::readlinkat(&*current, &name, Vec::new()) {
                    Ok(text) => text.into_bytes(),
                    Err(Errno::INVAL | Errno::NOENT) => {
                        pending.push(Step::Name { name, from_link });
                        continue;
                    }
                    Err(errno) => return Err(errno.into()),
                };
                push_link(&mut pending, &text)?;
            }
            Kind::File | Kind::Other if pending.is_empty() => {
                let parent = current;
                names.push(name.clone());
                return Ok(Resolved::Entry {
                    parent,
                    name,
                    names,
                    status,
                });
            }
            Kind::File | Kind::Other => return Err(Fault::NotDirectory),
        }
    }
    Ok(Resolved::Directory {
        handle: current,
        names,
    })
}

fn push_link(pending: &mut Vec<Step>, text: &[u8]) -> Result<(), Fault> {
    if text.is_empty() {
        return Err(Fault::DanglingLink);
    }
    // An absolute text means the host's root, also where a path below ours would look the same.
    if text.starts_with(b"/") {
        return Err(Fault::Leaves);
    }
    if text.ends_with(b"/") || text.ends_with(b"/.") || text == b"." {
        pending.push(Step::Here);
    }
    for part in text.rsplit(|byte| *byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." => pending.push(Step::Up),
            name => pending.push(Step::Name {
                name: name.to_vec(),
                from_link: true,
            }),
        }
    }
    Ok(())
}
