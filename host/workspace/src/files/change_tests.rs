//! What changes do to each other, and what those that fail leave behind.

use std::{
    collections::BTreeSet,
    os::unix::fs::{MetadataExt, PermissionsExt, symlink},
    time::Duration,
};

use belljar_contract::{Context, ErrorKind, Expected, Request, Response, files::WriteOptions};

use super::confinement_tests::{Place, path, snapshot, write_host};

#[test]
fn of_two_writers_with_one_expected_version_one_wins() {
    let place = Place::new();
    symlink("dir/secret", place.host("other-name")).unwrap();
    for round in 0..100 {
        let start = format!("start {round}");
        let version = place
            .write("dir/secret", start.as_bytes(), Expected::Any)
            .unwrap();
        let results = std::thread::scope(|scope| {
            let writers: Vec<_> = ["dir/secret", "other-name", "dir/./secret"]
                .iter()
                .enumerate()
                .map(|(number, name)| {
                    let (place, version) = (&place, version.clone());
                    scope.spawn(move || {
                        let bytes = format!("{round} by {number}");
                        place.write(name, bytes.as_bytes(), Expected::Version(version))
                    })
                })
                .collect();
            writers
                .into_iter()
                .map(|writer| writer.join().unwrap())
                .collect::<Vec<_>>()
        });
        assert_eq!(
            results.iter().filter(|result| result.is_ok()).count(),
            1,
            "{results:?}"
        );
        assert!(
            results
                .iter()
                .all(|result| !matches!(result, Err(kind) if *kind != ErrorKind::Stale))
        );
    }
    assert!(place.host("other-name").is_symlink());
}

#[test]
fn of_two_that_create_a_file_one_wins() {
    let place = Place::new();
    for round in 0..100 {
        let name = format!("made/{round}/new");
        let won = std::thread::scope(|scope| {
            let writers: Vec<_> = (0..3)
                .map(|number: u8| {
                    let (place, name) = (&place, &name);
                    scope.spawn(move || place.write(name, &[number], Expected::Absent))
                })
                .collect();
            writers
                .into_iter()
                .map(|writer| writer.join().unwrap())
                .filter(|result| match result {
                    Ok(_) => true,
                    Err(kind) => {
                        assert_eq!(*kind, ErrorKind::AlreadyExists);
                        false
                    }
                })
                .count()
        });
        assert_eq!(won, 1);
    }
    assert!(place.names().iter().all(|name| !name.ends_with(".tmp")));
}

#[test]
fn concurrent_appends_are_all_there() {
    let place = Place::new();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let place = &place;
            scope.spawn(move || {
                for round in 0..50 {
                    let request = Request::Append {
                        path: path("log"),
                        bytes: format!("{thread} {round}\n").into_bytes(),
                        options: WriteOptions::default(),
                    };
                    place.call(request).unwrap();
                }
            });
        }
    });
    let log = String::from_utf8(place.read("log").unwrap()).unwrap();
    let lines: BTreeSet<&str> = log.lines().collect();
    assert_eq!((lines.len(), log.lines().count()), (200, 200));
}

#[test]
fn a_change_that_is_stopped_leaves_nothing() {
    let place = Place::new();
    let before = place.names();
    let context = Context::new();
    context.cancellation().cancel();
    // The engine's own first look is passed by going below it.
    let options = WriteOptions {
        make_parents: true,
        ..WriteOptions::default()
    };
    for name in ["dir/secret", "dir/made/a/b"] {
        let stopped =
            super::write::write(&place.workspace, &context, &path(name), &[1; 100], &options);
        assert!(matches!(stopped, Err(super::fault::Fault::Stopped(_))));
    }
    let stopped = super::append::append(
        &place.workspace,
        &context,
        &path("dir/secret"),
        b"more",
        &options,
    );
    assert!(matches!(stopped, Err(super::fault::Fault::Stopped(_))));
    assert_eq!(place.names(), before);
    assert_eq!(place.read("dir/secret").unwrap(), b"inside");
}

#[test]
fn a_removal_that_is_stopped_leaves_a_rest_that_can_be_removed() {
    let place = Place::new();
    let remove = || Request::Remove {
        path: path("tree"),
        recursive: true,
    };
    // How far it gets is the scheduler's to say: again, until it was stopped on the way.
    for _ in 0..100 {
        for directory in 0..200 {
            let directory = place.host(&format!("tree/{directory}/sub"));
            std::fs::create_dir_all(&directory).unwrap();
            for file in 0..5 {
                write_host(&directory.join(file.to_string()), b"content");
            }
        }
        let before = snapshot(&place.host("tree"));
        let context = Context::new();
        let stopped = std::thread::scope(|scope| {
            let removal = scope.spawn(|| place.workspace.call(&context, remove()));
            let left = || std::fs::read_dir(place.host("tree")).map_or(0, Iterator::count);
            while !removal.is_finished() && left() == 200 {
                std::thread::yield_now();
            }
            context.cancellation().cancel();
            removal.join().unwrap()
        });
        let Err(error) = stopped else { continue };
        assert_eq!(error.kind, ErrorKind::Cancelled);
        assert!(place.host("tree").is_dir());
        let rest = snapshot(&place.host("tree"));
        for (path, content) in &rest {
            assert_eq!(before.get(path), Some(content), "{path:?}");
        }
        if rest.is_empty() || rest.len() == before.len() {
            continue;
        }
        assert_eq!(place.call(remove()), Ok(Response::Done));
        assert!(!place.host("tree").exists());
        return;
    }
    panic!("it was never stopped on the way");
}

#[test]
fn a_panic_in_a_change_leaves_no_temporary_and_no_lock() {
    let place = Place::new();
    let before = place.names();
    let panicked = std::thread::scope(|scope| {
        scope
            .spawn(|| {
                let change = super::change::Change::begin(
                    &place.workspace,
                    &Context::new(),
                    &path("dir/secret"),
                    &Expected::Any,
                    None,
                );
                let change = change.map_err(|fault| fault.to_string()).unwrap();
                let _temporary = super::temporary::Temporary::beside(&change.place);
                assert_ne!(place.names(), before);
                panic!("as a defect would");
            })
            .join()
    });
    assert!(panicked.is_err());
    assert_eq!(place.names(), before);
    let context = Context::new().with_timeout(Duration::from_secs(5));
    let request = Request::Remove {
        path: path("dir/secret"),
        recursive: false,
    };
    assert_eq!(place.workspace.call(&context, request), Ok(Response::Done));
}

#[test]
fn every_mode_bit_survives_and_the_owner_too() {
    let place = Place::new();
    let host = place.host("dir/secret");
    for mode in [0o600, 0o755, 0o4755, 0o2750, 0o1644] {
        std::fs::set_permissions(&host, std::fs::Permissions::from_mode(mode)).unwrap();
        let before = std::fs::metadata(&host).unwrap();
        place.write("dir/secret", b"new", Expected::Any).unwrap();
        let after = std::fs::metadata(&host).unwrap();
        assert_eq!(after.mode() & 0o7777, mode);
        assert_eq!((after.uid(), after.gid()), (before.uid(), before.gid()));
    }
    for mode in [0o444, 0o000, 0o555, 0o466] {
        std::fs::set_permissions(&host, std::fs::Permissions::from_mode(mode)).unwrap();
        let refused = place.write("dir/secret", b"other", Expected::Any);
        assert_eq!(refused, Err(ErrorKind::AccessDenied), "{mode:o}");
    }
    std::fs::set_permissions(&host, std::fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(place.read("dir/secret").unwrap(), b"new");
}
