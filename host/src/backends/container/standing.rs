//! The place on the host of a container that is found again: the same for each of its sessions, which one at
//! a time has.

use std::{
    fs::{DirBuilder, File, OpenOptions, TryLockError},
    io,
    os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
};

use super::ContainerEngine;

/// A place, as long as its session has it.
#[derive(Debug)]
pub(super) struct Standing {
    folder: PathBuf,
    /// Locked; the system unlocks it when this process ends, however it does.
    _lock: File,
}

/// Why a place cannot be taken.
#[derive(Debug, thiserror::Error)]
pub(super) enum StandingError {
    /// Another session has it.
    #[error("another session has this container; close that one, or use another name")]
    Taken,
    /// Somebody else could enter it.
    #[error("the folder {} is not this user's alone; remove it, or name another one", path.display())]
    NotPrivate {
        /// The folder.
        path: PathBuf,
    },
    /// It cannot be made.
    #[error("the folder {} cannot be used: {source}", path.display())]
    Io {
        /// The folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl Standing {
    /// Takes the place of a name below a folder, which is made when it is missing.
    ///
    /// # Ambient authority
    /// The folder is the host's.
    pub(super) fn take_ambient(
        state: &Path,
        engine: ContainerEngine,
        name: &str,
    ) -> Result<Self, StandingError> {
        // Short and always of one length, since it becomes a part of a socket's path.
        let digest = blake3::hash(format!("{engine}/{name}").as_bytes()).to_hex();
        let folder = state.join(&digest[..16]);
        let failed = |source| StandingError::Io {
            path: folder.clone(),
            source,
        };
        let mut builder = DirBuilder::new();
        builder.recursive(true).mode(0o700);
        builder.create(&folder).map_err(failed)?;
        let found = std::fs::symlink_metadata(&folder).map_err(failed)?;
        let ours = rustix::process::geteuid().as_raw();
        if !found.is_dir() || found.uid() != ours || found.mode() & 0o077 != 0 {
            return Err(StandingError::NotPrivate { path: folder });
        }
        let mut options = OpenOptions::new();
        let options = options.write(true).create(true).truncate(false).mode(0o600);
        let lock = options.open(folder.join("lock")).map_err(failed)?;
        match lock.try_lock() {
            Ok(()) => Ok(Self {
                folder,
                _lock: lock,
            }),
            Err(TryLockError::WouldBlock) => Err(StandingError::Taken),
            Err(TryLockError::Error(source)) => Err(failed(source)),
        }
    }

    /// The folder, which is this user's alone.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn one_at_a_time_has_a_place() {
        let state = tempfile::tempdir().expect("a temporary folder");
        let take = |name| Standing::take_ambient(state.path(), ContainerEngine::Docker, name);
        let first = take("a").expect("it is free");
        assert!(matches!(take("a"), Err(StandingError::Taken)));
        let other = take("b").expect("it is another");
        assert_ne!(first.folder(), other.folder());
        let folder = first.folder().to_owned();
        drop(first);
        assert_eq!(take("a").expect("it is free").folder(), folder);
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(&folder, mode).expect("it is ours");
        assert!(matches!(take("a"), Err(StandingError::NotPrivate { .. })));
    }
}
