//! `belljar run`: calls tools of a component.

use std::{
    ops::ControlFlow,
    path::{Path, PathBuf},
};

use belljar::{
    ContentPart, Sandbox, Tool,
    config::Config,
    recording::{Recorder, Secrets},
};
use clap::Args;

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
    /// Write what the tools ask of the sandbox and are answered into a new file, for `belljar replay`; the values
    /// of variables are left out of it
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
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
        let recorder = self
            .record
            .as_deref()
            .map(|file| recorder(file, &config))
            .transpose()?;
        if let Some(recorder) = &recorder {
            tool = tool.with_recorder(recorder.clone());
        }
        let ran = with_sandbox(&config, interrupt, async |sandbox| {
            for (name, arguments) in &calls {
                call(&tool, &sandbox, name, arguments, output).await?;
            }
            Ok(Exit::Done)
        })
        .await;
        if let Some(recorder) = recorder
            && let Err(error) = recorder.finish()
        {
            let failure = Failure::from(error).during("the recording is not whole");
            output.note(&failure.to_string());
            return ran.and(Err(failure));
        }
        ran
    }
}

/// Begins a recording in a new file.
fn recorder(file: &Path, config: &Config) -> Result<Recorder, Failure> {
    let to = ambient::new_file(file).map_err(|error| {
        Failure::new(Exit::Usage, error)
            .during(format!("cannot make the recording {}", file.display()))
            .hint("name a new file, in a folder that is there")
    })?;
    let secrets: Secrets = config.sandbox.variables().collect();
    Ok(Recorder::new(to, secrets))
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
        return output.value(&answer);
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
