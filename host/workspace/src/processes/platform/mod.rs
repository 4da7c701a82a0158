//! What of the supervisor depends on the operating system.
//!
//! | | Linux | other unix |
//! |---|---|---|
//! | the end of a program | a pidfd in the poll | a look every few milliseconds |
//! | all of a process | descendants, its group, and orphans, which come to us as their subreaper and are told by their marker | its process group |
//! | the working directory | `/proc/self/fd/N`, so that no path is resolved twice | the same, `/dev/fd/N` |
//!
//! Where a system cannot do what Linux does, `Platform::gaps` says what is weaker.

/// What is left of a launch after all that was found of it was killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Left {
    Nothing,
    /// So many that still live, or ended only now.
    Some(usize),
}

#[cfg(any(not(target_os = "linux"), test))]
mod group;
#[cfg(target_os = "linux")]
mod linux;

#[cfg(not(target_os = "linux"))]
pub(super) use group::{Frozen, Platform, directory_path, wake_descriptors};
#[cfg(target_os = "linux")]
pub(super) use linux::{Frozen, Platform, directory_path, wake_descriptors};
