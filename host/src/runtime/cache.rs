//! Compiled components on disk.
//!
//! Loading compiled code runs it, so what is loaded must be what this cache wrote: the folder
//! belongs to its user alone, which is checked when it is opened, and each entry carries a digest of its name and code,
//! so that a cut, damaged or misplaced one is a miss and never a crash. An entry's name is a
//! digest of the component and of everything that compiling depends on.

use std::{
    hash::{Hash, Hasher},
    io::{Read as _, Write as _},
    path::Path,
};

use cap_std::{
    ambient_authority,
    fs::{Dir, MetadataExt as _, OpenOptions, OpenOptionsExt as _},
};
use wasmtime::{Engine, component::Component};

/// Begins every entry; the number changes with the entry's format.
const MAGIC: &[u8; 8] = b"belljar2";
const DIGEST_BYTES: usize = 32;

/// Why a folder cannot hold the cache.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CacheError {
    /// It cannot be made or opened.
    #[error("cannot open the compilation cache {path}")]
    Open {
        /// The folder.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// Someone else could write code into it.
    #[error(
        "the compilation cache {path} can be written by others than you; remove it, or give it mode 0700 and make it yours"
    )]
    NotPrivate {
        /// The folder.
        path: String,
    },
}

/// A folder of compiled components that only its owner can write.
#[derive(Debug)]
pub struct CompilationCache {
    folder: Dir,
}

impl CompilationCache {
    /// Opens the folder, and makes it (mode 0700) when it is not there.
    ///
    /// # Ambient authority
    /// The path is the host's.
    ///
    /// # Errors
    /// [`CacheError`] when it cannot be opened, or others can write to it.
    pub fn open_ambient(path: &Path) -> Result<Self, CacheError> {
        let shown = || path.display().to_string();
        let failed = |source| CacheError::Open {
            path: shown(),
            source,
        };
        let folder = match Dir::open_ambient_dir(path, ambient_authority()) {
            Ok(folder) => folder,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                create_private_ambient(path).map_err(failed)?;
                Dir::open_ambient_dir(path, ambient_authority()).map_err(failed)?
            }
            Err(error) => return Err(failed(error)),
        };
        let metadata = folder.dir_metadata().map_err(failed)?;
        if !is_private(metadata.uid(), metadata.mode()) {
            return Err(CacheError::NotPrivate { path: shown() });
        }
        Ok(Self { folder })
    }

    /// The component from the cache; none when it is not there, or not whole.
    pub(super) fn load(&self, engine: &Engine, bytes: &[u8]) -> Option<Component> {
        let name = entry_name(engine, bytes);
        let entry = self.read(&name)?;
        let Some(code) = verified(&name, &entry) else {
            tracing::warn!(
                entry = name,
                "a damaged entry of the compilation cache is replaced"
            );
            return None;
        };
        // What wasmtime itself checks (its version, the settings) makes another miss.
        deserialize(engine, code)
    }

    /// What an entry's file has; none when others could have written it.
    fn read(&self, name: &str) -> Option<Vec<u8>> {
        let mut file = self.folder.open(name).ok()?;
        let metadata = file.metadata().ok()?;
        if !is_private(metadata.uid(), metadata.mode()) {
            tracing::warn!(
                entry = name,
                "an entry of the compilation cache that others can write is replaced"
            );
            return None;
        }
        let mut entry = Vec::new();
        file.read_to_end(&mut entry).ok()?;
        Some(entry)
    }

    /// Keeps a compiled component. A cache that cannot be written is a slower start, not an error.
    pub(super) fn store(&self, engine: &Engine, bytes: &[u8], component: &Component) {
        let kept = component
            .serialize()
            .map_err(|error| error.to_string())
            .and_then(|code| {
                self.write(&entry_name(engine, bytes), &code)
                    .map_err(|error| error.to_string())
            });
        if let Err(error) = kept {
            tracing::warn!(error, "a compiled component could not be kept in the cache");
        }
    }

    /// Writes an entry whole or not at all: other processes read the same folder.
    fn write(&self, name: &str, code: &[u8]) -> std::io::Result<()> {
        let temporary = format!("{name}.{}.new", std::process::id());
        let write = || {
            // One that is left of a process with this number may have another mode.
            let _ = self.folder.remove_file(&temporary);
            let mut options = OpenOptions::new();
            // Whatever the umask: who may write an entry decides what runs.
            options.write(true).create(true).truncate(true).mode(0o600);
            let mut file = self.folder.open_with(&temporary, &options)?;
            file.write_all(MAGIC)?;
            file.write_all(digest(name, code).as_bytes())?;
            file.write_all(code)?;
            self.folder.rename(&temporary, &self.folder, name)
        };
        write().inspect_err(|_| {
            // Nothing more can be done about a temporary that cannot be removed.
            let _ = self.folder.remove_file(&temporary);
        })
    }
}

/// Whether only this user can write what has this owner and mode.
fn is_private(owner: u32, mode: u32) -> bool {
    owner == rustix::process::geteuid().as_raw() && mode & 0o022 == 0
}

/// Makes a folder and its parents; the last one is the owner's alone from its first moment on.
fn create_private_ambient(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent)?;
    }
    match std::fs::DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

/// A name for what is compiled and everything that compiling it depends on.
fn entry_name(engine: &Engine, bytes: &[u8]) -> String {
    struct Digest(blake3::Hasher);
    impl Hasher for Digest {
        fn write(&mut self, bytes: &[u8]) {
            self.0.update(bytes);
        }
        fn finish(&self) -> u64 {
            // Only the whole digest is used.
            0
        }
    }
    let mut digest = Digest(blake3::Hasher::new());
    engine.precompile_compatibility_hash().hash(&mut digest);
    digest.0.update(blake3::hash(bytes).as_bytes());
    digest.0.finalize().to_hex().to_string()
}

/// A digest over an entry's name, whose length is always the same, and its code.
fn digest(name: &str, code: &[u8]) -> blake3::Hash {
    blake3::Hasher::new()
        .update(name.as_bytes())
        .update(code)
        .finalize()
}

/// The code in the entry of this name, when it is that entry, and whole.
fn verified<'a>(name: &str, entry: &'a [u8]) -> Option<&'a [u8]> {
    let rest = entry.strip_prefix(MAGIC)?;
    let (found, code) = rest.split_at_checked(DIGEST_BYTES)?;
    (digest(name, code).as_bytes() == found).then_some(code)
}

#[expect(
    unsafe_code,
    reason = "loading compiled code is unsafe by its nature: wasmtime trusts the bytes"
)]
fn deserialize(engine: &Engine, code: &[u8]) -> Option<Component> {
    // SAFETY: the bytes are what `Component::serialize` gave: they carry the digest that `write`
    // computed over them, and lie in a folder that only this user can write, which
    // `open_ambient` checked on the handle that they were read through.
    match unsafe { Component::deserialize(engine, code) } {
        Ok(component) => Some(component),
        Err(error) => {
            tracing::warn!(error = %error, "an entry of the compilation cache does not fit this engine");
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use cap_std::fs::{Permissions, PermissionsExt as _};

    use super::*;

    #[test]
    fn an_entry_is_its_owners_alone() {
        let folder = tempfile::tempdir().unwrap();
        let cache = CompilationCache::open_ambient(folder.path()).unwrap();
        cache.write("entry", b"code").unwrap();
        assert_eq!(
            cache.folder.metadata("entry").unwrap().mode() & 0o777,
            0o600
        );
        assert!(cache.read("entry").is_some());
        let shared = Permissions::from_mode(0o620);
        cache.folder.set_permissions("entry", shared).unwrap();
        assert_eq!(cache.read("entry"), None);
    }
}
