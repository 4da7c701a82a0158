//! Containers for tests: an image without a registry, and what starts and ends one.

use std::{
    process::{Child, Command, Stdio},
    sync::{Mutex, OnceLock},
    time::Duration,
};

use belljar_contract::Context;
use serde_json::Value;

use super::super::{
    arguments::{self, Exec, Keeper, Start, Surroundings, hardening, run},
    cli::{Answer, Call, Cli},
    info::EngineInfo,
    labels::{self, Labels},
    listing, *,
};
use crate::backends::{lease, owner::Owner};

/// An image of nothing but busybox, with a folder `/workspace` of root's.
pub(super) const IMAGE: &str = "belljar-test:busybox";

/// How long an engine under load may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs a test on each engine of this machine.
pub(super) fn each_engine(test: impl Fn(&Real)) {
    for engine in [ContainerEngine::Docker, ContainerEngine::Podman] {
        let real = Real::with_environment(engine, environment());
        match real.ready() {
            Ok(()) => test(&real),
            Err(reason) if ci() => panic!("{engine}: {reason}"),
            Err(reason) => eprintln!("skipped on {engine}: {reason}"),
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "tests are told by it that none may be skipped"
)]
fn ci() -> bool {
    std::env::var_os("BELLJAR_CI").is_some()
}

pub(super) fn environment() -> EngineEnvironment {
    with(&[])
}

pub(super) fn with(more: &[(&str, &str)]) -> EngineEnvironment {
    let more = more.iter().map(|(name, value)| (name.into(), value.into()));
    EngineEnvironment::from_variables(std::env::vars_os().chain(more))
}

/// An engine of this machine.
pub(super) struct Real {
    pub(super) cli: Cli,
}

impl Real {
    pub(super) fn with_environment(
        engine: ContainerEngine,
        environment: EngineEnvironment,
    ) -> Self {
        Self {
            cli: Cli::new(engine, None, environment),
        }
    }

    pub(super) const fn engine(&self) -> ContainerEngine {
        self.cli.engine()
    }

    pub(super) fn call(&self, arguments: &[String]) -> Result<Answer, CliError> {
        let call = Call {
            arguments,
            input: None,
            timeout: PATIENCE,
        };
        self.cli.call(&Context::new(), call)
    }

    /// Whether there is an engine, with the image; once a process.
    fn ready(&self) -> Result<(), String> {
        static READY: [OnceLock<Result<(), String>>; 2] = [OnceLock::new(), OnceLock::new()];
        let index = usize::from(self.engine() == ContainerEngine::Podman);
        READY[index].get_or_init(|| self.make_ready()).clone()
    }

    fn make_ready(&self) -> Result<(), String> {
        self.call(&arguments::info(self.engine()))
            .map_err(|error| error.to_string())?;
        // Two processes that import at once make the same image twice, which is well.
        if self.call(&arguments::image_inspect(IMAGE)).is_ok() {
            return Ok(());
        }
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let root = folder.path().join("root");
        let script = "set -e; file -L /bin/busybox 2>/dev/null | grep -q dynamic && exit 1; \
            mkdir -p \"$1/bin\" \"$1/workspace\"; cp /bin/busybox \"$1/bin/busybox\"; \
            for applet in $(/bin/busybox --list); do [ $applet = busybox ] || ln -s busybox \"$1/bin/$applet\"; done; \
            tar -C \"$1\" -c -f \"$2\" .";
        let archive = folder.path().join("image.tar");
        let made = Command::new("sh")
            .args(["-c", script, "sh"])
            .args([&root, &archive])
            .status();
        if !made.is_ok_and(|status| status.success()) {
            return Err("no static busybox; on Debian: apt-get install busybox-static".into());
        }
        let import = [
            "import",
            "--change=ENV PATH=/bin",
            &archive.display().to_string(),
            IMAGE,
        ];
        let import: Vec<String> = import.iter().map(|&word| word.to_owned()).collect();
        self.call(&import).map_err(|error| error.to_string())?;
        Ok(())
    }

    pub(super) fn options(&self) -> ContainerOptions {
        ContainerOptions {
            engine: self.engine(),
            engine_environment: environment(),
            pull: PullPolicy::Missing,
            ..ContainerOptions::new(IMAGE)
        }
    }

    /// The vector that starts a container, its labels and its name.
    fn start(
        &self,
        options: &ContainerOptions,
        user: HostUser,
        keeper: Keeper<'_>,
        owner: Option<Owner>,
    ) -> (Vec<String>, Labels, String) {
        let info = self
            .call(&arguments::info(self.engine()))
            .expect("it answers");
        let surroundings = Surroundings {
            host_user: Some(user),
            info: EngineInfo::parse(self.engine(), &info.stdout).expect("understood"),
        };
        let options = options.clone().validated().expect("right");
        let hardening = hardening(&options, &surroundings).expect("it can be told");
        let now = lease::seconds_since_1970();
        let labels = Labels {
            session: lease::session_id().expect("random bits"),
            owner,
            name: options.name.clone(),
            hardening: labels::hardening(&hardening),
            image: options.image.clone(),
            lease: lease::lease_end(now, options.lease),
            stream: None,
        };
        let container_name = format!("belljar-{}", labels.session);
        let start = Start {
            hardening: &hardening,
            labels: &labels,
            container_name: &container_name,
            keeper,
        };
        let vector = run(&options, &start).expect("it can be told");
        (vector, labels, container_name)
    }

    /// Starts a container that must fail.
    pub(super) fn run_to_its_end(
        &self,
        options: &ContainerOptions,
        keeper: Keeper<'_>,
    ) -> CliError {
        let owner = Some(Owner::this_ambient());
        let (vector, ..) = self.start(options, ROOT, keeper, owner);
        self.call(&vector).expect_err("it does not start")
    }

    /// The same, under a name of the engine's.
    pub(super) fn run_named(&self, options: &ContainerOptions, container_name: &str) -> CliError {
        let owner = Some(Owner::this_ambient());
        let (mut vector, ..) = self.start(options, ROOT, Keeper::Shell, owner);
        for argument in &mut vector {
            if argument.starts_with("--name=") {
                *argument = format!("--name={container_name}");
            }
        }
        self.call(&vector).expect_err("it does not start")
    }

    /// Leaves a container in a state, and gives its id.
    pub(super) fn leave(&self, state: &str, owner: Option<Owner>, name: Option<&str>) -> String {
        let mut options = self.options();
        options.name = name.map(str::to_owned);
        let (mut vector, ..) = self.start(&options, ROOT, Keeper::Shell, owner);
        // It stays when it ends, and runs without anybody.
        vector.retain(|argument| !["--rm", "--interactive"].contains(&argument.as_str()));
        let text = vector.last_mut().expect("the shell's text");
        *text = match state {
            "exited" => "exit 0".into(),
            _ => "sleep 1000".into(),
        };
        vector[0] = "create".into();
        let answer = self.call(&vector).expect("it is made");
        let id = String::from_utf8_lossy(&answer.stdout).trim().to_owned();
        let call = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
            self.call(&words).expect("it does")
        };
        if state != "created" {
            call(&["start", &id]);
        }
        match state {
            "paused" => drop(call(&["pause", &id])),
            "exited" => drop(call(&["wait", &id])),
            _ => {}
        }
        id
    }
}

const ROOT: HostUser = HostUser { uid: 0, gid: 0 };

/// A container that runs, and ends with this value.
pub(super) struct Running<'a> {
    real: &'a Real,
    pub(super) id: String,
    pub(super) container_name: String,
    pub(super) labels: Labels,
    child: Mutex<Child>,
}

impl<'a> Running<'a> {
    pub(super) fn start(real: &'a Real, options: ContainerOptions) -> Self {
        Self::start_as(real, options, ROOT)
    }

    pub(super) fn start_as(real: &'a Real, options: ContainerOptions, user: HostUser) -> Self {
        let owner = Some(Owner::this_ambient());
        let (vector, labels, container_name) = real.start(&options, user, Keeper::Shell, owner);
        let mut command = real.cli.command(&vector);
        let child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::inherit())
            .spawn()
            .expect("the engine's program starts");
        let mut running = Self {
            real,
            id: String::new(),
            container_name,
            labels,
            child: Mutex::new(child),
        };
        let mut id = None;
        running.until_mut("it runs", |running| {
            id = running.listed();
            id.is_some()
        });
        running.id = id.expect("it runs");
        running
    }

    /// Its id, once it runs.
    fn listed(&self) -> Option<String> {
        let listed = listing::list(&self.real.cli, &Context::new(), None).expect("it answers");
        let ours = listed.into_iter().find(|one| {
            one.labels.session == self.labels.session && one.state == ContainerState::Running
        });
        ours.map(|one| one.id)
    }

    pub(super) fn until(&self, what: &str, mut so: impl FnMut() -> bool) {
        self.wait(what, &mut so);
    }

    fn until_mut(&self, what: &str, mut so: impl FnMut(&Self) -> bool) {
        self.wait(what, &mut || so(self));
    }

    /// Asks the engine again until it is so; each question takes its time.
    fn wait(&self, what: &str, so: &mut dyn FnMut() -> bool) {
        let context = Context::new().with_timeout(PATIENCE);
        while !so() {
            assert!(context.check().is_ok(), "not before long: {what}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub(super) fn inspect(&self) -> Value {
        let vector = arguments::inspect(self.real.engine(), [self.id.as_str()]);
        let answer = self.real.call(&vector).expect("it is there");
        let mut all: Vec<Value> = serde_json::from_slice(&answer.stdout).expect("JSON");
        all.remove(0)
    }

    pub(super) fn sh(&self, text: &str) -> String {
        self.exec(&["sh", "-c", text], &[])
    }

    pub(super) fn exec(&self, command: &[&str], variables: &[(&str, &str)]) -> String {
        let vector = self.exec_vector(command, variables);
        let mut program = self.real.cli.command(&vector);
        program.envs(variables.iter().copied());
        let output = program.stdin(Stdio::null()).output().expect("it runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command:?}: {said}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    pub(super) fn exec_vector(&self, command: &[&str], variables: &[(&str, &str)]) -> Vec<String> {
        Self::exec_in(&self.id, command, variables)
    }

    pub(super) fn exec_in(id: &str, command: &[&str], variables: &[(&str, &str)]) -> Vec<String> {
        let names: Vec<&str> = variables.iter().map(|(name, _)| *name).collect();
        arguments::exec(&Exec {
            container: id,
            directory: "/workspace",
            user: None,
            variables: &names,
            command,
        })
    }

    /// Lets it end, as it does when its owner dies: its input is closed, and nothing else is done.
    pub(super) fn end(self) {
        drop(self.child.lock().expect("no panic").stdin.take());
        self.until_mut("it is gone", |running| {
            let vector = arguments::inspect(running.real.engine(), [running.id.as_str()]);
            running.real.call(&vector).is_err()
        });
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        let target = match self.id.as_str() {
            "" => &self.container_name,
            id => id,
        };
        let _ = self
            .real
            .call(&arguments::remove(self.real.engine(), target));
        if let Ok(child) = self.child.get_mut() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// An owner that has ended: a process of this machine that was waited for.
pub(super) fn finished_owner() -> Owner {
    let child = Command::new("true").spawn().expect("it starts");
    let id = child.id().to_string();
    let this = Owner::this_ambient().to_string();
    let mut parts: Vec<&str> = this.split('/').collect();
    parts[2] = &id;
    let owner = Owner::parse(&parts.join("/")).expect("an owner");
    let mut child = child;
    child.wait().expect("it is ours");
    owner
}
