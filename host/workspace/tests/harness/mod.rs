//! A supervisor over a temporary workspace, and ways to look for what it left.
#![allow(
    dead_code,
    clippy::allow_attributes,
    reason = "each test binary uses a part of it"
)]

use std::{
    path::PathBuf,
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use belljar_contract::{
    Context, Error, ErrorKind, GuestPath, Launch, Request, Response,
    processes::{Command, Ended, Execution, OutputChunk, OutputStream, ProcessId, SignalKind},
    session::{CommandInfo, Limits},
};
use belljar_workspace::{
    files::Workspace,
    processes::{Options, Supervisor},
};

pub(crate) struct Session {
    pub(crate) supervisor: Supervisor,
    pub(crate) files: Workspace,
    pub(crate) directory: tempfile::TempDir,
    pub(crate) context: Context,
}

impl Session {
    pub(crate) fn new() -> Self {
        Self::with(false, Limits::default())
    }

    pub(crate) fn with(owns_all_children: bool, limits: Limits) -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let files =
            Workspace::open_ambient(directory.path(), &limits).expect("the directory is there");
        let root = directory.path().canonicalize().expect("it is there");
        let supervisor = Supervisor::new(Options {
            root: root.to_str().expect("it is text").into(),
            limits,
            owns_all_children,
        });
        Self {
            supervisor,
            files,
            directory,
            context: Context::new(),
        }
    }

    pub(crate) fn call(&self, request: Request) -> Result<Response, Error> {
        self.supervisor.call(&self.context, &self.files, request)
    }

    pub(crate) fn run(&self, launch: Launch) -> Execution {
        self.try_run(launch).expect("it starts")
    }

    pub(crate) fn sh(&self, text: &str) -> Execution {
        self.run(shell(text))
    }

    pub(crate) fn try_run(&self, launch: Launch) -> Result<Execution, ErrorKind> {
        self.run_in(&self.context, launch)
    }

    pub(crate) fn run_in(&self, context: &Context, launch: Launch) -> Result<Execution, ErrorKind> {
        match self
            .supervisor
            .call(context, &self.files, Request::Run(launch))
        {
            Ok(Response::Execution(execution)) => Ok(execution),
            Ok(other) => panic!("{other:?}"),
            Err(error) => Err(error.kind),
        }
    }

    pub(crate) fn try_start(&self, launch: Launch) -> Result<ProcessId, ErrorKind> {
        match self.call(Request::Start(launch)) {
            Ok(Response::Process(id)) => Ok(id),
            Ok(other) => panic!("{other:?}"),
            Err(error) => Err(error.kind),
        }
    }

    pub(crate) fn start(&self, launch: Launch) -> ProcessId {
        let launch = Launch {
            timeout: None,
            ..launch
        };
        self.try_start(launch).expect("it starts")
    }

    pub(crate) fn read(
        &self,
        process: ProcessId,
        cursor: u64,
        limit: u64,
        wait: Duration,
    ) -> Result<OutputChunk, ErrorKind> {
        let output = OutputStream::Stdout;
        let request = Request::ReadOutput {
            process,
            output,
            cursor,
            limit,
            wait,
        };
        match self.call(request) {
            Ok(Response::Output(chunk)) => Ok(chunk),
            Ok(other) => panic!("{other:?}"),
            Err(error) => Err(error.kind),
        }
    }

    /// Reads until `text` was printed.
    pub(crate) fn read_until(&self, process: ProcessId, text: &str) {
        let mut seen = Vec::new();
        let mut cursor = 0;
        while !String::from_utf8_lossy(&seen).contains(text) {
            let chunk = self
                .read(process, cursor, 1 << 16, Duration::from_secs(10))
                .expect("the cursor is one that was given");
            assert!(!chunk.ended, "it ended after {seen:?}");
            seen.extend(chunk.bytes);
            cursor = chunk.cursor;
        }
    }

    pub(crate) fn write(
        &self,
        process: ProcessId,
        bytes: &[u8],
        close: bool,
    ) -> Result<(), ErrorKind> {
        let bytes = bytes.to_vec();
        self.call(Request::WriteInput {
            process,
            bytes,
            close,
        })
        .map(drop)
        .map_err(|error| error.kind)
    }

    pub(crate) fn signal(&self, process: ProcessId, signal: SignalKind) {
        self.call(Request::Signal { process, signal })
            .expect("the process is known");
    }

    pub(crate) fn wait(&self, process: ProcessId, wait: Duration) -> Option<Ended> {
        match self.call(Request::Wait { process, wait }) {
            Ok(Response::Ended(ended)) => ended,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn find_commands(&self, names: &[&str]) -> Vec<CommandInfo> {
        let names = names.iter().map(ToString::to_string).collect();
        match self.call(Request::FindCommands { names }) {
            Ok(Response::Commands(commands)) => commands,
            other => panic!("{other:?}"),
        }
    }

    /// Writes a file of the workspace.
    #[expect(clippy::disallowed_methods, reason = "the test's own directory")]
    pub(crate) fn file(&self, name: &str, content: &str, mode: u32) {
        use std::os::unix::fs::PermissionsExt as _;

        let path = self.directory.path().join(name);
        std::fs::write(&path, content).expect("the directory is ours");
        let permissions = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(&path, permissions).expect("the file is ours");
    }
}

pub(crate) fn launch(command: Command) -> Launch {
    Launch {
        command,
        directory: GuestPath::root(),
        environment: vec![],
        stdin: vec![],
        user: None,
        timeout: Some(Duration::from_secs(60)),
        output_limit: 1 << 20,
    }
}

pub(crate) fn shell(text: &str) -> Launch {
    launch(Command::Shell(text.into()))
}

pub(crate) fn argv(argv: &[&str]) -> Launch {
    launch(Command::Argv(
        argv.iter().map(ToString::to_string).collect(),
    ))
}

pub(crate) fn limited(launch: Launch, milliseconds: u64) -> Launch {
    Launch {
        timeout: Some(Duration::from_millis(milliseconds)),
        ..launch
    }
}

/// A number of seconds that takes long, and that no other process sleeps.
pub(crate) fn sentinel() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let next = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("98765.{:07}{next:04}1", std::process::id())
}

/// The processes, zombies aside, that have the sentinel anywhere in their arguments: what sleeps, and
/// the shells whose script says so.
pub(crate) fn with_argument(sentinel: &str) -> Vec<PathBuf> {
    processes(|arguments| String::from_utf8_lossy(arguments).contains(sentinel))
}

/// The processes, zombies aside, whose arguments are so.
#[expect(clippy::disallowed_methods, reason = "it looks at every process")]
fn processes(wanted: impl Fn(&[u8]) -> bool) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").expect("it is Linux").flatten() {
        let Ok(arguments) = std::fs::read(entry.path().join("cmdline")) else {
            continue;
        };
        let is_process = entry.file_name().to_string_lossy().parse::<u32>().is_ok();
        if is_process && wanted(&arguments) {
            found.push(entry.path());
        }
    }
    found
}

/// The children of this process, of all its threads, and which of them are zombies.
#[expect(clippy::disallowed_methods, reason = "it looks at every process")]
pub(crate) fn children() -> Vec<(i32, bool)> {
    let own = std::process::id();
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").expect("it is Linux").flatten() {
        let Ok(pid) = entry.file_name().to_string_lossy().parse::<i32>() else {
            continue;
        };
        let Ok(stat) = std::fs::read_to_string(entry.path().join("stat")) else {
            continue;
        };
        let rest = stat
            .rsplit_once(')')
            .expect("a name stands in parentheses")
            .1;
        let mut fields = rest.split_ascii_whitespace();
        let state = fields.next().expect("a state");
        let parent: u32 = fields.next().expect("a parent").parse().expect("a number");
        if parent == own {
            found.push((pid, state == "Z"));
        }
    }
    found
}

/// Waits until so many sleep for the sentinel. A shell whose script only says so is not one of them: it
/// may not have come that far.
pub(crate) fn until_asleep(sentinel: &str, count: usize) {
    let context = Context::new().with_timeout(Duration::from_secs(20));
    let line = format!("sleep\0{sentinel}\0");
    while processes(|arguments| arguments == line.as_bytes()).len() < count {
        context.check().expect("it starts in time");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The time that `work` takes.
pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let context = Context::new();
    let before = context.now();
    let value = work();
    (value, context.now() - before)
}

/// What leaves its group, its session and its parent, and does not heed SIGTERM.
pub(crate) fn escape(alive: &str) -> String {
    format!(
        "trap '' TERM; sleep {alive} & (setsid sleep {alive} &) ; \
         setsid sh -c '(setsid sleep {alive} >/dev/null 2>&1 &) ; sleep {alive}' >/dev/null 2>&1 & "
    )
}
