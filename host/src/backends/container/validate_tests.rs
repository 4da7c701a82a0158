use std::path::PathBuf;

use super::*;
use crate::backends::container::Bind;

/// What is said of options with one change.
fn with(change: impl FnOnce(&mut ContainerOptions)) -> Result<ContainerOptions, Problem> {
    let mut options = ContainerOptions::new("debian:12");
    change(&mut options);
    options.validated()
}

#[test]
fn an_image_is_a_word_that_is_no_option() {
    for image in ["", "-v", "--privileged", "a b", "a\n", "a\0"] {
        let refused = with(|options| options.image = image.into());
        assert!(matches!(refused, Err(Problem::Image { .. })), "{image:?}");
    }
    for image in ["debian", "localhost:5000/a/b:1", "a@sha256:00"] {
        assert!(with(|options| options.image = image.into()).is_ok());
    }
}

#[test]
fn a_program_is_a_name_or_a_whole_path() {
    for (program, right) in [
        ("docker", true),
        ("/opt/docker", true),
        ("bin/docker", false),
    ] {
        let result = with(|options| options.program = Some(program.into()));
        assert_eq!(result.is_ok(), right, "{program}");
    }
}

#[test]
fn a_user_is_one_too() {
    for user in ["", "-u", "a b"] {
        let refused = with(|options| options.user = Some(ContainerUser::Named(user.into())));
        assert!(matches!(refused, Err(Problem::User { .. })), "{user:?}");
    }
    let named = ContainerUser::Named("1000:100".into());
    assert!(with(|options| options.user = Some(named)).is_ok());
}

#[test]
fn a_network_joins_nothing_else() {
    for network in ["", "container:db", "ns:/proc/1/ns/net", "-x", "a,b", "a=b"] {
        let refused = with(|options| options.network = network.into());
        assert!(
            matches!(refused, Err(Problem::Network { .. })),
            "{network:?}"
        );
    }
    for network in ["none", "bridge", "my_net-1.x"] {
        assert!(with(|options| options.network = network.into()).is_ok());
    }
}

#[test]
fn a_capability_is_a_name() {
    for capability in ["", "NET ADMIN", "a,b", "-x", "NET1"] {
        let refused = with(|options| options.cap_add = [capability.to_owned()].into());
        let is = matches!(refused, Err(Problem::Capability { .. }));
        assert!(is, "{capability:?}");
    }
    assert!(with(|options| options.cap_add = ["cap_chown".to_owned()].into()).is_ok());
}

#[test]
fn cwd_is_normal_and_not_the_containers_own() {
    let options = with(|options| options.cwd = "/srv//job/./".into()).expect("right");
    assert_eq!(options.cwd, "/srv/job");
    for cwd in [
        "",
        "work",
        "/",
        "/proc",
        "/sys/fs",
        "/dev",
        "/.belljar",
        "/.belljar/x",
        "/a/../proc/1",
    ] {
        let refused = with(|options| options.cwd = cwd.into());
        let is = matches!(refused, Err(Problem::ContainerPath { what: "cwd", .. }));
        assert!(is, "{cwd:?}");
    }
    let refused = with(|options| options.cwd = "/tmp".into());
    assert!(matches!(refused, Err(Problem::MountedTwice { .. })));
}

#[test]
fn each_bind_has_a_place_of_its_own() {
    let bound = |places: &[&str]| {
        let binds = places.iter().map(|place| Bind::read_only("/srv/x", *place));
        let binds = binds.collect();
        with(|options| options.binds = binds)
    };
    assert!(bound(&["/a", "/b", "/a/b", "/workspace/data", "/tmp/x"]).is_ok());
    for places in [
        &["/a", "/a/"][..],
        &["/workspace"],
        &["/tmp"],
        // It would hide what is in it, or be hidden.
        &["/workspace/.."],
        &["/proc/x"],
    ] {
        assert!(bound(places).is_err(), "{places:?}");
    }
    let above = with(|options| {
        options.cwd = "/srv/job".into();
        options.binds = vec![Bind::read_only("/x", "/srv")];
    });
    assert!(matches!(above, Err(Problem::MountedTwice { .. })));
}

#[test]
fn a_host_path_is_whole() {
    for path in ["", "a", "./a", "/a\nb"] {
        let refused = with(|options| options.workspace = Some(PathBuf::from(path)));
        assert!(matches!(refused, Err(Problem::HostPath { .. })), "{path:?}");
    }
    let odd = PathBuf::from("/a,b:c \"d\"=e");
    assert!(with(|options| options.workspace = Some(odd.clone())).is_ok());
    let apple = with(|options| {
        options.workspace = Some(odd);
        options.engine = ContainerEngine::Apple;
    });
    assert!(matches!(apple, Err(Problem::HostPath { .. })));
}

#[test]
fn to_be_found_again_takes_a_name_and_an_engine_that_can() {
    let refused = with(|options| options.reconnect = true);
    assert_eq!(refused.err(), Some(Problem::ReconnectWithoutName));
    let named = |engine| {
        with(|options| {
            options.reconnect = true;
            options.name = Some("build".into());
            options.engine = engine;
        })
    };
    assert!(named(ContainerEngine::Docker).is_ok());
    assert!(named(ContainerEngine::Podman).is_ok());
    let engine = ContainerEngine::Apple;
    let right = Some(Problem::ReconnectOnThisEngine { engine });
    assert_eq!(named(engine).err(), right);
    for name in ["", "a", "-ab", "a b", "a/b", &"a".repeat(64)] {
        let refused = with(|options| options.name = Some(name.into()));
        assert!(matches!(refused, Err(Problem::Name { .. })), "{name:?}");
    }
}

#[test]
fn numbers_that_nothing_can_run_with_are_refused() {
    let changes: [fn(&mut ContainerOptions); 5] = [
        |options| options.memory = Some(1 << 20),
        |options| options.cpu_millis = Some(0),
        |options| options.pids_limit = Some(1),
        |options| options.scratch_bytes = 0,
        |options| options.tmp_bytes = 1,
    ];
    for change in changes {
        assert!(matches!(with(change), Err(Problem::OutOfRange { .. })));
    }
    let none = |options: &mut ContainerOptions| options.pids_limit = None;
    assert!(with(none).is_ok());
}

#[test]
fn a_variable_that_is_none_is_named_without_its_value() {
    for (name, value) in [("", "s3cret"), ("A=B", "s3cret"), ("A", "s3cret\0")] {
        let refused = with(|options| {
            options.environment.insert(name.into(), value.into());
        });
        let error = refused.expect_err("no variable");
        assert!(matches!(error, Problem::Variable { .. }));
        assert!(!format!("{error} {error:?}").contains("s3cret"));
    }
}
