//! What the functions of `processes` take and give. `processes.wit` documents each.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// What to run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Command {
    /// The program and its arguments.
    Argv(Vec<String>),
    /// Text for `/bin/sh -c`.
    Shell(String),
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It exited with this code.
    Exited(i32),
    /// This signal ended it.
    Signalled(u32),
    /// It was ended at its time limit.
    TimedOut,
    /// It was ended because the caller cancelled.
    Cancelled,
    /// It was ended because memory ran out.
    OutOfMemory,
}

impl Outcome {
    /// Whether it exited with code 0.
    #[must_use]
    pub const fn success(self) -> bool {
        matches!(self, Self::Exited(0))
    }
}

/// One output: `head`, then `dropped` bytes that are gone, then `tail`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Output {
    /// The first bytes.
    #[serde(with = "crate::bytes")]
    pub head: Vec<u8>,
    /// The last bytes, when some were dropped between; else empty.
    #[serde(with = "crate::bytes")]
    pub tail: Vec<u8>,
    /// Bytes that are gone.
    pub dropped: u64,
}

impl Output {
    /// What was kept, as text: U+FFFD for what is not UTF-8, and a line that says how much is gone.
    ///
    /// ```
    /// use belljar_contract::processes::Output;
    ///
    /// let output = Output { head: b"ab".to_vec(), tail: b"yz".to_vec(), dropped: 22 };
    /// assert_eq!(output.to_text(), "ab\n[22 bytes dropped]\nyz");
    /// ```
    #[must_use]
    pub fn to_text(&self) -> String {
        if self.dropped == 0 {
            // A character may stand across the two parts.
            let whole = [self.head.as_slice(), &self.tail].concat();
            return String::from_utf8_lossy(&whole).into_owned();
        }
        format!(
            "{}\n[{} bytes dropped]\n{}",
            String::from_utf8_lossy(&self.head),
            self.dropped,
            String::from_utf8_lossy(&self.tail),
        )
    }
}

/// What became of a `run`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Execution {
    /// How it ended.
    pub outcome: Outcome,
    /// What it printed on standard output.
    pub stdout: Output,
    /// What it printed on standard error.
    pub stderr: Output,
    /// Wall-clock time.
    #[serde(with = "nanoseconds")]
    pub duration: Duration,
}

/// Names a started process in its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ProcessId(pub u64);

/// One of the two outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OutputStream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// A part of an output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputChunk {
    /// From the cursor on, without a gap.
    #[serde(with = "crate::bytes")]
    pub bytes: Vec<u8>,
    /// Where to go on reading.
    pub cursor: u64,
    /// Bytes between the cursor given and `bytes` that are no longer held.
    pub dropped: u64,
    /// Nothing more will come.
    pub ended: bool,
}

/// What can be sent to a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SignalKind {
    /// SIGINT to its process group.
    Interrupt,
    /// SIGTERM to its process group.
    Terminate,
    /// SIGHUP to its process group.
    Hangup,
    /// SIGUSR1 to its process group.
    User1,
    /// SIGUSR2 to its process group.
    User2,
    /// SIGKILL to every process of it.
    Kill,
}

/// What became of a started process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    /// How it ended.
    pub outcome: Outcome,
    /// Wall-clock time.
    #[serde(with = "nanoseconds")]
    pub duration: Duration,
}

/// A duration as whole nanoseconds, saturating (584 years fit).
mod nanoseconds {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(
        duration: &Duration,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Duration, D::Error> {
        u64::deserialize(deserializer).map(Duration::from_nanos)
    }
}
