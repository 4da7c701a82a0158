//! The handle to an open session: where every argument is validated, once.
//!
//! A guest's import, a line of JSON-RPC, the command line and an application all come through here.
//! What a backend gets from it is a valid [`Request`]; what a caller gets is the result that belongs to
//! the function, or an error.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use crate::{
    backend::Backend,
    context::Context,
    error::{Error, ErrorKind, Result},
    files::{
        Chunk, Content, GlobResult, Info, Listing, MAX_CONTEXT_LINES, ReplaceOptions, Replaced,
        SearchResult, Syntax, WriteOptions,
    },
    path::{GuestPath, PathError, Pattern},
    processes::{Command, Ended, Execution, OutputChunk, OutputStream, ProcessId, SignalKind},
    request::{Launch, Operation, Query, Request, Response, Scope},
    session::{Capability, CommandInfo, Description},
    version::{Expected, Version},
};

/// The most names in one `find-commands`: more is a scan, not a question.
pub const MAX_COMMAND_NAMES: usize = 100;
/// The longest search pattern, in bytes: what a regular expression of that size compiles to stays
/// within the engine's own limit.
pub const MAX_SEARCH_PATTERN_BYTES: usize = 64 << 10;
/// The most globs in one `include` or `exclude`.
pub const MAX_FILTERS: usize = 256;

/// Which part of the tree to look at, as a caller gives it.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct ScopeOptions {
    /// Where to begin; the root when absent.
    pub base: Option<String>,
    /// Whether entries whose name begins with `.` count.
    pub hidden: bool,
    /// Whether entries that ignore files exclude count.
    pub ignored: bool,
    /// The most results; the session's limit when absent.
    pub limit: Option<u32>,
}

/// What to search for, as a caller gives it.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct QueryOptions {
    /// Not empty.
    pub pattern: String,
    /// How it is read.
    pub syntax: Syntax,
    /// Whether case does not matter.
    pub ignore_case: bool,
    /// Only files that match one of these globs; all when empty.
    pub include: Vec<String>,
    /// No files that match one of these globs.
    pub exclude: Vec<String>,
    /// Lines around each match.
    pub context: u32,
}

/// How to run a program, as a caller gives it.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct RunOptions {
    /// The working directory; the root when absent.
    pub directory: Option<String>,
    /// Added to the documented defaults; of two with one name the last counts.
    pub environment: Vec<(String, String)>,
    /// Everything on standard input.
    #[serde(with = "crate::bytes")]
    pub stdin: Vec<u8>,
    /// The user to run as.
    pub user: Option<String>,
    /// Wall-clock limit in milliseconds.
    pub timeout: Option<u64>,
    /// Bytes kept of each output.
    pub output_limit: Option<u64>,
}

/// An open session on a backend. Cheap to clone; every clone is the same session.
///
/// A handle carries the [`Context`] that its calls run in; [`within`](Self::within) gives a
/// handle for another one.
#[derive(Clone)]
pub struct Sandbox {
    session: Arc<Session>,
    context: Context,
}

struct Session {
    backend: Arc<dyn Backend>,
    closed: AtomicBool,
}

impl fmt::Debug for Sandbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sandbox")
            .field("backend", &self.session.backend.describe().backend)
            .field("closed", &self.is_closed())
            .finish_non_exhaustive()
    }
}

/// Takes the response that belongs to the request, or says that the backend is at fault.
macro_rules! ask {
    ($self:ident, $operation:expr, $request:expr, $variant:ident) => {
        match $self.call($request).await? {
            Response::$variant(value) => Ok(value),
            _ => Err(mismatch($operation)),
        }
    };
    ($self:ident, $operation:expr, $request:expr) => {
        match $self.call($request).await? {
            Response::Done => Ok(()),
            _ => Err(mismatch($operation)),
        }
    };
}

fn mismatch(operation: Operation) -> Error {
    Error::new(
        ErrorKind::BackendFailed,
        operation,
        "the backend gave a response of another operation",
    )
}

impl Sandbox {
    /// Opens a handle on a backend that is ready.
    #[must_use]
    pub fn new(backend: Arc<dyn Backend>) -> Self {
        let session = Session {
            backend,
            closed: AtomicBool::new(false),
        };
        Self {
            session: Arc::new(session),
            context: Context::new(),
        }
    }

    /// The same session, for calls that run in `context`.
    #[must_use]
    pub fn within(&self, context: Context) -> Self {
        Self {
            session: Arc::clone(&self.session),
            context,
        }
    }

    /// The same session through a layer around its backend: closed with it, and never the other way.
    #[must_use]
    pub fn layered(&self, layer: impl FnOnce(Arc<dyn Backend>) -> Arc<dyn Backend>) -> Self {
        let below = Below(Arc::clone(&self.session));
        Self {
            context: self.context.clone(),
            ..Self::new(layer(Arc::new(below)))
        }
    }

    /// The context that this handle's calls run in.
    #[must_use]
    pub const fn context(&self) -> &Context {
        &self.context
    }

    /// Describes the sandbox.
    #[must_use]
    pub fn describe(&self) -> Arc<Description> {
        self.session.backend.describe()
    }

    /// Whether the session was closed.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.session.closed.load(Ordering::Acquire)
    }

    /// Ends every process of the session and releases what it holds. A second close does nothing.
    ///
    /// # Errors
    /// As [`Backend::close`].
    pub async fn close(&self) -> Result<()> {
        if self.session.closed.swap(true, Ordering::AcqRel) {
            return Ok(());
        }
        self.session.backend.close().await
    }

    /// Reads a whole file.
    ///
    /// # Errors
    /// As `files.read`.
    pub async fn read(&self, path: &str) -> Result<Content> {
        let path = self.path(Operation::Read, path)?;
        ask!(self, Operation::Read, Request::Read { path }, Content)
    }

    /// Reads a part of a file.
    ///
    /// # Errors
    /// As `files.read-range`.
    pub async fn read_range(&self, path: &str, offset: u64, length: u64) -> Result<Chunk> {
        let operation = Operation::ReadRange;
        let parsed = self.path(operation, path)?;
        self.fits(operation, "the length", length)
            .map_err(|error| error.at(path))?;
        ask!(
            self,
            operation,
            Request::ReadRange {
                path: parsed,
                offset,
                length
            },
            Chunk
        )
    }

    /// Makes `bytes` the content of a file.
    ///
    /// # Errors
    /// As `files.write`.
    pub async fn write(
        &self,
        path: &str,
        bytes: impl Into<Vec<u8>>,
        options: WriteOptions,
    ) -> Result<Version> {
        let (path, bytes) = self.change(Operation::Write, path, bytes.into())?;
        ask!(
            self,
            Operation::Write,
            Request::Write {
                path,
                bytes,
                options
            },
            Version
        )
    }

    /// Adds `bytes` at the end of a file.
    ///
    /// # Errors
    /// As `files.append`.
    pub async fn append(
        &self,
        path: &str,
        bytes: impl Into<Vec<u8>>,
        options: WriteOptions,
    ) -> Result<Version> {
        let (path, bytes) = self.change(Operation::Append, path, bytes.into())?;
        ask!(
            self,
            Operation::Append,
            Request::Append {
                path,
                bytes,
                options
            },
            Version
        )
    }

    /// Replaces `old` by `new` in a file.
    ///
    /// # Errors
    /// As `files.replace`.
    pub async fn replace(
        &self,
        path: &str,
        old: impl Into<Vec<u8>>,
        new: impl Into<Vec<u8>>,
        options: ReplaceOptions,
    ) -> Result<Replaced> {
        let operation = Operation::Replace;
        let (parsed, new) = self.change(operation, path, new.into())?;
        let old = old.into();
        if old.is_empty() {
            return Err(invalid(operation, "the text to replace is empty").at(path));
        }
        self.fits(operation, "the text to replace", old.len() as u64)
            .map_err(|error| error.at(path))?;
        ask!(
            self,
            operation,
            Request::Replace {
                path: parsed,
                old,
                new,
                options
            },
            Replaced
        )
    }

    /// Lists a directory.
    ///
    /// # Errors
    /// As `files.list`.
    pub async fn list(&self, path: &str, limit: Option<u32>) -> Result<Listing> {
        let path = self.path(Operation::List, path)?;
        let limit = self.limit(limit);
        ask!(
            self,
            Operation::List,
            Request::List { path, limit },
            Listing
        )
    }

    /// Finds paths by a pattern.
    ///
    /// # Errors
    /// As `files.glob`.
    pub async fn glob(&self, pattern: &str, scope: ScopeOptions) -> Result<GlobResult> {
        let parsed = self.pattern(Operation::Glob, pattern)?;
        let scope = self.scope(Operation::Glob, scope)?;
        ask!(
            self,
            Operation::Glob,
            Request::Glob {
                pattern: parsed,
                scope
            },
            Glob
        )
    }

    /// Finds lines.
    ///
    /// # Errors
    /// As `files.search`.
    pub async fn search(&self, query: QueryOptions, scope: ScopeOptions) -> Result<SearchResult> {
        let operation = Operation::Search;
        let scope = self.scope(operation, scope)?;
        if query.pattern.is_empty() {
            return Err(invalid(operation, "the pattern is empty"));
        }
        if query.pattern.len() > MAX_SEARCH_PATTERN_BYTES {
            let message = format!("the pattern is over {MAX_SEARCH_PATTERN_BYTES} bytes");
            return Err(Error::new(ErrorKind::TooLarge, operation, message));
        }
        if query.context > MAX_CONTEXT_LINES {
            let message = format!("the context is over {MAX_CONTEXT_LINES} lines");
            return Err(Error::new(ErrorKind::TooLarge, operation, message));
        }
        let filters = |globs: &[String]| -> Result<Vec<Pattern>> {
            if globs.len() > MAX_FILTERS {
                let message = format!("more than {MAX_FILTERS} globs to include or exclude");
                return Err(Error::new(ErrorKind::TooLarge, operation, message));
            }
            globs
                .iter()
                .map(|glob| self.pattern(operation, glob))
                .collect()
        };
        let query = Query {
            include: filters(&query.include)?,
            exclude: filters(&query.exclude)?,
            pattern: query.pattern,
            syntax: query.syntax,
            ignore_case: query.ignore_case,
            context: query.context,
        };
        ask!(self, operation, Request::Search { query, scope }, Search)
    }

    /// Says what a path is.
    ///
    /// # Errors
    /// As `files.stat`.
    pub async fn stat(&self, path: &str) -> Result<Info> {
        let path = self.path(Operation::Stat, path)?;
        ask!(self, Operation::Stat, Request::Stat { path }, Info)
    }

    /// Gives the path with its links resolved.
    ///
    /// # Errors
    /// As `files.resolve`.
    pub async fn resolve(&self, path: &str) -> Result<GuestPath> {
        let path = self.path(Operation::Resolve, path)?;
        ask!(self, Operation::Resolve, Request::Resolve { path }, Path)
    }

    /// Makes a directory and its missing parents.
    ///
    /// # Errors
    /// As `files.make-directory`.
    pub async fn make_directory(&self, path: &str) -> Result<()> {
        let (path, _) = self.change(Operation::MakeDirectory, path, Vec::new())?;
        ask!(
            self,
            Operation::MakeDirectory,
            Request::MakeDirectory { path }
        )
    }

    /// Removes a file, a link, or a directory.
    ///
    /// # Errors
    /// As `files.remove`.
    pub async fn remove(&self, path: &str, recursive: bool) -> Result<()> {
        let operation = Operation::Remove;
        let (parsed, _) = self.change(operation, path, Vec::new())?;
        not_root(operation, &parsed)?;
        ask!(
            self,
            operation,
            Request::Remove {
                path: parsed,
                recursive
            }
        )
    }

    /// Moves a file, link or directory.
    ///
    /// # Errors
    /// As `files.rename`.
    pub async fn rename(&self, source: &str, target: &str, destination: Expected) -> Result<()> {
        let operation = Operation::Rename;
        let (source, _) = self.change(operation, source, Vec::new())?;
        let target = self.path(operation, target)?;
        not_root(operation, &source)?;
        not_root(operation, &target)?;
        if target != source && target.starts_with(&source) {
            return Err(
                invalid(operation, "a directory cannot be moved into itself")
                    .at(target.to_string()),
            );
        }
        ask!(
            self,
            operation,
            Request::Rename {
                source,
                target,
                destination
            }
        )
    }

    /// Copies a file.
    ///
    /// # Errors
    /// As `files.copy`.
    pub async fn copy(&self, source: &str, target: &str, destination: Expected) -> Result<Version> {
        let operation = Operation::Copy;
        let source = self.path(operation, source)?;
        let (target, _) = self.change(operation, target, Vec::new())?;
        ask!(
            self,
            operation,
            Request::Copy {
                source,
                target,
                destination
            },
            Version
        )
    }

    /// Runs a program to its end.
    ///
    /// # Errors
    /// As `processes.run`.
    pub async fn run(&self, command: Command, options: RunOptions) -> Result<Execution> {
        let launch = self.launch(Operation::Run, command, options)?;
        ask!(self, Operation::Run, Request::Run(launch), Execution)
    }

    /// Starts a program that may outlive this call.
    ///
    /// # Errors
    /// As `processes.start`.
    pub async fn start(&self, command: Command, options: RunOptions) -> Result<ProcessId> {
        let launch = self.launch(Operation::Start, command, options)?;
        ask!(self, Operation::Start, Request::Start(launch), Process)
    }

    /// Reads what a started process printed.
    ///
    /// # Errors
    /// As `processes.read-output`.
    pub async fn read_output(
        &self,
        process: ProcessId,
        output: OutputStream,
        cursor: u64,
        limit: u64,
        wait: Duration,
    ) -> Result<OutputChunk> {
        let operation = Operation::ReadOutput;
        let most = self.describe().limits.output_maximum;
        if limit > most {
            let message = format!("the limit is over the session's {most} bytes");
            return Err(Error::new(ErrorKind::TooLarge, operation, message));
        }
        ask!(
            self,
            operation,
            Request::ReadOutput {
                process,
                output,
                cursor,
                limit,
                wait
            },
            Output
        )
    }

    /// Writes to a started process's standard input.
    ///
    /// # Errors
    /// As `processes.write-input`.
    pub async fn write_input(
        &self,
        process: ProcessId,
        bytes: impl Into<Vec<u8>>,
        close: bool,
    ) -> Result<()> {
        let operation = Operation::WriteInput;
        let bytes = bytes.into();
        self.fits_stdin(operation, &bytes)?;
        ask!(
            self,
            operation,
            Request::WriteInput {
                process,
                bytes,
                close
            }
        )
    }

    /// Sends a signal to a started process.
    ///
    /// # Errors
    /// As `processes.signal`.
    pub async fn signal(&self, process: ProcessId, signal: SignalKind) -> Result<()> {
        ask!(self, Operation::Signal, Request::Signal { process, signal })
    }

    /// Waits for a started process to end.
    ///
    /// # Errors
    /// As `processes.wait`.
    pub async fn wait(&self, process: ProcessId, wait: Duration) -> Result<Option<Ended>> {
        ask!(
            self,
            Operation::Wait,
            Request::Wait { process, wait },
            Ended
        )
    }

    /// Looks commands up.
    ///
    /// # Errors
    /// As `session.find-commands`.
    pub async fn find_commands(&self, names: Vec<String>) -> Result<Vec<CommandInfo>> {
        let operation = Operation::FindCommands;
        if names.len() > MAX_COMMAND_NAMES {
            let message = format!("more than {MAX_COMMAND_NAMES} names");
            return Err(Error::new(ErrorKind::TooLarge, operation, message));
        }
        if names
            .iter()
            .any(|name| name.is_empty() || name.contains(['/', '\0']))
        {
            return Err(invalid(
                operation,
                "a command's name is not empty and has no / or NUL",
            ));
        }
        ask!(self, operation, Request::FindCommands { names }, Commands)
    }

    /// The one way to the backend: an open session, a call that may still run, and a
    /// capability for what it needs.
    async fn call(&self, request: Request) -> Result<Response> {
        self.session.call(&self.context, request).await
    }

    fn path(&self, operation: Operation, text: &str) -> Result<GuestPath> {
        GuestPath::parse(text, &self.describe().root)
            .map_err(|error| bad_path(operation, text, error))
    }

    fn pattern(&self, operation: Operation, text: &str) -> Result<Pattern> {
        Pattern::parse(text).map_err(|error| bad_path(operation, text, error))
    }

    fn change(
        &self,
        operation: Operation,
        path: &str,
        bytes: Vec<u8>,
    ) -> Result<(GuestPath, Vec<u8>)> {
        let parsed = self.path(operation, path)?;
        let description = self.describe();
        if !description.writable {
            return Err(
                Error::new(ErrorKind::ReadOnly, operation, "this sandbox is read-only").at(path),
            );
        }
        self.fits(operation, "the content", bytes.len() as u64)
            .map_err(|error| error.at(path))?;
        Ok((parsed, bytes))
    }

    fn fits(&self, operation: Operation, what: &str, bytes: u64) -> Result<()> {
        let most = self.describe().limits.file_bytes;
        if bytes > most {
            let message = format!(
                "{what} is {bytes} bytes, over the session's {most}; use ranges and appends"
            );
            return Err(Error::new(ErrorKind::TooLarge, operation, message));
        }
        Ok(())
    }

    fn fits_stdin(&self, operation: Operation, bytes: &[u8]) -> Result<()> {
        let most = self.describe().limits.stdin_bytes;
        if bytes.len() as u64 > most {
            let message = format!(
                "standard input is {} bytes, over the session's {most}",
                bytes.len()
            );
            return Err(Error::new(ErrorKind::TooLarge, operation, message));
        }
        Ok(())
    }

    fn limit(&self, asked: Option<u32>) -> u32 {
        let most = self.describe().limits.results;
        asked.map_or(most, |asked| asked.min(most))
    }

    fn scope(&self, operation: Operation, options: ScopeOptions) -> Result<Scope> {
        let base = match &options.base {
            Some(base) => self.path(operation, base)?,
            None => GuestPath::root(),
        };
        let ScopeOptions {
            hidden,
            ignored,
            limit,
            ..
        } = options;
        Ok(Scope {
            base,
            hidden,
            ignored,
            limit: self.limit(limit),
            within: Vec::new(),
        })
    }

    fn launch(
        &self,
        operation: Operation,
        command: Command,
        options: RunOptions,
    ) -> Result<Launch> {
        let description = self.describe();
        let limits = &description.limits;
        let too_large = |message: String| Error::new(ErrorKind::TooLarge, operation, message);
        let arguments: &[String] = match &command {
            Command::Argv(argv) => argv,
            Command::Shell(text) => std::slice::from_ref(text),
        };
        if arguments.first().is_none_or(String::is_empty) {
            return Err(invalid(operation, "there is no program to run"));
        }
        if arguments.iter().any(|argument| argument.contains('\0')) {
            return Err(invalid(operation, "an argument has a NUL character"));
        }
        let environment: BTreeMap<String, String> = options.environment.into_iter().collect();
        for (name, value) in &environment {
            if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
                let message = format!(
                    "{name:?} is not a variable: a name is not empty and has no =, and nothing has a NUL"
                );
                return Err(invalid(operation, &message));
            }
        }
        let size = arguments
            .iter()
            .map(|argument| argument.len() + 1)
            .sum::<usize>()
            + environment
                .iter()
                .map(|(name, value)| name.len() + value.len() + 2)
                .sum::<usize>();
        if size as u64 > limits.argument_bytes {
            return Err(too_large(format!(
                "arguments and environment are {size} bytes, over the session's {}; use standard input",
                limits.argument_bytes
            )));
        }
        self.fits_stdin(operation, &options.stdin)?;
        let output_limit = options.output_limit.unwrap_or(limits.output_default);
        if output_limit > limits.output_maximum {
            return Err(too_large(format!(
                "the output limit is over the session's {} bytes",
                limits.output_maximum
            )));
        }
        if options.user.is_some() && !description.can(Capability::User) {
            return Err(Error::new(
                ErrorKind::Unsupported,
                operation,
                "this backend runs processes as one user",
            ));
        }
        let timeout = match (options.timeout.map(Duration::from_millis), operation) {
            (Some(asked), _) if asked.is_zero() => {
                return Err(invalid(operation, "the time limit is zero"));
            }
            (Some(asked), Operation::Run) if asked > limits.timeout_maximum => {
                let most = limits.timeout_maximum.as_millis();
                return Err(invalid(
                    operation,
                    &format!("the time limit is over the session's {most} ms"),
                ));
            }
            (None, Operation::Run) => Some(limits.timeout_default),
            (asked, _) => asked,
        };
        let directory = match &options.directory {
            Some(directory) => self.path(operation, directory)?,
            None => GuestPath::root(),
        };
        Ok(Launch {
            command,
            directory,
            environment: environment.into_iter().collect(),
            stdin: options.stdin,
            user: options.user,
            timeout,
            output_limit,
        })
    }
}

impl Session {
    async fn call(&self, context: &Context, request: Request) -> Result<Response> {
        let operation = request.operation();
        if self.closed.load(Ordering::Acquire) {
            return Err(Error::new(
                ErrorKind::Closed,
                operation,
                "the session is closed",
            ));
        }
        context.check().map_err(|stop| stop.during(operation))?;
        if let Some(needed) = needed(operation) {
            let description = self.backend.describe();
            if !description.can(needed) {
                return Err(lacks(&description, needed, operation));
            }
        }
        self.backend.call(context, request).await
    }
}

/// A session as the backend of a layer: it stays open when the layered handle is closed.
struct Below(Arc<Session>);

#[async_trait::async_trait]
impl Backend for Below {
    fn describe(&self) -> Arc<Description> {
        self.0.backend.describe()
    }

    async fn call(&self, context: &Context, request: Request) -> Result<Response> {
        self.0.call(context, request).await
    }

    async fn close(&self) -> Result<()> {
        Ok(())
    }
}

/// The capability that an operation needs.
const fn needed(operation: Operation) -> Option<Capability> {
    match operation {
        Operation::Read
        | Operation::ReadRange
        | Operation::List
        | Operation::Glob
        | Operation::Search
        | Operation::Stat
        | Operation::Resolve => Some(Capability::Read),
        Operation::Write
        | Operation::Append
        | Operation::Replace
        | Operation::MakeDirectory
        | Operation::Remove
        | Operation::Rename
        | Operation::Copy => Some(Capability::Write),
        Operation::Run | Operation::FindCommands => Some(Capability::Run),
        Operation::Start
        | Operation::ReadOutput
        | Operation::WriteInput
        | Operation::Signal
        | Operation::Wait => Some(Capability::Start),
        Operation::Open | Operation::Describe | Operation::Close => None,
    }
}

/// Why a sandbox does not do what it lacks the capability for: its policy leaves nothing of it, or
/// its backend cannot.
fn lacks(description: &Description, needed: Capability, operation: Operation) -> Error {
    let policy = &description.policy;
    let left = match needed {
        Capability::Read => &policy.read,
        Capability::Write => &policy.write,
        Capability::Run | Capability::Start => &policy.programs,
        _ => &None,
    };
    if left.as_ref().is_some_and(Vec::is_empty) {
        let message = format!("the policy does not let this tool {needed}");
        return Error::new(ErrorKind::AccessDenied, operation, message);
    }
    let message = format!("the {} backend cannot {needed}", description.backend);
    Error::new(ErrorKind::Unsupported, operation, message)
}

fn invalid(operation: Operation, message: &str) -> Error {
    Error::new(ErrorKind::InvalidArgument, operation, message)
}

fn bad_path(operation: Operation, text: &str, error: PathError) -> Error {
    // What is told back is bounded, whatever was sent.
    let shown: String = text.chars().take(200).collect();
    Error::new(error.kind(), operation, error.to_string())
        .at(shown)
        .because(error)
}

fn not_root(operation: Operation, path: &GuestPath) -> Result<()> {
    if path.is_root() {
        return Err(invalid(operation, "the workspace's root cannot be moved or removed").at("."));
    }
    Ok(())
}
