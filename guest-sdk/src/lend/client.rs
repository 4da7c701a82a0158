//! The world `client`.

use super::Lease;

/// The little that a vendor must be able to do.
///
/// All of it acts as the user that the sandbox's programs are. Paths and commands have been quoted already, and go
/// to the other side as they are.
pub trait Client: Lease {
    /// Describes the machine; asked once a session.
    ///
    /// # Errors
    /// [`Failure`].
    fn describe(&self) -> Result<Machine, Failure>;

    /// The whole content of a file. Paths are absolute.
    ///
    /// # Errors
    /// [`Failure`], also when there is no such file.
    fn read(&self, path: &str) -> Result<Vec<u8>, Failure>;

    /// Makes or replaces a file, for the session's user alone where that can be said.
    ///
    /// # Errors
    /// [`Failure`] when not all of it is there.
    fn write(&self, path: &str, bytes: &[u8]) -> Result<(), Failure>;

    /// Has `/bin/sh` run a command, and waits for its end. `stdin` is empty unless [`Traits::stdin`].
    ///
    /// # Errors
    /// [`Failure`] when it did not begin, or when it is not known how it ended.
    fn exec(&self, command: &str, stdin: &[u8]) -> Result<Output, Failure>;
}

/// What a machine is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// The workspace's root there: absolute.
    pub root: String,
    /// A directory for what travels: absolute, and not in the workspace.
    pub scratch: String,
    /// Whether the workspace outlives the session.
    pub durable: bool,
    /// What [`Client::exec`] can do.
    pub traits: Traits,
    /// A few sentences for an agent.
    pub instructions: String,
}

impl Machine {
    /// A machine with its workspace there, `/tmp` for what travels, and nothing that every vendor's cannot.
    #[must_use]
    pub fn at(root: impl Into<String>) -> Self {
        Self {
            root: root.into(),
            scratch: "/tmp".to_owned(),
            durable: false,
            traits: Traits::default(),
            instructions: String::new(),
        }
    }

    /// The same, with what its `exec` can do.
    #[must_use]
    pub const fn with_traits(mut self, traits: Traits) -> Self {
        self.traits = traits;
        self
    }
}

/// What [`Client::exec`] can do beyond what every vendor's can. With both, an operation of the contract is one call and
/// not up to four.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traits {
    /// Bytes on the command's standard input.
    pub stdin: bool,
    /// What is printed comes back byte for byte: as much as the largest file, and a little more.
    pub bytes: bool,
}

/// What a command came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// The exit code.
    pub code: i32,
    /// What it printed: ASCII, unless [`Traits::bytes`].
    pub stdout: Vec<u8>,
    /// What it said of failures.
    pub stderr: Vec<u8>,
}

/// Why something could not be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The sandbox is gone, and with it the session.
    Unavailable(String),
    /// There is no room for another call now.
    Busy(String),
    /// Anything else; the text has the other side's own words.
    Failed(String),
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unavailable(message) => write!(f, "the sandbox is gone: {message}"),
            Self::Busy(message) => write!(f, "there is no room for another call now: {message}"),
            Self::Failed(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for Failure {}

/// Makes a component of the world `client` of a type that implements
/// [`lend::Client`](crate::lend::Client).
#[macro_export]
macro_rules! client {
    ($client:ty) => {
        #[cfg(target_family = "wasm")]
        const _: () = {
            type Component = $crate::raw::Exported<$client>;
    $crate::raw::client::export!(Component with_types_in $crate::raw::client);
        };
        #[cfg(not(target_family = "wasm"))]
        const _: () = {
            const fn is_a_client<T: $crate::lend::Client>() {}
            is_a_client::<$client>();
        };
    };
}
