//! The C library of WASI, which a Rust program for it is linked with.
//!
//! Rustup's libraries bring it. Debian's own is older than the Rust library's needs; the one that the package
//! `ziglang` of Python builds from its source is not.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, Result, ensure};

use crate::{
    packages::{self, Package},
    process,
};

const ZIG: &str = "ziglang==0.17.1";
/// The library, in the parts that Zig has it in, and the beginning of every program.
const ARCHIVES: [&str; 3] = ["libc.a", "libzigc.a", "libcompiler_rt.a"];
const START: &str = "crt1-command.o";

/// Builds it into `folder`, where the Rust compiler looks for it; `work` is for what is in between.
pub(crate) fn build(work: &Path, folder: &Path) -> Result<()> {
    if !process::works(Command::new("python3").args(["-m", "pip", "--version"])) {
        packages::ensure(&[Package::new("python3-pip", "/usr/bin/pip3")])?;
    }
    let (library, cache) = (work.join("zig"), work.join("zig-cache"));
    println!("building the C library of WASI by Python's {ZIG}");
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "install", "--quiet", "--no-deps"])
        .args(["--root-user-action", "ignore", "--target"])
        .arg(&library)
        .arg(ZIG);
    process::run(&mut pip)?;
    let zig = || {
        let mut zig = Command::new("python3");
        zig.args(["-m", "ziglang"])
            .env("PYTHONPATH", &library)
            .env("ZIG_GLOBAL_CACHE_DIR", &cache)
            .env("ZIG_LOCAL_CACHE_DIR", &cache);
        zig
    };
    // Zig builds its library when a program needs it.
    let program = work.join("empty.c");
    fs::write(&program, "int main(void) { return 0; }\n")
        .with_context(|| format!("cannot write {}", program.display()))?;
    let mut compile = zig();
    compile
        .args(["cc", "-target", "wasm32-wasi"])
        .arg(&program)
        .arg("-o")
        .arg(work.join("empty.wasm"));
    process::run(&mut compile)?;

    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let start = built(&cache, START)?;
    fs::copy(&start, folder.join(START))
        .with_context(|| format!("cannot copy {}", start.display()))?;
    let mut script = format!("create {}\n", folder.join("libc.a").display());
    for archive in ARCHIVES {
        script += &format!("addlib {}\n", built(&cache, archive)?.display());
    }
    script += "save\nend\n";
    let mut archive = zig()
        .args(["ar", "-M"])
        .stdin(Stdio::piped())
        .spawn()
        .context("cannot start Zig's archiver")?;
    if let Some(mut input) = archive.stdin.take() {
        input
            .write_all(script.as_bytes())
            .context("cannot tell Zig's archiver what to do")?;
    }
    let status = archive.wait().context("cannot wait for Zig's archiver")?;
    ensure!(status.success(), "Zig's archiver failed ({status})");
    Ok(())
}

/// A file among the results in Zig's cache.
fn built(cache: &Path, name: &str) -> Result<PathBuf> {
    let results = cache.join("o");
    let entries =
        fs::read_dir(&results).with_context(|| format!("cannot list {}", results.display()))?;
    let found = entries
        .flatten()
        .map(|entry| entry.path().join(name))
        .find(|path| path.exists());
    found.with_context(|| format!("Zig built no {name}"))
}
