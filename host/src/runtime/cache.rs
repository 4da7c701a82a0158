//! Compiled components on disk.
//!
//! Loading compiled code runs it, so what is loaded must be what this cache wrote: the folder
//! belongs to its user alone, which is checked when it is opened, and each entry carries a checksum
//! of its name, code and tools, so that a cut, damaged or misplaced one is a miss and never a crash.
//! Who may write the folder may write the checksum too: it is there for faults, not for attackers.
//!
//! An entry is two files under one name, which is a digest of the component and of everything that
//! compiling depends on: the code as wasmtime gives it, which is mapped and not copied, and the tools
//! that the component described, so that a later load need not run it. The tools are written last and
//! hold the checksum: what is there of an entry without them, or with others, is not used.

use std::{
    hash::{Hash, Hasher},
    io::{Read as _, Seek as _, Write as _},
    path::Path,
};

use cap_std::{
    ambient_authority,
    fs::{Dir, File, MetadataExt as _, OpenOptions, OpenOptionsExt as _},
};
use twox_hash::xxhash3_128::Hasher as Checksum;
use wasmtime::{Engine, Module, component::Component};

use super::{audit::World, description::ToolDescription};

/// Begins every entry; the number changes with the entry's format.
const MAGIC: &[u8; 8] = b"belljar3";
/// What is read of the code at once: it stays in the processor's cache while it is added up.
const PIECE: usize = 128 << 10;

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
    pub(super) fn load(&self, engine: &Engine, name: &EntryName) -> Option<Cached> {
        let (code, tools) = self.verified(name)?;
        let component = fitting(deserialize(engine, code))?;
        Some(Cached { component, tools })
    }

    /// The module from the cache; none when it is not there, or not whole.
    pub(super) fn load_module(&self, engine: &Engine, name: &EntryName) -> Option<Module> {
        let (code, _) = self.verified(name)?;
        fitting(deserialize_module(engine, code))
    }

    /// An entry's code, and its tools, when it is there and whole.
    fn verified(&self, name: &EntryName) -> Option<(File, Vec<ToolDescription>)> {
        let mut tools = Vec::new();
        self.open(&name.tools())?.read_to_end(&mut tools).ok()?;
        let mut code = self.open(&name.code())?;
        let tools = verified(name, &mut code, &tools);
        if tools.is_none() {
            tracing::warn!(
                entry = name.0,
                "a damaged entry of the compilation cache is replaced"
            );
        }
        Some((code, tools?))
    }

    /// A file of an entry; none when it is not there, or others could have written it.
    fn open(&self, file_name: &str) -> Option<File> {
        let file = self.folder.open(file_name).ok()?;
        let metadata = file.metadata().ok()?;
        if is_private(metadata.uid(), metadata.mode()) {
            return Some(file);
        }
        tracing::warn!(
            file = file_name,
            "an entry of the compilation cache that others can write is replaced"
        );
        None
    }

    /// Keeps what was compiled. A cache that cannot be written is a slower start, not an error.
    pub(super) fn store<'a>(
        &self,
        name: &EntryName,
        code: &Code,
        tools: impl Iterator<Item = &'a ToolDescription>,
    ) {
        let tools: Vec<_> = tools.collect();
        let serialized = match code {
            Code::Component(component) => component.serialize(),
            Code::Module(module) => module.serialize(),
        };
        let kept = serialized
            .map_err(|error| error.to_string())
            .and_then(|code| {
                let tools = serde_json::to_vec(&tools).map_err(|error| error.to_string())?;
                self.write(name, &code, &tools)
                    .map_err(|error| error.to_string())
            });
        if let Err(error) = kept {
            tracing::warn!(error, "compiled code could not be kept in the cache");
        }
    }

    fn write(&self, name: &EntryName, code: &[u8], tools: &[u8]) -> std::io::Result<()> {
        let mut checksum = name.checksum();
        checksum.write(code);
        checksum.write(tools);
        self.write_file(&name.code(), &[code])?;
        let checksum = checksum.finish_128().to_le_bytes();
        self.write_file(&name.tools(), &[MAGIC, &checksum, tools])
    }

    /// Writes a file whole or not at all: other processes read the same folder.
    fn write_file(&self, file_name: &str, parts: &[&[u8]]) -> std::io::Result<()> {
        let temporary = format!("{file_name}.{}.new", std::process::id());
        let write = || {
            // One that is left of a process with this number may have another mode.
            let _ = self.folder.remove_file(&temporary);
            let mut options = OpenOptions::new();
            // Whatever the umask: who may write an entry decides what runs.
            options.write(true).create(true).truncate(true).mode(0o600);
            let mut file = self.folder.open_with(&temporary, &options)?;
            for part in parts {
                file.write_all(part)?;
            }
            self.folder.rename(&temporary, &self.folder, file_name)
        };
        write().inspect_err(|_| {
            // Nothing more can be done about a temporary that cannot be removed.
            let _ = self.folder.remove_file(&temporary);
        })
    }
}

/// What is compiled.
pub(super) enum Code {
    Component(Component),
    Module(Module),
}

/// What an entry holds.
pub(super) struct Cached {
    pub(super) component: Component,
    /// What the component described, as it was checked before it was kept.
    pub(super) tools: Vec<ToolDescription>,
}

/// A name for what is compiled and everything that compiling and describing it depend on.
pub(super) struct EntryName(String);

impl EntryName {
    pub(super) fn new(compatibility: &Compatibility, world: World, bytes: &[u8]) -> Self {
        let mut digest = compatibility.0.clone();
        // A component of two worlds describes itself in one of them.
        digest.update(world.as_str().as_bytes());
        digest.update(blake3::hash(bytes).as_bytes());
        Self(digest.finalize().to_hex().to_string())
    }

    /// A program's: the same bytes as a tool's are another entry, which has no tools.
    pub(super) fn of_program(compatibility: &Compatibility, bytes: &[u8]) -> Self {
        let mut digest = compatibility.0.clone();
        digest.update(b"program");
        digest.update(blake3::hash(bytes).as_bytes());
        Self(digest.finalize().to_hex().to_string())
    }

    fn code(&self) -> String {
        format!("{}.code", self.0)
    }

    fn tools(&self) -> String {
        format!("{}.tools", self.0)
    }

    /// The beginning of an entry's checksum, of the same length for every name.
    fn checksum(&self) -> Checksum {
        let mut checksum = Checksum::new();
        checksum.write(self.0.as_bytes());
        checksum
    }
}

/// What compiling and describing a component depend on besides the component.
pub(super) struct Compatibility(blake3::Hasher);

impl Compatibility {
    pub(super) fn of(engine: &Engine) -> Self {
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
        // What is taken of a description may change with this crate.
        digest.0.update(env!("CARGO_PKG_VERSION").as_bytes());
        Self(digest.0)
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

/// The tools in the entry of this name, when it is that entry, and whole.
fn verified(name: &EntryName, code: &mut File, tools: &[u8]) -> Option<Vec<ToolDescription>> {
    let (found, tools) = tools.strip_prefix(MAGIC)?.split_first_chunk()?;
    let mut checksum = name.checksum();
    let mut piece = vec![0; PIECE];
    loop {
        match code.read(&mut piece).ok()? {
            0 => break,
            count => checksum.write(&piece[..count]),
        }
    }
    checksum.write(tools);
    if checksum.finish_128() != u128::from_le_bytes(*found) {
        return None;
    }
    serde_json::from_slice(tools).ok()
}

/// What wasmtime itself checks (its version, the settings) makes another miss.
fn fitting<T>(code: wasmtime::Result<T>) -> Option<T> {
    code.inspect_err(|error| {
        tracing::warn!(error = %error, "an entry of the compilation cache does not fit this engine");
    })
    .ok()
}

#[expect(
    unsafe_code,
    reason = "loading compiled code is unsafe by its nature: wasmtime trusts the bytes"
)]
fn deserialize(engine: &Engine, mut file: File) -> wasmtime::Result<Component> {
    #[cfg(target_os = "linux")]
    {
        use std::os::fd::AsRawFd as _;
        // Mapped through the open file, so that it is the one that was added up.
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        // SAFETY: the file's bytes are what `Component::serialize` gave: they have the checksum that
        // `write` computed over them, in a folder that only this user can write, which was checked
        // on the handles that they are read through. `write_file` never changes a file: it puts
        // another in its place.
        if let Ok(component) = unsafe { Component::deserialize_file(engine, path) } {
            return Ok(component);
        }
    }
    // Without /proc, and elsewhere, the code is copied.
    let mut code = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut code)?;
    // SAFETY: as above.
    unsafe { Component::deserialize(engine, code) }
}

#[expect(
    unsafe_code,
    reason = "loading compiled code is unsafe by its nature: wasmtime trusts the bytes"
)]
fn deserialize_module(engine: &Engine, mut file: File) -> wasmtime::Result<Module> {
    #[cfg(target_os = "linux")]
    {
        use std::os::fd::AsRawFd as _;
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        // SAFETY: as in `deserialize`.
        if let Ok(module) = unsafe { Module::deserialize_file(engine, path) } {
            return Ok(module);
        }
    }
    let mut code = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut code)?;
    // SAFETY: as above.
    unsafe { Module::deserialize(engine, code) }
}

#[cfg(test)]
mod tests {
    use cap_std::fs::{Permissions, PermissionsExt as _};

    use super::*;

    #[test]
    fn an_entry_is_its_owners_alone() {
        let folder = tempfile::tempdir().unwrap();
        let cache = CompilationCache::open_ambient(folder.path()).unwrap();
        let name = EntryName("entry".into());
        cache.write(&name, b"code", b"[]").unwrap();
        for file in [name.code(), name.tools()] {
            let mode = cache.folder.metadata(&file).unwrap().mode();
            assert_eq!(mode & 0o777, 0o600);
            assert!(cache.open(&file).is_some());
            let shared = Permissions::from_mode(0o620);
            cache.folder.set_permissions(&file, shared).unwrap();
            assert!(cache.open(&file).is_none());
        }
    }
}
