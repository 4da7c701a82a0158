//! A backend that is a component: the component of `runtime`, with what `backends::component` lets it ask of the network.

use std::{sync::Arc, time::Duration};

use belljar_contract::{Backend, Context, Operation, Result, async_trait, blocking::block_on};

use crate::{
    OpenOptions,
    backends::{
        Client, ClientBytes, ClientBytesOutput, ClientError, ClientOptions, ClientOutput,
        ComponentError, ComponentOptions, OpenError, PosixOptions,
        component::{HttpClient, HttpFailure, HttpRequest},
    },
    config::Config,
    runtime::{
        CompilationCache, LoadError,
        lender::{
            Allowed, HttpError, HttpRequest as Asked, HttpResponse, Lender, LenderLimits, Lent,
            LentMachine, MachineFailure, MachineOutput, Outgoing, Settings,
        },
        read_component_ambient,
    },
};

/// What is told of every such session.
const ELSEWHERE: &str = "elsewhere: what confines processes is the other side's, and what the component says of it is not checked";

/// Opens the sandbox of a component.
///
/// # Ambient authority
/// The component, secrets in files and certificates are files of the host; the component reaches what is granted to it.
pub(super) fn open_ambient(
    config: &Config,
    component: &ComponentOptions,
    options: OpenOptions,
) -> std::result::Result<Arc<dyn Backend>, OpenError> {
    if let Some(workspace) = config.sandbox.workspace.clone() {
        return Err(ComponentError::WorkspaceIsHere { workspace }.into());
    }
    let allowed = Allowed {
        writable: config.sandbox.writable,
        limits: config.limits,
    };
    let http = HttpClient::open_ambient(component)?;
    let settings = settings_ambient(component, &options)?;
    let lender = Arc::new(load_ambient(component, &options)?);
    let context = Context::new();
    let opened = lender.open(&context, settings, Arc::new(Network(http)));
    let backend = match opened.map_err(ComponentError::NotOpened)? {
        Lent::Backend(lent) => lent.within(&allowed),
        Lent::Machine(machine) => derived(machine, &allowed, component.component_limits.timeout),
    };
    Ok(backend.map_err(ComponentError::NotOpened)?)
}

fn load_ambient(
    component: &ComponentOptions,
    options: &OpenOptions,
) -> std::result::Result<Lender, ComponentError> {
    let path = &component.component;
    let refused = |source: LoadError| ComponentError::Load {
        path: path.clone(),
        source: Box::new(source),
    };
    let bytes = read_component_ambient(path).map_err(refused)?;
    // A cache that cannot be used makes it slower, and never stops it.
    let cache = options.compilation_cache.as_deref().and_then(|folder| {
        CompilationCache::open_ambient(folder)
            .inspect_err(|error| tracing::warn!("{error}; going on without a cache"))
            .ok()
    });
    let limits = &component.component_limits;
    let limits = LenderLimits {
        memory_bytes: limits.memory_bytes,
        timeout: limits.timeout,
        instances: limits.calls,
    };
    Lender::load(&bytes, cache, limits).map_err(refused)
}

fn settings_ambient(
    component: &ComponentOptions,
    options: &OpenOptions,
) -> std::result::Result<Settings, ComponentError> {
    let secrets = component.secrets.iter();
    let secrets = secrets.map(|(name, source)| {
        let value = source.read_ambient(name, &options.secrets)?;
        Ok((name.clone(), value))
    });
    let secrets = secrets.collect::<std::result::Result<_, ComponentError>>()?;
    Ok(Settings::new(component.settings.clone(), secrets))
}

/// The contract, made of what a machine can do.
fn derived(machine: LentMachine, allowed: &Allowed, timeout: Duration) -> Result<Arc<dyn Backend>> {
    let description = machine.description().clone();
    let options = ClientOptions {
        scratch: description.scratch,
        posix: PosixOptions {
            backend: "component".to_owned(),
            root: description.root,
            writable: allowed.writable,
            durable: description.durable,
            users: false,
            environment: std::collections::BTreeMap::new(),
            limits: allowed.limits,
            instructions: description.instructions,
            hardening_gaps: vec![ELSEWHERE.to_owned()],
        },
    };
    let context = Context::new().with_timeout(timeout);
    let client = Arc::new(Lends(Arc::new(machine)));
    block_on(&context, options.open(&context, client))
        .unwrap_or_else(|stop| Err(stop.during(Operation::Open)))
}

/// A machine as a client of the contract.
struct Lends(Arc<LentMachine>);

#[async_trait]
impl Client for Lends {
    async fn read(
        &self,
        context: &Context,
        path: &str,
    ) -> std::result::Result<Vec<u8>, ClientError> {
        self.0.read(context, path).await.map_err(failed)
    }

    async fn write(
        &self,
        context: &Context,
        path: &str,
        content: &[u8],
    ) -> std::result::Result<(), ClientError> {
        self.0.write(context, path, content).await.map_err(failed)
    }

    async fn exec(
        &self,
        context: &Context,
        command: &str,
    ) -> std::result::Result<ClientOutput, ClientError> {
        let output = self.0.exec(context, command, Vec::new()).await;
        let output = output.map_err(failed)?;
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Ok(ClientOutput {
            code: output.code,
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        })
    }

    async fn close(&self) -> std::result::Result<(), ClientError> {
        self.0.close().await.map_err(failed)
    }

    fn bytes(&self) -> Option<Arc<dyn ClientBytes>> {
        let description = self.0.description();
        let can = description.stdin && description.bytes;
        can.then(|| Arc::new(Bytes(Arc::clone(&self.0))) as Arc<dyn ClientBytes>)
    }
}

/// The same, where bytes travel as they are.
struct Bytes(Arc<LentMachine>);

#[async_trait]
impl ClientBytes for Bytes {
    async fn exec(
        &self,
        context: &Context,
        command: &str,
        stdin: &[u8],
    ) -> std::result::Result<ClientBytesOutput, ClientError> {
        let output = self.0.exec(context, command, stdin.to_vec()).await;
        let MachineOutput {
            code,
            stdout,
            stderr,
        } = output.map_err(failed)?;
        Ok(ClientBytesOutput {
            code,
            stdout,
            stderr,
        })
    }
}

fn failed(failure: MachineFailure) -> ClientError {
    match failure {
        MachineFailure::Unavailable(message) => ClientError::Unavailable { message },
        MachineFailure::Busy(message) => ClientError::Busy { message },
        MachineFailure::Failed(message) => ClientError::Failed { message },
    }
}

/// What the component reaches.
struct Network(HttpClient);

impl Outgoing for Network {
    fn send(
        &self,
        context: &Context,
        asked: Asked,
    ) -> std::result::Result<HttpResponse, HttpError> {
        let request = HttpRequest {
            method: asked.method,
            url: asked.url,
            headers: asked.headers,
            body: asked.body,
            timeout: Duration::from_millis(asked.timeout),
        };
        match self.0.send(context, request) {
            Ok(response) => Ok(HttpResponse {
                status: response.status,
                headers: response.headers,
                body: response.body,
            }),
            Err(failure) => Err(match failure {
                HttpFailure::Denied(message) => HttpError::Denied(message),
                HttpFailure::Invalid(message) => HttpError::Invalid(message),
                HttpFailure::Unreachable(message) => HttpError::Unreachable(message),
                HttpFailure::TimedOut => HttpError::TimedOut,
                HttpFailure::Stopped => HttpError::Stopped,
                HttpFailure::TooLarge => HttpError::TooLarge,
            }),
        }
    }
}
