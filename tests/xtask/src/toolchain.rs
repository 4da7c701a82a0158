//! What it takes to build for another target than this machine: a compiler with a standard library for it,
//! and a linker.
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

const CHOICE_VARIABLE: &str = "BELLJAR_GUEST_TOOLCHAIN";

/// A target as compilers call it, with what builds for it are told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) triple: String,
    /// Where the compiler's own choice is not the right one.
    pub(crate) linker: Option<&'static str>,
    /// The compiler's flags.
    pub(crate) flags: Vec<String>,
}

/// What is to be built for: the target depends on where its standard library comes from.
pub(crate) struct Need {
    /// With a library that rustup installs.
    pub(crate) by_rustup: Target,
    /// With the one that is built from Debian's source.
    pub(crate) by_debian: Target,
    pub(crate) recipe: debian::Recipe,
}

/// What differs between the environment of a build for a target and the user's.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Toolchain {
    pub(crate) target: Target,
    /// Variables to set.
    pub(crate) variables: Vec<(&'static str, OsString)>,
}

impl Toolchain {
    /// Makes this machine able to build what is needed, with a line for each thing that it installs.
    pub(crate) fn ensure(need: &Need) -> Result<Self> {
        let choice = Choice::parse(env::var_os(CHOICE_VARIABLE))?;
        let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let triple = need.by_rustup.triple.as_str();
        if has_standard_library(&rustc, triple) {
            return Ok(Self::of_active_compiler(need.by_rustup.clone()));
        }
        let rustup = match choice {
            Choice::Debian => Err(anyhow::anyhow!("{CHOICE_VARIABLE}=debian")),
            Choice::Rustup | Choice::First => add_target(triple),
        };
        let Err(rustup) = rustup else {
            if !has_standard_library(&rustc, triple) {
                bail!(
                    "`rustup target add {triple}` succeeded, but `{}` is not rustup's compiler; \
                     unset RUSTC, or put rustup's folder first in PATH",
                    rustc.display()
                );
            }
            return Ok(Self::of_active_compiler(need.by_rustup.clone()));
        };
        match choice {
            Choice::Rustup => Err(rustup),
            Choice::Debian => debian::ensure(need),
            Choice::First => debian::ensure(need).with_context(|| {
                format!(
                    "no standard library for {triple}: {rustup:#}; run `rustup target add {triple}` \
                     where rustup's server can be reached"
                )
            }),
        }
    }

    /// The compiler that is active, which can build for this target.
    pub(crate) const fn of_active_compiler(target: Target) -> Self {
        Self {
            target,
            variables: Vec::new(),
        }
    }

    /// Makes a `cargo build` one for the target.
    pub(crate) fn configure(&self, cargo: &mut Command) {
        let target = &self.target;
        cargo
            .args(["--target", &target.triple])
            .envs(self.variables.iter().map(|(name, value)| (*name, value)))
            // For the host's binaries: another compiler must not load the host compiler's libraries,
            // and flags for the host's processor mean nothing to another.
            .env_remove("LD_LIBRARY_PATH")
            .env_remove("RUSTFLAGS")
            .env_remove("CARGO_ENCODED_RUSTFLAGS")
            // For the target alone: what the build runs on this machine is not its business.
            .env(
                of_target(&target.triple, "RUSTFLAGS"),
                target.flags.join(" "),
            );
        if let Some(linker) = target.linker {
            cargo.env(of_target(&target.triple, "LINKER"), linker);
        }
    }
}

/// Cargo's variable for a setting of one target.
pub(crate) fn of_target(triple: &str, setting: &str) -> String {
    let triple = triple.to_uppercase().replace(['-', '.'], "_");
    format!("CARGO_TARGET_{triple}_{setting}")
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

fn add_target(triple: &str) -> Result<()> {
    println!("installing the standard library for {triple}: rustup target add {triple}");
    process::run(Command::new("rustup").args(["target", "add", triple]))
}

fn has_standard_library(rustc: &OsString, triple: &str) -> bool {
    let mut command = Command::new(rustc);
    command.args(["--print", "target-libdir", "--target", triple]);
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

    #[test]
    fn a_build_is_told_its_target() {
        let toolchain = Toolchain::of_active_compiler(Target {
            triple: "thumbv8m.main-none-eabi".to_owned(),
            linker: Some("lld"),
            flags: vec!["-Ca".to_owned(), "-Cb".to_owned()],
        });
        let mut cargo = Command::new("cargo");
        toolchain.configure(cargo.arg("build"));
        let variable = |name: &str| {
            let mut all = cargo.get_envs();
            all.find_map(|(found, value)| (found == name).then_some(value?.to_str()?))
        };
        assert_eq!(
            variable("CARGO_TARGET_THUMBV8M_MAIN_NONE_EABI_RUSTFLAGS"),
            Some("-Ca -Cb")
        );
        assert_eq!(
            variable("CARGO_TARGET_THUMBV8M_MAIN_NONE_EABI_LINKER"),
            Some("lld")
        );
        let arguments: Vec<_> = cargo.get_args().collect();
        assert_eq!(arguments, ["build", "--target", "thumbv8m.main-none-eabi"]);
    }
}
