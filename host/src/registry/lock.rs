//! `belljar.lock`: which bytes a reference stands for.

use std::{
    collections::BTreeMap,
    io::{self, Write as _},
    path::Path,
};

use serde::{Deserialize, Serialize};

use super::{client::Pulled, digest::Digest, error::RegistryError, reference::Reference};

/// What the lock is called; it lies beside `belljar.toml`.
pub const LOCK_FILE_NAME: &str = "belljar.lock";

const VERSION: u32 = 1;

/// What is pinned, by reference.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lock(BTreeMap<String, Locked>);

/// What a reference stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Locked {
    /// The component's bytes.
    pub digest: Digest,
    /// Its manifest's, which the registry finds it by.
    pub manifest: Digest,
    /// The signature that came with it, so that it can be verified where there is no network.
    pub signature: Option<String>,
}

impl From<&Pulled> for Locked {
    fn from(pulled: &Pulled) -> Self {
        Self {
            digest: pulled.digest,
            manifest: pulled.manifest,
            signature: pulled.signature.clone(),
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    version: u32,
    #[serde(default, rename = "component", skip_serializing_if = "Vec::is_empty")]
    components: Vec<Entry>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    reference: String,
    digest: String,
    manifest: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    signature: Option<String>,
}

impl Lock {
    /// Reads a lock; an empty one where there is no file.
    ///
    /// # Ambient authority
    /// The path is the host's.
    ///
    /// # Errors
    /// [`RegistryError::BadLock`] and [`RegistryError::File`].
    #[expect(
        clippy::disallowed_methods,
        reason = "the lock is the operator's, and in no workspace"
    )]
    pub fn read_ambient(path: &Path) -> Result<Self, RegistryError> {
        match std::fs::read_to_string(path) {
            Ok(text) => Self::parse(&text).map_err(|message| RegistryError::BadLock {
                path: path.to_owned(),
                message,
            }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(source) => Err(RegistryError::File {
                path: path.to_owned(),
                source,
            }),
        }
    }

    fn parse(text: &str) -> Result<Self, String> {
        let file: File = toml::from_str(text).map_err(|error| error.message().to_owned())?;
        if file.version != VERSION {
            return Err(format!(
                "it is of version {}, and this program reads version {VERSION}",
                file.version
            ));
        }
        let mut lock = Self::default();
        for entry in file.components {
            let locked = Locked {
                digest: entry.digest.parse().map_err(told)?,
                manifest: entry.manifest.parse().map_err(told)?,
                signature: entry.signature,
            };
            if lock.0.insert(entry.reference.clone(), locked).is_some() {
                return Err(format!("{} stands in it twice", entry.reference));
            }
        }
        Ok(lock)
    }

    /// Writes the lock, whole or not at all.
    ///
    /// # Ambient authority
    /// The path is the host's.
    ///
    /// # Errors
    /// [`RegistryError::File`]; the old file is there then.
    pub fn write_ambient(&self, path: &Path) -> Result<(), RegistryError> {
        let entry = |(reference, locked): (&String, &Locked)| Entry {
            reference: reference.clone(),
            digest: locked.digest.to_string(),
            manifest: locked.manifest.to_string(),
            signature: locked.signature.clone(),
        };
        let file = File {
            version: VERSION,
            components: self.0.iter().map(entry).collect(),
        };
        let write = || {
            let text = toml::to_string(&file).map_err(io::Error::other)?;
            let folder = path.parent().filter(|folder| *folder != Path::new(""));
            let mut new = tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))?;
            // What others who share the folder may read, they may read of this too.
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o644);
            new.as_file().set_permissions(mode)?;
            new.write_all(b"# Written by `belljar pull`. Keep it with belljar.toml.\n")?;
            new.write_all(text.as_bytes())?;
            new.persist(path)?;
            Ok(())
        };
        write().map_err(|source: io::Error| RegistryError::File {
            path: path.to_owned(),
            source,
        })
    }

    /// What a reference stands for.
    #[must_use]
    pub fn get(&self, reference: &Reference) -> Option<&Locked> {
        self.0.get(&reference.to_string())
    }

    /// Pins a reference.
    pub fn pin(&mut self, reference: &Reference, locked: Locked) {
        self.0.insert(reference.to_string(), locked);
    }

    /// Leaves only what is still named.
    pub fn retain(&mut self, named: &[Reference]) {
        self.0
            .retain(|text, _| named.iter().any(|reference| reference.to_string() == *text));
    }
}

#[expect(clippy::needless_pass_by_value, reason = "what `map_err` takes")]
fn told(error: RegistryError) -> String {
    error.to_string()
}
