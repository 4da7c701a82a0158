//! What the C library's allocator keeps of memory that was freed.
//!
//! glibc keeps what is as large as anything that was freed before, up to 32 MiB a piece and for each thread:
//! after a few large files were read at once, a resident that rests has hundreds of megabytes, which count
//! against its container's limit. With fixed thresholds it gives back what is large. They are read from the
//! environment as a program starts; so the program is started anew with them, in the same process. That
//! costs a millisecond once, and a large file a third more of the time that its pages take.

use std::{env, os::unix::process::CommandExt as _, process::Command};

const NAME: &str = "GLIBC_TUNABLES";
/// A block of 1 MiB is the system's again when it is freed: most files are smaller. Of smaller ones each
/// arena keeps 2 MiB.
const VALUE: &str = "glibc.malloc.mmap_threshold=1048576:glibc.malloc.trim_threshold=2097152";

/// Starts this program anew with these thresholds, unless somebody has set some. When it cannot be, it goes on,
/// and keeps more memory.
#[expect(
    clippy::disallowed_methods,
    reason = "the C library has no other place for them"
)]
pub(crate) fn keep_little() {
    if env::var_os(NAME).is_some() {
        return;
    }
    let Ok(program) = env::current_exe() else {
        return;
    };
    let mut arguments = env::args_os();
    let mut command = Command::new(program);
    if let Some(name) = arguments.next() {
        command.arg0(name);
    }
    // It returns only when it fails.
    let _ = command.args(arguments).env(NAME, VALUE).exec();
}
