//! The WebAssembly engine of a command.

use belljar::{Host, HostError, HostOptions, config::Config};
use clap::Args;

use crate::{ambient, failure::Failure};

/// The most calls at once of a command that makes one at a time; a small pool costs nothing to map.
const CONCURRENT_CALLS: u32 = 4;

/// Says how components are compiled.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct EngineArguments {
    /// Compile anew, and keep nothing
    #[arg(long)]
    no_cache: bool,
}

impl EngineArguments {
    /// Starts the engine. A cache that cannot be used makes it slower, and never stops it.
    pub(crate) fn start(&self, config: &Config) -> Result<Host, Failure> {
        self.start_for(config, CONCURRENT_CALLS)
    }

    /// The same for so many calls at once.
    pub(crate) fn start_for(
        &self,
        config: &Config,
        concurrent_calls: u32,
    ) -> Result<Host, Failure> {
        let options = HostOptions {
            concurrent_calls,
            cache: ambient::cache_folder().filter(|_| !self.no_cache),
            ..HostOptions::for_config(config)
        };
        match Host::new(options.clone()) {
            Err(HostError::Cache(error)) => {
                tracing::warn!("{error}; going on without a cache");
                let uncached = HostOptions {
                    cache: None,
                    ..options
                };
                Ok(Host::new(uncached)?)
            }
            started => Ok(started?),
        }
    }
}
