//! What the system does not permit, asked by a user whom permissions bind.
//!
//! They do not bind root. Where the tests run as root, the one that has the cases runs once more in a process of
//! another user.

use std::{
    os::unix::{fs::PermissionsExt, process::CommandExt},
    path::{Path, PathBuf},
    process::Command,
};

use belljar_contract::{
    ErrorKind, GuestPath, Request, Response,
    files::{GlobResult, SearchResult},
};
use rustix::process::geteuid;

use super::{
    confinement_tests::{Place, path, read_host, write_host},
    requests_in_tests::{append, copy, glob, list, remove, rename, replace, search, write},
};

/// What the process of another user prints at its end: that its case has run.
const DONE: &str = "every case of permissions is done";
/// `nobody`, who owns nothing.
const OTHER: u32 = 65534;

#[test]
fn what_the_system_refuses_is_denied_or_counted() {
    if !geteuid().is_root() {
        return every_case(&[Place::new(), Place::new().without_openat2()]);
    }
    // A link that is no path: the other user may not be let to where the program lies.
    let program = if cfg!(target_os = "linux") {
        PathBuf::from("/proc/self/exe")
    } else {
        std::env::current_exe().unwrap()
    };
    let output = Command::new(program)
        .args(["--exact", "files::permission_tests::as_another_user"])
        .args(["--ignored", "--nocapture"])
        .current_dir("/")
        .uid(OTHER)
        .gid(OTHER)
        .output();
    let output = match output {
        Ok(output) => output,
        Err(error) => {
            println!("skipped: this root cannot become another user: {error}");
            return;
        }
    };
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && printed.contains(DONE),
        "{printed}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
#[ignore = "run by the test above, as a user whom permissions bind"]
fn as_another_user() {
    if geteuid().is_root() {
        println!("skipped: root may do everything");
        return;
    }
    every_case(&[Place::new(), Place::new().without_openat2()]);
    println!("{DONE}");
}

fn every_case(places: &[Place]) {
    for place in places {
        below_a_closed_directory(place);
        // Elsewhere a directory is read to be gone through.
        if cfg!(all(target_os = "linux", not(belljar_portable))) {
            a_directory_that_is_only_passed(place);
        }
        a_directory_that_is_only_listed(place);
        a_directory_that_is_not_written(place);
        walks_count_what_is_closed(place);
        a_closed_base_is_denied(place);
        // Everything can be looked at again.
        assert!(place.names().iter().all(|name| !name.ends_with(".tmp")));
    }
}

/// A mode that something has until this is dropped, so that it can be removed then.
struct Mode(PathBuf);

impl Mode {
    fn set(path: &Path, mode: u32) -> Self {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        Self(path.to_owned())
    }
}

impl Drop for Mode {
    fn drop(&mut self) {
        let _ = std::fs::set_permissions(&self.0, std::fs::Permissions::from_mode(0o700));
    }
}

fn directory(place: &Place, name: &str) -> PathBuf {
    let host = place.host(name);
    std::fs::create_dir_all(host.join("sub")).unwrap();
    write_host(&host.join("file"), b"inside");
    host
}

fn denied(place: &Place, requests: Vec<Request>) {
    for request in requests {
        let asked = format!("{request:?}");
        let kind = place.call(request).map_err(|error| error.kind);
        assert_eq!(kind, Err(ErrorKind::AccessDenied), "{asked}");
    }
}

fn done(place: &Place, requests: Vec<Request>) {
    for request in requests {
        let asked = format!("{request:?}");
        assert_eq!(place.call(request).map(|_| ()), Ok(()), "{asked}");
    }
}

fn make_directory(path: GuestPath) -> Request {
    Request::MakeDirectory { path }
}

fn read(path: GuestPath) -> Request {
    Request::Read { path }
}

fn stat(path: GuestPath) -> Request {
    Request::Stat { path }
}

fn below_a_closed_directory(place: &Place) {
    let host = directory(place, "closed");
    let mode = Mode::set(&host, 0o000);
    for name in [
        "closed/file",
        "closed/none",
        "closed/sub/none",
        "closed/sub",
    ] {
        let (at, path) = (path, || path(name));
        denied(
            place,
            vec![
                read(path()),
                Request::ReadRange {
                    path: path(),
                    offset: 0,
                    length: 0,
                },
                stat(path()),
                Request::Resolve { path: path() },
                list(path()),
                glob("*", path()),
                search("inside", path()),
                write(path(), b"new"),
                append(path()),
                replace(path()),
                copy(path(), at("copied")),
                copy(at("dir/secret"), path()),
                make_directory(path()),
                remove(path()),
                rename(path(), at("moved")),
                rename(at("dir/secret"), path()),
            ],
        );
    }
    denied(place, vec![list(path("closed")), remove(path("closed"))]);
    // What is known of it from outside is.
    done(
        place,
        vec![stat(path("closed")), make_directory(path("closed"))],
    );
    drop(mode);
    assert_eq!(read_host(&host.join("file")), b"inside");
    done(place, vec![remove(path("closed"))]);
}

fn a_directory_that_is_only_passed(place: &Place) {
    let host = directory(place, "passed");
    let _mode = Mode::set(&host, 0o300);
    denied(place, vec![list(path("passed")), glob("*", path("passed"))]);
    denied(place, vec![remove(path("passed"))]);
    done(
        place,
        vec![
            read(path("passed/file")),
            list(path("passed/sub")),
            write(path("passed/new"), b"new"),
            glob("passed/file", path(".")),
        ],
    );
}

fn a_directory_that_is_only_listed(place: &Place) {
    let host = directory(place, "listed");
    let _mode = Mode::set(&host, 0o400);
    denied(
        place,
        vec![
            read(path("listed/file")),
            stat(path("listed/none")),
            write(path("listed/file"), b"new"),
            // What is in it is not to be had, and names alone are no listing.
            list(path("listed")),
            glob("listed/*", path(".")),
        ],
    );
    // A walk that comes by takes the names.
    let globbed = place.call(glob("{listed}/*", path(".")));
    let Ok(Response::Glob(GlobResult { total, .. })) = globbed else {
        panic!("{globbed:?}");
    };
    assert_eq!(total, 2);
}

fn a_directory_that_is_not_written(place: &Place) {
    let host = directory(place, "fixed");
    let _mode = Mode::set(&host, 0o500);
    denied(
        place,
        vec![
            write(path("fixed/file"), b"new"),
            write(path("fixed/new"), b"new"),
            replace(path("fixed/file")),
            append(path("fixed/new")),
            copy(path("dir/secret"), path("fixed/file")),
            copy(path("dir/secret"), path("fixed/new")),
            make_directory(path("fixed/new")),
            make_directory(path("fixed/new/er")),
            remove(path("fixed/file")),
            remove(path("fixed/sub")),
            remove(path("fixed")),
            rename(path("fixed/file"), path("moved")),
            rename(path("dir/secret"), path("fixed/file")),
        ],
    );
    assert_eq!(read_host(&host.join("file")), b"inside");
    // The file's own permission is enough to add to it.
    done(place, vec![append(path("fixed/file"))]);
    assert_eq!(read_host(&host.join("file")), b"inside!");
}

fn walks_count_what_is_closed(place: &Place) {
    let host = directory(place, "walked");
    for name in ["closed", "open"] {
        std::fs::create_dir(host.join(name)).unwrap();
        write_host(&host.join(name).join("file"), b"inside");
        write_host(&host.join(name).join(".ignore"), b"file");
    }
    write_host(&host.join("unreadable"), b"inside");
    let _modes = [
        Mode::set(&host.join("closed"), 0o000),
        Mode::set(&host.join("open/.ignore"), 0o000),
        Mode::set(&host.join("unreadable"), 0o000),
    ];
    let globbed = place.call(glob("**", path("walked")));
    let Ok(Response::Glob(GlobResult { paths, skipped, .. })) = globbed else {
        panic!("{globbed:?}");
    };
    let paths: Vec<&str> = paths.iter().map(|found| found.path.text.as_str()).collect();
    assert_eq!(
        paths,
        [
            "walked/closed",
            "walked/file",
            "walked/open",
            "walked/open/file",
            "walked/sub",
            "walked/unreadable"
        ]
    );
    // A directory, and an ignore file.
    assert_eq!(skipped.unreadable, 2);
    let searched = place.call(search("inside", path("walked")));
    let Ok(Response::Search(SearchResult {
        matches, skipped, ..
    })) = searched
    else {
        panic!("{searched:?}");
    };
    let paths: Vec<&str> = matches
        .iter()
        .map(|found| found.path.text.as_str())
        .collect();
    assert_eq!(paths, ["walked/file", "walked/open/file"]);
    // And a file.
    assert_eq!(skipped.unreadable, 3);
}

fn a_closed_base_is_denied(place: &Place) {
    let host = directory(place, "base");
    let _modes = [
        Mode::set(&host.join("file"), 0o200),
        Mode::set(&host.join("sub"), 0o000),
    ];
    denied(
        place,
        vec![
            search("inside", path("base/file")),
            search("inside", path("base/sub")),
            glob("*", path("base/sub")),
            glob("base/sub/*", path(".")),
        ],
    );
}
