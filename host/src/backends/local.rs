//! `local`: a directory and the host's own processes. Nothing confines them; it is always an explicit choice.

use std::{collections::BTreeMap, fmt, path::PathBuf, sync::Arc};

use belljar_contract::{Backend, session::Limits};
use belljar_workspace::{
    Engine,
    processes::{Options, Supervisor},
};

use super::{
    OpenError,
    in_process::InProcessBackend,
    virtual_::{Place, Processes},
};

/// How the `local` backend is opened.
#[derive(Clone, PartialEq, Eq)]
pub struct LocalOptions {
    /// The workspace; none: a temporary one, which goes with the session.
    pub workspace: Option<PathBuf>,
    /// Whether the file functions may change it. What processes may do, the system alone decides.
    pub writable: bool,
    /// The operator's word that tools may run processes on this machine.
    pub allow_host_processes: bool,
    /// Whether this program starts no child processes but through Belljar; then also a process that hides
    /// from its supervisor is found and ended.
    pub owns_all_children: bool,
    /// More variables for every process; they replace the documented defaults, PATH too.
    pub environment: BTreeMap<String, String>,
    /// The numbers in force.
    pub limits: Limits,
}

impl Default for LocalOptions {
    fn default() -> Self {
        Self {
            workspace: None,
            writable: true,
            allow_host_processes: false,
            owns_all_children: false,
            environment: BTreeMap::new(),
            limits: Limits::default(),
        }
    }
}

impl fmt::Debug for LocalOptions {
    /// Leaves out the variables' values: they may be secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalOptions")
            .field("workspace", &self.workspace)
            .field("writable", &self.writable)
            .field("allow_host_processes", &self.allow_host_processes)
            .field("owns_all_children", &self.owns_all_children)
            .field("environment", &self.environment.keys())
            .field("limits", &self.limits)
            .finish()
    }
}

impl LocalOptions {
    /// Opens the workspace and its supervisor.
    ///
    /// # Ambient authority
    /// The path is the host's, and so are the processes. This process becomes a child subreaper.
    ///
    /// # Errors
    /// [`OpenError`] when host processes were not allowed, or the workspace cannot be opened as asked.
    pub fn open_ambient(self) -> Result<Arc<dyn Backend>, OpenError> {
        if !self.allow_host_processes {
            return Err(OpenError::HostProcessesNotAllowed);
        }
        let place = Place::open_ambient(self.workspace, self.writable, &self.limits)?;
        // The tool and its processes see one path: the real one.
        let canonical =
            std::fs::canonicalize(&place.path).map_err(|source| OpenError::Workspace {
                path: place.path.clone(),
                source,
            })?;
        let root = canonical
            .into_os_string()
            .into_string()
            .map_err(|path| OpenError::WorkspaceNotUtf8 { path: path.into() })?;
        let supervisor = Supervisor::new(Options {
            root: root.clone(),
            limits: self.limits,
            owns_all_children: self.owns_all_children,
        })
        .with_variables(self.environment);
        let mut description =
            place.describe("local", root, self.writable, self.limits, Processes::System);
        description.hardening_gaps = gaps(self.owns_all_children);
        let engine = Engine::new(place.files, Some(supervisor));
        Ok(Arc::new(InProcessBackend::new(
            engine,
            description,
            place.temporary,
        )))
    }
}

fn gaps(owns_all_children: bool) -> Vec<String> {
    let mut gaps = vec![
        "processes are not confined: they have the user's files, network and rights".to_owned(),
        "processes outlive a host that is killed with SIGKILL".to_owned(),
    ];
    if !owns_all_children {
        gaps.push(
            "a process that leaves its group and clears its environment can outlive its call"
                .to_owned(),
        );
    }
    gaps
}
