//! Components that were pulled, in a folder of the user's, by their digests.

use std::{
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use super::{digest::Digest, error::RegistryError, lock::Locked, reference::Reference};

/// A folder of components. Several programs may use it at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Store(PathBuf);

impl Store {
    /// A folder of the host's, which is made when something is put into it.
    #[must_use]
    pub fn new_ambient(folder: impl Into<PathBuf>) -> Self {
        Self(folder.into())
    }

    /// Where a component is, when it is here.
    #[must_use]
    pub fn path(&self, digest: &Digest) -> PathBuf {
        self.0.join(format!("sha256-{}.wasm", digest.hexadecimal()))
    }

    /// Keeps a component.
    ///
    /// # Errors
    /// [`RegistryError::File`]; a half-written file is never found.
    pub fn put(&self, bytes: &[u8]) -> Result<Digest, RegistryError> {
        let digest = Digest::of(bytes);
        let path = self.path(&digest);
        let put = || {
            make_private(&self.0)?;
            let mut new = tempfile::NamedTempFile::new_in(&self.0)?;
            new.write_all(bytes)?;
            new.persist(&path)?;
            Ok(())
        };
        put().map_err(|source: io::Error| RegistryError::File {
            path: path.clone(),
            source,
        })?;
        Ok(digest)
    }

    /// Takes a component out, when it is here and is what it should be.
    ///
    /// # Errors
    /// [`RegistryError::NotHere`]; [`RegistryError::OtherDigest`] when it was changed.
    #[expect(
        clippy::disallowed_methods,
        reason = "the store is the operator's, and in no workspace"
    )]
    pub fn take(&self, reference: &Reference, locked: &Locked) -> Result<Vec<u8>, RegistryError> {
        let path = self.path(&locked.digest);
        let bytes = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(RegistryError::NotHere {
                    reference: reference.to_string(),
                    digest: locked.digest,
                });
            }
            Err(source) => return Err(RegistryError::File { path, source }),
        };
        let found = Digest::of(&bytes);
        if found != locked.digest {
            return Err(RegistryError::OtherDigest {
                reference: reference.to_string(),
                expected: locked.digest.to_string(),
                found: found.to_string(),
            });
        }
        Ok(bytes)
    }
}

fn make_private(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
}
