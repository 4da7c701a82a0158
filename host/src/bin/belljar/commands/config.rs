//! `belljar config`: whether a configuration is right, and what one may say.

use std::path::{Path, PathBuf};

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
    sandbox::{loader, with_sandbox},
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
            Command::Check(arguments) => arguments.run(output, interrupt).await,
            Command::Schema => {
                let schema = serde_json::to_string_pretty(&Config::schema());
                output.text(&schema.map_err(|error| Failure::new(Exit::Host, error))?)?;
                Ok(Exit::Done)
            }
        }
    }
}

/// What only trying tells: a key, and why what it names cannot be used.
type Refused = (String, Failure);

impl CheckArguments {
    async fn run(self, output: Output, interrupt: &Interrupt) -> Result<Exit, Failure> {
        let config = match self.load() {
            Ok(config) => config,
            Err(ConfigError::Invalid { file, problems }) if output.is_json() => {
                let problems: Vec<Value> = problems.iter().map(problem).collect();
                output.value(&report(file.as_deref(), problems, &[]))?;
                return Ok(Exit::Configuration);
            }
            Err(error) => return Err(error.into()),
        };
        let mut refused = Vec::new();
        if let Err(failure) = with_sandbox(&config, interrupt, async |_| Ok(())).await {
            refused.push(("sandbox".to_owned(), failure));
        }
        let tried = config.clone();
        let load = tokio::task::spawn_blocking(move || self.refused_components(&tried));
        let loaded = interrupt.or(load).await?;
        refused.extend(loaded.map_err(|error| Failure::new(Exit::Host, error))??);
        show(&config, &refused, output)
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

    fn refused_components(&self, config: &Config) -> Result<Vec<Refused>, Failure> {
        if config.tools.is_empty() {
            return Ok(Vec::new());
        }
        let host = self.engine.start(config)?;
        let refused = config.tools.keys().filter_map(|name| {
            let component = Component::named(config, name);
            let loaded = component.and_then(|component| component.load(&host, config));
            Some((format!("tools.{name}"), loaded.err()?))
        });
        Ok(refused.collect())
    }
}

fn show(config: &Config, refused: &[Refused], output: Output) -> Result<Exit, Failure> {
    let file = config.file.as_deref();
    if output.is_json() {
        let problem = |(key, failure): &Refused| {
            json!({
                "key": key,
                "position": null,
                "message": failure.messages().join(": "),
                "nearest": null,
            })
        };
        let problems = refused.iter().map(problem).collect();
        output.value(&report(file, problems, &config.notices))?;
    } else {
        for notice in &config.notices {
            output.note(&format!("notice: {notice}"));
        }
        for (_, failure) in refused {
            output.note(&failure.to_string());
        }
        if refused.is_empty() {
            let file = file.unwrap_or(Path::new(FILE_NAME));
            output.line(&format!("{} is right", file.display()))?;
        }
    }
    Ok(match refused.is_empty() {
        true => Exit::Done,
        false => Exit::Configuration,
    })
}

fn report(file: Option<&Path>, problems: Vec<Value>, notices: &[Notice]) -> Value {
    json!({
        "file": file,
        "ok": problems.is_empty(),
        "problems": problems,
        "notices": notices.iter().map(notice).collect::<Vec<_>>(),
    })
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
