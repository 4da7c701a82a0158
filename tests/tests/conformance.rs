//! The conformance suite against every backend that needs nothing but this machine: each case
//! is a test, `local::files.write/makes-and-replaces`. What cannot be tried is ignored, with the reason.

use std::{
    path::Path,
    process::{Command, ExitCode},
    sync::{Arc, OnceLock},
    time::Duration,
};

use belljar::{
    Backend, Context, Host, HostOptions, async_trait,
    backends::{
        ContainerEngine, ContainerOptions, EngineEnvironment, KubernetesOptions, LocalOptions,
        OpenError, RemoteOptions, ResidentChoice, TransportChoice, VirtualOptions,
    },
    layers::{Policy, PolicyBackend},
    programs::{ProgramSet, Programs},
};
use belljar_conformance::{
    Case, Factory, Failure, HostDirectory, Outcome, Shared, TIME_LIMIT, Workspace, cases, run_case,
};
use belljar_contract::Sandbox;
use belljar_guest::testing::MemorySandbox;
use belljar_tests::{
    BUSYBOX, DEBIAN, E2bPlace, E2bProcess, KubernetesPlace, LentSandboxes, ResidentProcess,
    SandboxServer, SandboxServerOptions, SshServer, container_options, emulated_resident,
    has_emulator, has_engine, static_resident,
};
use libtest_mimic::{Arguments, Completion, Failed, Trial};

/// How many cases run at once, unless it is said.
const THREADS: usize = 6;

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    let kept = match tempfile::tempdir() {
        Ok(kept) => kept,
        Err(error) => panic!("no temporary directory: {error}"),
    };
    let shared = match local(kept.path()) {
        Ok(backend) => Sandbox::new(backend),
        Err(error) => panic!("the local backend does not open: {error}"),
    };
    // One container for all cases of one: each has a folder of its own.
    let filter = arguments.filter.as_deref();
    let mut sessions: Vec<_> = CONTAINERS
        .iter()
        .filter_map(|place| Some((place.name, place.open(filter)?)))
        .collect();
    // The same in a Pod, which takes a second or two to come.
    let place = match is_wanted("kubernetes", false, filter) {
        true => KubernetesPlace::make(),
        false => None,
    };
    let pod = place.as_ref().map(in_pod);
    let e2b = is_wanted(E2B, true, filter).then(e2b_place);
    sessions.extend(e2b.as_ref().map(|place| (E2B, e2b_sandbox(place))));
    let mut containers = sessions.iter().map(|(name, session)| {
        let factory: Arc<dyn Factory> = Arc::new(Shared::new(session.clone()));
        (*name, factory)
    });
    // Those that start programs from this process are far from each other: one that is about to start has for a
    // moment what another writes open, and a file that is written to cannot be executed.
    let mut backends: Vec<(&str, Arc<dyn Factory>)> = vec![
        ("local", Arc::new(Directory::new(local, true))),
        ("virtual", Arc::new(Directory::new(virtual_, true))),
        (
            "virtual-programs",
            Arc::new(Directory::new(with_program, true)),
        ),
        ("resident", Arc::new(Directory::new(resident, true))),
        // The sandbox's own processes make what the host makes in the other.
        ("local-from-inside", Arc::new(Directory::new(local, false))),
        ("memory", Arc::new(Memory)),
    ];
    if has_emulator() {
        let factory = Directory::new(emulated, true);
        backends.push((RESIDENT_EMULATED, Arc::new(factory)));
    }
    backends.push(("local-shared", Arc::new(Shared::new(shared))));
    backends.extend(containers.by_ref().take(2));
    backends.push(("policy", Arc::new(Directory::new(behind_policy, true))));
    backends.extend(containers);
    let ssh = Arc::new(OverSsh(OnceLock::new()));
    if is_wanted("ssh", false, filter) && SshServer::is_possible() {
        backends.push(("ssh", Arc::clone(&ssh) as Arc<dyn Factory>));
    }
    if is_wanted("serve-sandbox", false, filter) {
        backends.push(("serve-sandbox", Arc::new(Lent(OnceLock::new()))));
    }
    if let Some(session) = &pod {
        backends.push(("kubernetes", Arc::new(Shared::new(session.clone()))));
    }
    // Case by case, so that one that takes all of a processor is beside others that do, and one that holds a time
    // to its promise beside others that wait.
    let trials = cases()
        .iter()
        .flat_map(|case| {
            backends
                .iter()
                .map(move |(name, factory)| trial(name, factory, case))
        })
        .collect();
    // Most of a case's time is waiting.
    arguments.test_threads.get_or_insert(THREADS);
    let conclusion = libtest_mimic::run(&arguments, trials);
    if let Some(Some(server)) = ssh.0.get() {
        server.stop();
    }
    let sessions = sessions.into_iter().map(|(_, session)| session);
    for session in sessions.chain(pod) {
        if let Err(error) = belljar_contract::blocking::block_on(&Context::new(), session.close()) {
            panic!("a session was not closed: {error:?}");
        }
    }
    conclusion.exit_code()
}

/// How long a case may take by an exec for each operation: the longest are some 150 of them, and each takes a
/// second on a machine that does other things as well.
const SLOW_LIMIT: Duration = Duration::from_secs(180);

/// A sandbox that the shim for E2B makes, over the server that speaks E2B's protocol. It takes three minutes, and runs
/// when it is named: `-- e2b::`; a part of it is always run, in `tests/e2b/cases.rs`.
const E2B: &str = "e2b";

fn e2b_place() -> E2bPlace<E2bProcess> {
    let program = Path::new(env!("CARGO_BIN_EXE_e2b-stand-in"));
    let cache = concat!(env!("CARGO_TARGET_TMPDIR"), "/e2b");
    match E2bPlace::apart(program, &belljar_test_guests::shim("e2b"), cache) {
        Ok(place) => place,
        Err(error) => panic!("the server for E2B's clients does not start: {error}"),
    }
}

fn e2b_sandbox(place: &E2bPlace<E2bProcess>) -> Sandbox {
    let mut config = place.config("");
    // As by any other shell.
    config.limits.results = 1000;
    match place.open(&config) {
        Ok(sandbox) => (*sandbox).clone(),
        Err(error) => panic!("the sandbox of E2B does not open: {error:?}"),
    }
}

/// Where and how containers are tried.
const CONTAINERS: [InContainer; 7] = [
    InContainer {
        name: "docker-busybox",
        engine: ContainerEngine::Docker,
        image: BUSYBOX,
        // So that it can run out.
        adjust: |options| options.memory = Some(1 << 30),
        slow: false,
    },
    InContainer {
        name: "docker-debian",
        engine: ContainerEngine::Docker,
        image: DEBIAN,
        adjust: |options| options.memory = Some(1 << 30),
        slow: false,
    },
    InContainer {
        name: "podman-busybox",
        engine: ContainerEngine::Podman,
        image: BUSYBOX,
        adjust: |options| options.memory = Some(1 << 30),
        slow: false,
    },
    InContainer {
        name: "docker-stdio",
        engine: ContainerEngine::Docker,
        image: BUSYBOX,
        adjust: |options| options.transport = TransportChoice::Stdio,
        slow: false,
    },
    // Apple's command line, over docker.
    InContainer {
        name: "apple-stand-in",
        engine: ContainerEngine::Apple,
        image: BUSYBOX,
        adjust: |options| {
            options.program = Some(env!("CARGO_BIN_EXE_apple-stand-in").into());
        },
        slow: false,
    },
    InContainer {
        name: "docker-shell",
        engine: ContainerEngine::Docker,
        image: BUSYBOX,
        adjust: by_shell,
        slow: true,
    },
    InContainer {
        name: "podman-shell",
        engine: ContainerEngine::Podman,
        image: BUSYBOX,
        adjust: by_shell,
        slow: true,
    },
];

/// An exec of the engine's for each operation.
fn by_shell(options: &mut ContainerOptions) {
    options.resident = ResidentChoice::Off;
    // A case fills a directory up to this, and a place that only runs programs lists it as text.
    options.limits.results = 1000;
}

/// A backend whose sandbox is a container.
struct InContainer {
    name: &'static str,
    engine: ContainerEngine,
    image: &'static str,
    adjust: fn(&mut ContainerOptions),
    /// Takes five to ten minutes, nearly all of them the engine's (an exec is 70 to 170 ms of processor), and runs
    /// when it is named: `-- docker-shell::`.
    slow: bool,
}

impl InContainer {
    /// Opens it, where it is wanted and its engine is here. A run of other backends alone starts none.
    fn open(&self, filter: Option<&str>) -> Option<Sandbox> {
        let engine = match self.engine {
            // Whoever plays its part has docker do it.
            ContainerEngine::Apple => ContainerEngine::Docker,
            engine => engine,
        };
        if !is_wanted(self.name, self.slow, filter) || !has_engine(engine, self.image) {
            return None;
        }
        let mut options = container_options(self.engine, self.image);
        (self.adjust)(&mut options);
        match options.open_ambient() {
            Ok(backend) => Some(Sandbox::new(backend)),
            Err(error) => panic!("the {} backend does not open: {error:?}", self.name),
        }
    }
}

/// Opens a session in a Pod, with memory that can run out. Without a limit of processor time, at which all of the Pod
/// would stand still for longer than some promises of a case are.
fn in_pod(place: &KubernetesPlace) -> Sandbox {
    let options = KubernetesOptions {
        cpu_millis: None,
        memory: Some(1 << 30),
        ..place.options()
    };
    match options.open_ambient() {
        Ok(backend) => Sandbox::new(backend),
        Err(error) => panic!("the kubernetes backend does not open: {error:?}"),
    }
}

/// Whether a backend is among those that a filter names; a slow one is when it is named in full.
fn is_wanted(name: &str, slow: bool, filter: Option<&str>) -> bool {
    match filter {
        Some(filter) if !filter.is_empty() => {
            let backend = filter.split("::").next().unwrap_or(filter);
            match slow {
                true => backend == name,
                false => name.starts_with(backend),
            }
        }
        _ => !slow,
    }
}

const RESIDENT_EMULATED: &str = "resident-emulated";

/// What takes of the system what qemu does not emulate: to be told why a program does not start, and to become the
/// parent of what has lost its own (prctl(2), `PR_SET_CHILD_SUBREAPER`), which the resident tells as a gap.
const NOT_EMULATED: [&str; 3] = [
    "processes.run/not-executable",
    "processes.run/a-time-limit-ends-what-hides",
    "processes.run/leaves-no-zombies",
];

fn trial(backend: &str, factory: &Arc<dyn Factory>, case: &'static Case) -> Trial {
    let factory = Arc::clone(factory);
    if backend == RESIDENT_EMULATED && NOT_EMULATED.contains(&case.name) {
        return Trial::ignorable_test(format!("{backend}::{}", case.name), || {
            Ok(Completion::ignored_with(
                "qemu does not emulate what it takes",
            ))
        });
    }
    let is_slow = backend == E2B
        || CONTAINERS
            .iter()
            .any(|place| place.slow && place.name == backend);
    let limit = if is_slow { SLOW_LIMIT } else { TIME_LIMIT };
    Trial::ignorable_test(format!("{backend}::{}", case.name), move || match run_case(
        case, &factory, limit,
    )
    .outcome
    {
        Outcome::Passed => Ok(Completion::Completed),
        Outcome::Skipped(reason) => Ok(Completion::ignored_with(reason)),
        Outcome::Failed(message) => Err(Failed::from(format!("{}\n{message}", case.about))),
    })
}

/// How a backend is opened on a directory of the host.
type Open = fn(&Path) -> Result<Arc<dyn Backend>, OpenError>;

fn virtual_(workspace: &Path) -> Result<Arc<dyn Backend>, OpenError> {
    let options = VirtualOptions {
        workspace: Some(workspace.to_owned()),
        ..VirtualOptions::default()
    };
    options.open_ambient()
}

/// The same with a program, and so with processes. There is no shell, in whose language most cases about processes are;
/// what those are about is in `programs`.
fn with_program(workspace: &Path) -> Result<Arc<dyn Backend>, OpenError> {
    static PROGRAMS: OnceLock<Arc<dyn Programs>> = OnceLock::new();
    let programs = PROGRAMS.get_or_init(|| {
        let nothing = r#"(module (memory (export "memory") 1) (func (export "_start")))"#;
        let nothing = wat::parse_str(nothing).expect("the text is WebAssembly");
        let host = Host::new(HostOptions::default()).expect("the engine starts");
        let nothing = host.load_program(&nothing).expect("it is a program");
        Arc::new(ProgramSet::default().with("true", nothing))
    });
    let options = VirtualOptions {
        workspace: Some(workspace.to_owned()),
        programs: Some(Arc::clone(programs)),
        ..VirtualOptions::default()
    };
    options.open_ambient()
}

/// With `owns_all_children` left out: the sessions of many cases share this process.
fn local(workspace: &Path) -> Result<Arc<dyn Backend>, OpenError> {
    let options = LocalOptions {
        workspace: Some(workspace.to_owned()),
        allow_host_processes: true,
        ..LocalOptions::default()
    };
    options.open_ambient()
}

/// The engine on the other end of a stream.
fn resident(workspace: &Path) -> Result<Arc<dyn Backend>, OpenError> {
    let mut program = Command::new(static_resident());
    program.env_clear();
    behind_stream(program, workspace)
}

/// The same, built for another architecture.
fn emulated(workspace: &Path) -> Result<Arc<dyn Backend>, OpenError> {
    behind_stream(emulated_resident(), workspace)
}

fn behind_stream(program: Command, workspace: &Path) -> Result<Arc<dyn Backend>, OpenError> {
    let opened = ResidentProcess::open(program, workspace);
    let opened = opened.map_err(|source| OpenError::Workspace {
        path: workspace.to_owned(),
        source,
    })?;
    Ok(opened)
}

/// A policy that takes nothing away must change nothing.
fn behind_policy(workspace: &Path) -> Result<Arc<dyn Backend>, OpenError> {
    let below = local(workspace)?;
    Ok(Arc::new(PolicyBackend::new(below, Policy::everything())))
}

/// Opens a backend in a temporary directory for each case.
struct Directory {
    open: Open,
    /// Whether the cases may reach the directory on the host.
    by_host: bool,
}

impl Directory {
    fn new(open: Open, by_host: bool) -> Self {
        Self { open, by_host }
    }
}

#[async_trait]
impl Factory for Directory {
    async fn open(&self, _: &Context) -> Result<Workspace, Failure> {
        let folder = || {
            let folder = tempfile::tempdir();
            folder.map_err(|error| Failure::wrong(format!("no temporary directory: {error}")))
        };
        let (workspace, outside) = (folder()?, folder()?);
        let backend = (self.open)(workspace.path())
            .map_err(|error| Failure::wrong(format!("the backend does not open: {error}")))?;
        let fresh = Workspace::fresh(Sandbox::new(backend));
        let fresh = match self.by_host {
            true => {
                let host = HostDirectory::new_ambient(workspace.path(), outside.path());
                fresh.with_outside(Arc::new(host))
            }
            false => fresh,
        };
        Ok(fresh.keeping((workspace, outside)))
    }
}

/// Opens a session over `ssh` for each case, in a temporary directory of the server, which has this machine's
/// files. It starts with the first.
struct OverSsh(OnceLock<Option<SshServer>>);

#[async_trait]
impl Factory for OverSsh {
    async fn open(&self, _: &Context) -> Result<Workspace, Failure> {
        let wrong = |what: &str| Failure::wrong(what.to_owned());
        let server = self.0.get_or_init(SshServer::start).as_ref();
        let server = server.ok_or_else(|| wrong("the server does not start"))?;
        let folder = || tempfile::tempdir().map_err(|_| wrong("no temporary directory"));
        let (workspace, outside) = (folder()?, folder()?);
        let root = workspace
            .path()
            .to_str()
            .ok_or_else(|| wrong("not UTF-8"))?;
        let resident = static_resident().display().to_string();
        let options = RemoteOptions {
            program_environment: EngineEnvironment::from_variables(std::env::vars_os()),
            ..RemoteOptions::new(server.ssh(&[], &[&resident, "stdio"]), root)
        };
        let backend = options
            .open_ambient()
            .map_err(|error| Failure::wrong(format!("the backend does not open: {error}")))?;
        let host = HostDirectory::new_ambient(workspace.path(), outside.path());
        let fresh = Workspace::fresh(Sandbox::new(backend)).with_outside(Arc::new(host));
        Ok(fresh.keeping((workspace, outside)))
    }
}

/// Starts a server for each case, which lends sandboxes with the processes of this machine over TLS, and opens a session
/// by the component for it.
struct Lent(OnceLock<LentSandboxes>);

#[async_trait]
impl Factory for Lent {
    async fn open(&self, _: &Context) -> Result<Workspace, Failure> {
        let folder = || {
            let folder = tempfile::tempdir();
            folder.map_err(|error| Failure::wrong(format!("no temporary directory: {error}")))
        };
        let (workspace, outside) = (folder()?, folder()?);
        let server = SandboxServer::start(&SandboxServerOptions {
            tls: true,
            ..SandboxServerOptions::local_in(workspace.path())
        });
        let shim = || LentSandboxes::by(&belljar_test_guests::shim("serve_sandbox"));
        let sandbox = self.0.get_or_init(shim).open(&server);
        let sandbox = sandbox
            .map_err(|error| Failure::wrong(format!("the backend does not open: {error:?}")))?;
        let host = HostDirectory::new_ambient(workspace.path(), outside.path());
        let fresh = Workspace::fresh((*sandbox).clone()).with_outside(Arc::new(host));
        Ok(fresh.keeping((server, workspace, outside)))
    }
}

/// Makes a sandbox in memory for each case.
struct Memory;

#[async_trait]
impl Factory for Memory {
    async fn open(&self, _: &Context) -> Result<Workspace, Failure> {
        Ok(Workspace::fresh(Sandbox::from(&MemorySandbox::new())))
    }
}
