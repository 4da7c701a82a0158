//! A resident that is copied over, on a real machine.

use std::path::PathBuf;

use super::*;

impl Place {
    /// Options for a session whose resident the server is given.
    fn installing(&self, shell: &[&str]) -> RemoteOptions {
        RemoteOptions {
            install: true,
            ..options(self.server.ssh(&[], shell), self.workspace.path())
        }
    }

    fn folder(&self) -> PathBuf {
        self.server.home().join(".cache/belljar/residents")
    }

    fn installed(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.folder()).into_iter().flatten();
        entries
            .map(|entry| entry.expect("an entry").path())
            .collect()
    }
}

#[test]
fn a_machine_is_given_its_resident_once() {
    let Some(place) = Place::start() else { return };
    for _ in 0..2 {
        let sandbox = open(place.installing(&["sh"]));
        assert_eq!(printed(&sandbox, "echo here"), "here");
        assert_eq!(place.installed().len(), 1);
        close(&sandbox);
    }
    let there = std::fs::read(&place.installed()[0]).expect("it is there");
    let here = std::fs::read(static_resident()).expect("it is here");
    assert!(there == here);
    // One that was changed is replaced before it is started.
    std::fs::write(&place.installed()[0], "#!/bin/sh\necho somebody else\n").expect("it is ours");
    let sandbox = open(place.installing(&["sh"]));
    assert_eq!(printed(&sandbox, "echo here"), "here");
    close(&sandbox);
    let there = std::fs::read(&place.installed()[0]).expect("it is there");
    assert!(there == here);
}

#[test]
fn many_that_come_at_once_are_each_given_it() {
    let Some(place) = Place::start() else { return };
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let sandbox = open(place.installing(&["sh"]));
                assert_eq!(printed(&sandbox, "echo here"), "here");
                close(&sandbox);
            });
        }
    });
    assert_eq!(place.installed().len(), 1);
}

#[test]
fn a_login_script_that_prints_is_passed_over() {
    let Some(place) = Place::start() else { return };
    let sandbox = open(place.installing(&["echo last login: never;", "exec", "sh"]));
    assert_eq!(printed(&sandbox, "echo here"), "here");
    close(&sandbox);
}

#[test]
fn a_place_that_runs_nothing_or_has_no_room_says_so() {
    let Some(place) = Place::start() else { return };
    // Both are seen by the session alone.
    let mounted = |more: &str| {
        let cache = place.server.home().join(".cache");
        std::fs::create_dir_all(&cache).expect("a folder");
        let text = format!(
            "mount -t tmpfs -o {more} none {} && exec sh",
            cache.display()
        );
        let text = format!("'{text}'");
        place.installing(&["unshare", "--mount", "sh", "-c", &text])
    };
    let (error, why) = fails(mounted("size=1M"));
    assert!(matches!(why.failure, RemoteFailure::NoRoom), "{why:?}");
    assert_eq!(error.kind, ErrorKind::NoSpace, "{error:?}");
    let (_, why) = fails(mounted("noexec"));
    assert!(
        matches!(why.failure, RemoteFailure::NotExecutable),
        "{why:?}"
    );
    let (_, why) = fails(mounted("ro"));
    assert!(
        matches!(
            why.failure,
            RemoteFailure::Install(InstallError::FolderNotPrivate)
        ),
        "{why:?}"
    );
    assert!(place.installed().is_empty());
}

#[test]
fn a_link_that_is_cut_while_it_is_copied_ends_in_time_and_leaves_nothing_to_start() {
    let Some(place) = Place::start() else { return };
    // It takes the bytes as slowly as the test likes: not at all.
    let bin = place.server.folder().join("bin");
    std::fs::create_dir(&bin).expect("a folder");
    let began = place.server.folder().join("began");
    let head = format!("#!/bin/sh\ntouch {}\nexec sleep 600\n", began.display());
    let path = bin.join("head");
    std::fs::write(&path, head).expect("it is ours");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&path, mode).expect("it is ours");
    let search = format!("PATH={}:$PATH", bin.display());
    let options = RemoteOptions {
        connect_timeout: Duration::from_secs(4),
        ..place.installing(&[&search, "sh"])
    };
    let ((_, why), took) = std::thread::scope(|scope| {
        let call = scope.spawn(|| timed(|| fails(options)));
        until("it is copied", Duration::from_secs(10), || began.exists());
        place.server.cut();
        call.join().expect("no panic")
    });
    assert!(
        matches!(why.failure, RemoteFailure::TooLong { .. }),
        "{why:?}"
    );
    assert!(took < Duration::from_secs(8), "{took:?}");
    let parts = place.installed();
    assert!(
        parts.iter().all(|path| path.extension().is_some()),
        "{parts:?}"
    );
    place.server.mend();
    let sandbox = open(place.installing(&["sh"]));
    assert_eq!(printed(&sandbox, "echo here"), "here");
    close(&sandbox);
}

#[test]
fn a_machine_without_the_shell_is_not_told_to_install_one() {
    let Some(place) = Place::start() else { return };
    let (_, why) = fails(place.installing(&["belljar-no-such-shell"]));
    assert!(
        matches!(
            why.failure,
            RemoteFailure::Install(InstallError::NoShell { .. })
        ),
        "{why:?}"
    );
}

#[test]
fn without_a_resident_to_install_nothing_opens() {
    let options = RemoteOptions {
        install: true,
        residents: vec!["/nonexistent".into()],
        ..options(["sh"], Path::new("/tmp"))
    };
    let opened = options.open_ambient();
    assert!(matches!(
        opened,
        Err(belljar::backends::OpenError::NothingToInstall { .. })
    ));
}
