//! The contract over a client: four functions of whoever lends sandboxes.
//!
//! | file | what |
//! |---|---|
//! | `apart` | waiting for a client no longer than is wanted |
//! | `carried` | an [`Exec`] over the four: content travels in files, what was printed comes back as text; or both as they are, where the client can |
//! | `frame` | what the script prints, read |
//! | `carry.sh` | the script |
//!
//! [`PosixBackend`] makes the contract of that. So a client that can run a shell's text and move whole files has every
//! operation, confined as everywhere; one that can do more gives an [`Exec`] of its own.

mod apart;
mod carried;
mod frame;
#[cfg(test)]
mod tests;

use std::{sync::Arc, time::Duration};

use belljar_contract::{
    Backend, Context, Error, ErrorKind, Operation, Request, Response, Result, async_trait,
    session::Description,
};

use self::{
    apart::{Unanswered, apart},
    carried::Carried,
};
use super::posix::{Exec, ExecError, PosixBackend, PosixOptions, nonce};

/// How long a client may take to end the session on the other side.
const CLOSE: Duration = Duration::from_secs(30);

/// Whoever lends a sandbox: a vendor's API, or your own service.
///
/// All of them act as the user that the sandbox's programs are, and as none with more rights: what travels lies where
/// those programs can change it, a link to anything in its place.
///
/// Each function may be called any number of times at once. What they are given is never trusted to be text that a
/// person wrote: a path and a command have been quoted already, and must go to the other side as they are.
///
/// [`ClientOptions::open`] makes a backend of it.
///
/// ```
/// use belljar::{Context, async_trait, backends::{Client, ClientError, ClientOutput}};
///
/// struct Lent(String);
///
/// # fn request(_: &str, _: &str, _: &str, _: &[u8]) -> Result<Vec<u8>, ClientError> { Ok(Vec::new()) }
/// #[async_trait]
/// impl Client for Lent {
///     async fn read(&self, _: &Context, path: &str) -> Result<Vec<u8>, ClientError> {
///         request(&self.0, "read", path, &[])
///     }
///     async fn write(&self, _: &Context, path: &str, content: &[u8]) -> Result<(), ClientError> {
///         request(&self.0, "write", path, content).map(drop)
///     }
///     async fn exec(&self, _: &Context, command: &str) -> Result<ClientOutput, ClientError> {
///         let said = request(&self.0, "exec", command, &[])?;
///         let stdout = String::from_utf8_lossy(&said).into_owned();
///         Ok(ClientOutput { stdout, ..ClientOutput::default() })
///     }
///     async fn close(&self) -> Result<(), ClientError> {
///         request(&self.0, "close", "", &[]).map(drop)
///     }
/// }
/// ```
#[async_trait]
pub trait Client: Send + Sync {
    /// The whole content of a file. Paths are absolute.
    ///
    /// # Errors
    /// [`ClientError`], also when there is no such file.
    async fn read(&self, context: &Context, path: &str) -> Result<Vec<u8>, ClientError>;

    /// Makes or replaces a file, for the session's user alone where that can be said.
    ///
    /// # Errors
    /// [`ClientError`] when not all of the content is there.
    async fn write(&self, context: &Context, path: &str, content: &[u8])
    -> Result<(), ClientError>;

    /// Has a POSIX shell run a command, and waits for its end. There is no standard input. What is printed is ASCII;
    /// nothing is lost when it comes back as text.
    ///
    /// It may be given up (the future is dropped, or the context is over): whether the command goes on then is
    /// the client's affair, and another one will look for it.
    ///
    /// # Errors
    /// [`ClientError`] when it did not begin, or when it is not known how it ended. That it ended with another code than
    /// 0 is no error.
    async fn exec(&self, context: &Context, command: &str) -> Result<ClientOutput, ClientError>;

    /// Ends the session on the other side. Called once.
    ///
    /// # Errors
    /// [`ClientError`] when something may be left.
    async fn close(&self) -> Result<(), ClientError>;

    /// Has a shell run commands with bytes in and bytes out, where the other side can: an operation is then one call and
    /// not up to four.
    fn bytes(&self) -> Option<Arc<dyn ClientBytes>> {
        None
    }

    /// Runs programs as an [`Exec`] of its own, where the other side can all that one must.
    fn native(&self) -> Option<Arc<dyn Exec>> {
        None
    }
}

/// Has a shell run commands with bytes in and bytes out.
///
/// What [`Client::exec`] is told of commands holds here too.
#[async_trait]
pub trait ClientBytes: Send + Sync {
    /// Has a POSIX shell run a command, whose standard input is `stdin` and then its end, and waits for its end.
    ///
    /// # Errors
    /// As [`Client::exec`].
    async fn exec(
        &self,
        context: &Context,
        command: &str,
        stdin: &[u8],
    ) -> Result<ClientBytesOutput, ClientError>;
}

/// What a command came to, byte for byte.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientBytesOutput {
    /// The exit code.
    pub code: i32,
    /// What it printed.
    pub stdout: Vec<u8>,
    /// What it said of failures.
    pub stderr: Vec<u8>,
}

/// What a command came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientOutput {
    /// The exit code.
    pub code: i32,
    /// What it printed.
    pub stdout: String,
    /// What it said of failures.
    pub stderr: String,
}

/// Why a client could not do what it should.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The sandbox is gone, and with it the session.
    #[error("the sandbox is gone: {message}")]
    Unavailable {
        /// The other side's own words.
        message: String,
    },
    /// There is no room for another call now.
    #[error("there is no room for another call now: {message}")]
    Busy {
        /// The other side's own words.
        message: String,
    },
    /// Anything else.
    #[error("the client failed: {message}")]
    Failed {
        /// The other side's own words.
        message: String,
    },
}

impl From<ClientError> for ExecError {
    fn from(error: ClientError) -> Self {
        match error {
            ClientError::Unavailable { message } => Self::Unavailable { message },
            ClientError::Busy { message } => Self::Busy { message },
            ClientError::Failed { message } => Self::Failed { message },
        }
    }
}

/// How a backend over a [`Client`] is opened.
#[derive(Clone, Debug)]
pub struct ClientOptions {
    /// The workspace and what is said of it.
    pub posix: PosixOptions,
    /// A directory of the other side's for what travels: absolute, and not in the workspace. `/tmp`, mostly.
    pub scratch: String,
}

impl ClientOptions {
    /// Looks at the other side, and makes the backend. The client is closed when that fails.
    ///
    /// # Errors
    /// As [`PosixOptions::open`].
    pub async fn open(
        self,
        context: &Context,
        client: Arc<dyn Client>,
    ) -> Result<Arc<dyn Backend>> {
        let opened = self.prepare(context, Arc::clone(&client)).await;
        match opened {
            Ok(backend) => Ok(Arc::new(backend)),
            Err(error) => {
                // Why it did not open counts more.
                let _ = end(client).await;
                Err(error)
            }
        }
    }

    async fn prepare(self, context: &Context, client: Arc<dyn Client>) -> Result<ClientBackend> {
        if !self.scratch.starts_with('/') || self.scratch.contains('\0') {
            let message = format!(
                "the directory for what travels, {:?}, is not absolute; name the whole path, as it is there",
                self.scratch
            );
            let kind = ErrorKind::InvalidArgument;
            return Err(Error::new(kind, Operation::Open, message));
        }
        let (exec, carried): (Arc<dyn Exec>, _) = match client.native() {
            Some(native) => (native, None),
            None => {
                let folder = format!("{}/belljar-{}", self.scratch, nonce());
                let carried = Carried::open(context, Arc::clone(&client), folder).await?;
                (Arc::new(carried.clone()), Some(carried))
            }
        };
        let posix = self.posix.open(context, exec).await?;
        Ok(ClientBackend {
            posix,
            carried,
            client,
        })
    }
}

/// A session over a client.
struct ClientBackend {
    posix: PosixBackend,
    carried: Option<Carried>,
    client: Arc<dyn Client>,
}

#[async_trait]
impl Backend for ClientBackend {
    fn describe(&self) -> Arc<Description> {
        self.posix.describe()
    }

    async fn call(&self, context: &Context, request: Request) -> Result<Response> {
        self.posix.call(context, request).await
    }

    async fn close(&self) -> Result<()> {
        let ended = self.posix.close().await;
        if let Some(carried) = &self.carried {
            carried.clear().await;
        }
        let closed = end(Arc::clone(&self.client)).await;
        ended.and(closed)
    }
}

/// Has a client end the session on the other side.
async fn end(client: Arc<dyn Client>) -> Result<()> {
    let context = Context::new().with_timeout(CLOSE);
    let closed = apart(&context, async move { client.close().await }).await;
    let failed = |message| Error::new(ErrorKind::BackendFailed, Operation::Close, message);
    match closed {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(failed(error.to_string()).because(error)),
        Err(Unanswered::Stopped(_)) => Err(failed(format!(
            "the client did not end the session within {CLOSE:?}; something may be left there"
        ))),
        Err(Unanswered::NoThread(error)) => Err(failed(error.to_string()).because(error)),
        Err(Unanswered::Gone) => Err(failed("the client panicked".to_owned())),
    }
}
