//! Calls the generator of the guest bindings, which is a program of its own (`guest_bindings.rs`).

use std::{path::Path, process::Command};

use anyhow::Result;

use crate::{process, workspace::Workspace};

/// The generator.
pub(crate) struct Generator<'a> {
    workspace: &'a Workspace,
    /// Cargo, to build it first; else it is there.
    build: bool,
}

impl<'a> Generator<'a> {
    /// Builds the generator with each call that needs it.
    pub(crate) const fn to_build(workspace: &'a Workspace) -> Self {
        Self {
            workspace,
            build: true,
        }
    }

    /// Takes the generator that a build of everything has made.
    pub(crate) const fn built(workspace: &'a Workspace) -> Self {
        Self {
            workspace,
            build: false,
        }
    }

    /// Makes the checked-in bindings what `wit/` gives.
    pub(crate) fn generate(&self) -> Result<()> {
        process::run(self.command("generate").arg(self.checked_in()))
    }

    /// Fails, and shows how they differ, when the checked-in bindings are not what `wit/` gives.
    pub(crate) fn check(&self) -> Result<()> {
        let checked_in = self.checked_in();
        process::run(self.command("check").arg(&checked_in)).inspect_err(|_| {
            // Where the right file can't be made or compared, the error says enough.
            let right = self.workspace.target().join("bindings.rs");
            if process::works(self.command("generate").arg(&right)) {
                show_difference(&checked_in, &right);
            }
        })
    }

    fn checked_in(&self) -> std::path::PathBuf {
        self.workspace.root().join("guest-sdk/src/bindings.rs")
    }

    fn command(&self, action: &str) -> Command {
        let mut command = if self.build {
            let mut cargo = self.workspace.cargo();
            cargo.args(["run", "--quiet", "--package", "xtask"]).args([
                "--features",
                "bindings",
                "--bin",
                "guest-bindings",
                "--",
            ]);
            cargo
        } else {
            Command::new(self.workspace.built("guest-bindings"))
        };
        command.arg(action).arg(self.workspace.root().join("wit"));
        command
    }
}

fn show_difference(there: &Path, right: &Path) {
    let mut diff = Command::new("git");
    diff.args(["--no-pager", "diff", "--no-index", "--"])
        .args([there, right]);
    // It ends with 1 where there is a difference.
    let _ = diff.status();
}
