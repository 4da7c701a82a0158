//! Children that have ended.

use rustix::process::{Pid, getpid};

/// The children of this process that have ended, and that nobody has waited for.
#[expect(
    clippy::disallowed_methods,
    reason = "/proc is the system's, and no workspace"
)]
#[must_use]
pub fn zombies() -> Vec<Pid> {
    let us = format!(" Z {} ", getpid().as_raw_nonzero());
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let is_ours = |id: &i32| {
        std::fs::read_to_string(format!("/proc/{id}/stat")).is_ok_and(|stat| stat.contains(&us))
    };
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(is_ours)
        .filter_map(Pid::from_raw)
        .collect()
}
