//! The programs that a configuration names, loaded.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

use crate::{
    Host, HostError, HostOptions, OpenOptions,
    backends::OpenError,
    config::Config,
    programs::{ProgramSet, Programs},
};

/// A host for programs alone. A cache that cannot be used makes it slower, and stops nothing.
fn host_of(config: &Config, options: &OpenOptions) -> Result<Host, HostError> {
    let options = HostOptions {
        cache: options.compilation_cache.clone(),
        ..HostOptions::for_config(config)
    };
    match Host::new(options.clone()) {
        Err(HostError::Cache(error)) => {
            tracing::warn!(error = %error, "programs are compiled without a cache");
            Host::new(HostOptions {
                cache: None,
                ..options
            })
        }
        started => started,
    }
}

/// Loads the programs; none when none is named, for then there are no processes.
pub(super) fn load_ambient(
    config: &Config,
    named: &BTreeMap<String, PathBuf>,
    options: &OpenOptions,
) -> Result<Option<Arc<dyn Programs>>, OpenError> {
    if named.is_empty() {
        return Ok(None);
    }
    let host = match &options.host {
        Some(host) => host.clone(),
        None => host_of(config, options).map_err(|error| OpenError::Runtime(Box::new(error)))?,
    };
    let mut set = ProgramSet::default().with_limits(config.call_limits);
    // One file may have many names.
    let mut loaded = BTreeMap::new();
    for (name, path) in named {
        let program = match loaded.get(path) {
            Some(program) => program,
            None => {
                let program =
                    host.load_program_ambient(path)
                        .map_err(|source| OpenError::Program {
                            name: name.clone(),
                            source: Box::new(source),
                        })?;
                loaded.entry(path).or_insert(program)
            }
        };
        set = set.with(name, program.clone());
    }
    Ok(Some(Arc::new(set)))
}
