//! What differs between operating systems, behind one set of functions.
//!
//! | | Linux | elsewhere |
//! |---|---|---|
//! | opening beneath a handle | `openat2`, one system call | [`resolution`](super::resolution), a name at a time |
//! | renaming onto nothing | `renameat2` | a hard link, or a check under the engine's own lock |
//! | copying | `copy_file_range` | read and write |
//! | listing | `getdents64`, without an allocation a name | the C library's `readdir` |
//!
//! The other way works on Linux too, where a kernel or a seccomp filter refuses the first.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
pub(super) use linux::*;

#[cfg(not(target_os = "linux"))]
mod portable;
#[cfg(not(target_os = "linux"))]
pub(super) use portable::*;
