//! Starts in the middle of which an engine fails.

use std::path::PathBuf;

use belljar::{
    ErrorKind,
    backends::{CliFailure, ContainerOptions},
};
use belljar_tests::Daemon;

use super::{
    daemon::{DISK, TRANSPORTS, over},
    *,
};

/// A daemon whose containers are made by a script, which does something else first.
struct ByScript {
    daemon: Daemon,
    script: Script,
}

struct Script(tempfile::TempDir);

impl ByScript {
    fn start() -> Option<Self> {
        let script = Script(tempfile::tempdir().expect("a temporary folder"));
        script.does("true");
        let runtime = format!("--add-runtime=script={}", script.path().display());
        let daemon = Daemon::start(DISK, &[&runtime, "--default-runtime=script"])?;
        Some(Self { daemon, script })
    }
}

impl Script {
    fn path(&self) -> PathBuf {
        self.0.path().join("runtime")
    }

    fn does(&self, what: &str) {
        let text = format!(
            "#!/bin/sh\ncase \" $* \" in *\" create \"*) {what};; esac\nexec runc \"$@\"\n"
        );
        // The one that is there may be running.
        let next = self.path().with_extension("next");
        std::fs::write(&next, text).expect("it is written");
        make_executable(&next);
        std::fs::rename(next, self.path()).expect("it is ours");
    }
}

#[test]
fn a_daemon_that_dies_while_it_starts_a_container() {
    let Some(ByScript { mut daemon, script }) = ByScript::start() else {
        return;
    };
    let pid = daemon.folder().join("pid");
    for transport in TRANSPORTS {
        script.does(&format!("kill -KILL \"$(cat {})\"", pid.display()));
        let sandbox = open(over(&daemon, transport));
        let began = Instant::now();
        let error = run(&sandbox, "true").expect_err("it does not start");
        assert!(began.elapsed() < Duration::from_secs(10), "{error:?}");
        assert_eq!(error.kind, ErrorKind::BackendUnavailable, "{error:?}");
        assert!(
            matches!(failure(&error), Some(CliFailure::EngineDown)),
            "{error:?}"
        );
        script.does("true");
        daemon.kill();
        daemon.restart().expect("it comes again");
        // The same session starts when the engine can.
        assert_eq!(printed(&sandbox, "echo again"), "again");
        close(&sandbox);
        assert!(daemon.containers().is_empty(), "{transport:?}");
    }
}

#[test]
fn a_start_that_takes_too_long_leaves_no_container() {
    let Some(ByScript { daemon, script }) = ByScript::start() else {
        return;
    };
    for transport in TRANSPORTS {
        script.does("sleep 4");
        let sandbox = open(ContainerOptions {
            start_timeout: Duration::from_secs(2),
            ..over(&daemon, transport)
        });
        let began = Instant::now();
        let error = run(&sandbox, "true").expect_err("it takes too long");
        assert!(began.elapsed() < Duration::from_secs(15), "{error:?}");
        assert_eq!(error.kind, ErrorKind::BackendUnavailable, "{error:?}");
        assert!(daemon.containers().is_empty(), "{transport:?}");
        close(&sandbox);
    }
}
