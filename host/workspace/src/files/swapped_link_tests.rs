//! A link that is swapped in between a judgement and its use.

use std::{
    os::unix::fs::symlink,
    sync::atomic::{AtomicBool, Ordering},
};

use belljar_contract::{
    ErrorKind, GuestPath, Request, Response,
    files::{GlobResult, SearchResult},
};
use rustix::fs::{CWD, RenameFlags, renameat_with};

use super::{
    confinement_tests::{Place, path, read_host, snapshot, write_host},
    requests_in_tests::{append, bound, copy, glob, remove, rename, replace, search, write},
};

const THEIRS: &[u8] = b"theirs, and not to be seen";

/// Swaps `name` for a link with this text, and back, at once each, while `work` runs.
fn while_swapping(place: &Place, name: &str, text: &str, work: impl FnOnce()) {
    let (real, link, fresh) = (place.host(name), place.host("link"), place.host("fresh"));
    let exchange = || renameat_with(CWD, &real, CWD, &link, RenameFlags::EXCHANGE).unwrap();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        // Also when `work` panics, or the scope would wait for ever.
        let _stop = StopOnDrop(&stop);
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                // A write may have replaced the last one.
                symlink(text, &fresh).unwrap();
                std::fs::rename(&fresh, &link).unwrap();
                exchange();
                exchange();
            }
        });
        work();
    });
}

struct StopOnDrop<'a>(&'a AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Asks what a caller asks that resolved a path and found it its own. Says whether each was done
/// or refused, and sees that nothing of `closed` was told.
fn ask_after_judgement(place: &Place, judged: &GuestPath) -> (u32, u32) {
    let directory = judged.parent().unwrap();
    let (mut done, mut refused) = (0, 0);
    for request in [
        Request::Read {
            path: judged.clone(),
        },
        Request::Stat {
            path: judged.clone(),
        },
        Request::List {
            path: directory.clone(),
            limit: 100,
        },
        glob("dir/*", bound(".")),
        glob("*", directory.clone()),
        search("theirs", directory.clone()),
        search("theirs", judged.clone()),
        append(judged.clone()),
        replace(judged.clone()),
        copy(judged.clone(), bound("copied")),
        copy(bound("mine"), judged.clone()),
        write(judged.clone(), b"inside"),
        Request::MakeDirectory {
            path: directory.join("made").unwrap(),
        },
        rename(bound("moving"), directory.join("moved").unwrap()),
        rename(directory.join("only-theirs").unwrap(), bound("taken")),
        remove(directory.join("only-theirs").unwrap()),
        remove(directory.join("made").unwrap()),
        rename(directory.join("moved").unwrap(), bound("moving")),
    ] {
        let asked = format!("{request:?}");
        match place.call(request) {
            Ok(response) => {
                done += 1;
                match response {
                    Response::Content(content) => assert_ne!(content.bytes, THEIRS),
                    Response::Info(info) => assert_ne!(info.size, THEIRS.len() as u64),
                    Response::Listing(listing) => {
                        let mut names = listing.entries.iter().map(|entry| &entry.name.text);
                        assert!(names.all(|name| name != "only-theirs"));
                    }
                    Response::Glob(GlobResult { paths, .. }) => {
                        let mut paths = paths.iter().map(|found| &found.path.text);
                        assert!(paths.all(|path| !path.ends_with("only-theirs")));
                    }
                    Response::Search(SearchResult { matches, .. }) => assert_eq!(matches, []),
                    _ => {}
                }
            }
            Err(error) if error.kind == ErrorKind::AccessDenied => refused += 1,
            // What is moved to and fro is not always there, and `Busy` is a file that was one at
            // one look and a link at the next.
            Err(error) => assert!(
                matches!(
                    error.kind,
                    ErrorKind::NotFound
                        | ErrorKind::NotADirectory
                        | ErrorKind::NoMatch
                        | ErrorKind::AlreadyExists
                        | ErrorKind::Busy
                ),
                "{asked}: {error:?}"
            ),
        }
    }
    (done, refused)
}

#[test]
fn a_link_that_is_swapped_in_after_the_judgement_leads_nowhere() {
    for (name, text) in [("dir", "closed"), ("dir/secret", "../closed/secret")] {
        for place in [Place::new(), Place::new().without_openat2()] {
            std::fs::create_dir(place.host("closed")).unwrap();
            write_host(&place.host("closed/secret"), THEIRS);
            write_host(&place.host("closed/only-theirs"), THEIRS);
            write_host(&place.host("mine"), b"inside");
            write_host(&place.host("moving"), b"inside");
            let closed = snapshot(&place.host("closed"));
            while_swapping(&place, name, text, || {
                let (mut judged_ours, mut judged_theirs) = (0, 0);
                let (mut done, mut refused) = (0, 0);
                let mut round = 0;
                while round < 500 || (refused == 0 || judged_theirs == 0) && round < 100_000 {
                    round += 1;
                    let resolve = Request::Resolve {
                        path: path("dir/secret"),
                    };
                    match place.call(resolve) {
                        Ok(Response::Path(real)) if real.as_str() == "dir/secret" => {
                            judged_ours += 1;
                            let counts = ask_after_judgement(&place, &real.without_links());
                            done += counts.0;
                            refused += counts.1;
                        }
                        Ok(Response::Path(_)) => judged_theirs += 1,
                        Ok(other) => panic!("{other:?}"),
                        Err(_) => {}
                    }
                    assert_eq!(snapshot(&place.host("closed")), closed);
                    assert!(!place.host("taken").exists());
                }
                assert!(
                    judged_ours > 0 && judged_theirs > 0 && done > 0 && refused > 0,
                    "{judged_ours} {judged_theirs} {done} {refused}"
                );
            });
            for own in ["copied", "moving"] {
                if place.host(own).exists() {
                    assert_ne!(read_host(&place.host(own)), THEIRS);
                }
            }
        }
    }
}
