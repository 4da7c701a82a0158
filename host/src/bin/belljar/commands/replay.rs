//! `belljar replay`: a tool against a recording.

use std::{io::BufReader, path::PathBuf};

use belljar::recording::Recording;
use clap::Args;
use serde_json::json;

use crate::{
    ambient,
    component::Component,
    engine::EngineArguments,
    exit_code::{Exit, TABLE},
    failure::Failure,
    interrupt::Interrupt,
    output::Output,
    sandbox::SandboxArguments,
};

/// Run a tool against a recording that `belljar run --record` made
///
/// The calls of the recording are made again, and answered as they were then: no sandbox is opened, no file is touched
/// and no program runs. The first thing that the tool asks or answers otherwise ends it, with exit code 1.
#[derive(Debug, Args)]
#[command(after_long_help = TABLE)]
pub(crate) struct Arguments {
    #[command(flatten)]
    sandbox: SandboxArguments,
    #[command(flatten)]
    engine: EngineArguments,
    /// The recording
    recording: PathBuf,
    /// A component's file, or the NAME of a [tools.NAME] table
    component: String,
}

impl Arguments {
    pub(crate) async fn run(self, output: Output, interrupt: &Interrupt) -> Result<Exit, Failure> {
        let config = self.sandbox.config_or_temporary()?;
        let component = Component::named(&config, &self.component)?;
        let file = ambient::open_file(&self.recording).map_err(|error| {
            Failure::new(Exit::Usage, error).during(format!(
                "cannot read the recording {}",
                self.recording.display()
            ))
        })?;
        let recording = Recording::read(BufReader::new(file))
            .map_err(|error| Failure::new(Exit::Usage, error))?;
        let calls = recording.calls();
        let replay = tokio::task::spawn_blocking(move || {
            let tool = component.load(&self.engine.start(&config)?, &config)?;
            recording
                .replay(&tool)
                .map_err(|difference| Failure::new(Exit::Failed, difference))
        });
        let replayed = interrupt.or(replay).await?;
        replayed.map_err(|error| Failure::new(Exit::Host, error))??;
        match output.is_json() {
            true => output.value(&json!({ "calls": calls, "same": true }))?,
            false => output.line(&format!("{calls} calls, each as recorded"))?,
        }
        Ok(Exit::Done)
    }
}
