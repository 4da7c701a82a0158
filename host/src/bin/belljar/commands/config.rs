//! `belljar config`: whether a configuration is right, and what one may say.

use std::path::PathBuf;

use belljar::config::{Config, ConfigError, FILE_NAME, Notice, Position, Problem};
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use crate::{
    ambient,
    component::Component,
    engine::EngineArguments,
    exit_code::{Exit, TABLE},
    failure::Failure,
    interrupt::Interrupt,
    output::Output,
    sandbox::loader,
};

/// Check a configuration, or show what it may say
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Check(CheckArguments),
    /// Print the JSON Schema of belljar.toml, for editors
    Schema,
}

/// Check everything that a configuration says, and load its components
#[derive(Debug, Args)]
#[command(after_long_help = TABLE)]
struct CheckArguments {
    #[command(flatten)]
    engine: EngineArguments,
    /// The configuration; else the nearest belljar.toml
    file: Option<PathBuf>,
}

impl Arguments {
    pub(crate) async fn run(self, output: Output, interrupt: &Interrupt) -> Result<Exit, Failure> {
        match self.command {
            Command::Check(arguments) => {
                let check = tokio::task::spawn_blocking(move || arguments.check(output));
                interrupt
                    .or(check)
                    .await?
                    .map_err(|error| Failure::new(Exit::Host, error))?
            }
            Command::Schema => {
                let schema = serde_json::to_string_pretty(&Config::schema());
                output.text(&schema.map_err(|error| Failure::new(Exit::Host, error))?)?;
                Ok(Exit::Done)
            }
        }
    }
}

impl CheckArguments {
    fn check(self, output: Output) -> Result<Exit, Failure> {
        let config = match self.load() {
            Ok(config) => config,
            Err(error @ ConfigError::Invalid { .. }) if output.is_json() => {
                let ConfigError::Invalid { file, problems } = &error else {
                    return Err(error.into());
                };
                let problems: Vec<Value> = problems.iter().map(problem).collect();
                output.value(
                    &json!({ "file": file, "ok": false, "problems": problems, "notices": [] }),
                )?;
                return Ok(Exit::Configuration);
            }
            Err(error) => return Err(error.into()),
        };
        let refused = self.refused(&config)?;
        if output.is_json() {
            let notices: Vec<Value> = config.notices.iter().map(notice).collect();
            let problems: Vec<Value> = refused.iter().map(Failure::to_json).collect();
            output.value(&json!({
                "file": config.file,
                "ok": refused.is_empty(),
                "problems": problems,
                "notices": notices,
            }))?;
        } else {
            for notice in &config.notices {
                output.note(&format!("notice: {notice}"));
            }
            for failure in &refused {
                output.note(&failure.to_string());
            }
            if refused.is_empty() {
                let file = config.file.unwrap_or_default();
                output.line(&format!("{} is right", file.display()))?;
            }
        }
        Ok(match refused.is_empty() {
            true => Exit::Done,
            false => Exit::Configuration,
        })
    }

    fn load(&self) -> Result<Config, ConfigError> {
        let unreadable = |path: PathBuf| move |source| ConfigError::Unreadable { path, source };
        let folder = ambient::current_folder().map_err(unreadable(PathBuf::from(".")))?;
        match &self.file {
            Some(file) => loader().load(&folder.join(file)),
            None => match loader().discover(&folder)? {
                Some(config) => Ok(config),
                None => {
                    let source = std::io::Error::from(std::io::ErrorKind::NotFound);
                    Err(unreadable(folder.join(FILE_NAME))(source))
                }
            },
        }
    }

    /// What only trying tells: the workspace and the components.
    fn refused(&self, config: &Config) -> Result<Vec<Failure>, Failure> {
        let mut refused = Vec::new();
        if let Some(workspace) = &config.sandbox.workspace
            && !workspace.is_dir()
        {
            let message = format!(
                "the workspace {} is not there, or not a directory",
                workspace.display()
            );
            refused.push(Failure::new(Exit::NotOpened, message));
        }
        if config.tools.is_empty() {
            return Ok(refused);
        }
        let host = self.engine.start(config)?;
        for name in config.tools.keys() {
            let loaded =
                Component::named(config, name).and_then(|component| component.load(&host, config));
            refused.extend(loaded.err());
        }
        Ok(refused)
    }
}

fn position(position: Option<Position>) -> Value {
    match position {
        Some(position) => json!({ "line": position.line, "column": position.column }),
        None => Value::Null,
    }
}

fn problem(problem: &Problem) -> Value {
    json!({
        "key": problem.key,
        "position": position(problem.position),
        "message": problem.kind.to_string(),
        "nearest": problem.nearest(),
    })
}

fn notice(notice: &Notice) -> Value {
    json!({
        "key": notice.key,
        "position": position(notice.position),
        "message": notice.message,
    })
}
