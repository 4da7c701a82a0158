//! A component as the command line names it: a table of the configuration, or a file.

use std::path::{Path, PathBuf};

use belljar::{
    CallLimits, Host, LoadError, Tool, WasiMode,
    config::{Config, ToolConfig},
};

use crate::{ambient, failure::Failure};

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
        if let Some(tool) = config.tools.get(name) {
            return Self::of_table(name, tool);
        }
        let path = ambient::current_folder()?.join(name);
        let real =
            std::fs::canonicalize(&path).map_err(|source| missing(config, name, &path, source))?;
        let is_component = |tool: &ToolConfig| {
            let component = tool.component.as_ref().map(std::fs::canonicalize);
            component
                .and_then(Result::ok)
                .is_some_and(|component| component == real)
        };
        let granted = config
            .tools
            .values()
            .find(|tool| is_component(tool))
            .cloned();
        Ok(Self {
            name: name.to_owned(),
            path,
            granted,
        })
    }

    /// Every component of the configuration.
    pub(crate) fn configured(config: &Config) -> Result<Vec<Self>, Failure> {
        let tables = config.tools.iter();
        tables
            .map(|(name, tool)| Self::of_table(name, tool))
            .collect()
    }

    fn of_table(name: &str, tool: &ToolConfig) -> Result<Self, Failure> {
        let path = tool.component.clone().ok_or_else(|| {
            Failure::new(
                crate::exit_code::Exit::Configuration,
                format!("[tools.{name}] names no component"),
            )
            .hint("set component = \"FILE.wasm\" in it")
        })?;
        Ok(Self {
            name: name.to_owned(),
            path,
            granted: Some(tool.clone()),
        })
    }

    /// Loads it with what is granted to it. A file without a table may do all that the sandbox
    /// allows: whoever names it on the command line is the operator.
    pub(crate) fn load(&self, host: &Host, config: &Config) -> Result<Tool, Failure> {
        let wasi = self
            .granted
            .as_ref()
            .map_or(WasiMode::Deny, |tool| tool.wasi.into());
        let tool = host
            .load_ambient(&self.path, wasi)
            .map_err(|error| self.refused(error))?;
        Ok(match &self.granted {
            Some(granted) => tool.configured(config, granted),
            None => tool.with_limits(CallLimits::from(&config.call_limits)),
        })
    }

    fn refused(&self, error: LoadError) -> Failure {
        let hint = match &error {
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
