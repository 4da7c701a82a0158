//! Programs that need no operating system, as processes of the `virtual` backend.

#![expect(
    clippy::disallowed_methods,
    reason = "tests make files, measure time, and are told where the programs are"
)]

mod confined;
mod ends;
mod lines;
mod loads;
mod made_up;
mod streams;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use belljar::{
    CallLimits, Host, HostOptions, RunOptions, Sandbox,
    backends::VirtualOptions,
    processes::{Command, Execution, Outcome, Output},
    programs::{Program, ProgramSet},
};
use tempfile::TempDir;

/// The built programs, by the names that they are called by here.
const BUILT: [(&str, &str); 23] = [
    ("cat", "coreutils"),
    ("cp", "coreutils"),
    ("cut", "coreutils"),
    ("echo", "coreutils"),
    ("head", "coreutils"),
    ("ls", "coreutils"),
    ("mkdir", "coreutils"),
    ("mv", "coreutils"),
    ("printenv", "coreutils"),
    ("printf", "coreutils"),
    ("pwd", "coreutils"),
    ("rm", "coreutils"),
    ("seq", "coreutils"),
    ("sleep", "coreutils"),
    ("sort", "coreutils"),
    ("tail", "coreutils"),
    ("tee", "coreutils"),
    ("tr", "coreutils"),
    ("uniq", "coreutils"),
    ("wc", "coreutils"),
    ("yes", "coreutils"),
    ("jq", "jaq"),
    ("rg", "rg"),
];

/// A sandbox with programs, and the directory that it works in.
struct Place {
    sandbox: Sandbox,
    folder: TempDir,
}

impl Place {
    /// One that may be written.
    fn of(programs: ProgramSet) -> Self {
        Self::with(programs, |_| {})
    }

    fn with(programs: ProgramSet, adjust: impl FnOnce(&mut VirtualOptions)) -> Self {
        let folder = tempfile::tempdir().expect("a temporary directory");
        let mut options = VirtualOptions {
            workspace: Some(folder.path().to_owned()),
            programs: Some(Arc::new(programs)),
            ..VirtualOptions::default()
        };
        adjust(&mut options);
        let backend = options.open_ambient().expect("the sandbox opens");
        Self {
            sandbox: Sandbox::new(backend),
            folder,
        }
    }

    fn write(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let path = self.folder.path().join(path);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).expect("a directory");
        }
        std::fs::write(path, bytes).expect("a file");
    }

    async fn run(&self, argv: &[&str], options: RunOptions) -> Execution {
        let argv = argv.iter().map(ToString::to_string).collect();
        let ended = self.sandbox.run(Command::Argv(argv), options).await;
        ended.expect("the program starts")
    }

    async fn line(&self, text: &str) -> Execution {
        let command = Command::Shell(text.to_owned());
        let ended = self.sandbox.run(command, RunOptions::default()).await;
        ended.expect("the line is understood")
    }

    /// What a line prints, which succeeds and says nothing else.
    async fn printed(&self, text: &str) -> String {
        let ended = self.line(text).await;
        assert_eq!(
            (ended.outcome, shown(&ended.stderr).as_str()),
            (Outcome::Exited(0), ""),
            "{text}"
        );
        shown(&ended.stdout)
    }
}

fn shown(output: &Output) -> String {
    output.to_text()
}

/// A host whose compiled code is kept beside the tests: compiling a program takes most of a minute in a dev build.
fn host() -> Host {
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("compiled-programs");
    Host::new(HostOptions {
        cache: Some(cache),
        ..HostOptions::default()
    })
    .expect("the engine starts")
}

/// A set of one program that was made up.
fn made(name: &str, bytes: &[u8]) -> ProgramSet {
    let program = host().load_program(bytes).expect("it is a program");
    ProgramSet::default().with(name, program)
}

/// The programs that the build task has built.
fn built() -> ProgramSet {
    // One test compiles them, and the others wait and find them in the cache.
    let lock = Path::new(env!("CARGO_TARGET_TMPDIR")).join("compiled-programs.lock");
    let lock = std::fs::File::create(lock).expect("a lock's file");
    lock.lock().expect("a lock");
    let host = host();
    let mut set = ProgramSet::default().with_limits(CallLimits::default());
    let mut loaded: Vec<(&str, Program)> = Vec::new();
    for (name, file) in BUILT {
        let known = loaded.iter().find(|(known, _)| *known == file);
        let program = match known {
            Some((_, program)) => program.clone(),
            None => {
                let path = built_file(file);
                let program = host.load_program_ambient(&path);
                let program = program.unwrap_or_else(|error| {
                    panic!(
                        "{}: {error}; build it with `cargo xtask programs`",
                        path.display()
                    )
                });
                loaded.push((file, program.clone()));
                program
            }
        };
        set = set.with(name, program);
    }
    set
}

fn built_file(name: &str) -> PathBuf {
    let folder = std::env::var_os("BELLJAR_PROGRAMS").map_or_else(
        || belljar_tests::workspace_root().join("target/programs"),
        PathBuf::from,
    );
    folder.join(format!("{name}.wasm"))
}
