//! `belljar pull`: components from registries.

use std::{io::Write as _, path::PathBuf, time::SystemTime};

use belljar::{
    Host, LoadError,
    config::{Config, ToolConfig},
    registry::{Locked, Pinned, Reference, Registry},
};
use clap::Args;
use serde_json::json;

use crate::{
    ambient,
    engine::EngineArguments,
    exit_code::{Exit, TABLE},
    failure::Failure,
    interrupt::Interrupt,
    output::Output,
    registry::{self, RegistryArguments},
    sandbox::SandboxArguments,
};

/// Fetch components from registries
///
/// Without a REFERENCE those of the configuration's [tools.NAME] tables: what belljar.lock pins, and what a reference
/// stands for now where nothing is pinned (or with --update). Each is verified, and loaded once, before it is kept and
/// pinned; afterwards no network is needed. With a REFERENCE that one, into a file.
#[derive(Debug, Args)]
#[command(after_long_help = TABLE)]
pub(crate) struct Arguments {
    #[command(flatten)]
    sandbox: SandboxArguments,
    #[command(flatten)]
    engine: EngineArguments,
    #[command(flatten)]
    registry: RegistryArguments,
    /// Pin what the references stand for now, whatever was pinned
    #[arg(long, conflicts_with = "reference")]
    update: bool,
    /// The file to make; else the last part of the reference and .wasm
    #[arg(long, short, value_name = "FILE", requires = "reference")]
    output: Option<PathBuf>,
    /// One component, as registry.example/ada/coding:1.2
    reference: Option<Reference>,
}

impl Arguments {
    pub(crate) async fn run(self, output: Output, interrupt: &Interrupt) -> Result<Exit, Failure> {
        let config = self.sandbox.config()?;
        let client = self.registry.client(&config)?;
        match &self.reference {
            Some(reference) => {
                let pulled = interrupt
                    .or(self.one(&config, &client, reference))
                    .await??;
                report(output, reference, &pulled.0, Some(&pulled.1))?;
            }
            None => interrupt.or(self.all(&config, &client, output)).await??,
        }
        Ok(Exit::Done)
    }

    /// Fetches one into a file.
    async fn one(
        &self,
        config: &Config,
        client: &Registry,
        reference: &Reference,
    ) -> Result<(Locked, PathBuf), Failure> {
        let pulled = client.pull(reference).await?;
        let keys = config.registry.keys.clone();
        let keys = belljar::registry::TrustedKeys::from_iter(keys);
        if config.registry.require_signature {
            let signature = pulled.signature.as_deref();
            keys.verify(&pulled.bytes, signature, SystemTime::now())
                .map_err(|error| Failure::new(Exit::Component, error))?;
        }
        let name = PathBuf::from(format!("{}.wasm", reference.name()));
        let path = self.output.clone().unwrap_or(name);
        let write = || ambient::new_file(&path)?.write_all(&pulled.bytes);
        write().map_err(|error| {
            Failure::new(Exit::Usage, error)
                .during(format!("cannot make {}", path.display()))
                .hint("name a new file with --output")
        })?;
        Ok((Locked::from(&pulled), path))
    }

    /// Fetches those of the configuration, and pins them.
    async fn all(&self, config: &Config, client: &Registry, output: Output) -> Result<(), Failure> {
        let path = registry::lock_path(config)?;
        let mut pinned = registry::pinned(config, &path)?;
        let wanted: Vec<(&Reference, &ToolConfig)> = config
            .tools
            .values()
            .filter_map(|tool| Some((tool.reference.as_ref()?, tool)))
            .collect();
        if wanted.is_empty() {
            return Err(Failure::usage("no [tools.NAME] table has a reference")
                .hint("name one here, or configure reference = \"REGISTRY/NAME:TAG\""));
        }
        let host = self.engine.start(config)?;
        let mut references = Vec::new();
        for (reference, tool) in wanted {
            let locked = self
                .fetch(&mut pinned, client, &host, (reference, tool))
                .await?;
            // At once: what comes after may fail.
            pinned.lock.write_ambient(&path)?;
            report(output, reference, &locked, None)?;
            references.push(reference.clone());
        }
        pinned.lock.retain(&references);
        pinned.lock.write_ambient(&path)?;
        Ok(())
    }

    async fn fetch(
        &self,
        pinned: &mut Pinned,
        client: &Registry,
        host: &Host,
        (reference, tool): (&Reference, &ToolConfig),
    ) -> Result<Locked, Failure> {
        let wasi = tool.wasi.into();
        let check = async |bytes: &[u8]| {
            let (host, bytes) = (host.clone(), bytes.to_vec());
            // Compiling can take seconds, and a signal must be heard meanwhile.
            let load = tokio::task::spawn_blocking(move || host.load(&bytes, wasi));
            let loaded: Result<_, LoadError> = load
                .await
                .map_err(|error| Failure::new(Exit::Host, error))?;
            loaded.map(drop).map_err(Failure::from)
        };
        pinned
            .fetch(client, reference, self.update, SystemTime::now(), check)
            .await
            .map_err(|failure: Failure| failure.during(format!("{reference} is not pinned")))
    }
}

fn report(
    output: Output,
    reference: &Reference,
    locked: &Locked,
    path: Option<&PathBuf>,
) -> Result<(), Failure> {
    let signed = locked.signature.is_some();
    if output.is_json() {
        return output.value(&json!({
            "reference": reference.to_string(),
            "digest": locked.digest.to_string(),
            "manifest": locked.manifest.to_string(),
            "signed": signed,
            "file": path,
        }));
    }
    let signed = if signed { ", signed" } else { "" };
    let into = path.map(|path| format!(" into {}", path.display()));
    output.line(&format!(
        "{reference} is {}{signed}{}",
        locked.digest,
        into.unwrap_or_default()
    ))
}
