//! What this process holds, as its kernel says.

use std::{ops::Sub, time::Duration};

use rustix::time::{ClockId, clock_gettime};

/// What this process has at one moment.
#[derive(Clone, Copy)]
pub(crate) struct Held {
    /// Memory that is no file's, in KiB.
    pub(crate) anonymous: f64,
    pub(crate) threads: f64,
    pub(crate) descriptors: f64,
}

impl Held {
    pub(crate) fn now() -> Self {
        let descriptors = std::fs::read_dir("/proc/self/fd").expect("it is Linux");
        Self {
            anonymous: number("/proc/self/smaps_rollup", "Anonymous:"),
            threads: threads(),
            descriptors: descriptors.count() as f64,
        }
    }
}

impl Sub for Held {
    type Output = Self;

    fn sub(self, before: Self) -> Self {
        Self {
            anonymous: self.anonymous - before.anonymous,
            threads: self.threads - before.threads,
            descriptors: self.descriptors - before.descriptors,
        }
    }
}

pub(crate) fn threads() -> f64 {
    number("/proc/self/status", "Threads:")
}

/// The processor time of this process, with all its threads and without its children.
pub(crate) fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::try_from(time).expect("it goes forward")
}

fn number(file: &str, name: &str) -> f64 {
    let text = std::fs::read_to_string(file).expect("it is Linux");
    let mut lines = text.lines();
    let line = lines.find_map(|line| line.strip_prefix(name));
    let word = line.and_then(|line| line.split_whitespace().next());
    word.and_then(|word| word.parse().ok())
        .expect("the kernel says it")
}
