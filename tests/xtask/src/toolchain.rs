//! What a guest build needs: a compiler with a standard library for WebAssembly, and a linker
//! that makes a component.
//!
//! | where | how |
//! |---|---|
//! | the target is there | the active compiler, as it is |
//! | a machine that reaches rustup's server | `rustup target add` |
//! | Debian | its `rustc-web`, and a standard library built once from its source (`debian`) |
//! | elsewhere | an error that says what to install |

use std::{env, ffi::OsString, fs, path::Path, process::Command};

use anyhow::{Context, Result, bail};

use crate::{debian, process};

/// The guests' target: no WASI, so that all a guest can do is in the contract's imports.
pub(crate) const TARGET: &str = "wasm32-unknown-unknown";
/// Makes a component of what `wasm-ld` links; rustup's toolchains ship it.
pub(crate) const LINKER: &str = "wasm-component-ld";
const LINKER_VARIABLE: &str = "CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER";
const CHOICE_VARIABLE: &str = "BELLJAR_GUEST_TOOLCHAIN";

/// What differs between the environment of a guest build and the user's.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct GuestToolchain {
    /// Variables to set.
    pub(crate) variables: Vec<(&'static str, OsString)>,
}

impl GuestToolchain {
    /// Makes this machine able to build guests, with a line for each thing that it installs.
    pub(crate) fn ensure() -> Result<Self> {
        let choice = Choice::parse(env::var_os(CHOICE_VARIABLE))?;
        let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        if has_standard_library(&rustc) {
            return Ok(Self::of_active_compiler());
        }
        let rustup = match choice {
            Choice::Debian => Err(anyhow::anyhow!("{CHOICE_VARIABLE}=debian")),
            Choice::Rustup | Choice::First => add_target(),
        };
        let Err(rustup) = rustup else {
            if !has_standard_library(&rustc) {
                bail!(
                    "`rustup target add {TARGET}` succeeded, but `{}` is not rustup's compiler; \
                     unset RUSTC, or put rustup's folder first in PATH",
                    rustc.display()
                );
            }
            return Ok(Self::of_active_compiler());
        };
        match choice {
            Choice::Rustup => Err(rustup),
            Choice::Debian => debian::ensure(),
            Choice::First => debian::ensure().with_context(|| {
                format!(
                    "no standard library for {TARGET}: {rustup:#}; run `rustup target add {TARGET}` \
                     where rustup's server can be reached"
                )
            }),
        }
    }

    /// Gives a cargo command the environment of a guest build.
    pub(crate) fn configure(&self, cargo: &mut Command) {
        cargo
            .envs(self.variables.iter().map(|(name, value)| (*name, value)))
            // For the host's binaries: another compiler must not load the host compiler's libraries,
            // and flags for the host's processor mean nothing to a guest.
            .env_remove("LD_LIBRARY_PATH")
            .env_remove("RUSTFLAGS")
            .env_remove("CARGO_ENCODED_RUSTFLAGS")
            .env(LINKER_VARIABLE, LINKER);
    }

    const fn of_active_compiler() -> Self {
        Self {
            variables: Vec::new(),
        }
    }
}

/// Where the standard library is to come from when it is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Choice {
    /// The first that works.
    First,
    Rustup,
    Debian,
}

impl Choice {
    fn parse(value: Option<OsString>) -> Result<Self> {
        let Some(value) = value else {
            return Ok(Self::First);
        };
        match value.to_str() {
            Some("") => Ok(Self::First),
            Some("rustup") => Ok(Self::Rustup),
            Some("debian") => Ok(Self::Debian),
            _ => bail!(
                "{CHOICE_VARIABLE} is `{}`; it can be rustup or debian",
                value.display()
            ),
        }
    }
}

fn add_target() -> Result<()> {
    println!("installing the standard library for {TARGET}: rustup target add {TARGET}");
    process::run(Command::new("rustup").args(["target", "add", TARGET]))
}

fn has_standard_library(rustc: &OsString) -> bool {
    let mut command = Command::new(rustc);
    command.args(["--print", "target-libdir", "--target", TARGET]);
    process::read(&mut command).is_ok_and(|folder| holds_standard_library(Path::new(folder.trim())))
}

/// Whether a compiler's folder of libraries holds the standard one.
pub(crate) fn holds_standard_library(folder: &Path) -> bool {
    fs::read_dir(folder).is_ok_and(|entries| {
        entries.flatten().any(|entry| {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            name.starts_with("libstd-") && name.ends_with(".rlib")
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_choice_is_known_or_refused() {
        let parse = |value: &str| Choice::parse(Some(value.into())).ok();
        assert_eq!(Choice::parse(None).ok(), Some(Choice::First));
        assert_eq!(parse(""), Some(Choice::First));
        assert_eq!(parse("rustup"), Some(Choice::Rustup));
        assert_eq!(parse("debian"), Some(Choice::Debian));
        assert_eq!(parse("Debian"), None);
    }

    #[test]
    fn the_compiler_of_the_host_has_a_standard_library_for_the_host() -> Result<()> {
        let folder = process::read(Command::new("rustc").args(["--print", "target-libdir"]))?;
        let folder = Path::new(folder.trim());
        assert!(holds_standard_library(folder));
        assert!(!holds_standard_library(&folder.join("not there")));
        Ok(())
    }
}
