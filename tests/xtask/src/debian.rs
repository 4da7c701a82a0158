//! Debian's way to build guests, for machines that do not reach rustup's server: the compiler and
//! the library's source from `rustc-web` and `rust-web-src`, the standard library built once from it, and the
//! linkers of the rustup toolchain that is there.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, ensure};

use crate::{
    packages, process,
    toolchain::{GuestToolchain, LINKER, TARGET, holds_standard_library},
};

const COMPILER: &str = "/usr/bin/rustc";
const SOURCE: &str = "/usr/lib/rustlib/src/rust/library/std/Cargo.toml";
const PACKAGES: [&str; 2] = ["rustc-web", "rust-web-src"];
/// A part of the folder's name: raise it when the library is to be built otherwise than before.
const RECIPE: u32 = 1;

/// Installs the packages and builds the standard library, where they are not there yet.
pub(crate) fn ensure() -> Result<GuestToolchain> {
    let linkers = linkers()?;
    if !(Path::new(COMPILER).exists() && Path::new(SOURCE).exists()) {
        println!("the compiler for WebAssembly is not there");
        packages::install(&PACKAGES)?;
    }
    let sysroot = sysroot()?;
    if !holds_standard_library(&libraries(&sysroot)) {
        build_standard_library(&sysroot)?;
    }
    let mut path = vec![linkers];
    path.extend(env::split_paths(&env::var_os("PATH").unwrap_or_default()));
    let flags = format!("--sysroot={}", sysroot.display());
    ensure!(
        !flags.contains(char::is_whitespace),
        "the path {} has a space, which compiler flags cannot have; set XDG_CACHE_HOME to another folder",
        sysroot.display()
    );
    Ok(GuestToolchain {
        variables: vec![
            ("RUSTC", COMPILER.into()),
            ("PATH", env::join_paths(path).context("a bad PATH")?),
            // For the guest alone: what the build runs on this machine uses the compiler's own.
            (
                "CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS",
                flags.into(),
            ),
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
        folder.join(LINKER).exists(),
        "{LINKER} is not in {}: install Rust with rustup (https://rustup.rs), whose toolchains ship it",
        folder.display()
    );
    Ok(folder)
}

/// Where our standard library is: in the user's cache, which needs no root and outlives a checkout.
fn sysroot() -> Result<PathBuf> {
    let cache = env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
        .or_else(|| env::var_os("HOME").map(|home| Path::new(&home).join(".cache")))
        .context("neither XDG_CACHE_HOME nor HOME is set")?;
    let version = process::read(Command::new(COMPILER).arg("--version"))?;
    // `rustc 1.96.0 (0123456 2026-01-01)`: a library works with exactly the compiler that made it.
    let version: String = version
        .trim()
        .chars()
        .map(|c| if c.is_alphanumeric() { c } else { '-' })
        .collect();
    Ok(cache
        .join("belljar/guest-sysroot")
        .join(format!("{version}{RECIPE}")))
}

fn libraries(sysroot: &Path) -> PathBuf {
    sysroot.join("lib/rustlib").join(TARGET).join("lib")
}

fn build_standard_library(sysroot: &Path) -> Result<()> {
    println!(
        "building the standard library for {TARGET}, once, into {}",
        sysroot.display()
    );
    let parent = sysroot.parent().context("a cache folder has a parent")?;
    fs::create_dir_all(parent)
        .with_context(|| format!("cannot make the folder {}", parent.display()))?;
    // Built beside its place and moved there whole, so that what is there is complete.
    let work = parent.join(format!("building-{}", std::process::id()));
    let built = build_beside(&work, sysroot);
    let cleared = fs::remove_dir_all(&work);
    built?;
    cleared.with_context(|| format!("cannot remove {}", work.display()))
}

fn build_beside(work: &Path, sysroot: &Path) -> Result<()> {
    let target = work.join("target");
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo
        .args(["build", "--quiet", "--locked", "--release"])
        .args(["--target", TARGET, "--manifest-path", SOURCE])
        .args(["--features", "compiler-builtins-mem"])
        .env("CARGO_TARGET_DIR", &target)
        // Not this checkout's configuration.
        .current_dir("/")
        .env("RUSTC", COMPILER)
        // What the library's own build sets: it uses what only it may use.
        .env("RUSTC_BOOTSTRAP", "1")
        .env("__CARGO_DEFAULT_LIB_METADATA", "belljar")
        // With bitcode, because guests are linked with `lto`.
        .env(
            "RUSTFLAGS",
            "-Zforce-unstable-if-unmarked -Cembed-bitcode=yes",
        )
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .env_remove("LD_LIBRARY_PATH")
        .env("CARGO_PROFILE_RELEASE_DEBUG", "0")
        .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "s")
        .env("CARGO_PROFILE_RELEASE_PANIC", "abort");
    process::run(&mut cargo).context("cannot build the standard library")?;

    let made = work.join("sysroot");
    let to = libraries(&made);
    fs::create_dir_all(&to).with_context(|| format!("cannot make {}", to.display()))?;
    let from = target.join(TARGET).join("release/deps");
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
    match fs::rename(&made, sysroot) {
        // Another build of ours was first.
        Err(_) if holds_standard_library(&libraries(sysroot)) => Ok(()),
        moved => moved.with_context(|| format!("cannot make {}", sysroot.display())),
    }
}
