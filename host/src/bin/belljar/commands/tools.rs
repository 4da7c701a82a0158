//! `belljar tools`: what a sandbox is offered.

use std::path::Path;

use belljar::{Capability, Sandbox, Tool, ToolDescription};
use clap::Args;
use serde_json::{Value, json};

use crate::{
    component::Component,
    engine::EngineArguments,
    exit_code::{Exit, TABLE},
    failure::Failure,
    interrupt::Interrupt,
    output::Output,
    sandbox::{SandboxArguments, with_sandbox},
};

/// Show which tools the sandbox is offered, and why others are not
#[derive(Debug, Args)]
#[command(after_long_help = TABLE)]
pub(crate) struct Arguments {
    #[command(flatten)]
    sandbox: SandboxArguments,
    #[command(flatten)]
    engine: EngineArguments,
    /// Components' files, or names of [tools.NAME] tables; all tables when absent
    components: Vec<String>,
}

/// A component, and what came of loading it.
type Loaded = (Component, Result<Tool, Failure>);

/// A tool, and whether the sandbox is offered it.
struct Listed {
    component: String,
    tool: ToolDescription,
    missing: Vec<Capability>,
}

impl Listed {
    fn to_json(&self) -> Value {
        let mut value = json!(self.tool);
        value["component"] = self.component.clone().into();
        value["offered"] = self.missing.is_empty().into();
        value["missing"] = json!(self.missing);
        value
    }
}

impl Arguments {
    pub(crate) async fn run(self, output: Output, interrupt: &Interrupt) -> Result<Exit, Failure> {
        let config = self.sandbox.config()?;
        let components = match self.components.as_slice() {
            [] => Component::configured(&config)?,
            named => named
                .iter()
                .map(|name| Component::named(&config, name))
                .collect::<Result<_, _>>()?,
        };
        if components.is_empty() {
            return Err(Failure::usage("there are no tools to show")
                .hint("name a component's file, or configure a [tools.NAME] table"));
        }
        let settings = (config.clone(), self.engine);
        let load = tokio::task::spawn_blocking(move || {
            let (config, engine) = settings;
            let host = engine.start(&config)?;
            let load = |component: Component| {
                let tool = component.load(&host, &config);
                (component, tool)
            };
            Ok(components.into_iter().map(load).collect::<Vec<_>>())
        });
        let loaded: Result<Vec<Loaded>, Failure> = interrupt
            .or(load)
            .await?
            .map_err(|error| Failure::new(Exit::Host, error))?;
        let loaded = loaded?;
        with_sandbox(&config, interrupt, async |sandbox| {
            show(loaded, &sandbox, output)
        })
        .await
    }
}

/// Shows what was loaded; what was not makes the command fail after that.
fn show(loaded: Vec<Loaded>, sandbox: &Sandbox, output: Output) -> Result<Exit, Failure> {
    let mut listed = Vec::new();
    let mut refused = Vec::new();
    for (component, tool) in loaded {
        match tool {
            Ok(tool) => listed.extend(tool.offers(sandbox).into_iter().map(|offer| Listed {
                component: component.name.clone(),
                tool: offer.tool.clone(),
                missing: offer.missing,
            })),
            Err(failure) => refused.push((component, failure)),
        }
    }
    if output.is_json() {
        let refused: Vec<Value> = refused
            .iter()
            .map(|(component, failure)| {
                let mut value = failure.to_json();
                value["component"] = component.name.clone().into();
                value
            })
            .collect();
        let tools: Vec<Value> = listed.iter().map(Listed::to_json).collect();
        output.value(&json!({ "tools": tools, "refused": refused }))?;
    } else {
        let backend = &sandbox.describe().backend;
        for tool in &listed {
            output.line(&line(tool, backend))?;
        }
        for (_, failure) in &refused {
            output.note(&failure.to_string());
        }
    }
    Ok(refused
        .first()
        .map_or(Exit::Done, |(_, failure)| failure.exit))
}

fn line(listed: &Listed, backend: &str) -> String {
    let summary = listed.tool.description.lines().next().unwrap_or_default();
    // A table's name has no dot, and a file is known without its folder.
    let component = Path::new(&listed.component).file_stem();
    let component = component.map_or_else(Default::default, |stem| stem.to_string_lossy());
    let name = format!("{component}.{}", listed.tool.name);
    if listed.missing.is_empty() {
        return format!("{name:24}  {summary}");
    }
    let missing: Vec<&str> = listed
        .missing
        .iter()
        .map(|missing| missing.as_str())
        .collect();
    format!(
        "{name:24}  not offered: {backend} does not give it {}",
        missing.join(", ")
    )
}
