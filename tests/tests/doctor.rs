//! What containers of real engines give, as it is seen from inside: hardened, weakened, and by an engine that
//! does not do what it is told.

#![expect(
    clippy::disallowed_methods,
    reason = "a test sets up and looks at what is outside every workspace"
)]

use std::{
    collections::BTreeMap,
    error::Error as _,
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::Arc,
    time::Duration,
};

use belljar::{
    Backend, Context, Error, ErrorKind, WriteOptions,
    backends::{
        ContainerEngine, ContainerOptions, Guarantee, OpenError, PosixGap, ResidentChoice, Row,
        Standing, TransportChoice,
    },
    config::Config,
    examine_ambient,
};
use belljar_contract::{Sandbox, blocking::block_on};
use belljar_tests::{BUSYBOX, container_options, has_engine, static_resident};
use serde_json::Value;
use tempfile::TempDir;

const ENGINES: [ContainerEngine; 2] = [ContainerEngine::Docker, ContainerEngine::Podman];

/// The options of a test on each engine that is here.
fn each_engine(test: impl Fn(ContainerOptions)) {
    for engine in ENGINES {
        if has_engine(engine, BUSYBOX) {
            test(container_options(engine, BUSYBOX));
        }
    }
}

/// Waits for it, however long that takes.
fn wait<T>(future: impl Future<Output = T>) -> T {
    block_on(&Context::new(), future).expect("nobody ends it")
}

fn examined(options: ContainerOptions) -> BTreeMap<String, Row> {
    let context = Context::new();
    let report = wait(options.examine_ambient(&context));
    let rows = report.expect("it opens").rows.into_iter();
    rows.map(|row| (row.guarantee.clone(), row)).collect()
}

fn failures(rows: &BTreeMap<String, Row>) -> Vec<&str> {
    let failures = rows.values().filter(|row| row.fails());
    failures.map(|row| row.guarantee.as_str()).collect()
}

#[test]
fn a_hardened_container_gives_what_was_asked() {
    each_engine(|options| {
        let workspace = tempfile::tempdir().expect("a workspace");
        let more = ContainerOptions {
            memory: Some(128 << 20),
            cpu_millis: Some(500),
            workspace: Some(workspace.path().into()),
            ..options.clone()
        };
        for options in [options, more] {
            let engine = options.engine;
            let rows = examined(options);
            assert_eq!(failures(&rows), [""; 0], "{engine}: {rows:#?}");
            let unseen = rows.values().any(|row| row.standing == Standing::Unseen);
            assert!(!unseen, "{engine}: {rows:#?}");
        }
        // Nothing of the probe is left in the host's folder.
        let left = workspace.path().read_dir().expect("the workspace").count();
        assert_eq!(left, 0);
    });
}

#[test]
fn how_the_resident_is_reached_is_told() {
    each_engine(|options| {
        let engine = options.engine;
        for (transport, right, standing) in [
            (TransportChoice::Auto, "socket: ", Standing::NotAsked),
            (TransportChoice::Stdio, "stdio: ", Standing::Held),
        ] {
            let rows = examined(ContainerOptions {
                transport,
                ..options.clone()
            });
            let row = &rows["transport"];
            assert!(row.got.starts_with(right), "{engine}: {row:?}");
            assert_eq!(row.standing, standing, "{engine}: {row:?}");
        }
        let rows = examined(by_shell(options));
        assert!(
            !rows.contains_key("transport"),
            "{engine}: there is no stream"
        );
    });
}

fn by_shell(options: ContainerOptions) -> ContainerOptions {
    ContainerOptions {
        resident: ResidentChoice::Off,
        ..options
    }
}

#[test]
fn what_a_shell_serves_is_looked_into_as_well() {
    each_engine(|options| {
        let workspace = tempfile::tempdir().expect("a workspace");
        let options = ContainerOptions {
            memory: Some(128 << 20),
            cpu_millis: Some(500),
            workspace: Some(workspace.path().into()),
            ..by_shell(options)
        };
        let engine = options.engine;
        let rows = examined(options);
        assert_eq!(failures(&rows), [""; 0], "{engine}: {rows:#?}");
        let named = |standing| {
            let rows = rows.values().filter(|row| row.standing == standing);
            rows.map(|row| row.guarantee.as_str()).collect::<Vec<_>>()
        };
        assert_eq!(named(Standing::Unseen), [""; 0], "{engine}: {rows:#?}");
        let lost = [
            "ends-with-owner",
            PosixGap::LateChange.as_str(),
            PosixGap::LookAndUse.as_str(),
            PosixGap::ProgramName.as_str(),
            "resident",
            PosixGap::StrayProcesses.as_str(),
        ];
        assert_eq!(named(Standing::Missing), lost, "{engine}: {rows:#?}");
        for name in ["capabilities", "seccomp", "pids-limit", "memory-limit"] {
            assert_eq!(rows[name].standing, Standing::Held, "{engine}: {name}");
        }
        let left = workspace.path().read_dir().expect("the workspace").count();
        assert_eq!(left, 0);
    });
}

#[test]
fn what_the_fall_back_would_weaken_is_what_it_weakens() {
    each_engine(|options| {
        let context = Context::new();
        let report =
            |options: ContainerOptions| wait(options.examine_ambient(&context)).expect("it opens");
        let with = report(options.clone());
        let without = report(by_shell(options));
        assert!(without.fall_back.is_empty());
        let mut would: Vec<&str> = with.fall_back.iter().map(|one| one.name.as_str()).collect();
        would.sort_unstable();
        let is = |standing| {
            let rows = without.rows.iter();
            rows.filter(move |row| row.standing == standing)
        };
        let mut missing: Vec<&str> = is(Standing::Missing)
            .map(|row| row.guarantee.as_str())
            .collect();
        missing.sort_unstable();
        assert_eq!(would, missing);
    });
}

#[test]
fn what_a_shell_does_not_see_does_not_open_where_it_is_required() {
    each_engine(|options| {
        let engine = options.engine;
        let careless = Careless::new(engine, "--read-only");
        let strict = ContainerOptions {
            program: Some(careless.program()),
            require: [Guarantee::ReadonlyRootfs, Guarantee::Seccomp].into(),
            ..by_shell(options.clone())
        };
        match strict.open_ambient().map(drop) {
            Err(OpenError::RequirementsUnmet { gaps }) => {
                let gaps: Vec<Guarantee> = gaps.iter().map(|gap| gap.guarantee).collect();
                assert_eq!(gaps, [Guarantee::ReadonlyRootfs], "{engine}");
            }
            other => panic!("{engine}: {other:?}"),
        }
        for name in careless.names() {
            assert!(careless.is_gone(&name), "{engine}: {name}");
        }
        let met = ContainerOptions {
            require: [Guarantee::ReadonlyRootfs, Guarantee::Seccomp].into(),
            ..by_shell(options)
        };
        let (sandbox, answer) = first_call(met.open_ambient().expect("it opens"));
        assert_eq!(answer, Ok(()));
        wait(sandbox.close()).expect("it closes");
    });
}

#[test]
fn what_was_given_away_is_shown() {
    each_engine(|options| {
        let workspace = tempfile::tempdir().expect("a workspace");
        let weak = ContainerOptions {
            readonly_rootfs: false,
            network: "host".into(),
            cap_add: ["CHOWN".to_owned(), "NET_RAW".to_owned()].into(),
            pids_limit: None,
            workspace: Some(workspace.path().into()),
            writable: false,
            ..options
        };
        let engine = weak.engine;
        let rows = examined(weak.clone());
        assert_eq!(failures(&rows), [""; 0], "{engine}: {rows:#?}");
        for name in ["readonly-rootfs", "no-network", "pids-limit"] {
            let standing = rows[name].standing;
            assert_eq!(standing, Standing::NotAsked, "{engine}: {name}");
        }
        assert!(rows["readonly-rootfs"].got.contains("/etc/hosts"));
        assert_eq!(rows["capabilities"].asked, "CHOWN, NET_RAW");
        assert_eq!(rows["workspace"].standing, Standing::Held);
        // What is required and was given away is told, and not the end of the examination.
        let required = ContainerOptions {
            require: [Guarantee::PidsLimit, Guarantee::NoNetwork].into(),
            ..weak
        };
        let rows = examined(required);
        assert_eq!(failures(&rows), ["no-network", "pids-limit"], "{engine}");
    });
}

#[test]
fn what_is_required_and_not_asked_for_does_not_open() {
    each_engine(|options| {
        for (guarantee, options) in [
            (
                Guarantee::PidsLimit,
                ContainerOptions {
                    pids_limit: None,
                    ..options.clone()
                },
            ),
            (Guarantee::MemoryLimit, options.clone()),
        ] {
            let options = ContainerOptions {
                require: [guarantee].into(),
                ..options
            };
            match options.open_ambient().map(|_| ()) {
                Err(OpenError::RequirementsUnmet { gaps }) => {
                    let gaps: Vec<Guarantee> = gaps.iter().map(|gap| gap.guarantee).collect();
                    assert_eq!(gaps, [guarantee]);
                }
                other => panic!("{other:?}"),
            }
        }
    });
}

/// An engine's program that leaves out one of the options that it is told, and notes the containers' names.
struct Careless {
    folder: TempDir,
    engine: ContainerEngine,
}

impl Careless {
    fn new(engine: ContainerEngine, leaves_out: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let script = format!(
            "#!/bin/sh\nleft=$#\nwhile [ $left -gt 0 ]; do\n  one=$1; shift; left=$((left - 1))\n  \
             case $one in\n    {leaves_out}) continue;;\n    \
             --name=*) echo \"${{one#--name=}}\" >> \"$(dirname \"$0\")/names\";;\n  esac\n  \
             set -- \"$@\" \"$one\"\ndone\nexec {} \"$@\"\n",
            engine.program()
        );
        let careless = Self { folder, engine };
        // By a process of its own: a file that a thread of this one has open to write cannot be executed.
        let written = Command::new("sh")
            .args([
                "-c",
                "printf %s \"$1\" > \"$2\" && chmod +x \"$2\"",
                "sh",
                &script,
            ])
            .arg(careless.program())
            .status();
        assert!(written.expect("a shell").success());
        careless
    }

    fn program(&self) -> PathBuf {
        self.folder.path().join("engine")
    }

    /// The names of the containers that were started.
    fn names(&self) -> Vec<String> {
        let names = std::fs::read_to_string(self.folder.path().join("names"));
        let names = names.expect("some were started");
        names.lines().map(str::to_owned).collect()
    }

    /// Waits until a container is gone: podman removes one that ended in a process of its own, and may show it
    /// until that is done.
    fn is_gone(&self, container: &str) -> bool {
        (0..200).any(|_| {
            let mut inspect = Command::new(self.engine.program());
            let inspected = inspect.args(["container", "inspect", container]).output();
            let gone = !inspected.expect("the engine").status.success();
            if !gone {
                std::thread::sleep(Duration::from_millis(50));
            }
            gone
        })
    }
}

/// A session, and whether its first call was let through.
fn first_call(backend: Arc<dyn Backend>) -> (Sandbox, Result<(), Error>) {
    let sandbox = Sandbox::new(backend);
    let written = wait(sandbox.write("a", "b", WriteOptions::default()));
    (sandbox, written.map(drop))
}

#[test]
fn an_engine_that_does_not_do_what_it_is_told_is_found_out() {
    each_engine(|options| {
        let engine = options.engine;
        for (leaves_out, guarantee) in [
            ("--read-only", Guarantee::ReadonlyRootfs),
            ("--cap-drop=*", Guarantee::Capabilities),
            ("--pids-limit=*", Guarantee::PidsLimit),
            (
                "--security-opt=no-new-privileges",
                Guarantee::NoNewPrivileges,
            ),
        ] {
            let careless = Careless::new(engine, leaves_out);
            let options = ContainerOptions {
                program: Some(careless.program()),
                ..options.clone()
            };
            let rows = examined(options.clone());
            assert!(
                failures(&rows).contains(&guarantee.as_str()),
                "{engine}: {rows:#?}"
            );
            assert_eq!(rows[guarantee.as_str()].standing, Standing::Contradicted);

            let strict = ContainerOptions {
                require: [guarantee, Guarantee::Resident].into(),
                ..options
            };
            let (sandbox, answer) = first_call(strict.open_ambient().expect("it opens"));
            let error = answer.expect_err("it is not let through");
            assert_eq!(error.kind, ErrorKind::BackendUnavailable, "{error}");
            let source = error.source().and_then(|source| source.downcast_ref());
            let Some(OpenError::RequirementsUnmet { gaps }) = source else {
                panic!("{error:?}");
            };
            let gaps: Vec<Guarantee> = gaps.iter().map(|gap| gap.guarantee).collect();
            assert_eq!(gaps, [guarantee], "{engine}");
            wait(sandbox.close()).expect("it closes");
            let names = careless.names();
            assert_eq!(names.len(), 2, "{engine}: one a session");
            for name in names {
                assert!(careless.is_gone(&name), "{engine}: {name}");
            }
        }
    });
}

#[test]
fn what_nobody_requires_stops_nothing() {
    each_engine(|options| {
        let careless = Careless::new(options.engine, "--read-only");
        let options = ContainerOptions {
            program: Some(careless.program()),
            require: [Guarantee::Seccomp].into(),
            ..options
        };
        let (sandbox, answer) = first_call(options.open_ambient().expect("it opens"));
        assert_eq!(answer, Ok(()));
        wait(sandbox.close()).expect("it closes");
    });
}

#[test]
fn what_is_required_and_there_opens() {
    each_engine(|options| {
        let options = ContainerOptions {
            memory: Some(128 << 20),
            cpu_millis: Some(500),
            ..options
        };
        let known = [Guarantee::NoImageVolumes, Guarantee::HostUser];
        let asked = |guarantee: &Guarantee| !known.contains(guarantee);
        let options = ContainerOptions {
            require: Guarantee::ALL.into_iter().filter(asked).collect(),
            ..options
        };
        let (sandbox, answer) = first_call(options.open_ambient().expect("it opens"));
        assert_eq!(answer, Ok(()));
        wait(sandbox.close()).expect("it closes");
    });
}

#[test]
fn backends_without_containers_say_of_themselves() {
    let context = Context::new();
    let report = |text: &str| {
        let config = Config::from_toml(text, Path::new("/")).expect("it is right");
        let report = wait(examine_ambient(&context, &config, <_>::default()));
        report.expect("it opens")
    };
    let virtual_ = report("version = 1\n[sandbox]\nbackend = 'virtual'\n");
    assert_eq!(virtual_.backend, "virtual");
    assert!(
        virtual_
            .rows
            .iter()
            .all(|row| row.standing == Standing::Believed)
    );
    let local =
        report("version = 1\n[sandbox]\nbackend = 'local'\nlocal.allow-host-processes = true\n");
    assert!(local.rows.iter().any(|row| row.gap.is_some()));
    assert_eq!(local.failures().count(), 0);
}

/// The command: where the build task says, or beside this test.
fn belljar() -> PathBuf {
    let named = std::env::var_os("BELLJAR_BIN").map(PathBuf::from);
    let path = named.unwrap_or_else(|| {
        let test = std::env::current_exe().expect("this test's own path");
        let folder = test.ancestors().nth(2).expect("cargo's target folder");
        folder.join("belljar")
    });
    assert!(
        path.is_file(),
        "{} is not there; build it with `cargo build --package belljar`",
        path.display()
    );
    path
}

fn command(config: &str, arguments: &[&str]) -> Output {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("belljar.toml");
    std::fs::write(&file, config).expect("a configuration");
    let output = Command::new(belljar())
        .args(arguments)
        .arg("--config")
        .arg(&file)
        .current_dir(folder.path())
        .env(
            "BELLJAR_RESIDENTS",
            static_resident().parent().expect("a folder"),
        )
        .output();
    output.expect("the command runs")
}

#[test]
fn the_command_shows_a_table_and_sets_its_exit_code() {
    let plain = command("version = 1\n", &["doctor", "--json"]);
    assert_eq!(plain.status.code(), Some(0), "{plain:?}");
    let report: Value = serde_json::from_slice(&plain.stdout).expect("JSON");
    assert_eq!(report["ok"], true);
    each_engine(|options| {
        let config = |more: &str| {
            format!(
                "version = 1\n[sandbox]\nbackend = 'container'\n[sandbox.container]\n\
                 engine = '{}'\nimage = '{BUSYBOX}'\npull = 'never'\n{more}",
                options.engine
            )
        };
        let hardened = command(
            &config("require = ['seccomp', 'no-network']\n"),
            &["doctor"],
        );
        assert_eq!(hardened.status.code(), Some(0), "{hardened:?}");
        let lines = String::from_utf8_lossy(&hardened.stdout).lines().count();
        assert!(lines > Guarantee::ALL.len(), "{hardened:?}");

        let by_shell = config("resident = 'off'\nrequire = ['seccomp']\n");
        let shell = command(&by_shell, &["doctor", "--json"]);
        assert_eq!(shell.status.code(), Some(0), "{shell:?}");
        let report: Value = serde_json::from_slice(&shell.stdout).expect("JSON");
        assert_eq!(report["fall-back"], Value::Array(Vec::new()));
        let rows = report["rows"].as_array().expect("rows");
        let of_resident = rows.iter().find(|row| row["guarantee"] == "resident");
        assert_eq!(of_resident.expect("a row")["standing"], "missing");

        let unlimited = config("pids-limit = 0\nrequire = ['pids-limit']\n");
        let weak = command(&unlimited, &["doctor", "--json"]);
        assert_eq!(weak.status.code(), Some(8), "{weak:?}");
        let report: Value = serde_json::from_slice(&weak.stdout).expect("JSON");
        assert_eq!(report["ok"], false);
        let rows = report["rows"].as_array().expect("rows");
        let failing: Vec<&Value> = rows.iter().filter(|row| row["fails"] == true).collect();
        assert_eq!(failing.len(), 1, "{report}");
        assert_eq!(failing[0]["guarantee"], "pids-limit");
        assert_eq!(failing[0]["required"], true);
        // And nothing else works with that configuration.
        let other = command(&unlimited, &["fs", "list"]);
        assert_eq!(other.status.code(), Some(7), "{other:?}");
    });
}
