//! `virtual`: a directory, and no processes but programs that need no operating system.

use std::{path::PathBuf, sync::Arc};

use belljar_contract::{
    Backend,
    session::{Capability, Description, Limits, PolicySummary},
};
use belljar_workspace::{
    Engine,
    files::{OpenError as FilesError, Workspace},
    processes::{Programs, Supervisor},
};
use tempfile::TempDir;

use super::{OpenError, in_process::InProcessBackend};

/// The root as a tool sees it: the host's own path is none of its business.
const ROOT: &str = "/workspace";
/// What is not as the contract has it, in the form of such gaps: a name, and what is weaker.
const PATHS_GAP: &str = "program-paths: a program's C library finds files by the names of directories: a path with .. above the working directory is refused, an absolute path outside of the workspace is looked for below the working directory, and workspace/… is taken for /workspace/…";

/// How the `virtual` backend is opened.
///
/// ```
/// use belljar::{Sandbox, backends::VirtualOptions};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let sandbox = Sandbox::new(VirtualOptions::default().open_ambient()?);
/// assert!(!sandbox.describe().durable);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct VirtualOptions {
    /// The workspace; none: a temporary one, which goes with the session.
    pub workspace: Option<PathBuf>,
    /// Whether it may be changed.
    pub writable: bool,
    /// What can be run; none: there are no processes.
    pub programs: Option<Arc<dyn Programs>>,
    /// The numbers in force.
    pub limits: Limits,
}

impl Default for VirtualOptions {
    fn default() -> Self {
        Self {
            workspace: None,
            writable: true,
            programs: None,
            limits: Limits::default(),
        }
    }
}

impl VirtualOptions {
    /// Opens the workspace.
    ///
    /// # Ambient authority
    /// The path is the host's; a temporary workspace is made in the system's folder for such.
    ///
    /// # Errors
    /// [`OpenError`] when the workspace is not there, not a directory, or cannot be opened or written as asked.
    pub fn open_ambient(self) -> Result<Arc<dyn Backend>, OpenError> {
        let place = Place::open_ambient(self.workspace, self.writable, &self.limits)?;
        let names = self.programs.as_ref().map(|programs| programs.names());
        let processes = match &names {
            Some(names) => Processes::Programs(names),
            None => Processes::None,
        };
        let root = ROOT.to_owned();
        let mut description = place.describe(
            "virtual",
            root.clone(),
            self.writable,
            self.limits,
            processes,
        );
        let supervisor = self.programs.map(|programs| {
            description.hardening_gaps.push(PATHS_GAP.to_owned());
            Supervisor::of_programs(programs, root, &self.limits, self.writable)
        });
        let engine = Engine::new(place.files, supervisor);
        Ok(Arc::new(InProcessBackend::new(
            engine,
            description,
            place.temporary,
        )))
    }
}

/// What there is of processes.
pub(super) enum Processes<'a> {
    None,
    /// The host's own.
    System,
    /// Programs of these names.
    Programs(&'a [String]),
}

impl Processes<'_> {
    const fn capabilities(&self) -> &'static [Capability] {
        match self {
            Self::None => &[],
            Self::System => &[Capability::Run, Capability::Start],
            Self::Programs(_) => &[Capability::Run, Capability::Start, Capability::OutOfMemory],
        }
    }

    fn instructions(&self) -> String {
        match self {
            Self::None => "There are no processes.".to_owned(),
            Self::System => {
                "Processes run on the host itself, with its network and the rights of its user."
                    .to_owned()
            }
            Self::Programs(names) => format!(
                "The programs that can be run are {}; there is nothing else. A command line may have pipes, &&, ||, \
                 ;, <, >, >>, quotes, patterns of file names and cd, and nothing else of a shell.",
                names.join(", ")
            ),
        }
    }
}

/// An opened workspace: a directory of the host's, or a temporary one.
pub(super) struct Place {
    pub(super) files: Workspace,
    pub(super) temporary: Option<TempDir>,
    pub(super) path: PathBuf,
}

impl Place {
    pub(super) fn open_ambient(
        workspace: Option<PathBuf>,
        writable: bool,
        limits: &Limits,
    ) -> Result<Self, OpenError> {
        let (path, temporary) = match workspace {
            Some(path) => (path, None),
            None => {
                let temporary = tempfile::Builder::new().prefix("belljar-").tempdir();
                let temporary = temporary.map_err(OpenError::Temporary)?;
                (temporary.path().to_owned(), Some(temporary))
            }
        };
        let files = Workspace::open_ambient(&path, limits).map_err(|error| match error {
            FilesError::NotFound { path } => OpenError::WorkspaceNotFound { path },
            FilesError::NotADirectory { path } => OpenError::WorkspaceNotADirectory { path },
            FilesError::Other { path, source } => OpenError::Workspace { path, source },
            FilesError::AccessDenied { path } => OpenError::Workspace {
                path,
                source: std::io::ErrorKind::PermissionDenied.into(),
            },
            other => OpenError::Workspace {
                path: path.clone(),
                source: std::io::Error::other(other),
            },
        })?;
        if writable && !files.is_writable() {
            return Err(OpenError::WorkspaceNotWritable { path });
        }
        Ok(Self {
            files,
            temporary,
            path,
        })
    }

    pub(super) fn describe(
        &self,
        backend: &str,
        root: String,
        writable: bool,
        limits: Limits,
        processes: Processes<'_>,
    ) -> Description {
        let durable = self.temporary.is_none();
        let mut capabilities = vec![
            Capability::Read,
            Capability::Modes,
            Capability::Links,
            Capability::RawNames,
        ];
        if writable {
            capabilities.push(Capability::Write);
        }
        capabilities.extend_from_slice(processes.capabilities());
        capabilities.sort_unstable();
        let instructions = [
            format!("Your workspace is {root}; nothing outside it can be reached with file tools."),
            if writable {
                "Files can be read and changed."
            } else {
                "Files can be read, and nothing can be changed."
            }
            .to_owned(),
            processes.instructions(),
            if durable {
                "The workspace is kept."
            } else {
                "The workspace is temporary and goes with this session."
            }
            .to_owned(),
        ];
        Description {
            backend: backend.to_owned(),
            root,
            process_root: None,
            writable,
            durable,
            capabilities,
            limits,
            policy: PolicySummary::default(),
            instructions: instructions.join(" "),
            hardening_gaps: Vec::new(),
        }
    }
}
