//! Debian's packages, for what a machine lacks.

use std::{
    path::Path,
    process::Command,
    sync::{Mutex, PoisonError},
};

use anyhow::{Context, Result, bail};

use crate::process;

/// A package, and a file that shows whether it is there.
pub(crate) struct Package {
    name: &'static str,
    holds: &'static str,
}

impl Package {
    /// A package that has this file.
    pub(crate) const fn new(name: &'static str, holds: &'static str) -> Self {
        Self { name, holds }
    }
}

/// Its own lock is refused, and not waited for, when another thread of ours has it.
static APT: Mutex<()> = Mutex::new(());

/// Installs those that are not there, or says what to type.
pub(crate) fn ensure<'a>(packages: impl IntoIterator<Item = &'a Package>) -> Result<()> {
    let _alone = APT.lock().unwrap_or_else(PoisonError::into_inner);
    let missing: Vec<&str> = packages
        .into_iter()
        .filter(|package| !Path::new(package.holds).exists())
        .map(|package| package.name)
        .collect();
    match missing.as_slice() {
        [] => Ok(()),
        missing => install(missing),
    }
}

fn install(packages: &[&str]) -> Result<()> {
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
