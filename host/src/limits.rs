//! What one call of a tool may use.

use std::time::Duration;

/// What one call of a tool may use, besides what the contract limits. Each is counted from the call's
/// beginning, over the whole component.
///
/// ```
/// use std::time::Duration;
/// use belljar::CallLimits;
///
/// let limits = CallLimits { timeout: Duration::from_secs(5), ..CallLimits::default() };
/// assert_eq!(limits.memory_bytes, 256 << 20);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallLimits {
    /// Wall-clock time, with everything that the call waits for.
    pub timeout: Duration,
    /// All linear memories together.
    pub memory_bytes: u64,
    /// All tables together.
    pub table_elements: u32,
    /// Calls from the guest to the host.
    pub host_calls: u64,
    /// Bytes copied between guest and host, both ways together.
    pub copied_bytes: u64,
    /// Bytes of the answer.
    pub answer_bytes: u64,
    /// Progress reports and log lines that are passed on; the rest are dropped.
    pub progress_lines: u32,
}

impl Default for CallLimits {
    fn default() -> Self {
        Self {
            // A model waits no longer for an answer; a long build is started, and read across calls.
            timeout: Duration::from_secs(120),
            // An interpreter in a component takes 30 to 100 MiB; a file of the largest size, read,
            // edited and written, three times its 16 MiB.
            memory_bytes: 256 << 20,
            // The largest guests that standard compilers make have some ten thousand.
            table_elements: 100_000,
            // A read for each file of a large source tree, several times.
            host_calls: 1_000_000,
            // Sixty-four of the largest files.
            copied_bytes: 1 << 30,
            // As much as a file: no model reads more.
            answer_bytes: 16 << 20,
            // More than a person reads of one call.
            progress_lines: 1_000,
        }
    }
}

impl CallLimits {
    /// The same limits, memory and tables no larger than `most` has them.
    #[must_use]
    pub(crate) fn within(self, most: &Self) -> Self {
        Self {
            memory_bytes: self.memory_bytes.min(most.memory_bytes),
            table_elements: self.table_elements.min(most.table_elements),
            ..self
        }
    }
}
