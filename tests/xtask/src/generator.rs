//! Calls the generator of the guest bindings, which is a program of its own (`guest_bindings.rs`).

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::Result;

use crate::{process, workspace::Workspace};

/// The generator, built when it is called.
pub(crate) struct Generator<'a>(&'a Workspace);

impl<'a> Generator<'a> {
    /// The generator of a checkout.
    pub(crate) const fn new(workspace: &'a Workspace) -> Self {
        Self(workspace)
    }

    /// Makes the checked-in bindings what `wit/` gives.
    pub(crate) fn generate(&self) -> Result<()> {
        process::run(self.command("generate").arg(self.checked_in()))
    }

    /// Fails, and shows how they differ, when the checked-in bindings are not what `wit/` gives.
    pub(crate) fn check(&self) -> Result<()> {
        let checked_in = self.checked_in();
        process::run(self.command("check").arg(&checked_in)).inspect_err(|_| {
            // Where the right files can't be made or compared, the error says enough.
            let right = self.0.target().join("bindings");
            if process::works(self.command("generate").arg(&right)) {
                show_difference(&checked_in, &right);
            }
        })
    }

    fn checked_in(&self) -> PathBuf {
        self.0.root().join("guest-sdk/src/bindings")
    }

    fn command(&self, action: &str) -> Command {
        let mut cargo = self.0.cargo();
        cargo
            .args(["run", "--quiet", "--package", "xtask"])
            .args(["--features", "bindings", "--bin", "guest-bindings", "--"])
            .arg(action)
            .arg(self.0.root().join("wit"));
        cargo
    }
}

fn show_difference(there: &Path, right: &Path) {
    let mut diff = Command::new("git");
    diff.args(["--no-pager", "diff", "--no-index", "--"])
        .args([there, right]);
    // It ends with 1 where there is a difference.
    let _ = diff.status();
}
