//! The bytes of the guests, for tests of a host.

#![expect(
    clippy::disallowed_methods,
    reason = "tests read what the build task has built, where the environment says"
)]

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use crate::text;

/// Where a guest comes from.
enum Source {
    /// The build task builds it.
    Rust,
    /// It is assembled here.
    Text(&'static str),
    /// It is what it is.
    Bytes(&'static [u8]),
}

include!(concat!(env!("OUT_DIR"), "/guests.rs"));

/// The names of all guests, in order.
pub fn names() -> impl Iterator<Item = &'static str> {
    GUESTS.iter().map(|(name, _)| *name)
}

/// The bytes of a guest.
///
/// ```
/// let bytes = belljar_test_guests::component("core_module");
/// assert_eq!(bytes, b"\0asm\x01\0\0\0");
/// ```
///
/// # Ambient authority
/// The guests in Rust are read from `$BELLJAR_GUESTS`, or else from the folder `guests` of cargo's target directory.
///
/// # Panics
/// There is no such guest, or it has not been built: a test that needs it must not pass.
#[must_use]
pub fn component(name: &str) -> Vec<u8> {
    let source = GUESTS.iter().find(|(guest, _)| *guest == name);
    match source {
        Some((_, Source::Rust)) => built(name),
        Some((_, Source::Text(text))) => match wat::parse_str(text::expand(text)) {
            Ok(bytes) => bytes,
            Err(error) => panic!("the guest {name} cannot be assembled: {error}"),
        },
        Some((_, Source::Bytes(bytes))) => bytes.to_vec(),
        None => panic!("there is no guest {name}"),
    }
}

/// The bytes of the standard coding tools.
///
/// # Ambient authority
/// As [`component`].
///
/// # Panics
/// They have not been built.
#[must_use]
pub fn coding() -> Vec<u8> {
    built("coding")
}

/// The bytes of a shim for a vendor.
///
/// # Ambient authority
/// As [`component`].
///
/// # Panics
/// It has not been built.
#[must_use]
pub fn shim(name: &str) -> Vec<u8> {
    built(name)
}

fn built(name: &str) -> Vec<u8> {
    let path = folder().join(format!("{name}.wasm"));
    match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) => panic!(
            "cannot read {}: {error}; build it with `cargo xtask guests`",
            path.display()
        ),
    }
}

fn folder() -> PathBuf {
    if let Some(folder) = env::var_os("BELLJAR_GUESTS") {
        return folder.into();
    }
    // tests/guests is two below the workspace.
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let target = env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    workspace.join(target).join("guests")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_is_a_component_or_a_module() {
        for (name, source) in &GUESTS {
            if matches!(source, Source::Text(_)) {
                assert!(component(name).starts_with(b"\0asm"), "{name}");
            }
        }
    }

    #[test]
    fn names_are_in_order_and_there() {
        let all: Vec<_> = names().collect();
        assert!(all.is_sorted());
        for name in ["empty", "endless_loop", "older_version"] {
            assert!(all.contains(&name), "{name}");
        }
    }
}
