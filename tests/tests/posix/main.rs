//! The conformance suite against the backend that only runs programs, over this machine's own: by dash, by bash, and
//! by busybox and nothing else. `posix-busybox::files.write/makes-and-replaces`.
//!
//! Apart from the other backends' tests: here this process is what a container's first one is, and reaps what has lost
//! its parent.

#![expect(
    clippy::disallowed_methods,
    reason = "a component is a file of the operator's"
)]

mod local_client;
mod local_exec;
mod orphans;

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
};

use belljar::{
    Backend, Context, OpenOptions, Sandbox as Session, async_trait,
    backends::{
        Client, ClientOptions, ComponentOptions, Exec, HttpGrant, PosixOptions, SecretSource,
        SecretVariables,
    },
    config::Config,
};
use belljar_conformance::{
    Case, Factory, Failure, HostDirectory, Outcome, TIME_LIMIT, Workspace, cases, run_case,
};
use belljar_contract::{Sandbox, session::Limits};
use belljar_tests::{LendingServer, Starts};
use libtest_mimic::{Arguments, Completion, Failed, Trial};
use local_client::LocalClient;
use local_exec::LocalExec;
use tempfile::TempDir;

/// The component's file.
const COMPONENT: &str = "lends.wasm";

/// A set of utilities, and whether the cases may use the host's own way to the workspace.
const PLACES: [(&str, Place, bool); 6] = [
    ("posix-dash", Place::Dash, true),
    // Where the host has no way in, the sandbox's own processes make what the host makes in the others.
    ("posix-bash", Place::Bash, false),
    ("posix-busybox", Place::Busybox, true),
    ("client", Place::Client, true),
    ("component", Place::Component, true),
    ("component-as-text", Place::ComponentAsText, true),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Debian's `sh`, and `bash` to tell how programs end.
    Dash,
    /// `bash` as `sh`.
    Bash,
    /// Nothing but what busybox has.
    Busybox,
    /// The same, over a client that knows nothing but text and whole files.
    Client,
    /// The same, over a component that asks a server.
    Component,
    /// And one that gives what is printed as text.
    ComponentAsText,
}

/// What the backend is made over.
#[derive(Clone)]
enum Way {
    Exec(Arc<dyn Exec>),
    Client(Arc<dyn Client>),
    Component {
        server: Arc<LendingServer>,
        /// Whether what is printed comes back as it is.
        bytes: bool,
        /// The component's file, and what is compiled of it.
        directory: PathBuf,
    },
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    orphans::reap();
    let tools = match tempfile::tempdir() {
        Ok(tools) => tools,
        Err(error) => panic!("no temporary directory: {error}"),
    };
    let mut trials = Vec::new();
    for (name, place, by_host) in PLACES {
        // Each takes a minute; the one with the least to work with finds most. The others run when they are
        // named: `cargo test -p belljar-tests --test posix -- posix-dash::`.
        let wanted = match &arguments.filter {
            Some(filter) if !filter.is_empty() => {
                filter.starts_with(name) || name.starts_with(filter.as_str())
            }
            _ => matches!(place, Place::Busybox | Place::Client | Place::Component),
        };
        if !wanted {
            continue;
        }
        let directory = tools.path().join(name);
        let way = prepare(place, &directory)
            .unwrap_or_else(|error| panic!("{name} cannot be prepared: {error}"));
        match way {
            Some(way) => {
                let factory: Arc<dyn Factory> = Arc::new(Posix { way, by_host });
                trials.extend(cases().iter().map(|case| trial(name, &factory, case)));
            }
            None => trials.push(Trial::ignorable_test(name, || {
                Ok(Completion::ignored_with("needs Debian's busybox-static"))
            })),
        }
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn trial(backend: &str, factory: &Arc<dyn Factory>, case: &'static Case) -> Trial {
    let factory = Arc::clone(factory);
    Trial::ignorable_test(format!("{backend}::{}", case.name), move || match run_case(
        case, &factory, TIME_LIMIT,
    )
    .outcome
    {
        Outcome::Passed => Ok(Completion::Completed),
        Outcome::Skipped(reason) => Ok(Completion::ignored_with(reason)),
        Outcome::Failed(message) => Err(Failed::from(format!("{}\n{message}", case.about))),
    })
}

/// Makes the PATH that scripts have; none where the machine lacks what it takes.
fn prepare(place: Place, directory: &Path) -> std::io::Result<Option<Way>> {
    let own = directory.display().to_string();
    std::fs::create_dir_all(directory)?;
    let link = |text: &str, name: &str| std::os::unix::fs::symlink(text, directory.join(name));
    let usual = "/usr/local/bin:/usr/bin:/bin";
    let path = match place {
        Place::Dash => usual.to_owned(),
        Place::Bash => {
            link("/bin/bash", "sh")?;
            format!("{own}:{usual}")
        }
        Place::Busybox | Place::Client | Place::Component | Place::ComponentAsText => {
            let Ok(list) = std::process::Command::new("busybox").arg("--list").output() else {
                return Ok(None);
            };
            for applet in String::from_utf8_lossy(&list.stdout).lines() {
                link("/bin/busybox", applet)?;
            }
            own
        }
    };
    Ok(Some(match place {
        Place::Client => Way::Client(Arc::new(LocalClient::new(path))),
        Place::Component | Place::ComponentAsText => {
            let starts = Starts {
                spawn: orphans::spawn,
                forget: orphans::forget,
            };
            let server = Arc::new(LendingServer::start(path, starts));
            std::fs::write(
                directory.join(COMPONENT),
                belljar_test_guests::component("lends_over_http"),
            )?;
            Way::Component {
                server,
                bytes: place == Place::Component,
                directory: directory.to_owned(),
            }
        }
        Place::Dash | Place::Bash | Place::Busybox => Way::Exec(Arc::new(LocalExec::new(path))),
    }))
}

/// Opens a backend in a temporary directory for each case.
struct Posix {
    way: Way,
    by_host: bool,
}

#[async_trait]
impl Factory for Posix {
    async fn open(&self, context: &Context) -> Result<Workspace, Failure> {
        let folder = || {
            let folder = tempfile::tempdir();
            folder.map_err(|error| Failure::wrong(format!("no temporary directory: {error}")))
        };
        if let Way::Component {
            server,
            bytes,
            directory,
        } = &self.way
        {
            return lent(server, *bytes, directory, folder()?);
        }
        let (workspace, outside) = (folder()?, folder()?);
        let options = PosixOptions {
            backend: "posix".into(),
            root: workspace.path().display().to_string(),
            writable: true,
            durable: true,
            users: false,
            environment: Default::default(),
            // A case fills a directory up to this, and each file is a program's work.
            limits: Limits {
                results: 1000,
                ..Limits::default()
            },
            instructions: "A directory of this machine, by its own shell.".into(),
            hardening_gaps: Vec::new(),
        };
        let backend: Arc<dyn Backend> = match &self.way {
            Way::Exec(exec) => Arc::new(options.open(context, Arc::clone(exec)).await?),
            Way::Client(client) => {
                let options = ClientOptions {
                    posix: options,
                    scratch: "/tmp".into(),
                };
                options.open(context, Arc::clone(client)).await?
            }
            Way::Component { .. } => return Err(Failure::wrong("it is opened above".to_owned())),
        };
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

/// Has the component lend a directory of this machine.
fn lent(
    server: &LendingServer,
    bytes: bool,
    directory: &Path,
    outside: TempDir,
) -> Result<Workspace, Failure> {
    let wrong =
        |error: &dyn std::fmt::Display| Failure::wrong(format!("it does not open: {error}"));
    let mut options = ComponentOptions::new(directory.join(COMPONENT));
    options.settings.insert("url".into(), server.url());
    if !bytes {
        options.settings.insert("traits".into(), "none".into());
    }
    let token = SecretSource::Environment {
        name: "TOKEN".into(),
    };
    options.secrets.insert("token".into(), token);
    options.http.push(HttpGrant {
        ports: Some(vec![server.port()]),
        private: true,
        http: true,
        ..HttpGrant::to(["127.0.0.1"])
    });
    let mut config = Config::component(options).writable();
    // A case fills a directory up to this, and each file is a program's work.
    config.limits.results = 1000;
    let open = OpenOptions {
        secrets: SecretVariables::from([("TOKEN".into(), LendingServer::TOKEN.into())]),
        compilation_cache: Some(directory.join("compiled")),
        ..OpenOptions::default()
    };
    let sandbox = Session::open_ambient(&config, open).map_err(|error| wrong(&error))?;
    let root = sandbox.describe().root.clone();
    let host = HostDirectory::new_ambient(std::path::Path::new(&root), outside.path());
    let fresh = Workspace::fresh((*sandbox).clone()).with_outside(Arc::new(host));
    Ok(fresh.keeping(outside))
}
