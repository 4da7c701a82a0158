//! What differs between operating systems, behind one set of functions.
//!
//! | | Linux | elsewhere |
//! |---|---|---|
//! | opening beneath a handle | `openat2`, one system call | [`resolution`](super::resolution), a name at a time |
//! | renaming onto nothing | `renameat2` | a hard link, or a check under the engine's own lock |
//! | copying | `copy_file_range` | read and write |
//! | listing | `getdents64`, without an allocation a name | the C library's `readdir` |
//! | unguessable bytes | `getrandom` | the standard library's keyed hash |
//!
//! The other way works on Linux too, where a kernel or a seccomp filter refuses the first. All of it is
//! built and tested there by `RUSTFLAGS="--cfg belljar_portable" cargo test -p belljar-workspace --lib`.

#[cfg(all(target_os = "linux", not(belljar_portable)))]
mod linux;
#[cfg(all(target_os = "linux", not(belljar_portable)))]
pub(super) use linux::*;

#[cfg(any(not(target_os = "linux"), belljar_portable))]
mod portable;
#[cfg(any(not(target_os = "linux"), belljar_portable))]
pub(super) use portable::*;
