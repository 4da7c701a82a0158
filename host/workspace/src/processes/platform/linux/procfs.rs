//! What `/proc` says of processes.

use std::{
    collections::BTreeMap,
    io,
    os::fd::{AsFd, OwnedFd},
    time::Duration,
};

use rustix::{
    buffer::spare_capacity,
    fs::{CWD, Dir, Mode, OFlags},
    io::Errno,
};

use super::super::super::marker;

/// More than an environment can have: Linux's argument area is at most 6 MiB.
const MAX_FILE_BYTES: usize = 8 << 20;

/// Half of all memory is added to what a process has, when the kernel chooses whom to kill.
const PREFERENCE: &[u8] = b"500";
/// How long a process may be between two programs: far more than the kernel needs, also on a busy machine.
const BEGINNING_TRIES: u32 = 200;
const BEGINNING_PAUSE: Duration = Duration::from_micros(200);
/// The place of `env_end` after the name in `/proc/PID/stat`.
const ENV_END: usize = 48;

/// A process, at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stat {
    pub(super) pid: i32,
    pub(super) parent: i32,
    pub(super) group: i32,
    pub(super) session: i32,
    /// In clock ticks since the system's start. With the number it names a process for ever.
    pub(super) start: u64,
    /// Whether it has ended, and waits for its parent.
    pub(super) zombie: bool,
}

/// The process file system, held open.
#[derive(Debug)]
pub(super) struct Procfs {
    root: OwnedFd,
    own: i32,
    /// The children of this process's first thread, which is where orphans come to. None where the system
    /// does not list children (`CONFIG_PROC_CHILDREN`): then every process is looked at.
    children: Option<OwnedFd>,
}

/// Whose child is whose.
#[derive(Debug)]
pub(super) enum Children {
    /// To be asked of each.
    Listed,
    /// Of all there are.
    Scanned(BTreeMap<i32, Vec<i32>>),
}

impl Procfs {
    /// When memory runs out, lets the kernel kill this process, and what it starts, before this one: a session
    /// that outlives its programs can say what became of them.
    pub(super) fn prefer_to_kill(&self, pid: i32) {
        let path = format!("{pid}/oom_score_adj");
        let flags = OFlags::WRONLY | OFlags::CLOEXEC;
        // One that has ended already needs it no more.
        let _ = rustix::fs::openat(&self.root, path, flags, Mode::empty())
            .and_then(|file| rustix::io::write(file, PREFERENCE));
    }

    /// # Ambient authority
    /// It opens `/proc`.
    pub(super) fn open() -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let root = rustix::fs::openat(CWD, "/proc", flags, Mode::empty())?;
        let own = rustix::process::getpid().as_raw_nonzero().get();
        let link = rustix::fs::readlinkat(&root, "self", Vec::new())?;
        // That of another PID namespace has other numbers.
        if link.as_bytes() != own.to_string().as_bytes() {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let children = open_at(&root, &format!("self/task/{own}/children")).ok();
        Ok(Self {
            root,
            own,
            children,
        })
    }

    #[cfg(test)]
    pub(super) fn without_children_files(mut self) -> Self {
        self.children = None;
        self
    }

    /// Whether what this thread spawns is among the orphans.
    pub(super) fn shows_children_of_this_thread(&self) -> bool {
        let thread = rustix::thread::gettid().as_raw_nonzero().get();
        self.children.is_none() || thread == self.own
    }

    pub(super) const fn own(&self) -> i32 {
        self.own
    }

    /// The children of ours that may have been another's; leaders may be among them.
    pub(super) fn orphans(&self) -> Vec<i32> {
        let Some(children) = &self.children else {
            return match self.scan() {
                Children::Scanned(mut map) => map.remove(&self.own).unwrap_or_default(),
                Children::Listed => Vec::new(),
            };
        };
        let mut text = Vec::new();
        while text.len() < MAX_FILE_BYTES {
            text.reserve(4096);
            let offset = text.len() as u64;
            match rustix::io::pread(children, spare_capacity(&mut text), offset) {
                Ok(0) | Err(_) => break,
                Ok(_) => {}
            }
        }
        numbers(&text)
    }

    /// How whose child is whose can be asked for a while.
    pub(super) fn look(&self) -> Children {
        if self.children.is_some() {
            Children::Listed
        } else {
            self.scan()
        }
    }

    /// The children of a process, of all its threads.
    pub(super) fn children(&self, of: i32, children: &Children) -> Vec<i32> {
        if let Children::Scanned(map) = children {
            return map.get(&of).cloned().unwrap_or_default();
        }
        let mut all = Vec::new();
        for thread in self.numbered(&format!("{of}/task")) {
            if let Ok(text) = self.read(&format!("{of}/task/{thread}/children")) {
                all.extend(numbers(&text));
            }
        }
        all
    }

    /// None when it is gone.
    pub(super) fn stat(&self, pid: i32) -> Option<Stat> {
        parse_stat(pid, &self.read(&format!("{pid}/stat")).ok()?)
    }

    /// The marker in a process's environment, as it was when its program began.
    ///
    /// Between two programs a process has no environment for a moment, which is waited for: what is just
    /// beginning must not pass for what has no marker.
    pub(super) fn marker(&self, pid: i32) -> Option<String> {
        let mut environment = self.read(&format!("{pid}/environ")).ok()?;
        for _ in 0..BEGINNING_TRIES {
            if !environment.is_empty() || !self.is_beginning(pid) {
                break;
            }
            std::thread::sleep(BEGINNING_PAUSE);
            environment = self.read(&format!("{pid}/environ")).ok()?;
        }
        environment
            .split(|byte| *byte == 0)
            .find_map(|variable| {
                variable
                    .strip_prefix(marker::VARIABLE.as_bytes())?
                    .strip_prefix(b"=")
            })
            .and_then(|value| String::from_utf8(value.to_vec()).ok())
    }

    /// Whether a process is between two programs: its environment is nowhere yet.
    fn is_beginning(&self, pid: i32) -> bool {
        self.read(&format!("{pid}/stat"))
            .is_ok_and(|text| field(&text, ENV_END) == Some("0"))
    }

    /// Whether what this process starts inherits more than the three streams it is given.
    pub(super) fn has_inheritable_files(&self) -> bool {
        self.numbered("self/fd")
            .into_iter()
            .filter(|fd| *fd > 2)
            .filter_map(|fd| self.read(&format!("self/fdinfo/{fd}")).ok())
            .any(|info| !is_close_on_exec(&info))
    }

    fn scan(&self) -> Children {
        let mut map: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
        for pid in self.numbered(".") {
            if let Some(stat) = self.stat(pid) {
                map.entry(stat.parent).or_default().push(pid);
            }
        }
        Children::Scanned(map)
    }

    /// The entries of a directory that are numbers.
    fn numbered(&self, directory: &str) -> Vec<i32> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let entries =
            rustix::fs::openat(&self.root, directory, flags, Mode::empty()).and_then(Dir::new);
        let Ok(entries) = entries else {
            return Vec::new();
        };
        entries
            .map_while(Result::ok)
            .filter_map(|entry| entry.file_name().to_str().ok()?.parse().ok())
            .collect()
    }

    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        let file = open_at(&self.root, path)?;
        let mut bytes = Vec::new();
        while bytes.len() < MAX_FILE_BYTES {
            bytes.reserve(1024);
            match rustix::io::read(&file, spare_capacity(&mut bytes)) {
                Ok(0) => break,
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(bytes)
    }
}

fn open_at(root: impl AsFd, path: &str) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(root, path, flags, Mode::empty())?)
}

/// Reads the octal flags in `/proc/PID/fdinfo/FD` (proc_pid_fdinfo(5)).
fn is_close_on_exec(info: &[u8]) -> bool {
    String::from_utf8_lossy(info)
        .lines()
        .find_map(|line| line.strip_prefix("flags:"))
        .and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok())
        .is_some_and(|flags| flags & OFlags::CLOEXEC.bits() != 0)
}

fn numbers(text: &[u8]) -> Vec<i32> {
    text.split(u8::is_ascii_whitespace)
        .filter_map(|number| std::str::from_utf8(number).ok()?.parse().ok())
        .collect()
}

/// The fields of `/proc/PID/stat` after the name.
fn fields(text: &[u8]) -> Option<impl Iterator<Item = &str>> {
    // The name stands in parentheses and may have any character, also `)`.
    let after = text.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(text.get(after + 1..)?).ok()?;
    Some(rest.split_ascii_whitespace())
}

fn field(text: &[u8], place: usize) -> Option<&str> {
    fields(text)?.nth(place)
}

/// Parses `/proc/PID/stat` (proc_pid_stat(5)).
fn parse_stat(pid: i32, text: &[u8]) -> Option<Stat> {
    let mut fields = fields(text)?;
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    let group = fields.next()?.parse().ok()?;
    let session = fields.next()?.parse().ok()?;
    let threads: i64 = fields.nth(13)?.parse().ok()?;
    let start = fields.nth(1)?.parse().ok()?;
    Some(Stat {
        pid,
        parent,
        group,
        session,
        start,
        // A process whose first thread has ended looks like a zombie, and its other threads go on.
        zombie: matches!(state, "Z" | "X") && threads <= 1,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_have_anything_in_it() {
        let text = b"42 (a) Z 1 (b\n) S 7 42 40 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 3 0 12345 99 1";
        let stat = parse_stat(42, text).expect("it is well-formed");
        assert_eq!((stat.parent, stat.group, stat.session), (7, 42, 40));
        assert_eq!((stat.start, stat.zombie), (12345, false));
        assert_eq!(parse_stat(42, b"42 (a) Z 1"), None);
        assert_eq!(parse_stat(42, b""), None);
    }

    #[test]
    fn it_finds_a_child_both_ways() {
        let mut child = std::process::Command::new("cat")
            .env(marker::VARIABLE, "here")
            // It ends with this test, whatever becomes of it.
            .stdin(std::process::Stdio::piped())
            .spawn()
            .expect("cat starts");
        let pid = i32::try_from(child.id()).expect("numbers of processes are small");
        let procfs = Procfs::open().expect("/proc is there");
        let stat = procfs.stat(pid).expect("it runs");
        assert_eq!((stat.parent, stat.zombie), (procfs.own(), false));
        assert_eq!(procfs.marker(pid).as_deref(), Some("here"));
        let listed = procfs.children(procfs.own(), &procfs.look());
        assert!(listed.contains(&pid));
        let scanning = procfs.without_children_files();
        assert!(
            scanning
                .children(scanning.own(), &scanning.look())
                .contains(&pid)
        );
        assert!(scanning.orphans().contains(&pid));
        child.kill().expect("it is ours");
        child.wait().expect("it is ours");
        assert_eq!(scanning.stat(pid), None);
    }
}
