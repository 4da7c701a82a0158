//! Debian's way to build for another target, for machines that do not reach rustup's server: the compiler and
//! the library's source from `rustc-web` and `rust-web-src`, the standard library built once from it, and the
//! linkers of the rustup toolchain that is there.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, ensure};

use crate::{
    packages::{self, Package},
    process,
    toolchain::{Need, Target, Toolchain, holds_standard_library, of_target},
};

const COMPILER: &str = "/usr/bin/rustc";
const SOURCE: &str = "/usr/lib/rustlib/src/rust/library/std/Cargo.toml";
const PACKAGES: [Package; 2] = [
    Package::new("rustc-web", COMPILER),
    Package::new("rust-web-src", SOURCE),
];
/// A part of the folder's name: raise it when a library is to be built otherwise than before.
const EDITION: u32 = 2;

/// How a standard library is built from its source.
pub(crate) struct Recipe {
    /// What it takes beside the compiler and the source.
    pub(crate) packages: Vec<Package>,
    /// The library's features, separated by spaces.
    pub(crate) features: &'static str,
    /// Cargo's `opt-level`.
    pub(crate) optimization: &'static str,
    /// What builds the C library that the target's programs are linked with, where no package has it: told a folder
    /// for its work, and where to put it.
    pub(crate) c_library: Option<fn(&Path, &Path) -> Result<()>>,
}

/// Installs the packages and builds the standard library, where they are not there yet.
pub(crate) fn ensure(need: &Need) -> Result<Toolchain> {
    let linkers = linkers()?;
    let needed = PACKAGES.iter().chain(&need.recipe.packages);
    packages::ensure(needed)?;
    let mut target = need.by_debian.clone();
    let sysroot = sysroot(&target.triple)?;
    ensure!(
        !sysroot.to_string_lossy().contains(char::is_whitespace),
        "the path {} has a space, which compiler flags cannot have; set XDG_CACHE_HOME to another folder",
        sysroot.display()
    );
    if !holds_standard_library(&libraries(&sysroot, &target)) {
        build_standard_library(&sysroot, &target, &need.recipe)?;
    }
    let mut path = vec![linkers];
    path.extend(env::split_paths(&env::var_os("PATH").unwrap_or_default()));
    target
        .flags
        .push(format!("--sysroot={}", sysroot.display()));
    Ok(Toolchain {
        target,
        variables: vec![
            ("RUSTC", COMPILER.into()),
            ("PATH", env::join_paths(path).context("a bad PATH")?),
        ],
    })
}

/// The folder with `wasm-component-ld` and `rust-lld`, which Debian's compiler does not have.
fn linkers() -> Result<PathBuf> {
    let sysroot = process::read(Command::new("rustc").args(["--print", "sysroot"]))?;
    let host = process::read(Command::new("rustc").args(["--print", "host-tuple"]))?;
    let folder = Path::new(sysroot.trim())
        .join("lib/rustlib")
        .join(host.trim())
        .join("bin");
    ensure!(
        folder.join("wasm-component-ld").exists(),
        "wasm-component-ld is not in {}: install Rust with rustup (https://rustup.rs), whose toolchains ship it",
        folder.display()
    );
    Ok(folder)
}

/// What is kept for every checkout: in the user's cache, which needs no root.
pub(crate) fn cache() -> Result<PathBuf> {
    let cache = env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
        .or_else(|| env::var_os("HOME").map(|home| Path::new(&home).join(".cache")))
        .context("neither XDG_CACHE_HOME nor HOME is set")?;
    Ok(cache.join("belljar"))
}

/// Where our standard library is.
fn sysroot(triple: &str) -> Result<PathBuf> {
    let version = process::read(Command::new(COMPILER).arg("--version"))?;
    // `rustc 1.96.0 (0123456 2026-01-01)`: a library works with exactly the compiler that made it.
    let version: String = version
        .trim()
        .chars()
        .map(|c| if c.is_alphanumeric() { c } else { '-' })
        .collect();
    Ok(cache()?
        .join("sysroots")
        .join(triple)
        .join(format!("{version}{EDITION}")))
}

fn libraries(sysroot: &Path, target: &Target) -> PathBuf {
    sysroot.join("lib/rustlib").join(&target.triple).join("lib")
}

fn build_standard_library(sysroot: &Path, target: &Target, recipe: &Recipe) -> Result<()> {
    println!(
        "building the standard library for {}, once, into {}",
        target.triple,
        sysroot.display()
    );
    let parent = sysroot.parent().context("a cache folder has a parent")?;
    fs::create_dir_all(parent)
        .with_context(|| format!("cannot make the folder {}", parent.display()))?;
    // Built beside its place and moved there whole, so that what is there is complete.
    let work = parent.join(format!("building-{}", std::process::id()));
    let built = build_beside(&work, sysroot, target, recipe);
    let cleared = fs::remove_dir_all(&work);
    built?;
    cleared.with_context(|| format!("cannot remove {}", work.display()))
}

fn build_beside(work: &Path, sysroot: &Path, target: &Target, recipe: &Recipe) -> Result<()> {
    let folder = work.join("target");
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo
        .args(["build", "--quiet", "--locked", "--release"])
        .args(["--target", &target.triple, "--manifest-path", SOURCE])
        .args(["--features", recipe.features])
        .env("CARGO_TARGET_DIR", &folder)
        // Not this checkout's configuration.
        .current_dir("/")
        .env("RUSTC", COMPILER)
        // What the library's own build sets: it uses what only it may use.
        .env("RUSTC_BOOTSTRAP", "1")
        .env("__CARGO_DEFAULT_LIB_METADATA", "belljar")
        // With bitcode, because what it is for is linked with `lto`.
        .env(
            "RUSTFLAGS",
            "-Zforce-unstable-if-unmarked -Cembed-bitcode=yes",
        )
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .env_remove("LD_LIBRARY_PATH")
        .env("CARGO_PROFILE_RELEASE_DEBUG", "0")
        .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", recipe.optimization)
        .env("CARGO_PROFILE_RELEASE_PANIC", "abort");
    // Where a target has shared libraries, the library is linked as one too.
    if let Some(linker) = target.linker {
        cargo.env(of_target(&target.triple, "LINKER"), linker);
    }
    process::run(&mut cargo).context("cannot build the standard library")?;

    let made = work.join("sysroot");
    let to = libraries(&made, target);
    fs::create_dir_all(&to).with_context(|| format!("cannot make {}", to.display()))?;
    let from = folder.join(&target.triple).join("release/deps");
    for entry in fs::read_dir(&from).with_context(|| format!("cannot list {}", from.display()))? {
        let path = entry
            .with_context(|| format!("cannot list {}", from.display()))?
            .path();
        if let (Some("rlib"), Some(name)) = (
            path.extension().and_then(|extension| extension.to_str()),
            path.file_name(),
        ) {
            fs::copy(&path, to.join(name))
                .with_context(|| format!("cannot copy {}", path.display()))?;
        }
    }
    ensure!(
        holds_standard_library(&to),
        "building the standard library made none"
    );
    if let Some(c_library) = recipe.c_library {
        c_library(work, &to.join("self-contained")).context("cannot build the C library")?;
    }
    match fs::rename(&made, sysroot) {
        // Another build of ours was first.
        Err(_) if holds_standard_library(&libraries(sysroot, target)) => Ok(()),
        moved => moved.with_context(|| format!("cannot make {}", sysroot.display())),
    }
}
