//! The conformance suite against the backend that only runs programs, over this machine's own: by dash, by bash, and
//! by busybox and nothing else. `posix-busybox::files.write/makes-and-replaces`.
//!
//! Apart from the other backends' tests: here this process is what a container's first one is, and reaps what has lost
//! its parent.

mod local_client;
mod local_exec;
mod orphans;

use std::{path::Path, process::ExitCode, sync::Arc};

use belljar::{
    Backend, Context, async_trait,
    backends::{Client, ClientOptions, Exec, PosixOptions},
};
use belljar_conformance::{
    Case, Factory, Failure, HostDirectory, Outcome, TIME_LIMIT, Workspace, cases, run_case,
};
use belljar_contract::{Sandbox, session::Limits};
use libtest_mimic::{Arguments, Completion, Failed, Trial};
use local_client::LocalClient;
use local_exec::LocalExec;

/// A set of utilities, and whether the cases may use the host's own way to the workspace.
const PLACES: [(&str, Place, bool); 4] = [
    ("posix-dash", Place::Dash, true),
    // Where the host has no way in, the sandbox's own processes make what the host makes in the others.
    ("posix-bash", Place::Bash, false),
    ("posix-busybox", Place::Busybox, true),
    ("client", Place::Client, true),
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
}

/// What the backend is made over.
#[derive(Clone)]
enum Way {
    Exec(Arc<dyn Exec>),
    Client(Arc<dyn Client>),
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
            _ => matches!(place, Place::Busybox | Place::Client),
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
        Place::Busybox | Place::Client => {
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
