//! What is seen from inside a sandbox, compared with what was asked of it: for every backend that has a resident look.
//!
//! | file | what |
//! |---|---|
//! | `status` | ids, capabilities, seccomp and no_new_privs, from `/proc/self/status` |
//! | `mounts` | what can be written, from `/proc/self/mountinfo` |
//! | `network` | interfaces and routes |
//! | `limits` | processes, memory and processor time, from cgroups of both versions |
//!
//! All of it is pure. The facts come from inside, so nothing in them is believed to be well-formed, and
//! none of it is proof: a program that is in the resident's place can only say that its sandbox is
//! weaker or stronger than it is. So a session asks first thing after its start, before any tool ran; then
//! the facts are those of the resident that the host itself put there, on a kernel that the host trusts.

pub(super) mod limits;
pub(super) mod mounts;
pub(super) mod network;
pub(super) mod status;

use super::{Gap, Row, Standing};

/// What the facts say of one guarantee.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Finding {
    /// What was seen, for people.
    pub(super) got: String,
    pub(super) seen: Seen,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Seen {
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
    pub(super) fn holds(got: impl Into<String>) -> Self {
        Self::new(got, Seen::Holds)
    }

    pub(super) fn broken(got: impl Into<String>, why: impl Into<String>) -> Self {
        Self::new(got, Seen::Broken(why.into()))
    }

    pub(super) fn unknown() -> Self {
        Self::new("not told", Seen::Unknown)
    }

    pub(super) fn invisible(got: impl Into<String>) -> Self {
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
pub(super) fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
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

/// A row of a report: asked, got, gap.
pub(super) fn judged(
    name: &str,
    asked: String,
    is_asked: bool,
    gap: Option<&Gap>,
    Finding { got, seen }: Finding,
    required: bool,
) -> Row {
    let standing = match (is_asked, gap, &seen) {
        (false, _, _) => Standing::NotAsked,
        (true, Some(_), _) => Standing::Missing,
        (true, None, Seen::Holds) => Standing::Held,
        (true, None, Seen::Broken(_)) => Standing::Contradicted,
        (true, None, Seen::Unknown) => Standing::Unseen,
        (true, None, Seen::Invisible) => Standing::Believed,
    };
    let gap = match (gap, seen) {
        (Some(gap), _) => Some(gap.message.clone()),
        (None, Seen::Broken(why)) if is_asked => Some(why),
        (None, Seen::Unknown) if is_asked => Some("what would tell was not told".to_owned()),
        (None, _) => None,
    };
    Row {
        guarantee: name.to_owned(),
        asked,
        got,
        standing,
        gap,
        required,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_short() {
        assert_eq!(listed([]), "");
        assert_eq!(listed(["a", "b"]), "a, b");
        let many = vec!["x"; 100];
        assert!(listed(many).ends_with(" and 88 more"));
        let long = "x".repeat(1000);
        assert_eq!(listed([long.as_str()]).len(), 80);
    }
}
