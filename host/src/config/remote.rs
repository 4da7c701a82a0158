//! What the `remote` backend needs to know, as a configuration says it.

use std::{collections::BTreeMap, fmt, time::Duration};

use super::error::{Problem, ProblemKind};

/// What the `remote` backend needs to know. What is none has the backend's default.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct RemoteConfig {
    /// A program of the host and its arguments; there is no default.
    pub command: Vec<String>,
    /// The workspace, a directory there; there is no default.
    pub root: String,
    /// Whether the command reaches a shell, which is given what serves the contract.
    pub install: bool,
    /// The longest time until there is a session.
    pub connect_timeout: Option<Duration>,
    /// How long whoever is waited for may say nothing.
    pub patience: Option<Duration>,
    /// How often a session that rests says that it lives.
    pub keep_alive: Option<Duration>,
    /// More variables for processes there.
    pub environment: BTreeMap<String, String>,
}

pub(super) const COMMAND: &str = "sandbox.remote.command";
pub(super) const COMMAND_MISSING: &str = "the remote backend has no default command; name one, as in command = [\"ssh\", \"-o\", \"BatchMode=yes\", \"build\", \"belljar-resident\", \"stdio\"]";
pub(super) const ROOT: &str = "sandbox.remote.root";
pub(super) const ROOT_MISSING: &str =
    "the remote backend has no default directory; name one, as in root = \"/home/ada/work\"";

impl RemoteConfig {
    /// Makes a configuration of what this command reaches, and of a directory there.
    pub fn new(
        command: impl IntoIterator<Item = impl Into<String>>,
        root: impl Into<String>,
    ) -> Self {
        Self {
            command: command.into_iter().map(Into::into).collect(),
            root: root.into(),
            ..Self::default()
        }
    }

    /// What is wrong, whoever made it. What the backend itself refuses is said when it is opened.
    pub(super) fn problems(&self) -> Vec<Problem> {
        let missing = |key: &str, what| Problem {
            key: key.to_owned(),
            position: None,
            kind: ProblemKind::Missing(what),
        };
        let mut problems = Vec::new();
        if self.command.is_empty() {
            problems.push(missing(COMMAND, COMMAND_MISSING));
        }
        if self.root.is_empty() {
            problems.push(missing(ROOT, ROOT_MISSING));
        }
        problems
    }
}

impl fmt::Debug for RemoteConfig {
    /// Leaves out the variables' values: they may be secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteConfig")
            .field("command", &self.command)
            .field("root", &self.root)
            .field("install", &self.install)
            .field("connect_timeout", &self.connect_timeout)
            .field("patience", &self.patience)
            .field("keep_alive", &self.keep_alive)
            .field("environment", &self.environment.keys())
            .finish()
    }
}
