//! The resident for an architecture that this machine does not have, under qemu's emulation of a program.

use std::process::{Command, Stdio};

use crate::resident_for;

/// An architecture that containers have and this machine does not.
pub const EMULATED: &str = match std::env::consts::ARCH.as_bytes() {
    b"aarch64" => "x86_64",
    _ => "aarch64",
};

/// The resident for that architecture, as this machine can run it. The programs that it starts are this
/// machine's own.
#[must_use]
pub fn emulated_resident() -> Command {
    let mut emulator = Command::new(emulator());
    emulator
        .arg(resident_for(EMULATED))
        .env_clear()
        // It has no need to start itself anew to set this, which it can only where the system runs it by itself.
        .env("GLIBC_TUNABLES", "");
    emulator
}

/// Whether the resident and the emulator are here.
///
/// # Panics
/// In CI, where they must be, when they are not.
#[expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a skipped test says so, and CI that none may be"
)]
#[must_use]
pub fn has_emulator() -> bool {
    let mut version = Command::new(emulator());
    version.arg("--version").stdout(Stdio::null());
    let reason = match version.status() {
        _ if !resident_for(EMULATED).exists() => {
            "it is not built; see `cargo xtask residents`".to_owned()
        }
        Ok(status) if status.success() => return true,
        Ok(status) => format!("{} ends with {status}", emulator()),
        Err(error) => format!(
            "{}: {error}; on Debian, install qemu-user-static",
            emulator()
        ),
    };
    let reason = format!("the resident for {EMULATED}: {reason}");
    assert!(std::env::var_os("BELLJAR_CI").is_none(), "{reason}");
    println!("skipped: {reason}");
    false
}

fn emulator() -> String {
    format!("qemu-{EMULATED}-static")
}
