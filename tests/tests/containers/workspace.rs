//! The workspace is the host's directory, or scratch.

use std::{os::unix::fs::MetadataExt as _, path::Path};

use belljar::{ErrorKind, WriteOptions, backends::ContainerOptions};

use super::*;

/// A folder whose name an engine's options could take apart.
fn awkward() -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("a,b: c \"d\" 'e' =f,readonly");
    std::fs::create_dir(&path).expect("it is made");
    (folder, path)
}

fn bound(options: ContainerOptions, path: &Path) -> ContainerOptions {
    ContainerOptions {
        workspace: Some(path.to_owned()),
        ..options
    }
}

#[test]
fn tools_processes_and_the_host_see_one_workspace() {
    for options in on_each() {
        let (_folder, path) = awkward();
        std::fs::write(path.join("host"), "from the host").expect("it is written");
        let sandbox = open(bound(options, &path));
        assert!(sandbox.describe().durable);
        let read = wait(sandbox.read("host")).expect("it is there");
        assert_eq!(read.bytes, b"from the host");
        wait(sandbox.write("tool", "by a tool", WriteOptions::default())).expect("it writes");
        assert_eq!(
            printed(&sandbox, "cat tool; mkdir built; echo x >built/x"),
            "by a tool"
        );
        close(&sandbox);
        for name in ["tool", "built", "built/x"] {
            let found = std::fs::metadata(path.join(name)).expect("it is kept");
            let caller = std::fs::metadata(&path).expect("it is there");
            assert_eq!(
                (found.uid(), found.gid()),
                (caller.uid(), caller.gid()),
                "{name}"
            );
        }
    }
}

#[test]
fn one_that_may_not_be_changed_is_bound_read_only() {
    for options in on_each() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::write(folder.path().join("a"), "old").expect("it is written");
        let options = bound(options, folder.path());
        let sandbox = open(ContainerOptions {
            writable: false,
            ..options
        });
        let refused = wait(sandbox.write("a", "new", WriteOptions::default()));
        let kind = refused.expect_err("it is refused").kind;
        assert_eq!(kind, ErrorKind::ReadOnly);
        let by_process = sh(&sandbox, "echo new >a; echo new >b; chmod 777 a");
        assert!(!by_process.outcome.success());
        close(&sandbox);
        let names = std::fs::read_dir(folder.path())
            .expect("it is there")
            .count();
        assert_eq!(names, 1);
        let text = std::fs::read(folder.path().join("a")).expect("it is there");
        assert_eq!(text, b"old");
    }
}

#[test]
fn scratch_ends_with_its_container() {
    let Some(options) = on_docker() else { return };
    let sandbox = open(options.clone());
    assert!(!sandbox.describe().durable);
    wait(sandbox.write("a", "b", WriteOptions::default())).expect("it writes");
    assert_eq!(printed(&sandbox, "cat a"), "b");
    close(&sandbox);
    let next = open(options);
    let kind = wait(next.read("a")).expect_err("it is new").kind;
    assert_eq!(kind, ErrorKind::NotFound);
    close(&next);
}

#[test]
fn a_full_scratch_is_no_space_and_the_old_file_stays() {
    for options in on_each() {
        let sandbox = open(ContainerOptions {
            scratch_bytes: 1 << 20,
            ..options
        });
        wait(sandbox.write("a", "old", WriteOptions::default())).expect("it fits");
        let large = vec![b'x'; 2 << 20];
        let error = wait(sandbox.write("a", large.clone(), WriteOptions::default()));
        assert_eq!(error.expect_err("it does not fit").kind, ErrorKind::NoSpace);
        let error = wait(sandbox.write("b", large, WriteOptions::default()));
        assert_eq!(error.expect_err("it does not fit").kind, ErrorKind::NoSpace);
        assert_eq!(wait(sandbox.read("a")).expect("it is there").bytes, b"old");
        // Nothing of the failed ones is left to take the room.
        assert_eq!(printed(&sandbox, "ls -A"), "a");
        wait(sandbox.write("a", vec![b'y'; 512 << 10], WriteOptions::default())).expect("it fits");
        close(&sandbox);
    }
}
