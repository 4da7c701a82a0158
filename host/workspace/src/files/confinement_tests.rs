//! Confinement that cannot be seen through the contract: races, and both ways of resolving.

use std::{
    collections::{BTreeMap, BTreeSet},
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, AtomicU32, Ordering},
};

use belljar_contract::{
    Context, Error, ErrorKind, Expected, GuestPath, Request, Response, Version,
    files::{ReplaceOptions, WriteOptions},
    session::Limits,
};
use tempfile::TempDir;

use super::{Workspace, version_of};

pub(super) fn path(text: &str) -> GuestPath {
    GuestPath::parse(text, "/workspace").unwrap()
}

pub(super) fn open(directory: &Path) -> Workspace {
    let limits = Limits {
        file_bytes: 1 << 20,
        ..Limits::default()
    };
    Workspace::open_ambient(directory, &limits).unwrap()
}

/// A directory with a workspace, and something outside it that must stay as it is.
pub(super) struct Place {
    directory: TempDir,
    pub(super) workspace: Workspace,
}

impl Place {
    pub(super) fn new() -> Self {
        Self::below(&std::env::temp_dir())
    }

    /// One on a file system of the test's choice.
    pub(super) fn below(parent: &Path) -> Self {
        let directory = tempfile::tempdir_in(parent).unwrap();
        std::fs::create_dir_all(directory.path().join("outside")).unwrap();
        std::fs::create_dir_all(directory.path().join("in/dir")).unwrap();
        write_host(&directory.path().join("outside/secret"), b"secret");
        write_host(&directory.path().join("in/dir/secret"), b"inside");
        let workspace = open(&directory.path().join("in"));
        Self {
            directory,
            workspace,
        }
    }

    pub(super) fn without_openat2(self) -> Self {
        let Workspace { root, file_bytes } = self.workspace;
        Self {
            directory: self.directory,
            workspace: Workspace {
                root: root.without_openat2(),
                file_bytes,
            },
        }
    }

    pub(super) fn host(&self, path: &str) -> std::path::PathBuf {
        self.directory.path().join("in").join(path)
    }

    pub(super) fn call(&self, request: Request) -> Result<Response, Error> {
        self.workspace.call(&Context::new(), request)
    }

    pub(super) fn read(&self, text: &str) -> Result<Vec<u8>, ErrorKind> {
        match self.call(Request::Read { path: path(text) }) {
            Ok(Response::Content(content)) => Ok(content.bytes),
            Ok(other) => panic!("{other:?}"),
            Err(error) => Err(error.kind),
        }
    }

    pub(super) fn write(
        &self,
        text: &str,
        bytes: &[u8],
        expected: Expected,
    ) -> Result<Version, ErrorKind> {
        let options = WriteOptions {
            expected,
            make_parents: text.contains("made"),
            executable: false,
        };
        let request = Request::Write {
            path: path(text),
            bytes: bytes.to_vec(),
            options,
        };
        match self.call(request) {
            Ok(Response::Version(version)) => Ok(version),
            Ok(other) => panic!("{other:?}"),
            Err(error) => Err(error.kind),
        }
    }

    /// Every name below the workspace.
    pub(super) fn names(&self) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        let mut pending = vec![self.host(".")];
        while let Some(directory) = pending.pop() {
            for entry in std::fs::read_dir(directory).unwrap() {
                let entry = entry.unwrap();
                if entry.file_type().unwrap().is_dir() {
                    pending.push(entry.path());
                }
                names.insert(
                    entry
                        .path()
                        .file_name()
                        .unwrap()
                        .to_string_lossy()
                        .into_owned(),
                );
            }
        }
        names
    }
}

#[expect(clippy::disallowed_methods, reason = "a test makes its own files")]
pub(super) fn write_host(path: &Path, bytes: &[u8]) {
    std::fs::write(path, bytes).unwrap();
}

#[expect(clippy::disallowed_methods, reason = "a test looks at its own files")]
pub(super) fn read_host(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap()
}

/// Every path below a directory of the host, and what it is.
pub(super) fn snapshot(directory: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let mut all = BTreeMap::new();
    let mut pending = vec![directory.to_owned()];
    while let Some(directory) = pending.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_symlink() {
                let text = std::fs::read_link(&path).unwrap();
                all.insert(path, Some(text.into_os_string().into_encoded_bytes()));
            } else if path.is_dir() {
                pending.push(path.clone());
                all.insert(path, None);
            } else {
                let content = read_host(&path);
                all.insert(path, Some(content));
            }
        }
    }
    all
}

#[test]
fn both_ways_of_resolving_say_the_same() {
    for place in [Place::new(), Place::new().without_openat2()] {
        let link = |text: &str, name: &str| symlink(text, place.host(name)).unwrap();
        link("dir", "to-dir");
        link("dir/secret", "to-file");
        link("../in/dir/secret", "out-and-in");
        link("/dir/secret", "absolute");
        link("../outside/secret", "out");
        link("../outside", "out-dir");
        link("nothing", "dangling");
        link("dir/secret/", "to-file-slash");
        link("dir/../dir/./secret", "crooked");
        link("loop-b", "loop-a");
        link("loop-a", "loop-b");
        link("dir/secret", "chain-0");
        for number in 1..=41 {
            link(&format!("chain-{}", number - 1), &format!("chain-{number}"));
        }
        for (text, right) in [
            ("dir/secret", Ok(())),
            ("to-dir/secret", Ok(())),
            ("to-file", Ok(())),
            ("crooked", Ok(())),
            ("chain-39", Ok(())),
            ("chain-40", Err(ErrorKind::AccessDenied)),
            ("out-and-in", Err(ErrorKind::AccessDenied)),
            ("absolute", Err(ErrorKind::AccessDenied)),
            ("out", Err(ErrorKind::AccessDenied)),
            ("out-dir/secret", Err(ErrorKind::AccessDenied)),
            ("loop-a", Err(ErrorKind::AccessDenied)),
            ("dangling", Err(ErrorKind::NotFound)),
            ("dangling/x", Err(ErrorKind::NotFound)),
            ("nothing/x", Err(ErrorKind::NotFound)),
            ("dir/secret/x", Err(ErrorKind::NotADirectory)),
            ("dir/secret/", Err(ErrorKind::NotADirectory)),
            ("to-file-slash", Err(ErrorKind::NotADirectory)),
            ("dir", Err(ErrorKind::IsADirectory)),
            ("to-dir/", Err(ErrorKind::IsADirectory)),
            (".", Err(ErrorKind::IsADirectory)),
        ] {
            assert_eq!(place.read(text).map(|_| ()), right, "read {text}");
            // A change goes the same way, and where it fails leaves nothing.
            let before = place.names();
            let replaced = place
                .call(Request::Replace {
                    path: path(text),
                    old: b"inside".to_vec(),
                    new: b"inside".to_vec(),
                    options: ReplaceOptions::default(),
                })
                .map(|_| ())
                .map_err(|error| error.kind);
            assert_eq!(replaced, right, "replace {text}");
            assert_eq!(place.names(), before);
        }
        assert_eq!(
            read_host(&place.directory.path().join("outside/secret")),
            b"secret"
        );
        assert!(place.host("to-file").is_symlink());
    }
}

/// Swaps `in/dir` between a directory and a link to the outside while `work` runs.
fn while_swapping(place: &Place, work: impl FnOnce()) -> u32 {
    let stop = AtomicBool::new(false);
    let swaps = AtomicU32::new(0);
    symlink(place.directory.path().join("outside"), place.host("link")).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                std::fs::rename(place.host("dir"), place.host("kept")).unwrap();
                std::fs::rename(place.host("link"), place.host("dir")).unwrap();
                std::fs::rename(place.host("dir"), place.host("link")).unwrap();
                std::fs::rename(place.host("kept"), place.host("dir")).unwrap();
                swaps.fetch_add(1, Ordering::Relaxed);
            }
        });
        work();
        stop.store(true, Ordering::Relaxed);
    });
    swaps.load(Ordering::Relaxed)
}

#[test]
fn a_directory_that_is_swapped_for_a_link_never_leads_out() {
    for place in [Place::new(), Place::new().without_openat2()] {
        let (mut inside, mut refused) = (0_u32, 0_u32);
        let swaps = while_swapping(&place, || {
            for round in 0..4000 {
                match place.read("dir/secret") {
                    Ok(bytes) => {
                        assert_ne!(bytes, b"secret");
                        inside += 1;
                    }
                    Err(ErrorKind::NotFound | ErrorKind::AccessDenied) => refused += 1,
                    // What the slow way says between two looks.
                    Err(ErrorKind::NotADirectory) => refused += 1,
                    Err(kind) => panic!("{kind}"),
                }
                let _ = place.write("dir/new", format!("{round}").as_bytes(), Expected::Any);
                let _ = place.write("dir/secret", b"inside", Expected::Any);
                let _ = place.call(Request::Remove {
                    path: path("dir/new"),
                    recursive: true,
                });
            }
        });
        assert!(
            swaps > 10 && inside > 0 && refused > 0,
            "{swaps} {inside} {refused}"
        );
        let outside: Vec<_> = std::fs::read_dir(place.directory.path().join("outside"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        assert_eq!(outside, ["secret"]);
        assert_eq!(
            read_host(&place.directory.path().join("outside/secret")),
            b"secret"
        );
        assert!(place.names().iter().all(|name| !name.ends_with(".tmp")));
    }
}

#[test]
fn recursive_removal_never_leaves_while_its_tree_is_swapped() {
    for _ in 0..50 {
        let place = Place::new();
        std::fs::create_dir_all(place.host("tree/dir/deep/er")).unwrap();
        for number in 0..20 {
            write_host(&place.host(&format!("tree/dir/deep/er/{number}")), b"");
        }
        let stop = AtomicBool::new(false);
        symlink(place.directory.path().join("outside"), place.host("link")).unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    let _ = std::fs::rename(
                        place.host("tree/dir/deep"),
                        place.directory.path().join("moved"),
                    );
                    let _ = std::fs::rename(place.host("link"), place.host("tree/dir/deep"));
                    let _ = std::fs::rename(place.host("tree/dir/deep"), place.host("link"));
                    let _ = std::fs::rename(
                        place.directory.path().join("moved"),
                        place.host("tree/dir/deep"),
                    );
                }
            });
            for _ in 0..20 {
                let _ = place.call(Request::Remove {
                    path: path("tree"),
                    recursive: true,
                });
            }
            stop.store(true, Ordering::Relaxed);
        });
        assert_eq!(
            read_host(&place.directory.path().join("outside/secret")),
            b"secret"
        );
    }
}

#[test]
fn a_tree_deeper_than_a_path_is_removed_with_few_handles() {
    let place = Place::new();
    let mut current =
        cap_std::fs::Dir::open_ambient_dir(place.host("."), cap_std::ambient_authority()).unwrap();
    let name = "d".repeat(100);
    for _ in 0..1500 {
        current.create_dir(&name).unwrap();
        current = current.open_dir(&name).unwrap();
    }
    drop(current);
    let request = Request::Remove {
        path: path(&name),
        recursive: true,
    };
    assert_eq!(place.call(request), Ok(Response::Done));
    assert!(!place.names().contains(&name));
}

#[test]
fn a_fifo_is_refused_at_once_and_its_writer_sleeps_on() {
    let place = Place::new();
    let directory = place
        .workspace
        .open_directory(belljar_contract::Operation::List, &GuestPath::root())
        .unwrap();
    // macOS has no mkfifoat.
    #[cfg(target_os = "linux")]
    rustix::fs::mknodat(
        &directory,
        "pipe",
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    assert_eq!(place.read("pipe"), Err(ErrorKind::NotAFile));
    assert_eq!(
        place.write("pipe", b"", Expected::Any),
        Err(ErrorKind::NotAFile)
    );
    assert_eq!(place.read("pipe/"), Err(ErrorKind::NotADirectory));
}

#[test]
fn a_large_file_has_a_version_without_being_read() {
    let place = Place::new();
    let file = std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(place.host("large"))
        .unwrap();
    file.set_len(1 << 40).unwrap();
    let version = |request| match place.call(request) {
        Ok(Response::Chunk(chunk)) => chunk,
        other => panic!("{other:?}"),
    };
    let range = |offset, length| Request::ReadRange {
        path: path("large"),
        offset,
        length,
    };
    let chunk = version(range((1 << 40) - 3, 10));
    assert_eq!(
        (chunk.bytes.as_slice(), chunk.size),
        (&[0, 0, 0][..], 1 << 40)
    );
    assert_eq!(version(range(0, 0)).version, chunk.version);
    assert_ne!(chunk.version, version_of(b""));
    assert_eq!(version(range(u64::MAX, 10)).bytes, b"");
    assert_eq!(place.read("large"), Err(ErrorKind::TooLarge));
}
