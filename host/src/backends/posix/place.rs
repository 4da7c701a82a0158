//! What a place has to work with, as the first look at it finds.

use belljar_contract::{Error, ErrorKind, Operation, Result};

/// What tells how a program ended; a shell alone cannot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Witness {
    Bash,
    Time,
    None,
}

impl Witness {
    /// As the script that runs programs takes it.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Bash => "bash",
            Self::Time => "time",
            Self::None => "none",
        }
    }
}

/// What the first look found.
#[derive(Debug)]
pub(super) struct Found {
    /// Where the root really is.
    pub(super) root: String,
    /// Whether there is `/proc`.
    pub(super) has_proc: bool,
    /// Whether it tells mounts apart.
    pub(super) has_mounts: bool,
    /// Whether `sleep` takes a part of a second.
    pub(super) has_fractions: bool,
    pub(super) witness: Witness,
}

impl Found {
    pub(super) fn parse(body: &[u8], asked: &str) -> Result<Self> {
        let text = String::from_utf8_lossy(body);
        let fail = |kind, message: String| Error::new(kind, Operation::Open, message);
        let (facts, root) = match text.split_once("root\n") {
            Some((facts, root)) if !facts.ends_with("no ") => (facts, root),
            _ => {
                let message = format!(
                    "there is no directory {asked} in the place that could be the workspace; make it, or name another one"
                );
                return Err(fail(ErrorKind::NotFound, message));
            }
        };
        let lacks: Vec<&str> = facts
            .lines()
            .filter_map(|line| line.strip_prefix("lacks "))
            .collect();
        if !lacks.is_empty() {
            let message = format!(
                "the place lacks {}; install it there (busybox has all that is needed)",
                lacks.join(", ")
            );
            return Err(fail(ErrorKind::Unsupported, message));
        }
        let has = |what: &str| {
            facts
                .lines()
                .any(|line| line.strip_prefix("has ") == Some(what))
        };
        Ok(Self {
            root: root.to_owned(),
            has_proc: has("proc"),
            has_mounts: has("mounts"),
            has_fractions: has("fraction"),
            witness: if has("bash") {
                Witness::Bash
            } else if has("time") {
                Witness::Time
            } else {
                Witness::None
            },
        })
    }
}
