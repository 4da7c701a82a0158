//! Files of a workspace, beneath one directory handle.
//!
//! [`Workspace`] answers the contract's `files` functions. Nothing here takes a path of the host but
//! [`Workspace::open_ambient`]: a path of a request is resolved beneath the workspace's handle, in
//! one step with its use, and what is then done is done to a handle and a name. `wit/semantics.md` says
//! what each function computes; each has a file here.
//!
//! Public for others who implement the contract on other stores: [`Glob`], [`ContentSearch`], [`IgnoreRules`],
//! [`Visible`], [`substitute`], [`version_of`].

mod append;
mod change;
mod copy;
mod dialect;
mod fault;
mod glob;
mod list;
mod locks;
mod made;
mod make_directory;
mod place;
mod platform;
mod read;
mod remove;
mod rename;
mod replace;
mod resolution;
mod root;
mod search;
mod stat;
mod status;
mod substitution;
mod temporary;
mod version;
mod visible;
mod walk;
mod write;

use std::{os::fd::OwnedFd, path::Path};

use belljar_contract::{
    Context, Error, ErrorKind, GuestPath, Operation, Request, Response, Result, session::Limits,
};

use self::{fault::Fault, root::Root};

pub use self::{
    dialect::{Glob, GlobError, Scratch, State, Step},
    root::OpenError,
    search::{ContentSearch, Entered, Passage},
    substitution::{SubstituteError, substitute},
    version::version_of,
    visible::Visible,
    walk::IgnoreRules,
};

/// A directory tree that nothing leaves.
///
/// ```
/// use belljar_contract::{Context, GuestPath, Request, Response, session::Limits};
/// use belljar_workspace::files::{Workspace, version_of};
///
/// # let directory = tempfile::tempdir()?;
/// let workspace = Workspace::open_ambient(directory.path(), &Limits::default())?;
/// let path = GuestPath::parse("greeting.txt", "/")?;
/// let write = Request::Write {
///     path: path.clone(),
///     bytes: b"hello".to_vec(),
///     options: Default::default(),
/// };
/// let written = workspace.call(&Context::new(), write)?;
/// assert_eq!(written, Response::Version(version_of(b"hello")));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Workspace {
    root: Root,
    /// The most bytes of a file that are read, written or hashed at once.
    file_bytes: u64,
}

impl Workspace {
    /// Opens a directory of the host.
    ///
    /// # Ambient authority
    /// The path is the host's, resolved with the process's own rights.
    ///
    /// # Errors
    /// [`OpenError`] says whether the path does not exist, is not a directory, or cannot be opened.
    pub fn open_ambient(directory: &Path, limits: &Limits) -> Result<Self, OpenError> {
        Ok(Self {
            root: Root::open_ambient(directory)?,
            file_bytes: limits.file_bytes,
        })
    }

    /// Takes a directory that was opened elsewhere.
    #[must_use]
    pub fn new(directory: cap_std::fs::Dir, limits: &Limits) -> Self {
        Self {
            root: Root::new(directory),
            file_bytes: limits.file_bytes,
        }
    }

    /// Whether the system lets this process make and remove entries in the root.
    #[must_use]
    pub fn is_writable(&self) -> bool {
        self.root.is_writable()
    }

    /// Answers a request of `files`.
    ///
    /// # Errors
    /// As the contract says of the operation; `unsupported` for a request that is not of `files`.
    pub fn call(&self, context: &Context, request: Request) -> Result<Response> {
        let operation = request.operation();
        context.check().map_err(|stop| stop.during(operation))?;
        macro_rules! answer {
            ($path:expr, $variant:ident, $answer:expr) => {{
                let answer: Result<_, Fault> = $answer;
                answer
                    .map(Response::$variant)
                    .map_err(|fault| fault.at(operation, $path))
            }};
            ($path:expr, $answer:expr) => {{
                let answer: Result<(), Fault> = $answer;
                answer
                    .map(|()| Response::Done)
                    .map_err(|fault| fault.at(operation, $path))
            }};
        }
        match &request {
            Request::Read { path } => answer!(path, Content, read::read(self, context, path)),
            Request::ReadRange {
                path,
                offset,
                length,
            } => answer!(
                path,
                Chunk,
                read::read_range(self, context, path, *offset, *length)
            ),
            Request::Write {
                path,
                bytes,
                options,
            } => answer!(
                path,
                Version,
                write::write(self, context, path, bytes, options)
            ),
            Request::Append {
                path,
                bytes,
                options,
            } => answer!(
                path,
                Version,
                append::append(self, context, path, bytes, options)
            ),
            Request::Replace {
                path,
                old,
                new,
                options,
            } => answer!(
                path,
                Replaced,
                replace::replace(self, context, path, old, new, options)
            ),
            Request::List { path, limit } => {
                answer!(path, Listing, list::list(self, context, path, *limit))
            }
            Request::Glob { pattern, scope } => {
                answer!(&scope.base, Glob, glob::glob(self, context, pattern, scope))
            }
            Request::Search { query, scope } => answer!(
                &scope.base,
                Search,
                search::search(self, context, query, scope)
            ),
            Request::Stat { path } => answer!(path, Info, stat::stat(self, path)),
            Request::Resolve { path } => answer!(path, Path, stat::resolve(self, path)),
            Request::MakeDirectory { path } => {
                answer!(path, make_directory::make_directory(self, path))
            }
            Request::Remove { path, recursive } => {
                answer!(path, remove::remove(self, context, path, *recursive))
            }
            Request::Rename {
                source,
                target,
                destination,
            } => {
                rename::rename(self, context, source, target, destination).map(|()| Response::Done)
            }
            Request::Copy {
                source,
                target,
                destination,
            } => copy::copy(self, context, source, target, destination).map(Response::Version),
            Request::Run(_)
            | Request::Start(_)
            | Request::ReadOutput { .. }
            | Request::WriteInput { .. }
            | Request::Signal { .. }
            | Request::Wait { .. }
            | Request::FindCommands { .. } => {
                let message = "a workspace has files only";
                Err(Error::new(ErrorKind::Unsupported, operation, message))
            }
        }
    }

    /// Opens a directory of the workspace, for a process to work in.
    ///
    /// # Errors
    /// `not-found`, `not-a-directory`, `access-denied`.
    pub fn open_directory(&self, operation: Operation, path: &GuestPath) -> Result<OwnedFd> {
        self.root
            .open_directory(path)
            .map_err(|fault| fault.at(operation, path))
    }

    fn fits(&self, what: &'static str, bytes: u64) -> Result<(), Fault> {
        if bytes > self.file_bytes {
            return Err(Fault::TooLarge {
                what,
                limit: self.file_bytes,
                hint: "",
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod change_tests;
#[cfg(test)]
mod confinement_tests;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod full_tests;
#[cfg(test)]
mod no_links_tests;
#[cfg(test)]
mod permission_tests;
#[cfg(test)]
mod requests_in_tests;
// Only there can two names be exchanged at once.
#[cfg(test)]
#[cfg(target_os = "linux")]
mod swapped_link_tests;
#[cfg(test)]
mod walk_tests;
