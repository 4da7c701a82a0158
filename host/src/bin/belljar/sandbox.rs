//! Which sandbox a subcommand works on, and how it is opened and closed.

use std::path::PathBuf;

use belljar::{
    OpenOptions, Sandbox,
    config::{Config, Loader},
};
use clap::Args;

use crate::{ambient, failure::Failure, interrupt::Interrupt};

/// Says which sandbox.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Sandbox")]
pub(crate) struct SandboxArguments {
    /// The configuration; else the nearest belljar.toml
    #[arg(long, short, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Work in this folder, whatever the configuration says
    #[arg(long, global = true, value_name = "FOLDER")]
    workspace: Option<PathBuf>,
    /// Let files be changed, whatever the configuration says
    #[arg(long, global = true)]
    writable: bool,
}

impl SandboxArguments {
    /// The configuration: the named file; else the nearest one; else the current folder, which may only be
    /// read. What the command line says comes last.
    pub(crate) fn config(&self) -> Result<Config, Failure> {
        let config = match self.found()? {
            Some(config) => config,
            None => Config::virtual_at(ambient::current_folder()?),
        };
        self.adjust(config)
    }

    /// The same, with a temporary workspace where there is no configuration.
    pub(crate) fn config_or_temporary(&self) -> Result<Config, Failure> {
        let config = self.found()?.unwrap_or_else(Config::temporary);
        self.adjust(config)
    }

    /// The configuration file, read.
    fn found(&self) -> Result<Option<Config>, Failure> {
        let folder = ambient::current_folder()?;
        let loader = loader();
        match &self.config {
            Some(file) => Ok(Some(loader.load(&folder.join(file))?)),
            None => Ok(loader.discover(&folder)?),
        }
    }

    fn adjust(&self, mut config: Config) -> Result<Config, Failure> {
        if let Some(workspace) = &self.workspace {
            config.sandbox.workspace = Some(ambient::current_folder()?.join(workspace));
        }
        config.sandbox.writable |= self.writable;
        for notice in &config.notices {
            tracing::warn!("{notice}");
        }
        Ok(config)
    }
}

/// Reads configurations, `~` being the user's home folder.
pub(crate) fn loader() -> Loader {
    match ambient::home_folder() {
        Some(home) => Loader::new().home(home),
        None => Loader::new(),
    }
}

/// Opens the sandbox, works in it, and closes it whatever happens.
pub(crate) async fn with_sandbox<T>(
    config: &Config,
    interrupt: &Interrupt,
    work: impl AsyncFnOnce(Sandbox) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let sandbox = open(config)?.within(interrupt.context().clone());
    let result = work(sandbox.clone()).await;
    let closed = sandbox.close().await;
    match (result, closed) {
        (Ok(_), Err(error)) => Err(error.into()),
        (result, _) => result,
    }
}

/// Opens the sandbox.
pub(crate) fn open(config: &Config) -> Result<Sandbox, Failure> {
    let opened = Sandbox::open_ambient(config, open_options(config)).map_err(Failure::from);
    match &config.file {
        Some(file) => opened.map_err(|failure| {
            failure.hint(format!("the sandbox is configured in {}", file.display()))
        }),
        None => opened,
    }
}

/// What this command says of itself.
pub(crate) fn open_options(config: &Config) -> OpenOptions {
    let secret = |name: &str| {
        let value = ambient::variable(name)?.into_string().ok()?;
        Some((name.to_owned(), value))
    };
    OpenOptions {
        host: None,
        // It starts no children but through the sandbox.
        owns_all_children: true,
        engine_environment: ambient::engine_environment(),
        residents: ambient::resident_folders(),
        container_state: ambient::container_state_folder(),
        secrets: config.secret_variables().filter_map(secret).collect(),
        compilation_cache: ambient::cache_folder(),
        kubeconfig: ambient::kubeconfig(),
    }
}
