//! Whose certificates are believed.

use std::{io::Read as _, path::Path, sync::Arc};

use rustls::{
    ClientConfig, RootCertStore,
    pki_types::{CertificateDer, pem::PemObject as _},
};

use crate::backends::ComponentError;

/// The most bytes of a file of certificates: some times what a system has in all.
const FILE_BYTES: u64 = 4 << 20;

/// Nobody's: for a component that reaches nothing.
pub(super) fn nobody() -> RootCertStore {
    RootCertStore::empty()
}

/// The system's, and those in a file of the operator's.
///
/// # Ambient authority
/// Both are files of the host's.
pub(super) fn believed_ambient(file: Option<&Path>) -> Result<RootCertStore, ComponentError> {
    let mut roots = RootCertStore::empty();
    let system = rustls_native_certs::load_native_certs();
    for error in &system.errors {
        tracing::warn!(error = %error, "some of the system's certificates are not read");
    }
    roots.add_parsable_certificates(system.certs);
    let Some(path) = file else {
        return Ok(roots);
    };
    let unreadable = |source| ComponentError::CertificatesUnreadable {
        path: path.to_owned(),
        source,
    };
    let bad = || ComponentError::Certificates {
        path: path.to_owned(),
    };
    let text = read_ambient(path).map_err(unreadable)?;
    let mut some = false;
    for certificate in CertificateDer::pem_slice_iter(&text) {
        let certificate = certificate.map_err(|_| bad())?;
        roots.add(certificate).map_err(|_| bad())?;
        some = true;
    }
    match some {
        true => Ok(roots),
        false => Err(bad()),
    }
}

fn read_ambient(path: &Path) -> std::io::Result<Vec<u8>> {
    #[expect(
        clippy::disallowed_methods,
        reason = "a file of the operator's, not of the workspace"
    )]
    let file = std::fs::File::open(path)?;
    let mut bytes = Vec::new();
    file.take(FILE_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A configuration that believes these, and has no certificate of its own.
pub(super) fn config(roots: &RootCertStore) -> Result<ClientConfig, ComponentError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| ComponentError::Tls(error.to_string()))?
        .with_root_certificates(roots.clone())
        .with_no_client_auth();
    Ok(config)
}
