//! What goes wrong with a registry.

use std::{io, path::PathBuf};

use super::{digest::Digest, signature::SignatureError};

/// Why a component is not pushed, pulled or taken.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// It is no reference.
    #[error("{text:?} is no reference to a component: {message}")]
    BadReference {
        /// What was given.
        text: String,
        /// What is wrong.
        message: String,
    },
    /// It is no digest.
    #[error("{text:?} is no digest; one is sha256: and 64 hexadecimal digits")]
    BadDigest {
        /// What was given.
        text: String,
    },
    /// The client could not be made.
    #[error("cannot make a client for registries: {message}")]
    Client {
        /// Why.
        message: String,
    },
    /// The registry does not answer.
    #[error("the registry {registry} cannot be reached: {message}")]
    Unreachable {
        /// Which.
        registry: String,
        /// The connection's words.
        message: String,
    },
    /// The registry does not let us.
    #[error(
        "the registry {registry} refuses: {message}; log in, as with `docker login {registry}`"
    )]
    Refused {
        /// Which.
        registry: String,
        /// Its words.
        message: String,
    },
    /// There is nothing of that name.
    #[error("there is no {reference}")]
    NotFound {
        /// What was asked for.
        reference: String,
    },
    /// What is there is no component.
    #[error("{reference} is no component: {message}")]
    NotAComponent {
        /// What was asked for.
        reference: String,
        /// What it is instead.
        message: String,
    },
    /// The registry gave other bytes than it announced, or than were pinned.
    #[error(
        "{reference} has the digest {found}, and {expected} was expected; it was changed, or damaged"
    )]
    OtherDigest {
        /// What was asked for.
        reference: String,
        /// What was announced or pinned.
        expected: String,
        /// What came.
        found: String,
    },
    /// The registry failed.
    #[error("the registry {registry} failed: {message}")]
    Failed {
        /// Which.
        registry: String,
        /// Its words.
        message: String,
    },
    /// The call was cancelled, or its time was over.
    #[error("{0}")]
    Stopped(belljar_contract::Stop),
    /// The signature is not one that is trusted.
    #[error("{reference} is not trusted: {source}")]
    Untrusted {
        /// Which component.
        reference: String,
        /// Why.
        source: SignatureError,
    },
    /// The lock does not say which bytes are meant.
    #[error(
        "{reference} is in no lock; `belljar pull` asks the registry for it and pins what it finds"
    )]
    NotLocked {
        /// Which component.
        reference: String,
    },
    /// The bytes are not here.
    #[error("{reference} ({digest}) is not here yet; `belljar pull` fetches it")]
    NotHere {
        /// Which component.
        reference: String,
        /// What is pinned.
        digest: Digest,
    },
    /// The lock cannot be read.
    #[error("{} is no lock: {message}; restore it, or remove it and run `belljar pull`", path.display())]
    BadLock {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        message: String,
    },
    /// A file cannot be read or written.
    #[error("cannot use {}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}
