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
    CacheError, CallError, Host, HostError, HostOptions, Sandbox, WasiMode,
    backends::VirtualOptions,
};
use belljar_test_guests::{coding, component};
use tempfile::TempDir;
use twox_hash::XxHash3_128;

/// How an entry's tools begin, before the checksum of its name, code and tools.
const MAGIC: &[u8] = b"belljar3";
const CHECKSUM_BYTES: usize = 16;

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

    /// Its only entry: the compiled code, and the tools.
    fn entry(&self) -> Entry {
        let mut files = self.entries();
        files.sort();
        match <[PathBuf; 2]>::try_from(files) {
            Ok([code, tools]) if code.with_extension("tools") == tools => Entry { code, tools },
            others => panic!("not one entry: {others:?}"),
        }
    }

    fn set_mode(&self, mode: u32) {
        fs::set_permissions(&self.folder, fs::Permissions::from_mode(mode)).expect("its mode");
    }
}

/// The files of an entry.
#[derive(Debug, PartialEq)]
struct Entry {
    code: PathBuf,
    tools: PathBuf,
}

impl Entry {
    fn read(&self) -> (Vec<u8>, Vec<u8>) {
        let read = |path: &Path| fs::read(path).expect("a file of the entry");
        (read(&self.code), read(&self.tools))
    }

    fn write(&self, (code, tools): &(Vec<u8>, Vec<u8>)) {
        fs::write(&self.code, code).expect("the code is damaged");
        fs::write(&self.tools, tools).expect("the tools are damaged");
    }

    /// A new file has another: a part is written beside the old one.
    fn inodes(&self) -> [u64; 2] {
        [&self.code, &self.tools].map(|path| path.metadata().expect("the entry").ino())
    }

    /// The file of tools that would belong to this code in this entry.
    fn tools_for(&self, code: &[u8], tools: &[u8]) -> Vec<u8> {
        let name = self.code.file_stem().expect("a name");
        let all = [name.as_encoded_bytes(), code, tools].concat();
        let checksum = XxHash3_128::oneshot(&all).to_le_bytes();
        [MAGIC, &checksum, tools].concat()
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
    let first = cache.entry().inodes();
    serves(&cache);
    assert_eq!(cache.entry().inodes(), first, "it was compiled again");
}

#[test]
fn the_tools_are_what_the_component_described() {
    let cache = Cache::new();
    let tools = || {
        let host = host(&cache.folder).expect("the host starts");
        let loaded = host.load(&coding(), WasiMode::Deny).expect("it loads");
        loaded.descriptions().cloned().collect::<Vec<_>>()
    };
    let described = tools();
    assert!(described.iter().any(|tool| tool.output_schema.is_some()));
    assert_eq!(tools(), described);
}

#[test]
fn arguments_are_held_to_the_schema_of_a_cached_tool() {
    let cache = Cache::new();
    serves(&cache);
    let host = host(&cache.folder).expect("the host starts");
    let echo = host.load(&component("echo"), WasiMode::Deny);
    let workspace = VirtualOptions::default().open_ambient();
    let sandbox = Sandbox::new(workspace.expect("a temporary workspace"));
    let refused = echo
        .expect("it loads")
        .call_blocking(&sandbox, "run", r#"{"text": 1}"#);
    assert!(
        matches!(refused, Err(CallError::InvalidArguments { .. })),
        "{refused:?}"
    );
}

#[test]
fn an_entry_that_cannot_be_used_is_replaced() {
    let cache = Cache::new();
    serves(&cache);
    let entry = cache.entry();
    let (code, tools) = entry.read();
    let described = &tools[MAGIC.len() + CHECKSUM_BYTES..];
    assert_eq!(
        tools,
        entry.tools_for(&code, described),
        "an entry has another form"
    );

    let turned = |bytes: &[u8]| {
        let mut bytes = bytes.to_vec();
        *bytes.last_mut().expect("a byte") ^= 1;
        bytes
    };
    let half = |bytes: &[u8]| bytes[..bytes.len() / 2].to_vec();
    let with = |code: &[u8], described: &[u8]| (code.to_vec(), entry.tools_for(code, described));
    let other = Cache::new();
    let loaded = host(&other.folder)
        .expect("the host starts")
        .load(&component("panic_on_a"), WasiMode::Deny);
    loaded.expect("it loads");
    let another = code_of_another_engine(&component("echo"));
    let useless = [
        ("of another component", other.entry().read()),
        ("code of another", (other.entry().read().0, tools.clone())),
        ("tools of another", (code.clone(), other.entry().read().1)),
        ("empty", (Vec::new(), Vec::new())),
        ("cut in the checksum", (code.clone(), tools[..20].to_vec())),
        ("code cut in half", (half(&code), tools.clone())),
        ("tools cut in half", (code.clone(), half(&tools))),
        ("one bit of the code turned", (turned(&code), tools.clone())),
        (
            "one bit of the tools turned",
            (code.clone(), turned(&tools)),
        ),
        ("whole, and no code", with(b"no code", described)),
        ("whole, and no tools", with(&code, b"no tools")),
        ("of another engine", with(&another, described)),
    ];
    for (what, bytes) in useless {
        entry.write(&bytes);
        let damaged = entry.inodes();
        serves(&cache);
        assert_ne!(cache.entry().inodes(), damaged, "{what}: it was used");
        assert_eq!(
            entry.read().0.len(),
            code.len(),
            "{what}: it was not mended"
        );
        let mended = entry.inodes();
        serves(&cache);
        assert_eq!(entry.inodes(), mended, "{what}: it is not used");
    }
}

#[test]
fn code_without_tools_is_compiled_again() {
    let cache = Cache::new();
    serves(&cache);
    let entry = cache.entry();
    for part in [&entry.tools, &entry.code] {
        fs::remove_file(part).expect("a part is removed");
        serves(&cache);
        let mended = entry.inodes();
        serves(&cache);
        assert_eq!(entry.inodes(), mended, "it was not mended");
    }
}

#[test]
fn what_cannot_be_written_is_compiled_each_time() {
    let cache = Cache::new();
    serves(&cache);
    // A directory where the entry should be is neither read nor replaced, by root either.
    let entry = cache.entry();
    for part in [&entry.code, &entry.tools] {
        fs::remove_file(part).expect("the entry is removed");
        fs::create_dir(part).expect("a directory");
    }
    for _ in 0..2 {
        serves(&cache);
        assert!(entry.code.is_dir() && entry.tools.is_dir());
        assert_eq!(cache.entries().len(), 2, "something was left");
    }
}

#[test]
fn a_read_only_cache_serves_what_it_has() {
    let cache = Cache::new();
    serves(&cache);
    let entry = cache.entry();
    cache.set_mode(0o500);
    let first = entry.inodes();
    serves(&cache);
    assert_eq!(entry.inodes(), first, "it was compiled again");
    // What it does not have is compiled.
    let host = host(&cache.folder).expect("the host starts");
    let other = host.load(&component("panic_on_a"), WasiMode::Deny);
    other.expect("it loads");
    if fs::write(cache.folder.join("probe"), "").is_ok() {
        println!("skipped: permissions do not bind this user, so that nothing is kept is not seen");
    } else {
        assert_eq!(cache.entry(), entry);
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
