//! What a sandbox is. `session.wit` documents each field.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// What a sandbox can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(
    missing_docs,
    reason = "the contract's `types.wit` documents each capability"
)]
pub enum Capability {
    Read,
    Write,
    Run,
    Start,
    User,
    Modes,
    Links,
    RawNames,
    OutOfMemory,
}

impl Capability {
    /// Every capability, in the contract's order.
    pub const ALL: [Self; 9] = [
        Self::Read,
        Self::Write,
        Self::Run,
        Self::Start,
        Self::User,
        Self::Modes,
        Self::Links,
        Self::RawNames,
        Self::OutOfMemory,
    ];

    /// The capability's name in the contract.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Run => "run",
            Self::Start => "start",
            Self::User => "user",
            Self::Modes => "modes",
            Self::Links => "links",
            Self::RawNames => "raw-names",
            Self::OutOfMemory => "out-of-memory",
        }
    }
}

impl std::fmt::Display for Capability {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The numbers in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Limits {
    /// The most bytes in one file operation.
    pub file_bytes: u64,
    /// The most entries in one `list`, and results in one `glob` or `search`.
    pub results: u32,
    /// The most bytes on standard input of one `run`.
    pub stdin_bytes: u64,
    /// The most bytes in one argument vector and environment together.
    pub argument_bytes: u64,
    /// Bytes kept of each output when a call does not say.
    pub output_default: u64,
    /// The most bytes of each output that a call may ask for.
    pub output_maximum: u64,
    /// A process's time limit when a call does not say.
    #[serde(with = "milliseconds")]
    pub timeout_default: Duration,
    /// The longest time limit that a `run` may ask for.
    #[serde(with = "milliseconds")]
    pub timeout_maximum: Duration,
    /// The most processes that the session runs at once.
    pub processes: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            // Any source file and most data files, and no more than a guest's memory can hold.
            file_bytes: 16 << 20,
            // More entries than a model can read; more is asked for by a narrower pattern.
            results: 10_000,
            stdin_bytes: 64 << 20,
            // Half of Linux's usual ARG_MAX, so that the environment's own pointers fit too.
            argument_bytes: 1 << 20,
            output_default: 1_000_000,
            output_maximum: 16 << 20,
            timeout_default: Duration::from_secs(30),
            timeout_maximum: Duration::from_secs(3600),
            processes: 64,
        }
    }
}

/// What the policy leaves to a tool; none means all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicySummary {
    /// Globs of paths that may be read.
    pub read: Option<Vec<String>>,
    /// Globs of paths that may be changed.
    pub write: Option<Vec<String>>,
    /// Programs that may be run.
    pub programs: Option<Vec<String>>,
}

/// What `session.describe` tells.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Description {
    /// The mechanism: `virtual`, `local`, …
    pub backend: String,
    /// The workspace's root as a tool sees it: absolute, normal.
    pub root: String,
    /// What `pwd` says in a process at the root, where it is another path.
    pub process_root: Option<String>,
    /// Whether anything may be changed.
    pub writable: bool,
    /// Whether the workspace outlives the session.
    pub durable: bool,
    /// Sorted, without repetition.
    pub capabilities: Vec<Capability>,
    /// The numbers in force.
    pub limits: Limits,
    /// What the policy leaves.
    pub policy: PolicySummary,
    /// A few sentences for an agent.
    pub instructions: String,
    /// Hardening that was asked for and cannot be had.
    pub hardening_gaps: Vec<String>,
}

impl Description {
    /// Whether the sandbox can do this.
    #[must_use]
    pub fn can(&self, capability: Capability) -> bool {
        self.capabilities.contains(&capability)
    }
}

/// A command that was looked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandInfo {
    /// The name that was asked for.
    pub name: String,
    /// Where it is.
    pub path: Option<String>,
    /// The first line of `NAME --version`.
    pub version: Option<String>,
}

/// A duration as whole milliseconds, saturating.
mod milliseconds {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(
        duration: &Duration,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Duration, D::Error> {
        u64::deserialize(deserializer).map(Duration::from_millis)
    }
}
