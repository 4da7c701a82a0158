//! A component as the command line names it: a table of the configuration, or a file.

use std::{
    path::{Path, PathBuf},
    time::SystemTime,
};

use belljar::{
    Host, LoadError, Tool, WasiMode,
    config::{Config, ToolConfig},
};

use crate::{ambient, failure::Failure, registry};

/// A component that was named.
#[derive(Clone, Debug)]
pub(crate) struct Component {
    /// As people know it: the table's name, or the file.
    pub(crate) name: String,
    /// The file.
    pub(crate) path: PathBuf,
    /// What is granted to it; none for a file that no table names.
    granted: Option<ToolConfig>,
}

impl Component {
    /// Finds what `name` stands for: a `[tools.NAME]` table, else a file. A file that
    /// is the component of a table gets what the table grants, so that its policy cannot
    /// be got around by spelling.
    pub(crate) fn named(config: &Config, name: &str) -> Result<Self, Failure> {
        for component in Self::configured(config)? {
            if component.name == name {
                return Ok(component);
            }
        }
        let path = ambient::current_folder()?.join(name);
        let real =
            std::fs::canonicalize(&path).map_err(|source| missing(config, name, &path, source))?;
        let mut tables = Self::configured(config)?;
        tables.retain(|table| std::fs::canonicalize(&table.path).is_ok_and(|path| path == real));
        if tables.len() > 1 {
            let names: Vec<String> = tables.into_iter().map(|table| table.name).collect();
            let message = format!("{name} is the component of several tools");
            return Err(Failure::usage(message).hint(format!("name one of {}", names.join(", "))));
        }
        Ok(Self {
            name: name.to_owned(),
            path,
            granted: tables.pop().and_then(|table| table.granted),
        })
    }

    /// Every component of the configuration. A grant that fits none is refused, whatever is asked
    /// for: it counts for nothing, and somebody believes that it does.
    pub(crate) fn configured(config: &Config) -> Result<Vec<Self>, Failure> {
        let component = |(name, tool): (&String, &ToolConfig)| {
            // One of a registry is named by its reference wherever a path is told.
            let reference = || Some(tool.reference.as_ref()?.to_string().into());
            Some(Self {
                name: name.clone(),
                path: tool.component.clone().or_else(reference)?,
                granted: Some(tool.clone()),
            })
        };
        let components: Vec<Self> = config.tools.iter().filter_map(component).collect();
        let names = components.iter().map(|component| component.name.as_str());
        match config.check_tools(names) {
            Ok(()) => Ok(components),
            Err(error) => {
                Err(Failure::from(error).hint("name its file: component = \"FILE.wasm\""))
            }
        }
    }

    /// Loads it with what is granted to it. A file without a table may do all that the sandbox
    /// allows: whoever names it on the command line is the operator.
    pub(crate) fn load(&self, host: &Host, config: &Config) -> Result<Tool, Failure> {
        let wasi = self
            .granted
            .as_ref()
            .map_or(WasiMode::Deny, |tool| tool.wasi.into());
        let reference = self
            .granted
            .as_ref()
            .and_then(|tool| tool.reference.as_ref());
        let loaded = match reference {
            Some(reference) => {
                let pinned = registry::pinned(config, &registry::lock_path(config)?)?;
                host.load(&pinned.take(reference, SystemTime::now())?, wasi)
            }
            None => host.load_ambient(&self.path, wasi),
        };
        let tool = loaded.map_err(|error| self.refused(error))?;
        Ok(match &self.granted {
            Some(granted) => tool.configured(config, granted),
            None => tool.with_limits(config.call_limits),
        })
    }

    fn refused(&self, error: LoadError) -> Failure {
        let configured;
        let hint = match &error {
            LoadError::Read { .. } if self.granted.is_some() => {
                configured = format!(
                    "put the file there, or name another as the component of [tools.{}]",
                    self.name
                );
                Some(&*configured)
            }
            LoadError::ForbiddenImports { names }
                if names.iter().all(|name| name.starts_with("wasi:")) =>
            {
                Some(
                    "in a configuration, [tools.NAME] with wasi = \"inert\" lets it load; `belljar inspect` lists what it imports",
                )
            }
            LoadError::ForbiddenImports { .. } => Some("`belljar inspect` lists what it imports"),
            _ => None,
        };
        let failure = Failure::from(error).during(format!("{} is not loaded", self.path.display()));
        match hint {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    }
}

fn missing(config: &Config, name: &str, path: &Path, source: std::io::Error) -> Failure {
    let failure = Failure::from(LoadError::Read {
        path: path.to_owned(),
        source,
    });
    if config.tools.is_empty() {
        return failure.hint("a component is a .wasm file, or the name of a [tools.NAME] table");
    }
    let known: Vec<&str> = config.tools.keys().map(String::as_str).collect();
    failure.hint(format!(
        "there is no file {name}; the configuration has the tools {}",
        known.join(", ")
    ))
}
