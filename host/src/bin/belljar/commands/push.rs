//! `belljar push`: a component into a registry.

use std::path::{Path, PathBuf};

use belljar::{Host, LoadError, WasiMode, registry::Reference};
use clap::Args;
use serde_json::json;

use crate::{
    ambient,
    engine::EngineArguments,
    exit_code::{Exit, TABLE},
    failure::Failure,
    interrupt::Interrupt,
    output::Output,
    registry::RegistryArguments,
    sandbox::SandboxArguments,
};

const SIGNING: &str = "\
Sign with minisign (https://jedisct1.github.io/minisign/), whose secret key never comes near this program:
  minisign -S -m coding.wasm -t \"expires:$(date -d '+1 year' +%s)\"
  belljar push coding.wasm registry.example/ada/coding:1.2 --signature coding.wasm.minisig";

/// Put a component into a registry
///
/// It is loaded first, so that nothing is pushed that would be refused. The credentials are those of `docker login`.
#[derive(Debug, Args)]
#[command(after_long_help = format!("{SIGNING}\n\n{TABLE}"))]
pub(crate) struct Arguments {
    #[command(flatten)]
    sandbox: SandboxArguments,
    #[command(flatten)]
    engine: EngineArguments,
    #[command(flatten)]
    registry: RegistryArguments,
    /// The component's signature, as minisign writes it
    #[arg(long, value_name = "FILE")]
    signature: Option<PathBuf>,
    /// The component's file
    component: PathBuf,
    /// Where it goes, as registry.example/ada/coding:1.2
    reference: Reference,
}

impl Arguments {
    pub(crate) async fn run(self, output: Output, interrupt: &Interrupt) -> Result<Exit, Failure> {
        let config = self.sandbox.config_or_temporary()?;
        let client = self.registry.client(&config)?;
        let bytes = ambient::read_file(&self.component).map_err(|source| LoadError::Read {
            path: self.component.clone(),
            source,
        })?;
        let signature = match &self.signature {
            Some(file) => Some(signature(file)?),
            None => None,
        };
        let host = self.engine.start(&config)?;
        let imports = interrupt.or(imports(host, bytes.clone())).await??;
        let exports = [format!(
            "belljar:sandbox/tools@{}",
            belljar::CONTRACT_VERSION
        )];
        let push = client.push(
            &self.reference,
            bytes,
            signature.as_deref(),
            &imports,
            &exports,
        );
        let manifest = interrupt.or(push).await??;
        match output.is_json() {
            true => output.value(&json!({
                "reference": self.reference.to_string(),
                "manifest": manifest.to_string(),
            }))?,
            false => output.line(&format!("{} is {manifest}", self.reference))?,
        }
        Ok(Exit::Done)
    }
}

fn signature(file: &Path) -> Result<String, Failure> {
    let told = |error: Box<dyn std::error::Error + Send + Sync>| {
        Failure::new(Exit::Usage, error)
            .during(format!("cannot read the signature {}", file.display()))
    };
    let bytes = ambient::read_file(file).map_err(|error| told(error.into()))?;
    String::from_utf8(bytes).map_err(|error| told(error.into()))
}

/// What the component imports, when it is one that a host would load.
async fn imports(host: Host, bytes: Vec<u8>) -> Result<Vec<String>, Failure> {
    let load = tokio::task::spawn_blocking(move || {
        match host.load(&bytes, WasiMode::Deny) {
            // Whether its stubs are granted is for those to say who load it.
            Err(LoadError::ForbiddenImports { .. }) => host.load(&bytes, WasiMode::Inert),
            loaded => loaded,
        }
    });
    let tool = load
        .await
        .map_err(|error| Failure::new(Exit::Host, error))??;
    let imports = tool.imports().iter();
    Ok(imports.map(|import| import.name.clone()).collect())
}
