//! The world `client`: the little that the contract is made of.

use belljar_contract::{Context, ErrorKind, Operation, Result};

use super::{
    bindings::client::{Client, exports::belljar::sandbox::machine as wit},
    instance::{Entered, Exports},
    session::Session,
    state::Settings,
};

/// A machine that a component reaches.
pub(crate) struct LentMachine {
    session: Session,
    description: MachineDescription,
}

/// What a machine says of itself; not yet looked at.
#[derive(Clone)]
pub(crate) struct MachineDescription {
    pub(crate) root: String,
    pub(crate) scratch: String,
    pub(crate) durable: bool,
    pub(crate) stdin: bool,
    pub(crate) bytes: bool,
    pub(crate) instructions: String,
}

/// What a command came to.
pub(crate) struct MachineOutput {
    pub(crate) code: i32,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
}

/// Why something could not be done.
pub(crate) enum MachineFailure {
    Unavailable(String),
    Busy(String),
    Failed(String),
}

type Answer<T> = std::result::Result<T, MachineFailure>;

impl LentMachine {
    /// Asks it what it is.
    pub(super) fn new(session: Session, context: &Context) -> Result<Self> {
        let operation = Operation::Open;
        let described = session.call_here(context, operation, |(exports, store)| {
            let client = client(exports)?;
            client.belljar_sandbox_machine().call_describe(store)
        })?;
        let described = described.map_err(|failure| {
            let (kind, message) = match failure {
                wit::Failure::Unavailable(message) => (ErrorKind::BackendUnavailable, message),
                wit::Failure::Busy(message) => (ErrorKind::Busy, message),
                wit::Failure::Failed(message) => (ErrorKind::BackendFailed, message),
            };
            belljar_contract::Error::new(kind, operation, session.settings().told(&message))
        })?;
        let description = MachineDescription {
            root: described.root,
            scratch: described.scratch,
            durable: described.durable,
            stdin: described.traits.stdin,
            bytes: described.traits.bytes,
            instructions: session.settings().told(&described.instructions),
        };
        Ok(Self {
            session,
            description,
        })
    }

    pub(crate) const fn description(&self) -> &MachineDescription {
        &self.description
    }

    /// The whole content of a file.
    pub(crate) async fn read(&self, context: &Context, path: &str) -> Answer<Vec<u8>> {
        let path = path.to_owned();
        self.ask(context, Operation::Read, move |(exports, store)| {
            let client = client(exports)?;
            client.belljar_sandbox_machine().call_read(store, &path)
        })
        .await
    }

    /// Makes or replaces a file.
    pub(crate) async fn write(&self, context: &Context, path: &str, content: &[u8]) -> Answer<()> {
        let (path, content) = (path.to_owned(), content.to_vec());
        self.ask(context, Operation::Write, move |(exports, store)| {
            let client = client(exports)?;
            client
                .belljar_sandbox_machine()
                .call_write(store, &path, &content)
        })
        .await
    }

    /// Has a shell run a command.
    pub(crate) async fn exec(
        &self,
        context: &Context,
        command: &str,
        stdin: Vec<u8>,
    ) -> Answer<MachineOutput> {
        let command = command.to_owned();
        let output = self
            .ask(context, Operation::Run, move |(exports, store)| {
                let client = client(exports)?;
                client
                    .belljar_sandbox_machine()
                    .call_exec(store, &command, &stdin)
            })
            .await?;
        Ok(MachineOutput {
            code: output.code,
            stdout: output.stdout,
            stderr: output.stderr,
        })
    }

    /// Ends the session.
    pub(crate) async fn close(&self) -> Answer<()> {
        self.session.close().await.map_err(failure)
    }

    async fn ask<T: Send + 'static>(
        &self,
        context: &Context,
        operation: Operation,
        enter: impl FnOnce(Entered<'_>) -> wasmtime::Result<std::result::Result<T, wit::Failure>>
        + Send
        + 'static,
    ) -> Answer<T> {
        let context = match context.remaining() {
            Some(_) => context.clone(),
            None => context.with_timeout(self.session.limits().timeout),
        };
        let answer = self.session.call(&context, operation, enter).await;
        answer
            .map_err(failure)?
            .map_err(|failure| told(self.session.settings(), failure))
    }
}

fn client(exports: &Exports) -> wasmtime::Result<&Client> {
    match exports {
        Exports::Client(client) => Ok(client),
        Exports::Backend(_) => Err(wasmtime::format_err!("a component of another world")),
    }
}

fn failure(error: belljar_contract::Error) -> MachineFailure {
    match error.kind {
        ErrorKind::BackendUnavailable => MachineFailure::Unavailable(error.message),
        ErrorKind::Busy => MachineFailure::Busy(error.message),
        _ => MachineFailure::Failed(error.message),
    }
}

fn told(settings: &Settings, failure: wit::Failure) -> MachineFailure {
    match failure {
        wit::Failure::Unavailable(message) => MachineFailure::Unavailable(settings.told(&message)),
        wit::Failure::Busy(message) => MachineFailure::Busy(settings.told(&message)),
        wit::Failure::Failed(message) => MachineFailure::Failed(settings.told(&message)),
    }
}
