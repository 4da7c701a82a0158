//! The command line of Apple's `container`, played by a program of the tests over docker: which arguments it gets,
//! and what its answers become. What a virtual machine confines is not tried.

use std::path::PathBuf;

use belljar::{
    ErrorKind, RunOptions, WriteOptions,
    backends::{
        ContainerOptions, EngineEnvironment, Guarantee, OpenError, PruneOptions, PullPolicy,
        prune_ambient,
    },
    processes::Outcome,
};
use tempfile::TempDir;

use super::*;

const STAND_IN: &str = env!("CARGO_BIN_EXE_apple-stand-in");

/// A home for the stand-in, which is a machine to it, with a workspace.
struct Apple(TempDir);

impl Apple {
    fn new() -> Option<Self> {
        on_docker()?;
        let home = tempfile::tempdir().expect("a temporary folder");
        std::fs::create_dir(home.path().join("work")).expect("it is made");
        Some(Self(home))
    }

    fn work(&self) -> PathBuf {
        self.0.path().join("work")
    }

    fn environment(&self) -> EngineEnvironment {
        let home = [("HOME".into(), self.0.path().into())];
        EngineEnvironment::from_variables(std::env::vars_os().chain(home))
    }

    fn options(&self) -> ContainerOptions {
        ContainerOptions {
            program: Some(STAND_IN.into()),
            engine_environment: self.environment(),
            workspace: Some(self.work()),
            pull: PullPolicy::Missing,
            ..container_options(ContainerEngine::Apple, BUSYBOX)
        }
    }

    fn prune(&self, dry_run: bool) -> Vec<String> {
        let options = PruneOptions {
            engine: ContainerEngine::Apple,
            program: Some(STAND_IN.into()),
            engine_environment: self.environment(),
            dry_run,
            unseen: false,
        };
        let report = prune_ambient(&Context::new(), &options).expect("it answers");
        let containers = report.containers.iter();
        containers.map(|one| one.verdict.to_string()).collect()
    }

    /// The names of its containers.
    fn containers(&self) -> Vec<String> {
        let home = format!("--filter=label=apple-stand-in={}", self.0.path().display());
        let names = ["ps", "--all", "--format={{.Names}}", &home];
        let names = engine(ContainerEngine::Docker, &names);
        names.split_whitespace().map(str::to_owned).collect()
    }
}

#[test]
fn a_session_on_apples_engine() {
    let Some(apple) = Apple::new() else { return };
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
    assert_eq!(apple.containers().len(), 1);
    // What has a living owner is never removed.
    assert_eq!(apple.prune(false).len(), 1);
    assert_eq!(apple.containers().len(), 1);
    assert_eq!(printed(&sandbox, "echo lives"), "lives");
    close(&sandbox);
    assert!(apple.containers().is_empty());
    assert!(apple.prune(false).is_empty());
    assert_eq!(
        std::fs::read(apple.work().join("a")).expect("it is kept"),
        b"b"
    );
}

#[test]
fn one_that_is_killed_is_dead() {
    let Some(apple) = Apple::new() else { return };
    let sandbox = open(apple.options());
    printed(&sandbox, "true");
    let name = apple.containers().remove(0);
    let mut program = Program::new(STAND_IN);
    let deleted = program
        .args(["delete", "--force", &name])
        .env("HOME", apple.0.path());
    assert!(deleted.status().expect("it runs").success());
    let error = run(&sandbox, "true").expect_err("it is dead");
    is_dead(&sandbox, &error);
    close(&sandbox);
}

#[test]
fn what_cannot_be_had_is_refused_when_it_is_required() {
    let Some(apple) = Apple::new() else { return };
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
    let Some(apple) = Apple::new() else { return };
    for (pull, image, there) in [
        (PullPolicy::Never, BUSYBOX, true),
        (PullPolicy::Always, BUSYBOX, true),
        (PullPolicy::Never, "belljar-test:no-such", false),
        (PullPolicy::Always, "belljar-test:no-such", false),
        (PullPolicy::Missing, "belljar-test:no-such", false),
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
        assert!(apple.containers().is_empty());
    }
}
