//! Debian's packages, for what a machine lacks.

use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::process;

/// Installs packages, or says what to type.
pub(crate) fn install(packages: &[&str]) -> Result<()> {
    let by_hand = format!(
        "apt-get install --no-install-recommends {}",
        packages.join(" ")
    );
    if !process::works(Command::new("apt-get").arg("--version")) {
        bail!("this is not a Debian system, whose packages {packages:?} could help");
    }
    let root = process::read(Command::new("id").arg("-u"))?.trim() == "0";
    if !root && !process::works(Command::new("sudo").args(["-n", "true"])) {
        bail!("installing packages needs root; run `sudo {by_hand}` and try again");
    }
    let apt_get = || {
        let mut command = Command::new(if root { "apt-get" } else { "sudo" });
        if !root {
            command.args(["-n", "apt-get"]);
        }
        command.env("DEBIAN_FRONTEND", "noninteractive").arg("-qq");
        command
    };
    println!("installing Debian's packages: {by_hand}");
    process::run(apt_get().arg("update"))?;
    let mut install = apt_get();
    install
        .args(["install", "--yes", "--no-install-recommends"])
        .args(packages);
    process::run(&mut install)
        .with_context(|| format!("cannot install Debian's packages {packages:?}"))
}
