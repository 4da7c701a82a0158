//! Without a resident: the same contract by an `exec` for each program, and told as weaker.

use std::time::Duration;

use belljar::{
    ErrorKind, WriteOptions,
    backends::{Guarantee, OpenError, ResidentChoice},
};

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
