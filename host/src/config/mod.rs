//! Configuration: `belljar.toml`, or the same values from code.
//!
//! A file is read in three steps, each of which reports every problem that it finds, with its
//! line and column: the text is parsed as TOML; its structure is compared with the schema of
//! `document` (unknown keys, wrong types); its values are interpreted. The result is a [`Config`], which no
//! longer knows that there was a file, but for its [`Notice`]s. A backend's part of it is that backend's own options.
//!
//! It leaves to others: whether the workspace exists (said when a session is opened), whether a
//! component can be loaded, and which backend a [`Backend`] is.

mod component_table;
mod container_table;
mod document;
mod error;
mod interpret;
#[cfg(feature = "kubernetes")]
mod kubernetes_table;
mod limits;
mod load;
mod local_table;
mod nearest;
mod place;
mod position;
mod programs_table;
mod quantity;
#[cfg(feature = "registry")]
mod registry_table;
mod remote_table;
mod sandbox;
mod structure;
mod tool;

#[cfg(feature = "registry")]
pub use self::registry_table::RegistryConfig;
pub use self::{
    error::{ConfigError, Notice, Problem, ProblemKind},
    load::{FILE_NAME, Loader},
    position::Position,
    quantity::duration,
    sandbox::{Backend, SandboxConfig},
    tool::{ToolConfig, Wasi},
};

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

#[cfg(feature = "kubernetes")]
use crate::backends::KubernetesOptions;
use crate::{
    backends::{
        ComponentOptions, ContainerOptions, LocalOptions, PoolOptions, RemoteOptions, SecretSource,
    },
    limits::CallLimits,
};
use belljar_contract::session::Limits;

/// Everything that an operator decides.
///
/// ```
/// use std::path::Path;
/// use belljar::config::Config;
///
/// let text = r#"
///     version = 1
///     [sandbox]
///     backend = "virtual"
///     workspace = "./work"
///     [tools.coding]
///     component = "tools/coding.wasm"
///     allow = ["read", "write"]
/// "#;
/// let config = Config::from_toml(text, Path::new("/home/ada/project"))?;
/// let workspace = Path::new("/home/ada/project/work");
/// assert_eq!(config.sandbox.workspace.as_deref(), Some(workspace));
/// assert!(config.sandbox.writable && config.tools["coding"].policy.write);
/// # Ok::<(), belljar::config::ConfigError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The backend and its workspace.
    pub sandbox: SandboxConfig,
    /// The limits of the contract, which every session describes.
    pub limits: Limits,
    /// The limits of one call of a tool.
    pub call_limits: CallLimits,
    /// How components of registries are fetched.
    #[cfg(feature = "registry")]
    pub registry: RegistryConfig,
    /// What is granted to which tool, by the name that listing shows.
    pub tools: BTreeMap<String, ToolConfig>,
    /// The file that it was read from.
    pub file: Option<PathBuf>,
    /// What was changed or left out in reading, for the operator.
    pub notices: Vec<Notice>,
    /// Where each tool's table begins in the file.
    tool_positions: BTreeMap<String, Position>,
}

impl Config {
    fn of(sandbox: SandboxConfig) -> Self {
        Self {
            sandbox,
            limits: Limits::default(),
            call_limits: CallLimits::default(),
            #[cfg(feature = "registry")]
            registry: RegistryConfig::default(),
            tools: BTreeMap::new(),
            file: None,
            notices: Vec::new(),
            tool_positions: BTreeMap::new(),
        }
    }

    /// Makes a configuration of files only, in a temporary workspace that may be written and ends with
    /// its session.
    #[must_use]
    pub fn temporary() -> Self {
        Self::of(SandboxConfig {
            backend: Backend::Virtual {
                programs: BTreeMap::new(),
            },
            workspace: None,
            writable: true,
        })
    }

    /// Makes a configuration of files only, in a directory of the host that may only be read until
    /// [`writable`](Self::writable) says otherwise.
    #[must_use]
    pub fn virtual_at(workspace: impl Into<PathBuf>) -> Self {
        Self::of(SandboxConfig {
            backend: Backend::Virtual {
                programs: BTreeMap::new(),
            },
            workspace: Some(workspace.into()),
            writable: false,
        })
    }

    /// Makes a configuration of files and host processes, in a directory of the host. No session opens
    /// on it before [`allow_host_processes`](Self::allow_host_processes) says so: such
    /// processes have every right that the host has.
    #[must_use]
    pub fn local_at(workspace: impl Into<PathBuf>) -> Self {
        Self::of(SandboxConfig {
            backend: Backend::Local(LocalOptions::default()),
            workspace: Some(workspace.into()),
            writable: false,
        })
    }

    /// Makes a configuration of a container, whose workspace is a directory of the host that may only be read
    /// until [`writable`](Self::writable) says otherwise.
    #[must_use]
    pub fn container_at(workspace: impl Into<PathBuf>, options: ContainerOptions) -> Self {
        Self::of(SandboxConfig {
            backend: Backend::Container {
                options,
                pool: PoolOptions::default(),
            },
            workspace: Some(workspace.into()),
            writable: false,
        })
    }

    /// Makes a configuration of a Pod, whose workspace may only be read until [`writable`](Self::writable) says otherwise.
    #[cfg(feature = "kubernetes")]
    #[must_use]
    pub fn kubernetes(options: KubernetesOptions) -> Self {
        Self::of(SandboxConfig {
            backend: Backend::Kubernetes {
                options: Box::new(options),
                pool: PoolOptions::default(),
            },
            workspace: None,
            writable: false,
        })
    }

    /// Makes a configuration of what a command reaches, and of a directory there that may only be read until
    /// [`writable`](Self::writable) says otherwise.
    #[must_use]
    pub fn remote(options: RemoteOptions) -> Self {
        Self::of(SandboxConfig {
            backend: Backend::Remote(options),
            workspace: None,
            writable: false,
        })
    }

    /// Makes a configuration of what a component lends, which may only be read until
    /// [`writable`](Self::writable) says otherwise.
    #[must_use]
    pub fn component(options: ComponentOptions) -> Self {
        Self::of(SandboxConfig {
            backend: Backend::Component(options),
            workspace: None,
            writable: false,
        })
    }

    /// The variables of the application's environment in which this configuration says that secrets are; for
    /// [`OpenOptions::secrets`](crate::OpenOptions::secrets).
    pub fn secret_variables(&self) -> impl Iterator<Item = &str> {
        let secrets = match &self.sandbox.backend {
            Backend::Component(options) => Some(options.secrets.values()),
            _ => None,
        };
        secrets
            .into_iter()
            .flatten()
            .filter_map(|source| match source {
                SecretSource::Environment { name } => Some(name.as_str()),
                SecretSource::File { .. } => None,
            })
    }

    /// Lets the workspace be written.
    #[must_use]
    pub const fn writable(mut self) -> Self {
        self.sandbox.writable = true;
        self
    }

    /// Lets the `local` backend run processes with the rights of this one; does nothing to others.
    #[must_use]
    pub const fn allow_host_processes(mut self) -> Self {
        if let Backend::Local(local) = &mut self.sandbox.backend {
            local.allow_host_processes = true;
        }
        self
    }

    /// Grants to a tool.
    #[must_use]
    pub fn tool(mut self, name: impl Into<String>, tool: ToolConfig) -> Self {
        self.tools.insert(name.into(), tool);
        self
    }

    /// Reads a configuration from text; its paths are relative to `directory`.
    ///
    /// # Errors
    /// [`ConfigError::Invalid`], with every problem found.
    pub fn from_toml(text: &str, directory: &Path) -> Result<Self, ConfigError> {
        Loader::new().from_toml(text, directory)
    }

    /// Reads a configuration file; its paths are relative to the folder that it is in.
    ///
    /// # Ambient authority
    /// The path is the host's, resolved with the process's own rights.
    ///
    /// # Errors
    /// [`ConfigError`] when the file cannot be read, or is not a configuration.
    pub fn load(path: &Path) -> Result<Self, ConfigError> {
        Loader::new().load(path)
    }

    /// Reads the `belljar.toml` in `directory`, or in the nearest folder above it that has one.
    ///
    /// # Ambient authority
    /// It looks for a file in every folder from `directory` up to the file system's root.
    ///
    /// # Errors
    /// As [`load`](Self::load). That there is no such file is `None`.
    pub fn discover(directory: &Path) -> Result<Option<Self>, ConfigError> {
        Loader::new().discover(directory)
    }

    /// The JSON Schema (2020-12) of a configuration file, for editors.
    #[must_use]
    pub fn schema() -> serde_json::Value {
        document::schema()
    }

    /// Says whether the values fit each other, for a configuration from code; one from a file was
    /// checked already.
    ///
    /// # Errors
    /// [`ConfigError::Invalid`] for a policy that is none, a tool's name that is none, `local` without
    /// [`allow_host_processes`](Self::allow_host_processes), a container without an image,
    /// a remote place without a command or a directory, and a component without a file or with a grant that is none.
    pub fn check(&self) -> Result<(), ConfigError> {
        let mut problems = self.sandbox.problems();
        for (name, tool) in &self.tools {
            problems.extend(tool.problems(name));
        }
        self.refuse(problems)
    }

    /// Says whether every grant fits a tool that was loaded: one that does not is a grant
    /// under a wrong name, and all calls of the right one would be denied.
    ///
    /// # Errors
    /// [`ConfigError::Invalid`] that names each such grant, and the nearest tool.
    pub fn check_tools<'a>(
        &self,
        loaded: impl IntoIterator<Item = &'a str>,
    ) -> Result<(), ConfigError> {
        let loaded: Vec<&str> = loaded.into_iter().collect();
        let unknown = |name: &&String| !loaded.contains(&name.as_str());
        let problems = self.tools.keys().filter(unknown).map(|name| Problem {
            key: format!("tools.{name}"),
            position: self.tool_positions.get(name).copied(),
            kind: ProblemKind::GrantWithoutTool {
                loaded: loaded.iter().map(|&name| name.to_owned()).collect(),
                nearest: nearest::nearest(name, loaded.iter().copied()).map(str::to_owned),
            },
        });
        self.refuse(problems.collect())
    }

    fn refuse(&self, problems: Vec<Problem>) -> Result<(), ConfigError> {
        match problems.is_empty() {
            true => Ok(()),
            false => Err(ConfigError::Invalid {
                file: self.file.clone(),
                problems,
            }),
        }
    }
}

#[cfg(test)]
mod tests;
