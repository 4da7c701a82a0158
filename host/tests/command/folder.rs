//! A folder with a workspace and a configuration, removed in the end.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// A folder with `local.toml`, `virtual.toml`, and the workspace `work` of both.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("work")).unwrap();
        for (file, backend) in [("local.toml", "local"), ("virtual.toml", "virtual")] {
            let mut text =
                format!("version = 1\n[sandbox]\nbackend = \"{backend}\"\nworkspace = \"work\"\n");
            if backend == "local" {
                text.push_str("[sandbox.local]\nallow-host-processes = true\n");
            }
            std::fs::write(folder.path().join(file), text).unwrap();
        }
        Self(folder)
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// A path in the workspace.
    pub(crate) fn work(&self, name: &str) -> PathBuf {
        self.0.path().join("work").join(name)
    }
}
