//! `belljar conformance`: the contract's suite against the configured sandbox.

use std::{num::NonZeroUsize, sync::Arc};

use belljar::{
    Context, OpenOptions, Sandbox, async_trait,
    config::{Backend, Config},
};
use belljar_conformance::{
    CaseReport, Factory, Failure as CaseFailure, HostDirectory, Options, Outcome, Report, Shared,
    Workspace,
};
use clap::Args;
use tempfile::TempDir;

use crate::{
    exit_code::{Exit, TABLE},
    failure::Failure,
    interrupt::Interrupt,
    output::Output,
    sandbox::{self, SandboxArguments, open_options},
};

/// Run the contract's suite against the sandbox, for those who write backends
///
/// In a workspace that is configured, or is elsewhere, each case gets a folder of its own, which is removed; without
/// one, or without any configuration, each gets a temporary workspace, and cases run that need
/// one for themselves. A component that lends empty workspaces lends one to each. The exit code is 1 when a case failed.
#[derive(Debug, Args)]
#[command(after_long_help = TABLE)]
pub(crate) struct Arguments {
    #[command(flatten)]
    sandbox: SandboxArguments,
    /// Only cases whose name has this in it
    #[arg(long, value_name = "TEXT")]
    filter: Option<String>,
    /// How many cases run at once
    #[arg(long, default_value = "1")]
    jobs: NonZeroUsize,
}

impl Arguments {
    pub(crate) async fn run(self, output: Output, interrupt: &Interrupt) -> Result<Exit, Failure> {
        let config = self.sandbox.config_or_temporary()?;
        if !config.sandbox.writable {
            return Err(Failure::new(
                Exit::NotOpened,
                "the suite writes, and the sandbox is read-only",
            )
            .hint("pass --writable, or set writable = true in [sandbox]"));
        }
        // Opened in any case: what is wrong with the configuration is said once, not by each case.
        let sandbox = sandbox::open(&config)?.within(interrupt.context().clone());
        let lent = matches!(config.sandbox.backend, Backend::Component(_));
        let factory: Arc<dyn Factory> = if lent && sandbox.list(".", None).await?.total == 0 {
            sandbox.close().await?;
            Arc::new(Lent { config })
        } else if config.sandbox.workspace.is_some() || elsewhere(&config) {
            Arc::new(Shared::new((*sandbox).clone()))
        } else {
            sandbox.close().await?;
            Arc::new(Temporary {
                config,
                // A supervisor that owns all children would take those of a case beside it.
                alone: self.jobs.get() == 1,
            })
        };
        let options = Options {
            filter: self.filter,
            jobs: self.jobs.get(),
            ..Options::default()
        };
        let suite =
            tokio::task::spawn_blocking(move || belljar_conformance::run(&factory, &options));
        let report = interrupt.or(suite).await;
        // A second time it does nothing.
        let closed = sandbox.close().await;
        let report = report?.map_err(|error| Failure::new(Exit::Host, error))?;
        // The results are there, however the sandbox ends.
        match output.is_json() {
            true => output.value(&report)?,
            false => show(&report, output)?,
        }
        closed?;
        Ok(match report.failed {
            0 => Exit::Done,
            _ => Exit::Failed,
        })
    }
}

/// Whether the workspace is no directory of this machine, so that a temporary one here is nothing there.
fn elsewhere(config: &Config) -> bool {
    matches!(
        config.sandbox.backend,
        Backend::Remote(_) | Backend::Component(_) | Backend::Kubernetes { .. }
    )
}

/// Opens a sandbox in a temporary workspace for each case, and the host's own way to it.
struct Temporary {
    config: Config,
    alone: bool,
}

#[async_trait]
impl Factory for Temporary {
    async fn open(&self, _: &Context) -> Result<Workspace, CaseFailure> {
        let folder = || {
            let folder = tempfile::Builder::new()
                .prefix("belljar-conformance-")
                .tempdir();
            folder.map_err(|error| CaseFailure::wrong(format!("no temporary folder: {error}")))
        };
        let (workspace, outside): (TempDir, TempDir) = (folder()?, folder()?);
        let mut config = self.config.clone();
        config.sandbox.workspace = Some(workspace.path().to_owned());
        let options = OpenOptions {
            owns_all_children: self.alone,
            // No two cases share a container.
            container_state: None,
            ..open_options(&config)
        };
        let sandbox = Sandbox::open_ambient(&config, options)
            .map_err(|error| CaseFailure::wrong(format!("the sandbox does not open: {error}")))?;
        let host = HostDirectory::new_ambient(workspace.path(), outside.path());
        Ok(Workspace::fresh((*sandbox).clone())
            .with_outside(Arc::new(host))
            .keeping((workspace, outside)))
    }
}

/// Has a component lend a sandbox for each case.
struct Lent {
    config: Config,
}

#[async_trait]
impl Factory for Lent {
    async fn open(&self, _: &Context) -> Result<Workspace, CaseFailure> {
        let sandbox = Sandbox::open_ambient(&self.config, open_options(&self.config))
            .map_err(|error| CaseFailure::wrong(format!("the sandbox does not open: {error}")))?;
        Ok(Workspace::fresh((*sandbox).clone()))
    }
}

fn show(report: &Report, output: Output) -> Result<(), Failure> {
    for CaseReport {
        name,
        outcome,
        milliseconds,
    } in &report.cases
    {
        match outcome {
            Outcome::Passed => output.line(&format!("passed   {name} ({milliseconds} ms)"))?,
            Outcome::Failed(message) => output.line(&format!("FAILED   {name}: {message}"))?,
            Outcome::Skipped(reason) => output.line(&format!("skipped  {name}: {reason}"))?,
        }
    }
    output.line(&format!(
        "{} passed, {} failed, {} skipped",
        report.passed, report.failed, report.skipped
    ))
}
