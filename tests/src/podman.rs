//! A podman of a test's own: root's, with images and containers on a disk that may be filled.

#![expect(
    clippy::disallowed_methods,
    reason = "an engine is set up outside every workspace"
)]

use std::{io, os::unix::fs::PermissionsExt as _, path::PathBuf, process::Command};

use belljar::backends::{ContainerEngine, ContainerOptions};
use tempfile::TempDir;

use crate::{BUSYBOX, container_options, containers::copy_image, disk::Disk, has_engine, is_root};

/// Podman with a disk of its own, and the image [`BUSYBOX`]. With this value its containers end.
pub struct OwnPodman {
    disk: Disk,
    folder: TempDir,
}

impl OwnPodman {
    /// Makes one whose disk has so many bytes. None, with a word on why, where that cannot be.
    ///
    /// # Panics
    /// When it does not work, and in CI where it cannot.
    #[must_use]
    pub fn start(disk: u64) -> Option<Self> {
        if !is_root() || !has_engine(ContainerEngine::Podman, BUSYBOX) {
            return None;
        }
        match Self::made(disk) {
            Ok(made) => Some(made),
            Err(error) => panic!("a podman does not work: {error}"),
        }
    }

    fn made(disk: u64) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("belljar-").tempdir()?;
        let data = folder.path().join("data");
        std::fs::create_dir(&data)?;
        let disk = Disk::make(disk, &data, None)?;
        let storage = format!(
            "[storage]\ndriver = \"overlay\"\nrunroot = {:?}\ngraphroot = {:?}\n",
            folder.path().join("run"),
            data.join("storage"),
        );
        let settings = folder.path().join("storage.conf");
        std::fs::write(&settings, storage)?;
        let made = Self { disk, folder };
        let program = format!(
            "#!/bin/sh\nexport CONTAINERS_STORAGE_CONF='{}'\nexec {} podman \"$@\"\n",
            settings.display(),
            made.disk.enter().join(" "),
        );
        std::fs::write(made.program(), program)?;
        std::fs::set_permissions(made.program(), std::fs::Permissions::from_mode(0o755))?;
        copy_image(ContainerEngine::Podman, &mut Command::new(made.program()))?;
        Ok(made)
    }

    fn program(&self) -> PathBuf {
        self.folder.path().join("podman")
    }

    /// Options for a container on it.
    #[must_use]
    pub fn options(&self) -> ContainerOptions {
        ContainerOptions {
            program: Some(self.program()),
            ..container_options(ContainerEngine::Podman, BUSYBOX)
        }
    }

    /// The ids of all its containers, in every state.
    ///
    /// # Panics
    /// When it does not tell.
    #[must_use]
    pub fn containers(&self) -> Vec<String> {
        match self.ids() {
            Ok(ids) => ids,
            Err(error) => panic!("podman does not tell: {error}"),
        }
    }

    fn ids(&self) -> io::Result<Vec<String>> {
        let mut list = Command::new(self.program());
        let output = list.args(["ps", "--all", "--quiet"]).output()?;
        let ids = String::from_utf8_lossy(&output.stdout);
        Ok(ids.split_whitespace().map(str::to_owned).collect())
    }

    /// Fills its disk to the last byte, until the file that this gives is removed.
    ///
    /// # Errors
    /// When it is not full.
    pub fn fill(&self) -> io::Result<PathBuf> {
        self.disk.fill()
    }
}

impl Drop for OwnPodman {
    fn drop(&mut self) {
        for id in self.ids().unwrap_or_default() {
            let mut remove = Command::new(self.program());
            let _ = remove.args(["rm", "--force", "--time=0", &id]).output();
        }
    }
}
