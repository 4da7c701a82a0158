//! Where things are in this checkout.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

/// The checkout that this build task belongs to.
pub(crate) struct Workspace {
    root: PathBuf,
    target: PathBuf,
}

impl Workspace {
    /// Finds the checkout from cargo's environment: the binary may have been built in another
    /// one that shares its target directory.
    pub(crate) fn of_this_checkout() -> Self {
        let manifest = env::var_os("CARGO_MANIFEST_DIR")
            .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
        // tests/xtask is two below the root.
        let root = manifest.ancestors().nth(2).unwrap_or(&manifest).to_owned();
        let target = env::var_os("CARGO_TARGET_DIR").map_or_else(
            || root.join("target"),
            // A relative one is relative to where cargo was called.
            |target| std::path::absolute(&target).unwrap_or_else(|_| target.into()),
        );
        Self { root, target }
    }

    /// The checkout's top folder.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Cargo's target directory.
    pub(crate) fn target(&self) -> &Path {
        &self.target
    }

    /// Where the built guests are, each as `NAME.wasm`.
    pub(crate) fn guests(&self) -> PathBuf {
        self.target.join("guests")
    }

    /// Where programs that need no operating system are, each as `NAME.wasm`.
    pub(crate) fn programs(&self) -> PathBuf {
        self.target.join("programs")
    }

    /// Where the static residents are.
    pub(crate) fn residents(&self) -> PathBuf {
        self.target.join("residents")
    }

    /// A program of a dev build.
    pub(crate) fn built(&self, name: &str) -> PathBuf {
        self.target
            .join("debug")
            .join(format!("{name}{}", env::consts::EXE_SUFFIX))
    }

    /// Cargo in the checkout's top folder.
    pub(crate) fn cargo(&self) -> Command {
        let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo
            .current_dir(&self.root)
            .env("CARGO_TARGET_DIR", &self.target);
        cargo
    }
}
