//! A file system that is full, and one that is read-only: what fails there leaves everything as it was.
//!
//! The cases run in a process of their own, whose mounts nobody else sees and which go away with it.

use std::{path::Path, process::Command};

use belljar_contract::{
    ErrorKind, Request,
    files::{ReplaceOptions, WriteOptions},
};
use rustix::process::geteuid;

use super::{
    confinement_tests::{Place, path, read_host, snapshot},
    requests_in_tests::{append, append_of, copy, glob, list, remove, rename, replace, write},
};

/// Tells the other process that it is one.
const ALONE: &str = "BELLJAR_TEST_ALONE";
/// What it prints before its first case, and after its last.
const MOUNTED: &str = "there is a small file system";
const DONE: &str = "every case of a full file system is done";

#[test]
fn what_finds_no_room_leaves_everything_as_it_was() {
    let mut command = Command::new("unshare");
    if !geteuid().is_root() {
        command.args(["--user", "--map-root-user"]);
    }
    let output = command
        .args(["--mount", "--propagation", "private", "--"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "files::full_tests::with_mounts_of_its_own"])
        .args(["--ignored", "--nocapture"])
        .env(ALONE, "1")
        .output();
    let output = match output {
        Ok(output) => output,
        Err(error) => {
            println!("skipped: there is no `unshare`: {error}");
            return;
        }
    };
    let printed = String::from_utf8_lossy(&output.stdout);
    let complaints = String::from_utf8_lossy(&output.stderr);
    if !printed.contains(MOUNTED) {
        println!("skipped: no file system can be mounted here: {printed}{complaints}");
        return;
    }
    assert!(
        output.status.success() && printed.contains(DONE),
        "{printed}{complaints}"
    );
}

#[test]
#[ignore = "run by the test above, where nobody else sees its mounts"]
fn with_mounts_of_its_own() {
    #[expect(clippy::disallowed_methods, reason = "a test of a test's own process")]
    let is_alone = std::env::var_os(ALONE).is_some();
    if !is_alone {
        println!("skipped: a mount here would be everyone's");
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    if !mount(directory.path(), "size=1m,nr_inodes=40") {
        return;
    }
    println!("{MOUNTED}");
    for slow in [false, true] {
        let mut place = Place::below(directory.path());
        if slow {
            place = place.without_openat2();
        }
        no_blocks(&place);
        no_entries(&place);
        assert!(mount(directory.path(), "remount,ro"));
        read_only(&place);
        assert!(mount(directory.path(), "remount,rw"));
    }
    println!("{DONE}");
}

fn mount(directory: &Path, options: &str) -> bool {
    let mounted = Command::new("mount")
        .args(["-t", "tmpfs", "-o", options, "tmpfs"])
        .arg(directory)
        .status();
    match mounted {
        Ok(status) => status.success(),
        Err(error) => {
            println!("there is no `mount`: {error}");
            false
        }
    }
}

fn with_parents(text: &str, bytes: &[u8]) -> Request {
    Request::Write {
        path: path(text),
        bytes: bytes.to_vec(),
        options: WriteOptions {
            make_parents: true,
            ..WriteOptions::default()
        },
    }
}

fn done(place: &Place, requests: Vec<Request>) {
    for request in requests {
        let asked = of(&request);
        assert_eq!(place.call(request).map(|_| ()), Ok(()), "{asked}");
    }
}

/// Sees that each fails so, and that files, names and room are then what they were.
fn refused(place: &Place, right: ErrorKind, requests: Vec<Request>) {
    let free = || {
        let free = rustix::fs::statvfs(place.host(".")).unwrap();
        (free.f_bfree, free.f_ffree)
    };
    for request in requests {
        let before = (snapshot(&place.host(".")), free());
        let asked = of(&request);
        let kind = place.call(request).map_err(|error| error.kind);
        assert_eq!(kind, Err(right), "{asked}");
        assert!((snapshot(&place.host(".")), free()) == before, "{asked}");
    }
}

/// A request without its content, which is long here.
fn of(request: &Request) -> String {
    let text = format!("{request:?}");
    text.chars().take(100).collect()
}

fn no_blocks(place: &Place) {
    let large = vec![b'x'; 900 << 10];
    done(
        place,
        vec![
            write(path("old"), &[b'o'; 100 << 10]),
            write(path("big"), &vec![b'b'; 600 << 10]),
        ],
    );
    refused(
        place,
        ErrorKind::NoSpace,
        vec![
            write(path("old"), &large),
            write(path("new"), &large),
            with_parents("made/by/write", &large),
            append_of(path("old"), &large),
            append_of(path("new"), &large),
            Request::Replace {
                path: path("old"),
                old: b"o".to_vec(),
                new: b"seven o".to_vec(),
                options: ReplaceOptions {
                    all: true,
                    ..ReplaceOptions::default()
                },
            },
            copy(path("big"), path("old")),
            copy(path("big"), path("new")),
        ],
    );
    // What there is room for is still done.
    done(
        place,
        vec![
            write(path("old"), b"inside"),
            append(path("old")),
            remove(path("big")),
            write(path("new"), &large),
            remove(path("new")),
        ],
    );
    assert_eq!(read_host(&place.host("old")), b"inside!");
}

fn no_entries(place: &Place) {
    done(place, vec![write(path("old"), b"inside")]);
    let mut filled = 0;
    let full = loop {
        let fill = format!("fill-{filled}");
        match place.call(write(path(&fill), b"")) {
            Ok(_) if filled < 100 => filled += 1,
            Ok(_) => panic!("there is always room"),
            Err(error) => break error,
        }
    };
    assert_eq!(full.kind, ErrorKind::NoSpace);
    refused(
        place,
        ErrorKind::NoSpace,
        vec![
            write(path("old"), b"other"),
            append(path("new")),
            replace(path("old")),
            copy(path("old"), path("new")),
            copy(path("old"), path("dir/secret")),
            with_parents("made/new", b""),
            Request::MakeDirectory { path: path("made") },
        ],
    );
    done(
        place,
        vec![
            append(path("old")),
            rename(path("old"), path("moved")),
            remove(path("fill-0")),
        ],
    );
    assert_eq!(read_host(&place.host("moved")), b"inside!");
    // Room for the parent, and none for the file.
    refused(
        place,
        ErrorKind::NoSpace,
        vec![
            with_parents("made/new", b""),
            Request::MakeDirectory {
                path: path("made/too"),
            },
        ],
    );
    done(
        place,
        (1..filled)
            .map(|n| remove(path(&format!("fill-{n}"))))
            .collect(),
    );
}

fn read_only(place: &Place) {
    assert!(!place.workspace.is_writable());
    refused(
        place,
        ErrorKind::ReadOnly,
        vec![
            write(path("dir/secret"), b"other"),
            write(path("new"), b""),
            with_parents("made/new", b""),
            append(path("dir/secret")),
            append(path("new")),
            replace(path("dir/secret")),
            copy(path("dir/secret"), path("moved")),
            copy(path("dir/secret"), path("new")),
            Request::MakeDirectory { path: path("made") },
            Request::MakeDirectory {
                path: path("made/too"),
            },
            remove(path("moved")),
            remove(path("dir")),
            rename(path("moved"), path("new")),
            rename(path("moved"), path("dir/secret")),
        ],
    );
    done(
        place,
        vec![
            list(path(".")),
            glob("**", path(".")),
            Request::MakeDirectory { path: path("dir") },
        ],
    );
    assert_eq!(place.read("dir/secret").unwrap(), b"inside");
}
