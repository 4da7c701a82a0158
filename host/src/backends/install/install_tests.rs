//! The script, in the shells of this machine: each in turn is the place, and a script is the resident.

use std::{
    os::{fd::AsFd as _, unix::fs::PermissionsExt as _},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use super::*;

const STDIO: Becoming<'_> = Becoming {
    cache: None,
    arguments: "stdio",
};

const LONG: Duration = Duration::from_secs(20);

/// A place: a shell with a home of its own.
struct Place {
    shell: &'static [&'static str],
    home: tempfile::TempDir,
}

/// The shells that are here.
fn places() -> impl Iterator<Item = Place> {
    const SHELLS: [&[&str]; 3] = [&["sh"], &["bash", "--posix"], &["busybox", "sh"]];
    let works = |shell: &&[&str]| {
        let mut command = Command::new(shell[0]);
        let ran = command.args(&shell[1..]).args(["-c", "true"]).output();
        ran.is_ok_and(|output| output.status.success())
    };
    SHELLS.into_iter().filter(works).map(|shell| Place {
        shell,
        home: tempfile::tempdir().expect("a temporary folder"),
    })
}

impl Place {
    fn folder(&self) -> PathBuf {
        self.home.path().join(".cache/belljar/residents")
    }

    fn program(&self, resident: &Resident) -> PathBuf {
        self.folder().join(&resident.hash)
    }

    fn command(&self) -> Command {
        let mut command = Command::new(self.shell[0]);
        command
            .args(&self.shell[1..])
            .env_remove("XDG_CACHE_HOME")
            .env("HOME", self.home.path());
        command
    }

    /// Speaks with it; what it says then is left to be read.
    fn start(
        &self,
        mut command: Command,
        residents: &[Resident],
    ) -> (Result<(), InstallError>, Child) {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        let (input, output) = (
            child.stdin.take().expect("piped"),
            child.stdout.take().expect("piped"),
        );
        let context = Context::new().with_timeout(LONG);
        let started = start(&context, input.as_fd(), output.as_fd(), residents, STDIO);
        (child.stdin, child.stdout) = (Some(input), Some(output));
        (started, child)
    }

    /// Starts it, and gives what the resident says of what it is told.
    fn said(&self, residents: &[Resident]) -> String {
        let (started, mut child) = self.start(self.command(), residents);
        assert!(started.is_ok(), "{:?}: {started:?}", self.shell);
        for end in [
            child.stdin.as_ref().map(std::os::fd::AsFd::as_fd),
            child.stdout.as_ref().map(std::os::fd::AsFd::as_fd),
        ] {
            rustix::io::ioctl_fionbio(end.expect("piped"), false).expect("it blocks again");
        }
        let input = child.stdin.as_ref().expect("piped");
        rustix::io::write(input, b"hello\n").expect("it reads");
        drop(child.stdin.take());
        let output = child.wait_with_output().expect("it ends");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn fails(&self, command: Command, residents: &[Resident]) -> InstallError {
        let (started, child) = self.start(command, residents);
        let output = child.wait_with_output().expect("it ends");
        match started {
            Err(failure) => failure,
            Ok(()) => panic!("{:?}: it starts, and says {output:?}", self.shell),
        }
    }
}

/// A resident of this machine's, which is a script.
fn resident(text: &str) -> Resident {
    let bytes = text.as_bytes().to_vec();
    Resident {
        architecture: "x86_64",
        machines: &["x86_64", "aarch64"],
        hash: shelf::hash(&bytes),
        bytes,
    }
}

fn greets() -> Resident {
    // Larger than what a pipe holds.
    let filler = "# nothing\n".repeat(20_000);
    resident(&format!(
        "#!/bin/sh\nread -r line\necho \"$1 $line\"\n{filler}"
    ))
}

#[expect(clippy::disallowed_methods, reason = "a test sets up")]
fn write(path: &Path, bytes: &[u8]) {
    std::fs::write(path, bytes).expect("it is written");
}

fn modified(path: &Path) -> std::time::SystemTime {
    let metadata = std::fs::metadata(path).expect("it is there");
    metadata.modified().expect("it has a time")
}

#[test]
fn a_resident_is_copied_once_and_started() {
    let mut tried = 0;
    for place in places() {
        let resident = greets();
        let program = place.program(&resident);
        assert_eq!(place.said(std::slice::from_ref(&resident)), "stdio hello\n");
        let at = modified(&program);
        assert_eq!(place.said(std::slice::from_ref(&resident)), "stdio hello\n");
        assert_eq!(modified(&program), at, "copied again by {:?}", place.shell);
        let mode = |path: &Path| {
            let metadata = std::fs::metadata(path).expect("it is there");
            metadata.permissions().mode() & 0o777
        };
        assert_eq!((mode(&place.folder()), mode(&program)), (0o700, 0o700));
        let left = place.folder().read_dir().expect("the folder").count();
        assert_eq!(left, 1);
        tried += 1;
    }
    assert!(tried > 0);
}

#[test]
fn what_is_half_there_or_changed_is_replaced() {
    for place in places() {
        let resident = greets();
        assert_eq!(place.said(std::slice::from_ref(&resident)), "stdio hello\n");
        let program = place.program(&resident);
        write(&program, &resident.bytes[..100]);
        assert_eq!(place.said(std::slice::from_ref(&resident)), "stdio hello\n");
        write(&program, b"#!/bin/sh\necho somebody else\n");
        assert_eq!(place.said(std::slice::from_ref(&resident)), "stdio hello\n");
        std::fs::rename(&program, place.home.path().join("moved")).expect("it is ours");
        std::os::unix::fs::symlink(place.home.path().join("moved"), &program).expect("a link");
        assert_eq!(place.said(std::slice::from_ref(&resident)), "stdio hello\n");
        assert!(!program.is_symlink());
    }
}

#[test]
fn what_does_not_arrive_as_it_was_sent_is_never_started() {
    for place in places() {
        let mut resident = greets();
        resident.bytes[30] ^= 1;
        let failure = place.fails(place.command(), std::slice::from_ref(&resident));
        assert!(
            matches!(failure, InstallError::HashDiffers),
            "{:?}: {failure:?}",
            place.shell
        );
        assert_eq!(place.folder().read_dir().expect("the folder").count(), 0);
    }
}

#[test]
fn bytes_that_look_like_commands_are_none() {
    for place in places() {
        let trap = place.home.path().join("trap");
        let mut resident = resident(&format!("\ntouch '{}'\n", trap.display()).repeat(5000));
        resident.hash.replace_range(0..4, "0000");
        let failure = place.fails(place.command(), std::slice::from_ref(&resident));
        assert!(matches!(failure, InstallError::HashDiffers), "{failure:?}");
        assert!(!trap.exists(), "{:?}", place.shell);
        // Nor when they cannot be written, and most of them are still to be read.
        let text = format!("ulimit -f 8; exec {}", place.shell.join(" "));
        let mut command = Command::new("sh");
        command
            .args(["-c", &text])
            .env_remove("XDG_CACHE_HOME")
            .env("HOME", place.home.path());
        let failure = place.fails(command, std::slice::from_ref(&resident));
        assert!(matches!(failure, InstallError::NotWritten), "{failure:?}");
        assert!(!trap.exists(), "{:?}", place.shell);
    }
}

#[test]
fn a_folder_of_others_is_refused() {
    for place in places() {
        std::fs::create_dir_all(place.folder()).expect("a folder");
        let mode = std::fs::Permissions::from_mode(0o770);
        std::fs::set_permissions(place.folder(), mode).expect("it is ours");
        let failure = place.fails(place.command(), &[greets()]);
        assert!(
            matches!(failure, InstallError::FolderNotPrivate),
            "{failure:?}"
        );
        // So is a link to one that is right.
        let mode = std::fs::Permissions::from_mode(0o700);
        std::fs::set_permissions(place.folder(), mode).expect("it is ours");
        let moved = place.home.path().join("moved");
        std::fs::rename(place.folder(), &moved).expect("it is ours");
        std::os::unix::fs::symlink(&moved, place.folder()).expect("a link");
        let failure = place.fails(place.command(), &[greets()]);
        assert!(
            matches!(failure, InstallError::FolderNotPrivate),
            "{failure:?}"
        );
    }
}

#[test]
fn a_folder_that_others_exchange_after_the_look_is_not_used() {
    for place in places() {
        let resident = greets();
        assert_eq!(place.said(std::slice::from_ref(&resident)), "stdio hello\n");
        // Whoever can write to what it lies in moves it, and puts one of theirs in its place.
        let (folder, tools) = (place.folder(), place.home.path().join("bin"));
        std::fs::create_dir(&tools).expect("a folder");
        let exchange = format!(
            "#!/bin/sh\nmv '{0}' '{0}.moved' && mkdir '{0}' &&\n\
             printf '#!/bin/sh\\necho theirs\\n' >'{1}' && chmod 755 '{1}'\n\
             echo {2}\n",
            folder.display(),
            place.program(&resident).display(),
            resident.hash
        );
        // Busybox has its own, whatever the path says.
        if place.shell[0] == "busybox" {
            continue;
        }
        let hasher = tools.join("sha256sum");
        write(&hasher, exchange.as_bytes());
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(&hasher, mode).expect("it is ours");
        let mut command = place.command();
        command.env("PATH", format!("{}:/usr/bin:/bin", tools.display()));
        let (started, mut child) = place.start(command, &[resident]);
        assert!(started.is_ok(), "{:?}: {started:?}", place.shell);
        drop(child.stdin.take());
        let output = child.stdout.as_ref().expect("piped");
        rustix::io::ioctl_fionbio(std::os::fd::AsFd::as_fd(output), false).expect("it blocks");
        let output = child.wait_with_output().expect("it ends");
        let said = String::from_utf8_lossy(&output.stdout);
        assert_eq!(said, "stdio \n", "{:?}", place.shell);
    }
}

#[test]
fn a_machine_for_which_there_is_none_is_named() {
    for place in places() {
        let mut other = greets();
        other.machines = &["pdp11"];
        match place.fails(place.command(), &[other]) {
            InstallError::NoResidentFor { machine, has } => {
                assert!(machine.starts_with("Linux "), "{machine}");
                assert_eq!(has, ["x86_64"]);
            }
            failure => panic!("{failure:?}"),
        }
    }
}

#[test]
fn where_nothing_hashes_nothing_is_started() {
    for place in places() {
        let folder = place.home.path().join("bin");
        std::fs::create_dir(&folder).expect("a folder");
        for name in [
            "uname", "mkdir", "ls", "id", "head", "chmod", "mv", "rm", "find",
        ] {
            let real = ["/usr/bin", "/bin"].map(|folder| Path::new(folder).join(name));
            let real = real.iter().find(|path| path.exists()).expect("it is here");
            std::os::unix::fs::symlink(real, folder.join(name)).expect("a link");
        }
        // Busybox has its own, whatever the path says.
        if place.shell[0] == "busybox" {
            continue;
        }
        let shell = ["/usr/bin", "/bin"].map(|folder| Path::new(folder).join(place.shell[0]));
        let shell = shell.iter().find(|path| path.exists()).expect("it is here");
        let mut command = Command::new(shell);
        command
            .args(&place.shell[1..])
            .env_remove("XDG_CACHE_HOME")
            .env("HOME", place.home.path())
            .env("PATH", &folder);
        let failure = place.fails(command, &[greets()]);
        assert!(matches!(failure, InstallError::NoHashThere), "{failure:?}");
    }
}

#[test]
fn what_is_printed_before_is_passed_over_and_what_is_no_shell_is_shown() {
    for place in places() {
        let text = format!("printf 'Welcome!\\nno end'; exec {}", place.shell.join(" "));
        let mut command = Command::new("sh");
        command
            .args(["-c", &text])
            .env_remove("XDG_CACHE_HOME")
            .env("HOME", place.home.path());
        let (started, child) = place.start(command, &[greets()]);
        assert!(started.is_ok(), "{started:?}");
        drop(child.wait_with_output());
        let mut command = Command::new("sh");
        command.args(["-c", "echo nobody is here"]);
        match place.fails(command, &[greets()]) {
            InstallError::NoShell { what } => assert!(what.contains("nobody is here")),
            failure => panic!("{failure:?}"),
        }
        let mut command = Command::new("yes");
        command.env("HOME", place.home.path());
        let (started, mut child) = place.start(command, &[greets()]);
        assert!(matches!(started, Err(InstallError::NoShell { .. })));
        child.kill().expect("it is ours");
        child.wait().expect("it ends");
    }
}

#[test]
fn a_shell_that_says_nothing_is_given_up() {
    let mut command = Command::new("sleep");
    let mut child = command
        .arg("600")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let (input, output) = (
        child.stdin.take().expect("piped"),
        child.stdout.take().expect("piped"),
    );
    let context = Context::new().with_timeout(Duration::from_millis(200));
    let started = start(&context, input.as_fd(), output.as_fd(), &[greets()], STDIO);
    assert!(matches!(started, Err(InstallError::Stopped(_))));
    child.kill().expect("it is ours");
    child.wait().expect("it ends");
}
