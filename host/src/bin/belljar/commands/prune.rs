//! `belljar prune`: the containers that nobody is left for.

mod pods;

use std::path::PathBuf;

use belljar::{
    backends::{
        ContainerEngine, KubernetesOptions, Left, PruneOptions, PruneReport, prune_ambient,
    },
    config::Backend,
};
use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use crate::{
    ambient,
    exit_code::{Exit, TABLE},
    failure::{Failure, messages},
    interrupt::Interrupt,
    output::Output,
    sandbox::loader,
};

/// Remove containers, or Pods, of ours whose owner has ended
///
/// Where the kubernetes backend is configured, its namespace's Pods are looked at. A container ends with the program that opened it, so there is something to do only after an engine or a
/// machine was stopped hard. What has a living owner is never removed. A container that was named, to be found
/// again, and one whose owner cannot be seen from here, are left until their lease ends. The exit code is 1
/// when one could not be removed.
#[derive(Debug, Args)]
#[command(after_long_help = TABLE)]
pub(crate) struct Arguments {
    /// The engine; else the configured one, else docker
    #[arg(long, visible_alias = "runtime")]
    engine: Option<EngineName>,
    /// The engine's program; else the configured one
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// The configuration; else the nearest belljar.toml
    #[arg(long, short, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Say only what would be removed
    #[arg(long)]
    dry_run: bool,
    /// Remove also what runs, when its lease has ended and its owner cannot be seen from here; it may live on
    /// another machine
    #[arg(long)]
    unseen: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum EngineName {
    Docker,
    Podman,
    Apple,
}

impl Arguments {
    pub(crate) async fn run(self, output: Output, interrupt: &Interrupt) -> Result<Exit, Failure> {
        let (configured, program) = match self.configured()? {
            Configured::Engine(engine, program) => (engine, program),
            Configured::Cluster(options) => {
                return pods::prune(*options, self.dry_run, output, interrupt).await;
            }
        };
        let engine = match self.engine {
            Some(EngineName::Docker) => ContainerEngine::Docker,
            Some(EngineName::Podman) => ContainerEngine::Podman,
            Some(EngineName::Apple) => ContainerEngine::Apple,
            None => configured,
        };
        // The configured program is the configured engine's.
        let program = program.filter(|_| self.engine.is_none());
        // A name is looked for on the PATH, and a path is relative to here.
        let here = ambient::current_folder()?;
        let named = self
            .program
            .map(|program| match program.components().count() {
                1 => program,
                _ => here.join(program),
            });
        let options = PruneOptions {
            engine,
            program: named.or(program),
            engine_environment: ambient::engine_environment(),
            dry_run: self.dry_run,
            unseen: self.unseen,
        };
        let context = interrupt.context().clone();
        let prune = tokio::task::spawn_blocking(move || prune_ambient(&context, &options));
        // It is cancelled with its context, and then kills the program that it waits for.
        let report = prune
            .await
            .map_err(|error| Failure::new(Exit::Host, error))??;
        match output.is_json() {
            true => output.value(&to_json(&report, self.dry_run))?,
            false => show(&report, self.dry_run, output)?,
        }
        let failed = report.containers.iter().any(|one| one.failure.is_some());
        Ok(match failed {
            true => Exit::Failed,
            false => Exit::Done,
        })
    }

    /// The configured engine and its program, or cluster; the default engine where there is no configuration, or another
    /// backend.
    fn configured(&self) -> Result<Configured, Failure> {
        let folder = ambient::current_folder()?;
        let config = match &self.config {
            Some(file) => Some(loader().load(&folder.join(file))?),
            // What is named on the command line needs no configuration, nor a right one.
            None if self.engine.is_some() => None,
            None => loader().discover(&folder)?,
        };
        Ok(match config.map(|config| config.sandbox.backend) {
            Some(Backend::Container { options, .. }) => {
                Configured::Engine(options.engine, options.program)
            }
            Some(Backend::Kubernetes { options, .. }) => Configured::Cluster(options),
            _ => Configured::Engine(ContainerEngine::default(), None),
        })
    }
}

/// Whose leftovers are removed.
enum Configured {
    Engine(ContainerEngine, Option<PathBuf>),
    Cluster(Box<KubernetesOptions>),
}

/// What became of a container.
fn outcome(one: &Left, dry_run: bool) -> &'static str {
    match (one.verdict.removes(), dry_run, &one.failure) {
        (false, _, _) => "kept",
        (true, true, _) => "would-remove",
        (true, false, None) => "removed",
        (true, false, Some(_)) => "failed",
    }
}

fn to_json(report: &PruneReport, dry_run: bool) -> Value {
    let container = |one: &Left| {
        json!({
            "id": one.id,
            "container-name": one.container_name,
            "name": one.name,
            "image": one.image,
            "state": one.state.as_str(),
            "outcome": outcome(one, dry_run),
            "reason": one.verdict.as_str(),
            "message": one.failure.as_ref().map(|error| messages(error).join(": ")),
        })
    };
    let containers: Vec<Value> = report.containers.iter().map(container).collect();
    json!({ "dry-run": dry_run, "containers": containers })
}

fn show(report: &PruneReport, dry_run: bool, output: Output) -> Result<(), Failure> {
    for one in &report.containers {
        let Left {
            container_name,
            image,
            state,
            verdict,
            ..
        } = one;
        let outcome = outcome(one, dry_run);
        let line = format!("{outcome:<12}  {container_name}  {image}  {state}: {verdict}");
        match &one.failure {
            None => output.line(&line)?,
            Some(error) => output.line(&format!("{line}; {}", messages(error).join(": ")))?,
        }
    }
    if report.containers.is_empty() {
        output.note("there are no containers of ours");
    }
    Ok(())
}
