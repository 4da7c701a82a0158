//! `/proc/self/mountinfo`: what can be written.

use std::collections::BTreeMap;

use belljar_protocol::facts::{Attempt, Facts, Told};

use super::{Finding, listed};

/// Where a sandbox was meant to be written.
#[derive(Clone, Debug)]
pub(in super::super) struct Places<'a> {
    /// The workspace.
    pub(in super::super) workspace: &'a str,
    /// Whether that may be changed.
    pub(in super::super) writable: bool,
    /// How large it may become, where it is nobody's and goes with the sandbox.
    pub(in super::super) scratch: Option<u64>,
    /// How large `/tmp` may become.
    pub(in super::super) tmp: u64,
    /// What else may be written.
    pub(in super::super) others: Vec<&'a str>,
    /// Why the workspace may be refused, for people.
    pub(in super::super) workspace_refused: &'static str,
    /// The same of `/tmp`.
    pub(in super::super) tmp_refused: &'static str,
}

/// Whether a normal path is the other one, or below it.
pub(in super::super) fn is_below(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// A kernel rounds a size up to whole pages, the largest of which have this many bytes.
const PAGE: u64 = 64 << 10;

/// What is mounted, a mount a place: of several at one place only the last is seen.
#[derive(Clone, Debug)]
pub(in super::super) struct Mounts<'a>(BTreeMap<String, Mount<'a>>);

#[derive(Clone, Copy, Debug)]
struct Mount<'a> {
    /// What of the file system is seen there.
    root: &'a str,
    writable: bool,
    kind: &'a str,
    /// The file system's own options.
    options: &'a str,
}

impl<'a> Mounts<'a> {
    /// None when they are not told, or a line is none of the kernel's.
    pub(in super::super) fn new(told: &'a Told) -> Option<Self> {
        let Told::Text(text) = told else {
            return None;
        };
        let mounts: Option<BTreeMap<_, _>> = text.lines().map(mount).collect();
        mounts.filter(|mounts| mounts.contains_key("/")).map(Self)
    }

    fn at(&self, place: &str) -> Option<Mount<'a>> {
        self.0.get(place).copied()
    }

    fn is_writable(&self, place: &str) -> bool {
        self.at(place).is_some_and(|mount| mount.writable)
    }

    /// What can be written and is neither the root, nor was asked for, nor harmless.
    fn unexpected(&self, places: &Places<'_>) -> Vec<(&str, Mount<'a>)> {
        let asked = |place: &str| {
            place == "/"
                || place == "/tmp"
                || place == places.workspace
                || places.others.contains(&place)
        };
        let mounts = self.0.iter().map(|(place, mount)| (place.as_str(), *mount));
        mounts
            .filter(|(place, mount)| mount.writable && !asked(place) && !harmless(place, *mount))
            .collect()
    }
}

/// ID PARENT DEVICE ROOT PLACE OPTIONS [FIELD…] - KIND SOURCE OPTIONS (proc_pid_mountinfo(5)).
fn mount(line: &str) -> Option<(String, Mount<'_>)> {
    let (first, second) = line.split_once(" - ")?;
    let mut first = first.split(' ').skip(3);
    let (root, place, of_mount) = (first.next()?, first.next()?, first.next()?);
    let mut second = second.split(' ');
    let (kind, _, options) = (second.next()?, second.next()?, second.next()?);
    // The first of the options, and no other: a path of the host's may be among the others.
    let read_only = |options: &str| options.split(',').next() == Some("ro");
    // Not `rw` twice, but `ro` never: what is not understood counts as writable.
    let writable = !read_only(of_mount) && !read_only(options);
    let mount = Mount {
        root,
        writable,
        kind,
        options,
    };
    Some((unescaped(place)?, mount))
}

/// A path as the kernel writes it: spaces and the like as a backslash and three octal digits.
fn unescaped(text: &str) -> Option<String> {
    let mut parts = text.split('\\');
    let mut path = parts.next()?.as_bytes().to_vec();
    for part in parts {
        let (digits, rest) = part.split_at_checked(3)?;
        path.push(u8::from_str_radix(digits, 8).ok()?);
        path.extend_from_slice(rest.as_bytes());
    }
    Some(String::from_utf8_lossy(&path).into_owned())
}

/// The devices of every container, which keep nothing (OCI runtime specification, default devices). A rootless
/// engine may not make them, and puts the machine's own there.
const DEVICES: [&str; 6] = ["null", "zero", "full", "random", "urandom", "tty"];

/// What every container has, and can do no harm.
fn harmless(place: &str, mount: Mount<'_>) -> bool {
    match mount.kind {
        // The kernel's own, which asks for rights at each file.
        "proc" => is_below(place, "/proc"),
        // Terminals, messages between processes, and memory of the container.
        "devpts" | "mqueue" => is_below(place, "/dev"),
        "tmpfs" if is_below(place, "/dev") => true,
        "devtmpfs" if is_below(place, "/dev") => DEVICES
            .into_iter()
            .any(|name| mount.root == format!("/{name}") && place == format!("/dev/{name}")),
        // The null device, put over files of the kernel's that are nobody's business.
        "tmpfs" | "devtmpfs" if mount.root == "/null" => {
            is_below(place, "/proc") || is_below(place, "/sys")
        }
        // The folder with one place a controller, in the first version of cgroups: again memory.
        "tmpfs" => place == "/sys/fs/cgroup",
        _ => false,
    }
}

/// The root, and everything that is neither asked for nor a volume of the image's.
pub(in super::super) fn readonly_root(facts: &Facts, places: &Places<'_>) -> Finding {
    let Some(mounts) = Mounts::new(&facts.mounts) else {
        return Finding::unknown();
    };
    let others = mounts.unexpected(places);
    let others = others.iter().filter(|(_, mount)| !is_volume(*mount));
    let mut writable: Vec<&str> = others.map(|(place, _)| *place).collect();
    if mounts.is_writable("/") {
        writable.insert(0, "/");
    }
    if !writable.is_empty() {
        let got = format!("{} can be written", listed(writable));
        return Finding::broken(got, "there is a place to write that has no size");
    }
    match facts.root {
        Attempt::Refused(_) => Finding::holds("read-only"),
        Attempt::Possible => Finding::broken(
            "said to be read-only, and a file could be made",
            "there is a place to write that has no size",
        ),
        Attempt::NotTried => Finding::unknown(),
    }
}

pub(in super::super) fn image_volumes(facts: &Facts, places: &Places<'_>) -> Finding {
    let Some(mounts) = Mounts::new(&facts.mounts) else {
        return Finding::unknown();
    };
    let found = mounts.unexpected(places);
    let volumes = found.iter().filter(|(_, mount)| is_volume(*mount));
    let volumes: Vec<&str> = volumes.map(|(place, _)| *place).collect();
    match volumes.is_empty() {
        true => Finding::holds("none"),
        false => Finding::broken(listed(volumes), "the image brings places to write"),
    }
}

/// Docker and podman keep an anonymous volume in a folder of this name.
fn is_volume(mount: Mount<'_>) -> bool {
    mount.root.contains("/volumes/") && mount.root.ends_with("/_data")
}

/// `/tmp`, and the scratch where there is one.
pub(in super::super) fn sizes(facts: &Facts, places: &Places<'_>) -> Finding {
    let Some(mounts) = Mounts::new(&facts.mounts) else {
        return Finding::unknown();
    };
    let scratch = places.scratch.map(|bytes| (places.workspace, bytes));
    let asked = scratch.into_iter().chain([("/tmp", places.tmp)]);
    let mut got = Vec::new();
    let mut unlimited = Vec::new();
    for (place, asked) in asked {
        let size = mounts.at(place).and_then(size);
        match size {
            Some(size) => got.push(format!("{place} {size} bytes")),
            None => got.push(format!("{place} without a size")),
        }
        if size.is_none_or(|size| size > asked.next_multiple_of(PAGE)) {
            unlimited.push(place);
        }
    }
    let got = got.join(", ");
    match unlimited.is_empty() {
        true => Finding::holds(got),
        false => {
            let why = format!("{} can grow beyond what was asked", unlimited.join(", "));
            Finding::broken(got, why)
        }
    }
}

/// The size of a mount that has one of its own.
fn size(mount: Mount<'_>) -> Option<u64> {
    let options = (mount.kind == "tmpfs").then_some(mount.options)?;
    let size = options
        .split(',')
        .find_map(|option| option.strip_prefix("size="))?;
    match size.strip_suffix('k') {
        Some(kibibytes) => kibibytes.parse::<u64>().ok()?.checked_mul(1024),
        None => size.parse().ok(),
    }
}

/// The workspace can be changed when that was asked for, and only then.
pub(in super::super) fn workspace(facts: &Facts, places: &Places<'_>) -> Finding {
    match (&facts.workspace, places.writable) {
        (Attempt::NotTried, _) => Finding::unknown(),
        (attempt, true) => can_be_written(attempt, places.workspace_refused),
        // Nothing in it is anybody's, and it goes with the container.
        (_, false) if places.scratch.is_some() => {
            Finding::holds("it can only be read, but by programs, whose scratch it is")
        }
        (Attempt::Possible, false) => {
            Finding::broken("it can be written", "it was to be only read")
        }
        // Whoever is refused today because of the folder's mode may own it tomorrow.
        (Attempt::Refused(_), false) => match Mounts::new(&facts.mounts) {
            Some(mounts) if mounts.is_writable(places.workspace) => Finding::broken(
                "it is refused, and the mount allows it",
                "it was to be only read",
            ),
            Some(_) => Finding::holds("it can only be read"),
            None => Finding::unknown(),
        },
    }
}

pub(in super::super) fn tmp(facts: &Facts, places: &Places<'_>) -> Finding {
    can_be_written(&facts.tmp, places.tmp_refused)
}

fn can_be_written(attempt: &Attempt, otherwise: &str) -> Finding {
    match attempt {
        Attempt::Possible => Finding::holds("it can be written"),
        Attempt::Refused(reason) => Finding::broken(
            format!("it cannot be written: {}", listed([reason.as_str()])),
            otherwise,
        ),
        Attempt::NotTried => Finding::unknown(),
    }
}

/// Binds that were to be read-only are.
pub(in super::super) fn binds<'a>(
    facts: &Facts,
    binds: impl IntoIterator<Item = (&'a str, bool)>,
) -> Finding {
    let Some(mounts) = Mounts::new(&facts.mounts) else {
        return Finding::unknown();
    };
    let mut got = Vec::new();
    let mut broken = Vec::new();
    for (place, writable) in binds {
        let (what, right) = match mounts.at(place) {
            None => ("is not there", false),
            Some(mount) if mount.writable => ("can be written", writable),
            Some(_) => ("is read-only", !writable),
        };
        got.push(format!("{place} {what}"));
        if !right {
            broken.push(place);
        }
    }
    let got = listed(got.iter().map(String::as_str));
    match broken.is_empty() {
        true => Finding::holds(got),
        false => Finding::broken(got, format!("{} is other than asked", listed(broken))),
    }
}
