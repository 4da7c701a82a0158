//! A configuration made real: its sandbox, and its tools.
//!
//! This is the one place that matches a configured name to a backend.

#[cfg(feature = "component-backend")]
mod component;
mod examine;
mod options;
mod programs;
mod sandboxes;

use std::{collections::BTreeMap, path::PathBuf};

#[cfg(feature = "kubernetes")]
use self::options::kubernetes_options;

pub use self::{examine::examine_ambient, sandboxes::Sandboxes};
use crate::{
    backends::{EngineEnvironment, LocalOptions, OpenError, SecretVariables, VirtualOptions},
    config::{Backend, Config, ConfigError, ToolConfig, Wasi},
    host::{Host, HostOptions},
    open::options::{container_options, remote_options},
    runtime::{LoadError, WasiMode},
    sandbox::Sandbox,
    tool::Tool,
};

/// What the application says of itself, and no configuration can.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenOptions {
    /// The host that loads and runs the programs of the `virtual` backend; none: one is made for them.
    pub host: Option<Host>,
    /// As [`LocalOptions::owns_all_children`].
    pub owns_all_children: bool,
    /// The variables of a container engine's program, and of a remote backend's command: where its engine is, or how
    /// its machine is reached, which the library never asks the environment for.
    pub engine_environment: EngineEnvironment,
    /// As [`ContainerOptions::residents`](crate::backends::ContainerOptions::residents).
    pub residents: Vec<PathBuf>,
    /// As [`ContainerOptions::state`](crate::backends::ContainerOptions::state).
    pub container_state: Option<PathBuf>,
    /// The variables in which a configuration says that secrets are: see [`Config::secret_variables`].
    pub secrets: SecretVariables,
    /// As [`HostOptions::cache`], for a backend that is a component, and for the programs of `virtual`.
    pub compilation_cache: Option<PathBuf>,
    /// The kubeconfig files where a configuration names none.
    pub kubeconfig: Vec<PathBuf>,
}

/// Why the tools of a configuration are not loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ToolsError {
    /// A component is refused.
    #[error("the component of [tools.{name}] is not loaded")]
    Load {
        /// The tool's name.
        name: String,
        /// Why.
        source: LoadError,
    },
    /// A grant fits no component.
    #[error(transparent)]
    Config(#[from] ConfigError),
}

impl Sandbox {
    /// Opens the sandbox that a configuration describes.
    ///
    /// ```
    /// use belljar::{OpenOptions, Sandbox, config::Config};
    ///
    /// let sandbox = Sandbox::open_ambient(&Config::temporary(), OpenOptions::default())?;
    /// assert_eq!(sandbox.describe().backend, "virtual");
    /// # Ok::<(), belljar::backends::OpenError>(())
    /// ```
    ///
    /// # Ambient authority
    /// The workspace's path is the host's, and so are the processes of `local` and the command of `remote`. A
    /// component makes its sandbox before this returns: it may take as long as [`ComponentLimits::timeout`], and
    /// occupies its thread.
    ///
    /// [`ComponentLimits::timeout`]: crate::backends::ComponentLimits::timeout
    ///
    /// # Errors
    /// [`OpenError`] when the backend does not open.
    pub fn open_ambient(config: &Config, options: OpenOptions) -> Result<Self, OpenError> {
        let workspace = config.sandbox.workspace.clone();
        let writable = config.sandbox.writable;
        let limits = config.limits;
        let backend = match &config.sandbox.backend {
            Backend::Virtual { programs } => VirtualOptions {
                workspace,
                writable,
                programs: programs::load_ambient(config, programs, &options)?,
                limits,
            }
            .open_ambient(),
            Backend::Local(local) => LocalOptions {
                workspace,
                writable,
                limits,
                owns_all_children: options.owns_all_children,
                ..local.clone()
            }
            .open_ambient(),
            Backend::Container {
                options: container, ..
            } => container_options(config, container, options).open_ambient(),
            #[cfg(feature = "kubernetes")]
            Backend::Kubernetes {
                options: kubernetes,
                ..
            } => kubernetes_options(config, kubernetes, options)?.open_ambient(),
            Backend::Remote(remote) => remote_options(config, remote, options)?.open_ambient(),
            #[cfg(feature = "component-backend")]
            Backend::Component(component) => component::open_ambient(config, component, options),
            #[cfg(not(feature = "component-backend"))]
            Backend::Component(_) => Err(crate::backends::ComponentError::NotBuilt.into()),
        };
        backend.map(Self::new)
    }
}

impl HostOptions {
    /// The options of a host whose calls may have what a configuration allows.
    #[must_use]
    pub fn for_config(config: &Config) -> Self {
        let limits = &config.call_limits;
        Self {
            memory_bytes: limits.memory_bytes,
            table_elements: limits.table_elements,
            ..Self::default()
        }
    }
}

impl Host {
    /// Loads every component of a configuration, each with its policy, its limits and its guard.
    ///
    /// # Ambient authority
    /// The components' paths are the host's.
    ///
    /// # Errors
    /// [`ToolsError`] for the first component that is not loaded, and for a grant that fits none.
    pub fn load_configured_ambient(
        &self,
        config: &Config,
    ) -> Result<BTreeMap<String, Tool>, ToolsError> {
        let mut tools = BTreeMap::new();
        for (name, tool) in &config.tools {
            let Some(component) = &tool.component else {
                continue;
            };
            let load = |source| ToolsError::Load {
                name: name.clone(),
                source,
            };
            let loaded = self
                .load_ambient(component, tool.wasi.into())
                .map_err(load)?;
            tools.insert(name.clone(), loaded.configured(config, tool));
        }
        config.check_tools(tools.keys().map(String::as_str))?;
        Ok(tools)
    }
}

impl Tool {
    /// The same tools with what a configuration grants them.
    #[must_use]
    pub fn configured(self, config: &Config, tool: &ToolConfig) -> Self {
        self.with_policy(tool.policy.clone())
            .with_limits(config.call_limits)
            .with_guard(tool.guard)
    }
}

impl From<Wasi> for WasiMode {
    fn from(wasi: Wasi) -> Self {
        match wasi {
            Wasi::Deny => Self::Deny,
            Wasi::Inert => Self::Inert,
        }
    }
}
