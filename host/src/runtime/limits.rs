//! What one call of a tool may use.

use std::time::Duration;

/// What one call of a tool may use. Each is counted from the call's beginning, over the whole component.
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
    pub memory_bytes: usize,
    /// All tables together.
    pub table_elements: usize,
    /// Calls from the guest to the host.
    pub host_calls: u64,
    /// Bytes copied between guest and host, both ways together.
    pub copied_bytes: u64,
}

impl Default for CallLimits {
    fn default() -> Self {
        Self {
            // A tool that waits for a build takes longer than one process's default of 30 s.
            timeout: Duration::from_secs(120),
            // An interpreter in a component takes 30 to 100 MiB; a file of the largest size, read,
            // edited and written, three times its 16 MiB.
            memory_bytes: 256 << 20,
            // Room for the largest interpreters' function tables.
            table_elements: 100_000,
            // A tool that asks for each line of a large tree separately; more is a loop.
            host_calls: 1_000_000,
            // Sixty-four of the largest files.
            copied_bytes: 1 << 30,
        }
    }
}

impl CallLimits {
    /// The same limits, memory and tables no larger than `most` has them.
    #[must_use]
    pub(crate) const fn within(mut self, most: &Self) -> Self {
        if self.memory_bytes > most.memory_bytes {
            self.memory_bytes = most.memory_bytes;
        }
        if self.table_elements > most.table_elements {
            self.table_elements = most.table_elements;
        }
        self
    }
}
