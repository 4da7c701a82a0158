//! Components of registries, as the command's configuration and folders have them.

use std::path::{Path, PathBuf};

use belljar::{
    config::Config,
    registry::{
        LOCK_FILE_NAME, Lock, Pinned, Registry, RegistryError, RegistryOptions, Store, TrustedKeys,
    },
};
use clap::Args;

use crate::{ambient, exit_code::Exit, failure::Failure};

/// Says how registries are asked, beside what the configuration says.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Registries")]
pub(crate) struct RegistryArguments {
    /// Ask this registry (with its port, as localhost:5000) without TLS
    #[arg(long, value_name = "REGISTRY")]
    plain_http: Vec<String>,
    /// Trust this certificate (PEM) beside the system's
    #[arg(long, value_name = "FILE")]
    certificate: Vec<PathBuf>,
}

impl RegistryArguments {
    /// A client with the credentials of `docker login`, where there are some.
    pub(crate) fn client(&self, config: &Config) -> Result<Registry, Failure> {
        let mut options = RegistryOptions::default();
        options.plain_http.clone_from(&config.registry.plain_http);
        options.plain_http.extend(self.plain_http.iter().cloned());
        for file in &self.certificate {
            let read = ambient::read_file(file).map_err(|error| {
                Failure::new(Exit::Usage, error)
                    .during(format!("cannot read the certificate {}", file.display()))
            })?;
            options.certificates.push(read);
        }
        let registry = Registry::new(options)?;
        Ok(registry.with_credentials(ambient::registry_credentials))
    }
}

/// The lock beside the configuration.
pub(crate) fn lock_path(config: &Config) -> Result<PathBuf, Failure> {
    let file = config.file.as_deref().ok_or_else(|| {
        Failure::usage("without a configuration nothing is pinned")
            .hint("`belljar init` writes one to begin with")
    })?;
    Ok(file.with_file_name(LOCK_FILE_NAME))
}

/// What the configuration's references stand for.
pub(crate) fn pinned(config: &Config, lock: &Path) -> Result<Pinned, Failure> {
    let folder = ambient::component_folder().ok_or_else(|| {
        Failure::new(Exit::Host, "there is no folder for components")
            .hint("set XDG_CACHE_HOME or HOME to an absolute path")
    })?;
    let keys = config.registry.keys.clone();
    Ok(Pinned {
        lock: Lock::read_ambient(lock)?,
        store: Store::new_ambient(folder),
        keys: TrustedKeys::from_iter(keys),
        require_signature: config.registry.require_signature,
    })
}

impl From<RegistryError> for Failure {
    fn from(error: RegistryError) -> Self {
        let exit = match &error {
            RegistryError::BadReference { .. } | RegistryError::BadDigest { .. } => Exit::Usage,
            RegistryError::BadLock { .. } | RegistryError::NotLocked { .. } => Exit::Configuration,
            RegistryError::NotAComponent { .. }
            | RegistryError::OtherDigest { .. }
            | RegistryError::Untrusted { .. } => Exit::Component,
            RegistryError::NotFound { .. } | RegistryError::NotHere { .. } => Exit::Failed,
            _ => Exit::Host,
        };
        Self::new(exit, error)
    }
}
