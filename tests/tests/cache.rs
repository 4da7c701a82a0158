//! The cache of compiled components: what is wrong with it costs a compilation, and nothing else.

#![cfg(unix)]
#![expect(
    clippy::disallowed_methods,
    reason = "a test looks at the cache's files, which are in no workspace"
)]

use std::{
    fs,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
};

use belljar::{
    CacheError, Host, HostError, HostOptions, Sandbox, WasiMode, backends::VirtualOptions,
};
use belljar_test_guests::component;
use tempfile::TempDir;

/// How an entry begins, before the digest of its name and code.
const MAGIC: &[u8] = b"belljar2";
const DIGEST_BYTES: usize = 32;

/// A cache's folder, which is not there yet.
struct Cache {
    folder: PathBuf,
    _around: TempDir,
}

impl Cache {
    fn new() -> Self {
        let around = tempfile::tempdir().expect("a temporary folder");
        Self {
            folder: around.path().join("compiled"),
            _around: around,
        }
    }

    fn entries(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(&self.folder).expect("the cache");
        entries
            .map(|entry| entry.expect("an entry").path())
            .collect()
    }

    /// Its only entry.
    fn entry(&self) -> PathBuf {
        match &*self.entries() {
            [entry] => entry.clone(),
            others => panic!("not one entry: {others:?}"),
        }
    }

    fn set_mode(&self, mode: u32) {
        fs::set_permissions(&self.folder, fs::Permissions::from_mode(mode)).expect("its mode");
    }
}

fn host(cache: &Path) -> Result<Host, HostError> {
    Host::new(HostOptions {
        cache: Some(cache.to_owned()),
        concurrent_calls: 2,
        ..HostOptions::default()
    })
}

/// A new host loads `echo` through the cache, and the tool does what it does.
#[track_caller]
fn serves(cache: &Cache) {
    let host = host(&cache.folder).expect("the host starts");
    let echo = host.load(&component("echo"), WasiMode::Deny);
    let workspace = VirtualOptions::default().open_ambient();
    let sandbox = Sandbox::new(workspace.expect("a temporary workspace"));
    let answer = echo
        .expect("it loads")
        .call_blocking(&sandbox, "run", r#"{"text": "hello"}"#);
    assert_eq!(answer.expect("it answers").text(), "hello");
}

/// A new file has another: an entry is written beside the old one.
fn inode(path: &Path) -> u64 {
    path.metadata().expect("the entry").ino()
}

/// The entry at this path, with this code.
fn entry_of(path: &Path, code: &[u8]) -> Vec<u8> {
    let name = path.file_name().expect("a name");
    let mut digest = blake3::Hasher::new();
    digest.update(name.as_encoded_bytes()).update(code);
    [MAGIC, digest.finalize().as_bytes(), code].concat()
}

/// The component's code as an engine with other settings compiles it.
fn code_of_another_engine(bytes: &[u8]) -> Vec<u8> {
    let mut config = wasmtime::Config::new();
    config.consume_fuel(true);
    let engine = wasmtime::Engine::new(&config).expect("an engine");
    let compiled = wasmtime::component::Component::from_binary(&engine, bytes);
    compiled
        .expect("it compiles")
        .serialize()
        .expect("its code")
}

#[test]
fn a_component_is_compiled_once() {
    let cache = Cache::new();
    serves(&cache);
    let mode = cache.folder.metadata().expect("the cache").mode();
    assert_eq!(mode & 0o777, 0o700);
    let first = inode(&cache.entry());
    serves(&cache);
    assert_eq!(inode(&cache.entry()), first, "it was compiled again");
}

#[test]
fn an_entry_that_cannot_be_used_is_replaced() {
    let cache = Cache::new();
    serves(&cache);
    let entry = cache.entry();
    let whole = fs::read(&entry).expect("the entry");
    let code = &whole[MAGIC.len() + DIGEST_BYTES..];
    assert_eq!(whole, entry_of(&entry, code), "an entry has another form");

    let mut turned = whole.clone();
    *turned.last_mut().expect("a byte") ^= 1;
    let other = Cache::new();
    let loaded = host(&other.folder)
        .expect("the host starts")
        .load(&component("panic_on_a"), WasiMode::Deny);
    loaded.expect("it loads");
    let useless: [(&str, Vec<u8>); 8] = [
        (
            "of another component",
            fs::read(other.entry()).expect("its entry"),
        ),
        ("empty", Vec::new()),
        ("cut in the digest", whole[..20].to_vec()),
        ("cut in half", whole[..whole.len() / 2].to_vec()),
        ("one bit turned", turned),
        ("without its frame", code.to_vec()),
        ("whole, and no code", entry_of(&entry, b"no code")),
        (
            "of another engine",
            entry_of(&entry, &code_of_another_engine(&component("echo"))),
        ),
    ];
    for (what, bytes) in useless {
        fs::write(&entry, bytes).expect("the entry is damaged");
        let damaged = inode(&entry);
        serves(&cache);
        assert_ne!(inode(&cache.entry()), damaged, "{what}: it was used");
        let replaced = fs::read(&entry).expect("the entry");
        assert_eq!(replaced.len(), whole.len(), "{what}: it was not mended");
        let mended = inode(&entry);
        serves(&cache);
        assert_eq!(inode(&cache.entry()), mended, "{what}: it is not used");
    }
}

#[test]
fn what_cannot_be_written_is_compiled_each_time() {
    let cache = Cache::new();
    serves(&cache);
    // A directory where the entry should be is neither read nor replaced, by root either.
    let entry = cache.entry();
    fs::remove_file(&entry).expect("the entry is removed");
    fs::create_dir(&entry).expect("a directory");
    for _ in 0..2 {
        serves(&cache);
        assert!(entry.is_dir());
        assert_eq!(
            cache.entries(),
            std::slice::from_ref(&entry),
            "something was left"
        );
    }
}

#[test]
fn a_read_only_cache_serves_what_it_has() {
    let cache = Cache::new();
    serves(&cache);
    let entry = cache.entry();
    cache.set_mode(0o500);
    let first = inode(&entry);
    serves(&cache);
    assert_eq!(inode(&entry), first, "it was compiled again");
    // What it does not have is compiled.
    let host = host(&cache.folder).expect("the host starts");
    let other = host.load(&component("panic_on_a"), WasiMode::Deny);
    other.expect("it loads");
    if fs::write(cache.folder.join("probe"), "").is_ok() {
        println!("skipped: permissions do not bind this user, so that nothing is kept is not seen");
    } else {
        assert_eq!(cache.entries(), [entry]);
    }
    cache.set_mode(0o700);
}

#[test]
fn a_cache_that_others_can_write_is_refused() {
    for mode in [0o720, 0o702, 0o777] {
        let cache = Cache::new();
        fs::create_dir(&cache.folder).expect("the cache");
        cache.set_mode(mode);
        let refused = host(&cache.folder);
        assert!(
            matches!(
                refused,
                Err(HostError::Cache(CacheError::NotPrivate { .. }))
            ),
            "{mode:o}: {refused:?}"
        );
    }
}

#[test]
fn a_file_is_no_cache() {
    let cache = Cache::new();
    fs::write(&cache.folder, "").expect("a file");
    let refused = host(&cache.folder);
    assert!(
        matches!(refused, Err(HostError::Cache(CacheError::Open { .. }))),
        "{refused:?}"
    );
}
