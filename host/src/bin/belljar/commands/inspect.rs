//! `belljar inspect`: what a component or a program is, without a sandbox.

use belljar::{
    CONTRACT_VERSION, LoadError, Tool, WasiMode, World, config::Config, programs::Program,
};
use clap::Args;
use serde_json::{Value, json};

use crate::{
    ambient,
    component::Component,
    engine::EngineArguments,
    exit_code::{Exit, TABLE},
    failure::{Failure, messages},
    interrupt::Interrupt,
    output::Output,
};

/// Show what a component imports, which tools it has, and what they take and need
///
/// Of a component that is a backend it says that, and of a WASI command, which is no tool, that it is a program. A
/// component that is refused is shown with the reason, and with the exit code 4.
#[derive(Debug, Args)]
#[command(after_long_help = TABLE)]
pub(crate) struct Arguments {
    #[command(flatten)]
    engine: EngineArguments,
    /// A component's file
    component: String,
}

/// What was found.
struct Inspection {
    path: String,
    size: u64,
    /// As it is loaded without a word in the configuration.
    strict: Result<Tool, LoadError>,
    /// What it is for, where it is no tool.
    backend: Option<World>,
    /// As it is loaded with WASI's stubs, where that makes a difference.
    inert: Option<Tool>,
    /// As a program, where it is no tool.
    program: Option<Program>,
}

impl Arguments {
    pub(crate) async fn run(self, output: Output, interrupt: &Interrupt) -> Result<Exit, Failure> {
        let inspect = tokio::task::spawn_blocking(move || self.inspect());
        let inspected = interrupt.or(inspect).await?;
        let inspection = inspected.map_err(|error| Failure::new(Exit::Host, error))??;
        match output.is_json() {
            true => output.value(&inspection.to_json())?,
            false => inspection.show(output)?,
        }
        let is_other = inspection.backend.is_some() || inspection.program.is_some();
        Ok(match (&inspection.strict, is_other) {
            (Ok(_), _) | (Err(_), true) => Exit::Done,
            (Err(_), false) => Exit::Component,
        })
    }

    fn inspect(&self) -> Result<Inspection, Failure> {
        let config = Config::temporary();
        let component = Component::named(&config, &self.component)?;
        let bytes = ambient::read_file(&component.path).map_err(|source| LoadError::Read {
            path: component.path.clone(),
            source,
        })?;
        let host = self.engine.start(&config)?;
        let strict = host.load(&bytes, WasiMode::Deny);
        let backend = match &strict {
            Ok(_) => None,
            Err(_) => World::of_component(&bytes)
                .ok()
                .filter(|world| matches!(world, World::Backend | World::Client)),
        };
        let inert = match &strict {
            Err(LoadError::ForbiddenImports { .. }) => host.load(&bytes, WasiMode::Inert).ok(),
            _ => None,
        };
        let program = match &strict {
            Ok(_) => None,
            Err(_) => host.load_program(&bytes).ok(),
        };
        Ok(Inspection {
            path: self.component.clone(),
            size: bytes.len() as u64,
            strict,
            backend,
            inert,
            program,
        })
    }
}

impl Inspection {
    fn tool(&self) -> Option<&Tool> {
        self.strict.as_ref().ok().or(self.inert.as_ref())
    }

    fn to_json(&self) -> Value {
        let imports = self.tool().map(|tool| {
            let import = |import: &belljar::Import| {
                json!({ "name": import.name, "contract": import.contract })
            };
            tool.imports().iter().map(import).collect::<Vec<_>>()
        });
        let tools = self
            .tool()
            .map(|tool| tool.descriptions().collect::<Vec<_>>());
        json!({
            "component": self.path,
            "size": self.size,
            "contract-version": CONTRACT_VERSION,
            "world": match (self.tool(), self.backend) {
                (Some(_), _) => Some(World::Tool.as_str()),
                (None, backend) => backend.map(World::as_str),
            },
            "loads": self.strict.is_ok(),
            "loads-with-inert-wasi": self.tool().is_some(),
            "imports": imports,
            "forbidden": self.forbidden(),
            "refused": self.strict.as_ref().err().map(|error| messages(error)),
            "tools": tools,
            "program": self.program.as_ref().map(|program| json!({ "imports": program.imports() })),
        })
    }

    fn forbidden(&self) -> &[String] {
        match &self.strict {
            Err(LoadError::ForbiddenImports { names }) => names,
            _ => &[],
        }
    }

    fn show(&self, output: Output) -> Result<(), Failure> {
        output.line(&format!("{}: {} bytes", self.path, self.size))?;
        if let Some(program) = &self.program {
            output.line("a program, which [sandbox.virtual.programs] can name")?;
            output.line("")?;
            output.line("imports")?;
            for import in program.imports() {
                output.line(&format!("  {import}"))?;
            }
            return Ok(());
        }
        if let Some(world) = self.backend {
            return output.line(&format!(
                "a backend, of the world {} of the contract; name it as component in [sandbox.component]",
                world.as_str()
            ));
        }
        match &self.strict {
            Ok(_) => output.line(&format!(
                "loads, with version {CONTRACT_VERSION} of the contract"
            ))?,
            Err(error) => {
                for (index, message) in messages(error).iter().enumerate() {
                    let what = if index == 0 { "refused" } else { "caused by" };
                    output.line(&format!("{what}: {message}"))?;
                }
            }
        }
        let Some(tool) = self.tool() else {
            return Ok(());
        };
        output.line("")?;
        output.line("imports")?;
        for import in tool.imports() {
            let what = if import.contract {
                ""
            } else {
                "  (only with wasi = \"inert\")"
            };
            output.line(&format!("  {}{what}", import.name))?;
        }
        for tool in tool.descriptions() {
            output.line("")?;
            output.line(&format!("tool {}{}", tool.name, marks(tool)))?;
            for line in tool.description.lines() {
                output.line(&format!("  {line}"))?;
            }
            for (name, about) in fields(&tool.input_schema) {
                output.line(&format!("    {name}  {about}"))?;
            }
        }
        Ok(())
    }
}

/// What a tool says of itself, in brackets.
fn marks(tool: &belljar::ToolDescription) -> String {
    let mut marks = Vec::new();
    for (holds, mark) in [
        (tool.read_only, "read-only"),
        (tool.destructive, "destructive"),
        (tool.idempotent, "idempotent"),
    ] {
        if holds {
            marks.push(mark.to_owned());
        }
    }
    if !tool.needs.is_empty() {
        let needs: Vec<&str> = tool.needs.iter().map(|need| need.as_str()).collect();
        marks.push(format!("needs {}", needs.join(", ")));
    }
    match marks.is_empty() {
        true => String::new(),
        false => format!(" ({})", marks.join("; ")),
    }
}

/// The arguments that a schema names, with their types.
fn fields(schema: &Value) -> Vec<(String, String)> {
    let required = |name: &str| {
        let required = schema.get("required").and_then(Value::as_array);
        required.is_some_and(|names| names.iter().any(|required| required == name))
    };
    let properties = schema.get("properties").and_then(Value::as_object);
    let field = |(name, field): (&String, &Value)| {
        let kind = match field.get("type") {
            Some(Value::String(kind)) => kind.clone(),
            Some(kind) => kind.to_string(),
            None => "any".to_owned(),
        };
        let about = field
            .get("description")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let optional = if required(name) { "" } else { ", optional" };
        (
            name.clone(),
            format!("{kind}{optional}: {}", about.replace('\n', " ")),
        )
    };
    properties.into_iter().flatten().map(field).collect()
}
