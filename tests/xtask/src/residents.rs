//! The resident as a static program, which runs in an image that has no library.

use std::{env, fs, process::Command};

use anyhow::{Context, Result, ensure};

use crate::{process, workspace::Workspace};

/// The most bytes that it may have: it is copied to wherever a workspace is.
const MAX_BYTES: u64 = 4 << 20;

/// Builds the resident for this machine's architecture.
pub(crate) fn build(workspace: &Workspace) -> Result<()> {
    if env::consts::OS != "linux" {
        println!("residents run on Linux; there is none to build here");
        return Ok(());
    }
    let host = process::read(Command::new("rustc").args(["--print", "host-tuple"]))?;
    let host = host.trim();
    let target = workspace.target().join("resident");
    let mut cargo = workspace.cargo();
    cargo
        .args([
            "build",
            "--profile",
            "resident",
            "--package",
            "belljar-resident",
        ])
        .args(["--target", host])
        .env("CARGO_TARGET_DIR", &target)
        .env("RUSTFLAGS", "-C target-feature=+crt-static");
    process::run(&mut cargo)
        .context("a static program needs the C library's archive: on Debian, libc6-dev")?;
    let built = target.join(host).join("resident/belljar-resident");
    let bytes = fs::metadata(&built)
        .with_context(|| format!("cannot look at {}", built.display()))?
        .len();
    ensure!(
        bytes <= MAX_BYTES,
        "the resident has {bytes} bytes, over {MAX_BYTES}"
    );
    // It starts with nothing around it.
    let version = process::read(Command::new(&built).arg("--version").env_clear())?;
    let residents = workspace.residents();
    fs::create_dir_all(&residents)
        .with_context(|| format!("cannot make the folder {}", residents.display()))?;
    let name = format!("belljar-resident-{}-linux", env::consts::ARCH);
    let installed = residents.join(&name);
    fs::copy(&built, &installed)
        .with_context(|| format!("cannot write {}", installed.display()))?;
    println!(
        "{} of {bytes} bytes: {}",
        version.trim(),
        installed.display()
    );
    Ok(())
}
