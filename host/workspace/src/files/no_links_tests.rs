//! Paths without links: none is followed, on the way or at its end, whatever is asked.

use std::{os::unix::fs::symlink, time::Duration};

use belljar_contract::{
    Context, ErrorKind, Expected, GuestPath, Operation, Request, Response,
    files::{EntryKind, GlobResult, WriteOptions},
};

use super::{
    change::Change,
    confinement_tests::{Place, path, read_host, snapshot, write_host},
    fault::Fault,
    requests_in_tests::{append, bound, copy, glob, remove, rename, replace, search, write},
};

/// What looks at a file, or changes it, and would follow a link that has its name.
fn on_a_file(path: &GuestPath) -> Vec<Request> {
    let path = || path.clone();
    let with_parents = WriteOptions {
        make_parents: true,
        ..WriteOptions::default()
    };
    vec![
        Request::Read { path: path() },
        Request::ReadRange {
            path: path(),
            offset: 0,
            length: 1,
        },
        Request::Stat { path: path() },
        Request::Resolve { path: path() },
        search("i", path()),
        write(path(), b"changed"),
        Request::Write {
            path: path(),
            bytes: b"changed".to_vec(),
            options: with_parents,
        },
        append(path()),
        replace(path()),
        copy(path(), bound("copied")),
        copy(bound("dir/secret"), path()),
    ]
}

/// What looks at a directory, or makes it.
fn on_a_directory(path: &GuestPath) -> Vec<Request> {
    let path = || path.clone();
    vec![
        Request::List {
            path: path(),
            limit: 10,
        },
        glob("*", path()),
        glob("**/secret", path()),
        search("i", path()),
        Request::Stat { path: path() },
        Request::Resolve { path: path() },
        Request::MakeDirectory { path: path() },
    ]
}

/// What acts on an entry itself, and follows only the way to it.
fn on_an_entry(path: &GuestPath) -> Vec<Request> {
    vec![
        remove(path.clone()),
        rename(path.clone(), bound("moved")),
        rename(bound("dir/secret"), path.clone()),
    ]
}

fn both_ways() -> [Place; 2] {
    let places = [Place::new(), Place::new().without_openat2()];
    for place in &places {
        std::fs::create_dir_all(place.host("dir/sub/deep")).unwrap();
        for (text, name) in [
            ("dir", "to-dir"),
            ("secret", "dir/to-file"),
            ("sub", "dir/to-sub"),
            ("nothing", "dangling"),
            ("../outside", "out"),
        ] {
            symlink(text, place.host(name)).unwrap();
        }
    }
    places
}

fn refused(place: &Place, requests: Vec<Request>) {
    for request in requests {
        let before = snapshot(&place.host("."));
        let asked = format!("{request:?}");
        let kind = place.call(request).map_err(|error| error.kind);
        assert_eq!(kind, Err(ErrorKind::AccessDenied), "{asked}");
        assert_eq!(snapshot(&place.host(".")), before, "{asked}");
    }
}

#[test]
fn a_link_on_the_way_ends_every_operation() {
    for place in both_ways() {
        for way in ["to-dir", "to-dir/sub", "dir/to-sub", "out"] {
            let (file, new, directory) = (
                bound(&format!("{way}/secret")),
                bound(&format!("{way}/new")),
                bound(&format!("{way}/sub/deep")),
            );
            for path in [&file, &new] {
                refused(&place, on_a_file(path));
                refused(&place, on_an_entry(path));
            }
            for path in [&directory, &new] {
                refused(&place, on_a_directory(path));
            }
            let opened = place
                .workspace
                .open_directory(Operation::Run, &directory)
                .map(|_| ())
                .map_err(|error| error.kind);
            assert_eq!(opened, Err(ErrorKind::AccessDenied));
        }
    }
}

#[test]
fn a_link_at_the_end_is_not_followed_and_not_written_through() {
    for place in both_ways() {
        for name in ["dir/to-file", "dangling", "to-dir", "out"] {
            refused(&place, on_a_file(&bound(name)));
            refused(&place, on_a_directory(&bound(name)));
            let opened = place
                .workspace
                .open_directory(Operation::Run, &bound(name))
                .map(|_| ())
                .map_err(|error| error.kind);
            assert_eq!(opened, Err(ErrorKind::AccessDenied));
        }
    }
}

#[test]
fn what_the_flag_refuses_is_done_without_it_and_on_other_ways() {
    for place in both_ways() {
        for request in [
            on_a_file(&path("to-dir/secret")),
            on_a_file(&bound("dir/secret")),
            on_a_directory(&path("to-dir/sub")),
            on_a_directory(&bound("dir/sub")),
        ]
        .concat()
        {
            write_host(&place.host("dir/secret"), b"inside");
            let asked = format!("{request:?}");
            assert_eq!(place.call(request).map(|_| ()), Ok(()), "{asked}");
        }
        for directory in [path("to-dir/sub"), bound("dir/sub")] {
            let opened = place.workspace.open_directory(Operation::Run, &directory);
            assert_eq!(opened.map(|_| ()), Ok(()));
        }
        let made = Request::Write {
            path: bound("dir/made/by/write"),
            bytes: Vec::new(),
            options: WriteOptions {
                make_parents: true,
                ..WriteOptions::default()
            },
        };
        assert_eq!(place.call(made).map(|_| ()), Ok(()));
        // By text, `..` removes the link before it: none is left on the way.
        let read = |text| {
            let path = bound(text);
            place.call(Request::Read { path }).map(|_| ())
        };
        assert_eq!(read("to-dir/../dir/secret"), Ok(()));
        // What is missing is missing, also where no link may be followed.
        let missing = read("nothing/x").map_err(|error| error.kind);
        assert_eq!(missing, Err(ErrorKind::NotFound));
    }
}

#[test]
fn remove_and_rename_act_on_a_link_itself() {
    for place in both_ways() {
        let done = |request| assert_eq!(place.call(request), Ok(Response::Done));
        done(rename(bound("dir/to-file"), bound("dir/moved")));
        assert!(place.host("dir/moved").is_symlink());
        // A link at the target is replaced, and not what it points to.
        write_host(&place.host("new"), b"new");
        done(rename(bound("new"), bound("dir/moved")));
        assert_eq!(read_host(&place.host("dir/moved")), b"new");
        assert_eq!(read_host(&place.host("dir/secret")), b"inside");
        for name in ["to-dir", "dangling", "out"] {
            done(remove(bound(name)));
            assert!(!place.host(name).is_symlink());
        }
        assert_eq!(place.read("dir/secret").unwrap(), b"inside");
    }
}

#[test]
fn with_absent_a_link_is_something_that_is_there() {
    for place in both_ways() {
        for name in ["dir/to-file", "dangling"] {
            let request = Request::Write {
                path: bound(name),
                bytes: Vec::new(),
                options: WriteOptions {
                    expected: Expected::Absent,
                    ..WriteOptions::default()
                },
            };
            let kind = place.call(request).map_err(|error| error.kind);
            assert_eq!(kind, Err(ErrorKind::AlreadyExists));
        }
    }
}

fn globbed(place: &Place, pattern: &str, base: GuestPath) -> Result<GlobResult, ErrorKind> {
    match place.call(glob(pattern, base)) {
        Ok(Response::Glob(result)) => Ok(result),
        Ok(other) => panic!("{other:?}"),
        Err(error) => Err(error.kind),
    }
}

fn found(result: &GlobResult) -> Vec<(&str, EntryKind)> {
    let paths = result.paths.iter();
    paths
        .map(|found| (found.path.text.as_str(), found.kind))
        .collect()
}

#[test]
fn the_flag_of_a_base_binds_the_literal_beginning_too() {
    for place in both_ways() {
        for pattern in ["to-dir/*", "to-dir/secret", "to-dir/**", "./to-dir//sub/*"] {
            let kind = globbed(&place, pattern, bound("."));
            assert_eq!(kind, Err(ErrorKind::AccessDenied), "{pattern}");
            let followed = globbed(&place, pattern, path("."));
            assert_eq!(followed.map(|_| ()), Ok(()), "{pattern}");
        }
        let kind = globbed(&place, "to-sub/*", bound("dir"));
        assert_eq!(kind, Err(ErrorKind::AccessDenied));
        // A link that is named itself is reported, and not followed.
        let named = globbed(&place, "to-dir", bound(".")).unwrap();
        assert_eq!(found(&named), [("to-dir", EntryKind::Link)]);
        assert_eq!(found(&globbed(&place, "to-dir/", bound(".")).unwrap()), []);
        // Of alternatives, each is a walk's to meet, and a walk enters no link.
        let either = globbed(&place, "{to-dir,dir}/{secret,to-sub/*}", bound(".")).unwrap();
        assert_eq!(found(&either), [("dir/secret", EntryKind::File)]);
    }
}

#[test]
fn a_lock_does_not_depend_on_the_flag() {
    let place = Place::new();
    let begin = |context: &Context, path: &GuestPath| {
        Change::begin(&place.workspace, context, path, &Expected::Any, None).map(|_change| ())
    };
    let held = Change::begin(
        &place.workspace,
        &Context::new(),
        &bound("dir/secret"),
        &Expected::Any,
        None,
    );
    assert!(held.is_ok());
    let soon = || Context::new().with_timeout(Duration::from_millis(1));
    for same in [path("dir/secret"), bound("dir/secret")] {
        assert!(matches!(begin(&soon(), &same), Err(Fault::Stopped(_))));
    }
    drop(held);
    assert!(begin(&Context::new(), &path("dir/secret")).is_ok());
}
