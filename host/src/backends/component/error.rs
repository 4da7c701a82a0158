//! Why a backend that is a component is not opened.

use std::path::PathBuf;

use super::{GrantError, SecretError};

/// Why a backend that is a component is not opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ComponentError {
    /// This build has no such backend.
    #[error(
        "this build has no backends that are components; build it with the feature component-backend"
    )]
    NotBuilt,
    /// The component is refused.
    #[error("the component {} is not loaded", path.display())]
    Load {
        /// Its file.
        path: PathBuf,
        /// Why.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A grant is none.
    #[error("a grant of [[sandbox.component.http]] is none")]
    Grant(#[from] GrantError),
    /// A secret is not there.
    #[error(transparent)]
    Secret(#[from] SecretError),
    /// The file of certificates cannot be read.
    #[error("the certificates in {} cannot be read", path.display())]
    CertificatesUnreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file of certificates has none, or one that is none.
    #[error("{} is no file of certificates (PEM)", path.display())]
    Certificates {
        /// The file.
        path: PathBuf,
    },
    /// There is no client for its requests.
    #[error("requests cannot be sent: {0}")]
    Tls(String),
    /// There is no thread for its requests.
    #[error("there is no thread for requests")]
    NoThread(#[source] std::io::Error),
    /// A workspace of this machine was named.
    #[error(
        "the workspace {} is a directory of this machine, and a component's is elsewhere; name that one in [sandbox.component.settings], as the component has it", workspace.display()
    )]
    WorkspaceIsHere {
        /// The workspace.
        workspace: PathBuf,
    },
    /// The sandbox was not made.
    #[error("the component did not open a sandbox")]
    NotOpened(#[source] belljar_contract::Error),
}
