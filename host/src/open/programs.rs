//! The programs that a configuration names, loaded.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

use crate::{
    Host, HostOptions,
    backends::OpenError,
    config::Config,
    programs::{ProgramSet, Programs},
};

/// Loads the programs; none when none is named, for then there are no processes.
pub(super) fn load_ambient(
    config: &Config,
    named: &BTreeMap<String, PathBuf>,
    host: Option<Host>,
) -> Result<Option<Arc<dyn Programs>>, OpenError> {
    if named.is_empty() {
        return Ok(None);
    }
    let host = match host {
        Some(host) => host,
        None => Host::new(HostOptions::for_config(config))
            .map_err(|error| OpenError::Runtime(Box::new(error)))?,
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
