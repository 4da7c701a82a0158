//! The argument vectors and the failures, on the real engines of this machine.
//!
//! An engine that is not there is skipped with a word on what to install; with `BELLJAR_CI` set it fails.

mod fixture;

use std::collections::BTreeMap;

use serde_json::json;

use super::{arguments::Keeper, prune::remove, *};
use crate::backends::owner::Owner;
use fixture::{IMAGE, Real, Running, each_engine, finished_owner};

/// What a container's status file says of one field.
fn field<'a>(status: &'a str, name: &str) -> &'a str {
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    line.map_or("", |rest| rest.trim_start_matches(':').trim())
}

/// The options of the mount at a place, as the kernel says them.
fn mount_options<'a>(mounts: &'a str, place: &str) -> Vec<&'a str> {
    let mut lines = mounts.lines().rev();
    let line = lines.find(|line| line.split(' ').nth(1) == Some(place));
    let options = line.and_then(|line| line.split(' ').nth(3));
    options.map_or(Vec::new(), |options| options.split(',').collect())
}

#[test]
fn every_knob_arrives() {
    each_engine(|real| {
        let mut options = real.options();
        options.memory = Some(128 << 20);
        options.cpu_millis = Some(500);
        options.pids_limit = Some(77);
        options.cap_add = ["CHOWN".to_owned()].into();
        let running = Running::start(real, options);
        let seen = running.inspect();
        let host = &seen["HostConfig"];
        assert_eq!(host["ReadonlyRootfs"], json!(true));
        assert_eq!(host["PidsLimit"], json!(77));
        assert_eq!(host["NetworkMode"], json!("none"));
        assert_eq!(host["Memory"], json!(128 << 20));
        assert_eq!(host["LogConfig"]["Type"], json!("none"));
        assert_eq!(host["AutoRemove"], json!(true));
        assert_eq!(host["Privileged"], json!(false));
        assert_eq!(host["Tmpfs"].as_object().map(|tmpfs| tmpfs.len()), Some(2));
        assert_eq!(seen["Config"]["Hostname"], json!("belljar"));
        let labels = &seen["Config"]["Labels"];
        for (name, value) in running.labels.pairs() {
            assert_eq!(labels[name], json!(value), "{name}");
        }
        // And as it is seen from inside, which is what counts.
        let status = running.sh("cat /proc/self/status");
        assert_eq!(field(&status, "CapBnd"), "0000000000000001");
        assert_eq!(field(&status, "NoNewPrivs"), "1");
        assert_eq!(field(&status, "Seccomp"), "2");
        let mounts = running.sh("cat /proc/mounts");
        assert!(mount_options(&mounts, "/").contains(&"ro"));
        let scratch = mount_options(&mounts, "/workspace");
        for option in ["rw", "nosuid", "nodev", "size=1048576k"] {
            assert!(scratch.contains(&option), "{scratch:?}");
        }
        assert!(!scratch.contains(&"noexec"));
        let tmp = mount_options(&mounts, "/tmp");
        for option in ["rw", "nosuid", "nodev", "noexec", "size=262144k"] {
            assert!(tmp.contains(&option), "{tmp:?}");
        }
        for elsewhere in ["/run", "/var/tmp"] {
            assert!(mount_options(&mounts, elsewhere).is_empty(), "{elsewhere}");
        }
        let interfaces = running.sh("ls /sys/class/net");
        assert!(!interfaces.contains("eth"), "{interfaces}");
        assert_eq!(running.sh("pwd; hostname").trim(), "/workspace\nbelljar");
    });
}

#[test]
fn a_container_ends_when_its_input_does() {
    each_engine(|real| {
        let running = Running::start(real, real.options());
        running.end();
    });
}

#[test]
fn process_1_reaps_what_others_leave() {
    each_engine(|real| {
        let running = Running::start(real, real.options());
        // Each is orphaned, and ends when its pipe does; none may stay as a zombie.
        running.sh("i=0; while [ $i -lt 20 ]; do (true &) ; i=$((i+1)); done");
        running.until("there are no zombies", || {
            let states = running.sh("cat /proc/[0-9]*/stat 2>/dev/null | grep -c ') Z ' ; true");
            states.trim() == "0"
        });
    });
}

#[test]
fn values_reach_a_process_and_no_argument_vector() {
    each_engine(|real| {
        let running = Running::start(real, real.options());
        let said = running.exec(
            &["sh", "-c", "echo \"$TOKEN\""],
            &[("TOKEN", "s3 cr=et\nx")],
        );
        assert_eq!(said.trim_end(), "s3 cr=et\nx");
        assert!(!running.inspect().to_string().contains("s3 cr"));
    });
}

#[test]
fn a_path_with_signs_of_every_kind_is_bound() {
    each_engine(|real| {
        let folder = tempfile::tempdir().expect("a folder");
        let odd = folder.path().join("a,b:c \"d\" =e'$(x)");
        std::fs::create_dir(&odd).expect("a folder");
        #[expect(clippy::disallowed_methods, reason = "a test's own folder")]
        std::fs::write(odd.join("file"), "content").expect("a file");
        let mut options = real.options();
        options.binds.push(Bind::read_only(&odd, "/data"));
        options.workspace = Some(odd.clone());
        let running = Running::start(real, options);
        assert_eq!(running.sh("cat /data/file file"), "contentcontent");
        let denied = running.sh("touch /data/new 2>/dev/null || echo denied; touch made");
        assert_eq!(denied.trim(), "denied");
        assert!(odd.join("made").exists());
    });
}

#[test]
#[cfg(unix)]
fn what_is_made_in_the_workspace_belongs_to_the_caller() {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
    each_engine(|real| {
        let folder = tempfile::tempdir().expect("a folder");
        // As root any user can be played; otherwise there is but one.
        let mut user = HostUser {
            uid: rustix::process::getuid().as_raw(),
            gid: rustix::process::getgid().as_raw(),
        };
        if user.uid == 0 {
            user = HostUser {
                uid: 1234,
                gid: 2345,
            };
            chown(folder.path(), Some(user.uid), Some(user.gid)).expect("it is root's");
        }
        let mode = std::fs::Permissions::from_mode(0o700);
        std::fs::set_permissions(folder.path(), mode).expect("it is ours");
        let mut options = real.options();
        options.workspace = Some(folder.path().to_owned());
        let running = Running::start_as(real, options, user);
        running.sh("mkdir built; echo x > built/new");
        let made = std::fs::metadata(folder.path().join("built/new")).expect("made");
        assert_eq!((made.uid(), made.gid()), (user.uid, user.gid));
    });
}

#[test]
fn a_user_who_is_not_root_can_write_in_the_scratch() {
    each_engine(|real| {
        let mut options = real.options();
        // The image has this folder, and it is root's.
        options.cwd = "/workspace".into();
        options.user = Some(ContainerUser::Named("1234:2345".into()));
        let running = Running::start(real, options);
        let said = running.sh("printf '#!/bin/sh\\necho ran' > run; chmod +x run; ./run; \
             cp run /tmp/run; /tmp/run 2>/dev/null || echo denied");
        assert_eq!(said.trim(), "ran\ndenied");
    });
}

#[test]
fn prune_removes_what_has_no_owner_in_every_state_and_nothing_else() {
    each_engine(|real| {
        let gone = finished_owner();
        let states = ["created", "running", "paused", "exited"];
        let mut left = BTreeMap::new();
        for state in states {
            left.insert(real.leave(state, Some(gone.clone()), None), state);
        }
        let mine = real.leave("running", Some(Owner::this_ambient()), None);
        let named = real.leave("exited", Some(gone.clone()), Some("build"));
        let elsewhere = real.leave("running", None, None);
        let verdicts = |dry_run| {
            let options = PruneOptions {
                engine: real.engine(),
                engine_environment: fixture::environment(),
                dry_run,
                ..PruneOptions::default()
            };
            let report = prune_ambient(&belljar_contract::Context::new(), &options);
            let containers = report.expect("the engine answers").containers;
            let ours = containers.into_iter().map(|one| {
                assert!(one.failure.is_none(), "{:?}", one.failure);
                (one.id, (one.state.as_str(), one.verdict))
            });
            ours.collect::<BTreeMap<_, _>>()
        };
        for dry_run in [true, false] {
            let verdicts = verdicts(dry_run);
            for (id, state) in &left {
                assert_eq!(verdicts[id], (*state, Verdict::OwnerGone));
            }
            assert_eq!(verdicts[&mine].1, Verdict::Keep(Kept::OwnerLives));
            assert_eq!(verdicts[&named].1, Verdict::Keep(Kept::Named));
            assert_eq!(verdicts[&elsewhere].1, Verdict::Keep(Kept::Leased));
        }
        let after = verdicts(true);
        for id in left.keys() {
            assert!(!after.contains_key(id));
        }
        for id in [mine, named, elsewhere] {
            assert!(after.contains_key(&id));
            remove(&real.cli, &belljar_contract::Context::new(), &id).expect("it goes");
            // A second time there is nothing to do, and that is well.
            remove(&real.cli, &belljar_contract::Context::new(), &id).expect("it is gone");
        }
    });
}

#[test]
fn each_failure_is_its_own() {
    each_engine(|real| {
        let failure = |change: &dyn Fn(&mut ContainerOptions)| {
            let mut options = real.options();
            change(&mut options);
            real.run_to_its_end(&options, Keeper::Shell).failure
        };
        assert!(matches!(
            failure(&|options| {
                options.image = "belljar-test:no-such".into();
                options.pull = PullPolicy::Never;
            }),
            CliFailure::ImageUnknown
        ));
        assert!(matches!(
            failure(&|options| options.image = "localhost:1/no/such:1".into()),
            CliFailure::PullFailed
        ));
        assert!(matches!(
            failure(&|options| options.image = "UPPER/case".into()),
            CliFailure::ImageNameInvalid
        ));
        assert!(matches!(
            failure(&|options| options.user = Some(ContainerUser::Named("nobody-here".into()))),
            CliFailure::UserUnknown
        ));
        assert!(matches!(
            failure(&|options| options.network = "no-such-net".into()),
            CliFailure::NetworkUnknown
        ));
        assert!(matches!(
            failure(&|options| options.workspace = Some("/no/such/folder".into())),
            CliFailure::BindSourceMissing
        ));
        let gone = real.call(&arguments::inspect(real.engine(), ["no-such-id"]));
        assert!(matches!(gone, Err(error) if matches!(error.failure, CliFailure::ContainerGone)));
        let image = real.call(&arguments::image_inspect("belljar-test:no-such"));
        assert!(matches!(image, Err(error) if matches!(error.failure, CliFailure::ImageUnknown)));
    });
}

#[test]
fn a_name_in_use_a_stopped_and_a_paused_container_are_told_apart() {
    each_engine(|real| {
        let running = Running::start(real, real.options());
        let again = real.run_named(&real.options(), &running.container_name);
        assert!(matches!(again.failure, CliFailure::NameInUse), "{again}");
        real.call(&["pause".into(), running.id.clone()])
            .expect("paused");
        let exec = running.exec_vector(&["true"], &[]);
        let paused = real.call(&exec).expect_err("paused");
        // Podman says of both that they are improper.
        assert!(
            matches!(
                paused.failure,
                CliFailure::ContainerPaused | CliFailure::ContainerNotRunning
            ),
            "{paused}"
        );
        let unpause = arguments::unpause(real.engine(), &running.id).expect("it can");
        real.call(&unpause).expect("it goes on");
        running.sh("true");
        let stopped = real.leave("exited", Some(Owner::this_ambient()), None);
        let exec = Running::exec_in(&stopped, &["true"], &[]);
        let error = real.call(&exec).expect_err("it does not run");
        assert!(
            matches!(error.failure, CliFailure::ContainerNotRunning),
            "{error}"
        );
        real.call(&arguments::remove(real.engine(), &stopped))
            .expect("it goes");
    });
}

#[test]
fn an_engine_that_is_down_is_told() {
    each_engine(|real| {
        let (name, mut arguments) = match real.engine() {
            ContainerEngine::Docker => ("DOCKER_HOST", Vec::new()),
            ContainerEngine::Podman => ("CONTAINER_HOST", vec!["--remote".to_owned()]),
            ContainerEngine::Apple => return,
        };
        let down = fixture::with(&[(name, "unix:///no/such/socket")]);
        arguments.extend(arguments::containers(real.engine(), None));
        let error = Real::with_environment(real.engine(), down)
            .call(&arguments)
            .expect_err("it is down");
        assert!(matches!(error.failure, CliFailure::EngineDown), "{error}");
    });
}

#[test]
fn an_engine_tells_what_it_is() {
    each_engine(|real| {
        let answer = real
            .call(&arguments::info(real.engine()))
            .expect("it answers");
        let info = info::EngineInfo::parse(real.engine(), &answer.stdout).expect("understood");
        assert_eq!(info.architecture.as_deref(), Some(std::env::consts::ARCH));
        assert!(info.version.is_some() && info.limits_pids.is_some());
    });
}

#[test]
fn the_same_options_compare_as_the_same() {
    each_engine(|real| {
        let running = Running::start(real, real.options());
        let listed = listing::list(&real.cli, &belljar_contract::Context::new(), None);
        let listed = listed.expect("the engine answers");
        let there = listed
            .iter()
            .find(|one| one.id == running.id)
            .expect("listed");
        assert!(running.labels.differences(&there.labels).is_empty());
        assert_eq!(there.labels.image, IMAGE);
    });
}
