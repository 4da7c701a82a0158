//! Without a resident: the same contract by an `exec` for each program, and told as weaker.

use std::time::Duration;

use belljar::{
    ErrorKind, Expected, WriteOptions,
    backends::{
        Bind, ContainerOptionsError, Guarantee, OpenError, PosixGap, PullPolicy, ResidentChoice,
    },
    processes::Outcome,
};
use belljar_tests::static_resident;
use tempfile::TempDir;

use super::*;

fn by_shell() -> impl Iterator<Item = ContainerOptions> {
    on_each().map(|options| ContainerOptions {
        resident: ResidentChoice::Off,
        ..options
    })
}

#[test]
fn files_and_processes_are_one_world_and_the_weakness_is_told() {
    for options in by_shell() {
        let sandbox = open(options);
        let content = [b"a\0\xff\n".as_slice(), &[b'x'; 200 << 10]].concat();
        let with_parents = WriteOptions {
            make_parents: true,
            ..WriteOptions::default()
        };
        let written = wait(sandbox.write("-x/$(id) ;", content.clone(), with_parents));
        let version = written.expect("it writes");
        let read = wait(sandbox.read("-x/$(id) ;")).expect("it reads");
        assert!(read.bytes == content && read.version == version);
        let seen = printed(&sandbox, "wc -c < './-x/$(id) ;'; pwd; echo $$ > made");
        assert_eq!(seen, format!("{}\n/workspace", content.len()));
        assert!(wait(sandbox.stat("made")).is_ok());
        let missing = wait(sandbox.read("no")).expect_err("it is not there");
        assert_eq!(missing.kind, ErrorKind::NotFound);
        let gaps = &sandbox.describe().hardening_gaps;
        assert!(
            gaps.iter().any(|gap| gap.starts_with("resident:")),
            "{gaps:?}"
        );
        close(&sandbox);
    }
}

#[test]
fn what_a_program_prints_is_there_though_it_leaves_its_input() {
    for options in by_shell() {
        let sandbox = open(options);
        for _ in 0..10 {
            let command = Command::Shell("echo out; echo err >&2; exit 3".to_owned());
            let fed = RunOptions {
                stdin: b"unread".to_vec(),
                ..RunOptions::default()
            };
            let ended = wait(sandbox.run(command, fed)).expect("it runs");
            assert_eq!(ended.outcome, Outcome::Exited(3));
            assert_eq!(ended.stdout.to_text(), "out\n");
            assert_eq!(ended.stderr.to_text(), "err\n");
            // A script that has its answer before it has its input.
            let written = wait(sandbox.write("no/such/file", "x", WriteOptions::default()));
            assert_eq!(
                written.map_err(|error| error.kind),
                Err(ErrorKind::NotFound)
            );
        }
        close(&sandbox);
    }
}

#[test]
fn a_session_that_needs_a_resident_does_not_open_without() {
    for mut options in by_shell() {
        options.require = [Guarantee::Resident].into();
        let refused = options.open_ambient().map(drop);
        let Err(OpenError::RequirementsUnmet { gaps }) = refused else {
            panic!("{refused:?}");
        };
        assert_eq!(gaps[0].guarantee, Guarantee::Resident);
    }
}

/// A gap of this name, as the session tells it.
fn gap(sandbox: &Sandbox, name: &str) -> Option<String> {
    let gaps = sandbox.describe().hardening_gaps.clone();
    let begins = format!("{name}: ");
    gaps.into_iter().find(|gap| gap.starts_with(&begins))
}

/// An installation that has no residents.
fn without_residents(options: ContainerOptions) -> (ContainerOptions, TempDir) {
    let empty = tempfile::tempdir().expect("a folder");
    let options = ContainerOptions {
        resident: ResidentChoice::Auto,
        residents: vec![empty.path().into()],
        ..options
    };
    (options, empty)
}

#[test]
fn where_no_resident_is_a_shell_serves_and_it_is_told() {
    for options in on_each() {
        let (options, empty) = without_residents(options);
        let sandbox = open(options);
        let told = gap(&sandbox, "resident").expect("it is told");
        assert!(told.contains(&empty.path().display().to_string()), "{told}");
        assert!(gap(&sandbox, "ends-with-owner").is_some());
        for name in [PosixGap::LookAndUse, PosixGap::LateChange] {
            assert!(gap(&sandbox, name.as_str()).is_some(), "{name}");
        }
        // Everything that tells is in the image.
        assert_eq!(gap(&sandbox, PosixGap::ExitCodes.as_str()), None);
        assert_eq!(gap(&sandbox, PosixGap::RenameAcrossMounts.as_str()), None);
        wait(sandbox.write("a", "x", WriteOptions::default())).expect("it writes");
        assert_eq!(printed(&sandbox, "cat a"), "x");
        close(&sandbox);
    }
}

#[test]
fn what_the_fall_back_loses_can_be_required() {
    for options in on_each() {
        for guarantee in [Guarantee::Resident, Guarantee::EndsWithOwner] {
            let (options, _empty) = without_residents(ContainerOptions {
                require: [guarantee].into(),
                ..options.clone()
            });
            let refused = options.open_ambient().map(drop);
            let Err(OpenError::RequirementsUnmet { gaps }) = refused else {
                panic!("{refused:?}");
            };
            assert_eq!(gaps[0].guarantee, guarantee);
        }
    }
}

#[test]
fn what_is_named_is_not_replaced_by_a_shell() {
    for options in on_each() {
        let named = ContainerOptions {
            resident: ResidentChoice::Path("/nowhere/belljar-resident".into()),
            ..options
        };
        let refused = named.open_ambient().map(drop);
        assert!(
            matches!(refused, Err(OpenError::ResidentNotFound { .. })),
            "{refused:?}"
        );
    }
}

#[test]
fn nothing_is_found_again_by_shell() {
    for options in by_shell() {
        let state = tempfile::tempdir().expect("a folder");
        let again = ContainerOptions {
            name: Some(a_name("shell-again")),
            reconnect: true,
            state: Some(state.path().into()),
            ..options
        };
        let refused = again.open_ambient().map(drop);
        let Err(OpenError::ContainerOptions(ContainerOptionsError::ReconnectWithoutResident)) =
            refused
        else {
            panic!("{refused:?}");
        };
    }
}

/// An image that says that it is for another architecture, which is not so: it runs here. It is removed at the end.
struct ForeignImage(String);

impl ForeignImage {
    fn new() -> Self {
        let name = format!("{}:foreign", a_name("belljar-test").to_lowercase());
        let folder = tempfile::tempdir().expect("a folder");
        let script = r#"docker save "$1" | tar x && rm -f repositories &&
            sed -i 's/"architecture":"[a-z0-9]*"/"architecture":"arm64"/' [0-9a-f]*.json &&
            sed -i "s|$1|$2|" manifest.json && tar c . | docker load"#;
        let mut make = Program::new("sh");
        make.args(["-c", script, "sh", BUSYBOX, &name]);
        let made = make.current_dir(folder.path()).output().expect("a shell");
        assert!(made.status.success(), "{made:?}");
        Self(name)
    }
}

impl Drop for ForeignImage {
    fn drop(&mut self) {
        let mut remove = Program::new("docker");
        // What is left is an image of two megabytes.
        let _ = remove.args(["image", "rm", &self.0]).output();
    }
}

#[test]
fn the_image_s_architecture_says_which_resident_serves() {
    let Some(options) = on_docker() else {
        return;
    };
    let image = ForeignImage::new();
    let (options, folder) = without_residents(ContainerOptions {
        image: image.0.clone(),
        pull: PullPolicy::Never,
        ..options
    });
    let put = |architecture: &str| {
        let name = format!("belljar-resident-{architecture}-linux");
        std::fs::copy(static_resident(), folder.path().join(name)).expect("it is copied");
    };
    // One for this machine is none for the image.
    put(std::env::consts::ARCH);
    let sandbox = open(options.clone());
    let told = gap(&sandbox, "resident").expect("a shell serves");
    assert!(told.contains("aarch64"), "{told}");
    assert_eq!(printed(&sandbox, "echo ok"), "ok");
    close(&sandbox);
    put("aarch64");
    let sandbox = open(options);
    assert_eq!(gap(&sandbox, "resident"), None);
    assert_eq!(printed(&sandbox, "echo ok"), "ok");
    close(&sandbox);
}

#[test]
fn a_rename_from_one_mount_to_another_is_unsupported_by_every_way() {
    for options in on_each() {
        for resident in [ResidentChoice::Auto, ResidentChoice::Off] {
            let folders = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
            std::fs::write(folders[0].path().join("x"), "x").expect("a file");
            let binds = folders.iter().zip(["/workspace/a", "/workspace/b"]);
            let binds = binds.map(|(folder, place)| Bind {
                writable: true,
                ..Bind::read_only(folder.path(), place)
            });
            let workspace = tempfile::tempdir().expect("a folder");
            for name in ["a", "b"] {
                std::fs::create_dir(workspace.path().join(name)).expect("a folder");
            }
            let sandbox = open(ContainerOptions {
                resident,
                workspace: Some(workspace.path().into()),
                binds: binds.collect(),
                ..options.clone()
            });
            let renamed = wait(sandbox.rename("a/x", "b/x", Expected::Any));
            let error = renamed.expect_err("they are two mounts");
            assert_eq!(error.kind, ErrorKind::Unsupported, "{error}");
            assert!(folders[0].path().join("x").exists());
            assert!(!folders[1].path().join("x").exists());
            wait(sandbox.rename("a/x", "a/y", Expected::Any)).expect("it is one mount");
            close(&sandbox);
        }
    }
}

#[test]
fn it_ends_with_its_session() {
    for options in by_shell() {
        let of = options.engine;
        let name = a_name("shell");
        let label = format!("belljar.name={name}");
        let open_named = || {
            open(ContainerOptions {
                name: Some(name.clone()),
                ..options.clone()
            })
        };
        let sandbox = open_named();
        assert_eq!(labelled(of, &label).len(), 1);
        close(&sandbox);
        assert!(labelled(of, &label).is_empty());
        drop(open_named());
        let gone = || labelled(of, &label).is_empty();
        until(
            "the container of a dropped session ends",
            Duration::from_secs(5),
            gone,
        );
    }
}

#[test]
fn one_that_is_killed_from_outside_is_no_missing_file() {
    for options in by_shell() {
        let of = options.engine;
        let name = a_name("shell-killed");
        let label = format!("belljar.name={name}");
        let sandbox = open(ContainerOptions {
            name: Some(name),
            ..options
        });
        for id in labelled(of, &label) {
            engine(of, &["kill", &id]);
        }
        for _ in 0..2 {
            let lost = wait(sandbox.read("file")).expect_err("it is gone");
            assert_eq!(lost.kind, ErrorKind::BackendUnavailable, "{lost:?}");
        }
        close(&sandbox);
    }
}

#[test]
fn an_image_that_is_not_there_is_said_at_open() {
    let Some(mut options) = on_docker() else {
        return;
    };
    options.resident = ResidentChoice::Off;
    options.image = "belljar-test:no-such-image".to_owned();
    let refused = options.open_ambient().map(drop);
    let Err(OpenError::NotStarted(error)) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(error.kind, ErrorKind::BackendUnavailable);
}
