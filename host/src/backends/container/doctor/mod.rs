//! Whether a container gives what was asked of it, as its resident sees it: asked, got, gap.
//!
//! | file | what |
//! |---|---|
//! | `status` | ids, capabilities, seccomp and no_new_privs, from `/proc/self/status` |
//! | `mounts` | what can be written, from `/proc/self/mountinfo` |
//! | `network` | interfaces and routes |
//! | `limits` | processes, memory and processor time, from cgroups of both versions |
//! | `judge` | a [`Finding`] a guarantee, compared with what was asked |
//!
//! All of it is pure. The facts come from inside, so nothing in them is believed to be well-formed, and
//! none of it is proof: a program that is in the resident's place can only say that its container is
//! weaker or stronger than it is. So a session asks first thing after its start, before any tool ran; then
//! the facts are those of the resident that the host itself put there, on a kernel that the host trusts.

mod judge;
mod limits;
mod mounts;
mod network;
mod status;

pub(super) use self::judge::{Expected, rows, unmet};

/// What the facts say of one guarantee.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Finding {
    /// What was seen, for people.
    got: String,
    seen: Seen,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Seen {
    /// It holds.
    Holds,
    /// It does not, for this reason.
    Broken(String),
    /// The facts that would tell are not there, or mean nothing.
    Unknown,
    /// It cannot be seen from inside.
    Invisible,
}

impl Finding {
    fn holds(got: impl Into<String>) -> Self {
        Self::new(got, Seen::Holds)
    }

    fn broken(got: impl Into<String>, why: impl Into<String>) -> Self {
        Self::new(got, Seen::Broken(why.into()))
    }

    fn unknown() -> Self {
        Self::new("not told", Seen::Unknown)
    }

    fn invisible(got: impl Into<String>) -> Self {
        Self::new(got, Seen::Invisible)
    }

    fn new(got: impl Into<String>, seen: Seen) -> Self {
        Self {
            got: got.into(),
            seen,
        }
    }
}

/// A list for people, of names that may be anything: not longer than a few lines.
fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    const MOST: usize = 12;
    const LONGEST: usize = 80;
    let names: Vec<&str> = names.into_iter().collect();
    let short = |name: &&str| -> String { name.chars().take(LONGEST).collect() };
    let mut text = names
        .iter()
        .take(MOST)
        .map(short)
        .collect::<Vec<_>>()
        .join(", ");
    if names.len() > MOST {
        text.push_str(&format!(" and {} more", names.len() - MOST));
    }
    text
}

#[cfg(test)]
mod tests;
