//! `belljar run`: calls tools of a component.

use std::ops::ControlFlow;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use belljar::{Answer, ContentPart, Sandbox, Tool};
use clap::Args;
use serde_json::{Value, json};

use crate::{
    ambient,
    component::Component,
    engine::EngineArguments,
    exit_code::{Exit, TABLE},
    failure::Failure,
    interrupt::Interrupt,
    output::Output,
    progress,
    sandbox::{SandboxArguments, with_sandbox},
};

/// The most bytes of arguments on standard input: as much as a tool can be given in one call.
const MAX_ARGUMENT_BYTES: u64 = 64 << 20;

/// Call a tool of a component
///
/// Several calls run one after another in one session; the first that fails ends the run. The
/// guard counts in it: a tool changes an existing file only after a tool has read it in the
/// same run, unless --no-guard. A component that a [tools.NAME] table names, by its name or its
/// file, gets that table's policy; any other may do what the sandbox allows.
#[derive(Debug, Args)]
#[command(after_long_help = TABLE)]
pub(crate) struct Arguments {
    #[command(flatten)]
    sandbox: SandboxArguments,
    #[command(flatten)]
    engine: EngineArguments,
    /// Let tools change files that no tool has read in this run
    #[arg(long)]
    no_guard: bool,
    /// A component's file, or the NAME of a [tools.NAME] table
    component: String,
    /// The tool, and its arguments as a JSON object; `-` reads them from standard input
    #[arg(required = true, value_names = ["TOOL", "JSON"], num_args = 1.., allow_hyphen_values = true)]
    calls: Vec<String>,
}

impl Arguments {
    pub(crate) async fn run(self, output: Output, interrupt: &Interrupt) -> Result<Exit, Failure> {
        let config = self.sandbox.config()?;
        let component = Component::named(&config, &self.component)?;
        let calls = calls(&self.calls)?;
        let settings = (config.clone(), self.engine.clone());
        // Compiling can take seconds, and a signal must be heard meanwhile.
        let load = tokio::task::spawn_blocking(move || {
            let (config, engine) = settings;
            component.load(&engine.start(&config)?, &config)
        });
        let loaded = interrupt.or(load).await?;
        let mut tool = loaded.map_err(|error| Failure::new(Exit::Host, error))??;
        if self.no_guard {
            tool = tool.with_guard(false);
        }
        if let Some(sink) = progress::sink(output) {
            tool = tool.with_progress(sink);
        }
        with_sandbox(&config, interrupt, async |sandbox| {
            for (name, arguments) in &calls {
                call(&tool, &sandbox, name, arguments, output).await?;
            }
            Ok(Exit::Done)
        })
        .await
    }
}

async fn call(
    tool: &Tool,
    sandbox: &Sandbox,
    name: &str,
    arguments: &str,
    output: Output,
) -> Result<(), Failure> {
    let answer = tool.call(sandbox, name, arguments).await?;
    if output.is_json() {
        return output.value(&to_json(&answer));
    }
    for part in &answer.content {
        match part {
            ContentPart::Text(text) => output.text(text)?,
            ContentPart::Data { media_type, bytes } => output.note(&format!(
                "[{media_type}, {} bytes; --json prints them]",
                bytes.len()
            )),
        }
    }
    Ok(())
}

/// An answer as `tools.wit` has it, bytes in base64.
fn to_json(answer: &Answer) -> Value {
    let part = |part: &ContentPart| match part {
        ContentPart::Text(text) => json!({ "text": text }),
        ContentPart::Data { media_type, bytes } => {
            json!({ "data": { "media-type": media_type, "bytes": STANDARD.encode(bytes) } })
        }
    };
    json!({
        "content": answer.content.iter().map(part).collect::<Vec<_>>(),
        "structured": answer.structured,
    })
}

/// The calls: pairs of a tool and its arguments; the last may do without.
fn calls(words: &[String]) -> Result<Vec<(String, String)>, Failure> {
    let mut stdin = ControlFlow::Continue(());
    let pair = |pair: &[String]| {
        let arguments = match pair.get(1).map(String::as_str) {
            None => "{}".to_owned(),
            Some("-") if stdin.is_break() => {
                return Err(Failure::usage(
                    "standard input can be the arguments of one call only",
                ));
            }
            Some("-") => {
                stdin = ControlFlow::Break(());
                let bytes = ambient::read_stdin(MAX_ARGUMENT_BYTES)?;
                String::from_utf8(bytes).map_err(|error| {
                    Failure::new(Exit::Usage, error)
                        .during("the arguments on standard input are not text")
                })?
            }
            Some(arguments) => arguments.to_owned(),
        };
        Ok((pair[0].clone(), arguments))
    };
    words.chunks(2).map(pair).collect()
}
