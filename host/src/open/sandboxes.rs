//! Many sandboxes of one configuration.

use super::options::container_options;
#[cfg(feature = "kubernetes")]
use super::options::kubernetes_options;
#[cfg(feature = "kubernetes")]
use crate::backends::KubernetesPool;
use crate::{
    OpenOptions,
    backends::{ContainerPool, OpenError},
    config::{Backend, Config},
    sandbox::Sandbox,
};

/// Opens sandboxes of one configuration, as many as are wanted, for a program that gives each of its sessions one.
///
/// Where the configuration has a pool (`[sandbox.container.pool]`, `[sandbox.kubernetes.pool]`), containers or Pods run before they are needed; dropped
/// or [closed](Self::close), it removes those that nobody took.
///
/// ```
/// use belljar::{OpenOptions, Sandboxes, config::Config};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let sandboxes = Sandboxes::open_ambient(&Config::temporary(), OpenOptions::default())?;
/// let (one, other) = (sandboxes.sandbox_ambient()?, sandboxes.sandbox_ambient()?);
/// one.write("notes.txt", "hello", belljar::WriteOptions::default()).await?;
/// assert!(other.read("notes.txt").await.is_err());
/// sandboxes.close().await;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Sandboxes(Source);

#[derive(Debug)]
enum Source {
    Config {
        config: Box<Config>,
        options: OpenOptions,
    },
    Pool(ContainerPool),
    #[cfg(feature = "kubernetes")]
    Pods(KubernetesPool),
}

impl Sandboxes {
    /// Prepares what all sandboxes share.
    ///
    /// # Ambient authority
    /// As [`Sandbox::open_ambient`].
    ///
    /// # Errors
    /// [`OpenError`] when a pool does not open.
    pub fn open_ambient(config: &Config, options: OpenOptions) -> Result<Self, OpenError> {
        if let Backend::Container {
            options: container,
            pool,
        } = &config.sandbox.backend
            && pool.size > 0
        {
            let options = container_options(config, container, options);
            let pool = ContainerPool::open_ambient(options, *pool)?;
            return Ok(Self(Source::Pool(pool)));
        }
        #[cfg(feature = "kubernetes")]
        if let Backend::Kubernetes {
            options: kubernetes,
            pool,
        } = &config.sandbox.backend
        {
            // Without one that is filled too: its sessions share the way to the cluster.
            let options = kubernetes_options(config, kubernetes, options)?;
            let pool = KubernetesPool::open_ambient(options, *pool)?;
            return Ok(Self(Source::Pods(pool)));
        }
        Ok(Self(Source::Config {
            config: Box::new(config.clone()),
            options,
        }))
    }

    /// Opens a sandbox: a session of its own.
    ///
    /// # Ambient authority
    /// As [`Sandbox::open_ambient`].
    ///
    /// # Errors
    /// As [`Sandbox::open_ambient`].
    pub fn sandbox_ambient(&self) -> Result<Sandbox, OpenError> {
        match &self.0 {
            Source::Config { config, options } => Sandbox::open_ambient(config, options.clone()),
            Source::Pool(pool) => Ok(Sandbox::new(pool.session())),
            #[cfg(feature = "kubernetes")]
            Source::Pods(pool) => Ok(Sandbox::new(pool.session())),
        }
    }

    /// Removes what stands ready, and waits until it is gone. Sandboxes that were opened go on.
    pub async fn close(&self) {
        match &self.0 {
            Source::Config { .. } => {}
            Source::Pool(pool) => pool.close().await,
            #[cfg(feature = "kubernetes")]
            Source::Pods(pool) => pool.close().await,
        }
    }
}
