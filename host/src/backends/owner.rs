//! Who owns a container, and whether they still live.
//!
//! A process id alone says nothing: ids are used again, differ from one namespace to the next, and another
//! machine has its own. So an owner is the boot, the namespace of ids, the id, and when that process began.

use std::fmt;

/// A process that owns containers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Owner {
    /// The boot's id, where the system has one.
    boot: String,
    /// The namespace of process ids.
    namespace: String,
    pid: u32,
    /// When the process began, in the system's own unit.
    start: String,
}

/// What can be seen of an owner from here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sight {
    /// It lives.
    Living,
    /// It has ended.
    Gone,
    /// It is, or was, on another machine, in another boot, or among processes that are not seen from here.
    Unseen,
}

/// Stands for what the system does not tell.
const UNKNOWN: &str = "-";

impl Owner {
    /// This process.
    ///
    /// # Ambient authority
    /// The kernel's view of this process.
    pub(super) fn this_ambient() -> Self {
        let pid = std::process::id();
        Self {
            boot: platform::boot(),
            namespace: platform::namespace(),
            pid,
            start: platform::start(pid).unwrap_or_else(|| UNKNOWN.into()),
        }
    }

    /// Reads what [`Display`](fmt::Display) writes.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('/').map(str::to_owned);
        let owner = Self {
            boot: parts.next()?,
            namespace: parts.next()?,
            pid: parts.next()?.parse().ok().filter(|pid| *pid > 0)?,
            start: parts.next()?,
        };
        parts.next().is_none().then_some(owner)
    }

    /// Looks for the owner, from a process that is `here`.
    ///
    /// # Ambient authority
    /// The kernel's view of the machine's processes.
    pub(super) fn look_ambient(&self, here: &Self) -> Sight {
        if (&self.boot, &self.namespace) != (&here.boot, &here.namespace) {
            return Sight::Unseen;
        }
        match platform::start(self.pid) {
            None => Sight::Gone,
            // Where the start is not told, a process that has the id may be the owner.
            Some(start) if self.start == UNKNOWN || start == UNKNOWN || start == self.start => {
                Sight::Living
            }
            Some(_) => Sight::Gone,
        }
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            boot,
            namespace,
            pid,
            start,
        } = self;
        write!(f, "{boot}/{namespace}/{pid}/{start}")
    }
}

#[cfg(target_os = "linux")]
mod platform {
    use super::UNKNOWN;

    #[expect(clippy::disallowed_methods, reason = "the kernel's own files")]
    fn read(path: &str) -> Option<String> {
        std::fs::read_to_string(path).ok()
    }

    pub(super) fn boot() -> String {
        read("/proc/sys/kernel/random/boot_id")
            .map_or_else(|| UNKNOWN.into(), |id| id.trim().to_owned())
    }

    pub(super) fn namespace() -> String {
        let link = std::fs::read_link("/proc/self/ns/pid").ok();
        let text = link.and_then(|link| link.into_os_string().into_string().ok());
        // `pid:[4026531836]`
        text.map_or_else(
            || UNKNOWN.into(),
            |text| text.chars().filter(char::is_ascii_digit).collect(),
        )
    }

    /// When a process began, in clock ticks since the boot; none when there is no such process, or nothing
    /// is left of it but its exit code.
    pub(super) fn start(pid: u32) -> Option<String> {
        let stat = read(&format!("/proc/{pid}/stat"))?;
        // The name may have anything in it, so the fields count from its end.
        let (_, fields) = stat.rsplit_once(") ")?;
        let mut fields = fields.split(' ');
        let state = fields.next()?;
        if matches!(state, "Z" | "X" | "x") {
            return None;
        }
        // The 22nd field of the line; the third was taken.
        fields.nth(18).map(str::to_owned)
    }
}

#[cfg(not(target_os = "linux"))]
mod platform {
    use super::UNKNOWN;

    pub(super) fn boot() -> String {
        UNKNOWN.into()
    }

    pub(super) fn namespace() -> String {
        UNKNOWN.into()
    }

    /// Unknown for a process that is there.
    pub(super) fn start(pid: u32) -> Option<String> {
        #[cfg(unix)]
        {
            let pid = rustix::process::Pid::from_raw(i32::try_from(pid).ok()?)?;
            let there = match rustix::process::test_kill_process(pid) {
                Ok(()) => true,
                Err(error) => error == rustix::io::Errno::PERM,
            };
            there.then(|| UNKNOWN.to_owned())
        }
        #[cfg(not(unix))]
        {
            let _ = pid;
            Some(UNKNOWN.to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_lives_and_is_read_back() {
        let this = Owner::this_ambient();
        assert_eq!(Owner::parse(&this.to_string()), Some(this.clone()));
        assert_eq!(this.look_ambient(&this), Sight::Living);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_used_again_id_is_no_owner() {
        let this = Owner::this_ambient();
        let before = Owner {
            start: "1".into(),
            ..this.clone()
        };
        assert_eq!(before.look_ambient(&this), Sight::Gone);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_child_that_ended_is_gone_and_so_is_a_zombie() {
        let this = Owner::this_ambient();
        let mut command = std::process::Command::new("true");
        let mut child = command.spawn().expect("true starts");
        let owner = Owner {
            pid: child.id(),
            start: UNKNOWN.into(),
            ..this.clone()
        };
        let id = rustix::process::Pid::from_child(&child);
        let options =
            rustix::process::WaitIdOptions::EXITED | rustix::process::WaitIdOptions::NOWAIT;
        rustix::process::waitid(rustix::process::WaitId::Pid(id), options).expect("it ends");
        assert_eq!(owner.look_ambient(&this), Sight::Gone);
        child.wait().expect("it is ours");
        assert_eq!(owner.look_ambient(&this), Sight::Gone);
    }

    #[test]
    fn who_cannot_be_seen_is_not_gone() {
        let this = Owner::this_ambient();
        let elsewhere = Owner {
            boot: "another".into(),
            ..this.clone()
        };
        let inside = Owner {
            namespace: "1".into(),
            ..this.clone()
        };
        for owner in [elsewhere, inside] {
            assert_eq!(owner.look_ambient(&this), Sight::Unseen);
        }
    }

    #[test]
    fn what_is_no_owner_is_none() {
        for text in ["", "a/b/1", "a/b/0/1", "a/b/-1/1", "a/b/x/1", "a/b/1/1/1"] {
            assert_eq!(Owner::parse(text), None, "{text:?}");
        }
    }
}
