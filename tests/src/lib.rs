//! What the end-to-end tests and benchmarks of Belljar share: where the guests are, and a host.

use std::path::{Path, PathBuf};

/// The workspace's root folder.
#[must_use]
pub fn workspace_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_owned).unwrap_or_default()
}

/// A component that `cargo xtask guests` built.
///
/// # Panics
/// When it is not there: a test cannot pass because its guest is missing.
#[must_use]
pub fn guest_path(name: &str) -> PathBuf {
    let path = workspace_root().join("target/guests").join(format!("{name}.wasm"));
    assert!(path.exists(), "{} is not there; build it with: cargo xtask guests", path.display());
    path
}

/// The bytes of a component that `cargo xtask guests` built.
///
/// # Panics
/// When it cannot be read.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "a test's own file")]
#[expect(clippy::expect_used, reason = "a test cannot go on without its guest")]
pub fn guest(name: &str) -> Vec<u8> {
    std::fs::read(guest_path(name)).expect("the guest can be read")
}
