//! The command line of Apple's `container`, played by a program of the tests: which arguments it gets, and
//! what its answers become. What a virtual machine confines is not tried.

use std::path::Path;

use belljar::{
    ErrorKind, Limits, RunOptions, WriteOptions,
    backends::{
        ContainerOptions, EngineEnvironment, Guarantee, OpenError, PruneOptions, PullPolicy,
        prune_ambient,
    },
    processes::Outcome,
};
use belljar_tests::static_resident;
use tempfile::TempDir;

use super::*;

/// A home for the stand-in, with a workspace that has one path on both sides.
struct Apple(TempDir);

impl Apple {
    fn new() -> Self {
        let home = tempfile::tempdir().expect("a temporary folder");
        std::fs::create_dir(home.path().join("work")).expect("it is made");
        Self(home)
    }

    fn work(&self) -> std::path::PathBuf {
        std::fs::canonicalize(self.0.path().join("work")).expect("it is there")
    }

    fn environment(&self) -> EngineEnvironment {
        let home = self.0.path().as_os_str().to_owned();
        let path = std::env::var_os("PATH").unwrap_or_default();
        EngineEnvironment::from_variables([("HOME".into(), home), ("PATH".into(), path)])
    }

    fn options(&self) -> ContainerOptions {
        let work = self.work();
        ContainerOptions {
            engine: ContainerEngine::Apple,
            program: Some(env!("CARGO_BIN_EXE_apple-stand-in").into()),
            engine_environment: self.environment(),
            cwd: work.to_str().expect("text").to_owned(),
            workspace: Some(work),
            residents: static_resident()
                .parent()
                .map(Path::to_owned)
                .into_iter()
                .collect(),
            limits: Limits::default(),
            ..ContainerOptions::new("stand-in")
        }
    }

    fn prune(&self, dry_run: bool) -> Vec<String> {
        let options = PruneOptions {
            engine: ContainerEngine::Apple,
            program: Some(env!("CARGO_BIN_EXE_apple-stand-in").into()),
            engine_environment: self.environment(),
            dry_run,
            unseen: false,
        };
        let report = prune_ambient(&Context::new(), &options).expect("it answers");
        let containers = report.containers.iter();
        containers.map(|one| one.verdict.to_string()).collect()
    }

    fn containers(&self) -> usize {
        let entries = std::fs::read_dir(self.0.path().join("containers"));
        entries.map_or(0, Iterator::count)
    }
}

#[test]
fn a_session_on_apples_engine() {
    let apple = Apple::new();
    let sandbox = open(apple.options());
    let gaps = &sandbox.describe().hardening_gaps;
    for lacking in ["no-new-privileges", "pids-limit", "readonly-rootfs"] {
        assert!(gaps.iter().any(|gap| gap.starts_with(lacking)), "{gaps:?}");
    }
    wait(sandbox.write("a", "b", WriteOptions::default())).expect("it writes");
    assert_eq!(printed(&sandbox, "cat a; echo c >d"), "b");
    assert_eq!(wait(sandbox.read("d")).expect("it is there").bytes, b"c\n");
    let limited = RunOptions {
        timeout: Some(200),
        ..RunOptions::default()
    };
    let ended = wait(sandbox.run(Command::Shell("sleep 60".into()), limited));
    assert_eq!(ended.expect("it tells").outcome, Outcome::TimedOut);
    assert_eq!(apple.containers(), 1);
    // What has a living owner is never removed.
    assert_eq!(apple.prune(false).len(), 1);
    assert_eq!(apple.containers(), 1);
    assert_eq!(printed(&sandbox, "echo lives"), "lives");
    close(&sandbox);
    assert_eq!(apple.containers(), 0);
    assert!(apple.prune(false).is_empty());
    assert_eq!(
        std::fs::read(apple.work().join("a")).expect("it is kept"),
        b"b"
    );
}

#[test]
fn one_that_is_killed_is_dead() {
    let apple = Apple::new();
    let sandbox = open(apple.options());
    printed(&sandbox, "true");
    let mut program = Program::new(env!("CARGO_BIN_EXE_apple-stand-in"));
    let containers = std::fs::read_dir(apple.0.path().join("containers")).expect("a folder");
    let name = containers
        .map(|one| one.expect("an entry").file_name())
        .next()
        .expect("one");
    let status = program
        .arg("delete")
        .arg("--force")
        .arg(name)
        .env("HOME", apple.0.path());
    assert!(status.status().expect("it runs").success());
    let error = run(&sandbox, "true").expect_err("it is dead");
    is_dead(&sandbox, &error);
    close(&sandbox);
}

#[test]
fn what_cannot_be_had_is_refused_when_it_is_required() {
    let apple = Apple::new();
    let mut options = apple.options();
    options.require.insert(Guarantee::PidsLimit);
    match options.open_ambient() {
        Err(OpenError::RequirementsUnmet { gaps }) => {
            assert_eq!(gaps[0].guarantee, Guarantee::PidsLimit);
        }
        other => panic!("it is refused: {:?}", other.err()),
    }
}

#[test]
fn an_image_is_looked_for_by_the_policy() {
    let apple = Apple::new();
    for (pull, image, there) in [
        (PullPolicy::Never, "stand-in", true),
        (PullPolicy::Always, "stand-in", true),
        (PullPolicy::Never, "no-such", false),
        (PullPolicy::Always, "no-such", false),
        (PullPolicy::Missing, "no-such", false),
    ] {
        let sandbox = open(ContainerOptions {
            pull,
            image: image.into(),
            ..apple.options()
        });
        match run(&sandbox, "true") {
            Ok(_) => assert!(there, "{pull:?} {image}"),
            Err(error) => {
                assert!(!there, "{error:?}");
                assert_ne!(error.kind, ErrorKind::NotFound, "{error:?}");
            }
        }
        close(&sandbox);
        assert_eq!(apple.containers(), 0);
    }
}
