//! A registry, asked within bounds.

use std::{
    io,
    pin::Pin,
    sync::{Arc, OnceLock},
    task::{Context as Task, Poll},
    time::Duration,
};

use oci_client::{
    client::{Certificate, CertificateEncoding, ClientConfig, ClientProtocol},
    errors::{OciDistributionError, OciErrorCode},
    manifest::{OCI_IMAGE_MEDIA_TYPE, OciImageManifest, OciManifest},
    secrets::RegistryAuth,
};
use tokio::io::AsyncWrite;

use super::{
    artifact::{self, Artifact},
    digest::Digest,
    error::RegistryError,
    reference::Reference,
};

/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(10);
/// How long a registry may say nothing.
const SILENCE: Duration = Duration::from_secs(30);
/// The largest manifest: one with a signature has some two kilobytes.
const MAX_MANIFEST_BYTES: usize = 1 << 20;

/// How registries are asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RegistryOptions {
    /// Registries, each with its port, that are asked without TLS.
    pub plain_http: Vec<String>,
    /// Certificates in PEM that are trusted beside the system's.
    pub certificates: Vec<Vec<u8>>,
}

/// Asks registries. Cheap to clone.
#[derive(Clone)]
pub struct Registry {
    client: oci_client::Client,
    /// Who is asking, by registry.
    credentials: Arc<dyn Fn(&str) -> RegistryAuth + Send + Sync>,
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Registry").finish_non_exhaustive()
    }
}

/// A component that came from a registry; its bytes have the digest that was announced.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pulled {
    /// The component.
    pub bytes: Vec<u8>,
    /// What it is.
    pub digest: Digest,
    /// The digest of its manifest, which the registry finds it by.
    pub manifest: Digest,
    /// The signature that came with it, of which nothing is known yet.
    pub signature: Option<String>,
}

impl Registry {
    /// Makes a client that asks as nobody in particular.
    ///
    /// # Errors
    /// [`RegistryError::Client`] when a certificate is none.
    pub fn new(options: RegistryOptions) -> Result<Self, RegistryError> {
        provide_cryptography();
        let certificate = |data: Vec<u8>| Certificate {
            encoding: CertificateEncoding::Pem,
            data,
        };
        let config = ClientConfig {
            protocol: ClientProtocol::HttpsExcept(options.plain_http),
            extra_root_certificates: options.certificates.into_iter().map(certificate).collect(),
            // An index of images for several machines is no component.
            platform_resolver: None,
            read_timeout: Some(SILENCE),
            connect_timeout: Some(CONNECT),
            user_agent: concat!("belljar/", env!("CARGO_PKG_VERSION")),
            ..ClientConfig::default()
        };
        let client =
            oci_client::Client::try_from(config).map_err(|error| RegistryError::Client {
                message: chain(&error),
            })?;
        Ok(Self {
            client,
            credentials: Arc::new(|_| RegistryAuth::Anonymous),
        })
    }

    /// The same with a user's name and password (or token) for each registry that `who` knows some for.
    #[must_use]
    pub fn with_credentials(
        self,
        who: impl Fn(&str) -> Option<(String, String)> + Send + Sync + 'static,
    ) -> Self {
        let credentials = Arc::new(move |registry: &str| match who(registry) {
            Some((user, password)) => RegistryAuth::Basic(user, password),
            None => RegistryAuth::Anonymous,
        });
        Self {
            credentials,
            ..self
        }
    }

    /// Puts a component there, with its signature, and gives the digest of its manifest. What `imports` and `exports` say
    /// is shown to people by registries; nobody relies on it.
    ///
    /// # Errors
    /// [`RegistryError`].
    pub async fn push(
        &self,
        reference: &Reference,
        bytes: Vec<u8>,
        signature: Option<&str>,
        imports: &[String],
        exports: &[String],
    ) -> Result<Digest, RegistryError> {
        let told = |error| explain(reference, error);
        let artifact = Artifact::new(&bytes, signature, imports, exports)
            .map_err(|error| told(error.into()))?;
        let inner = reference.inner();
        let auth = (self.credentials)(reference.registry());
        let operation = oci_client::RegistryOperation::Push;
        self.client
            .auth(inner, &auth, operation)
            .await
            .map_err(told)?;
        for (bytes, descriptor) in [
            (bytes, &artifact.manifest.layers[0]),
            (artifact.config, &artifact.manifest.config),
        ] {
            self.client
                .push_blob(inner, bytes, &descriptor.digest)
                .await
                .map_err(told)?;
        }
        // The bytes that are pushed are those whose digest is told.
        let manifest =
            serde_json::to_vec(&artifact.manifest).map_err(|error| told(error.into()))?;
        let digest = Digest::of(&manifest);
        let media_type = reqwest::header::HeaderValue::from_static(OCI_IMAGE_MEDIA_TYPE);
        self.client
            .push_manifest_raw(inner, manifest, media_type)
            .await
            .map_err(told)?;
        Ok(digest)
    }

    /// Fetches what the reference stands for now.
    ///
    /// # Errors
    /// [`RegistryError`].
    pub async fn pull(&self, reference: &Reference) -> Result<Pulled, RegistryError> {
        let told = |error| explain(reference, error);
        let inner = reference.inner();
        let auth = (self.credentials)(reference.registry());
        let (text, announced) = self
            .client
            .pull_manifest_raw(inner, &auth, &[OCI_IMAGE_MEDIA_TYPE])
            .await
            .map_err(told)?;
        let not_one = |message: String| RegistryError::NotAComponent {
            reference: reference.to_string(),
            message,
        };
        if text.len() > MAX_MANIFEST_BYTES {
            return Err(not_one(format!("its manifest has {} bytes", text.len())));
        }
        let manifest = Digest::of(&text);
        let expected = inner.digest().unwrap_or(&announced);
        same(reference, expected, manifest)?;
        let parsed: OciManifest = serde_json::from_slice(&text)
            .map_err(|error| not_one(format!("its manifest cannot be read: {error}")))?;
        let image = image(parsed).map_err(not_one)?;
        let layer = artifact::layer(&image).map_err(not_one)?;
        let size = usize::try_from(layer.size).unwrap_or(0);
        let mut bytes = Bounded {
            bytes: Vec::new(),
            most: size,
        };
        self.client
            .pull_blob(inner, layer, &mut bytes)
            .await
            .map_err(told)?;
        let digest = Digest::of(&bytes.bytes);
        same(reference, &layer.digest, digest)?;
        Ok(Pulled {
            signature: artifact::signature(layer).map(str::to_owned),
            bytes: bytes.bytes,
            digest,
            manifest,
        })
    }

    /// Fetches what was pinned, whatever the tag stands for now.
    ///
    /// # Errors
    /// [`RegistryError`], with [`OtherDigest`](RegistryError::OtherDigest) when it is not what was pinned.
    pub async fn pull_pinned(
        &self,
        reference: &Reference,
        manifest: Digest,
        digest: Digest,
    ) -> Result<Pulled, RegistryError> {
        let pulled = self.pull(&reference.at(&manifest.to_string())).await?;
        same(reference, &digest.to_string(), pulled.digest)?;
        Ok(pulled)
    }
}

fn image(manifest: OciManifest) -> Result<OciImageManifest, String> {
    match manifest {
        OciManifest::Image(image) => Ok(image),
        OciManifest::ImageIndex(_) => Err("it is an index of several images".into()),
    }
}

fn same(reference: &Reference, expected: &str, found: Digest) -> Result<(), RegistryError> {
    let found = found.to_string();
    match expected == found {
        true => Ok(()),
        false => Err(RegistryError::OtherDigest {
            reference: reference.to_string(),
            expected: expected.to_owned(),
            found,
        }),
    }
}

/// The TLS library wants to be told once a process who does its cryptography. Whoever was first has decided.
fn provide_cryptography() {
    static ONCE: OnceLock<()> = OnceLock::new();
    ONCE.get_or_init(|| {
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
}

/// Takes as many bytes as were announced.
struct Bounded {
    bytes: Vec<u8>,
    most: usize,
}

impl AsyncWrite for &mut Bounded {
    fn poll_write(
        mut self: Pin<&mut Self>,
        _: &mut Task<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.bytes.len() + bytes.len() > self.most {
            return Poll::Ready(Err(io::ErrorKind::FileTooLarge.into()));
        }
        self.bytes.extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Task<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Task<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// What went wrong, in our words and the registry's.
fn explain(reference: &Reference, error: OciDistributionError) -> RegistryError {
    use OciDistributionError as E;
    let registry = reference.registry().to_owned();
    let not_found = || RegistryError::NotFound {
        reference: reference.to_string(),
    };
    let message = chain(&error);
    match error {
        E::ImageManifestNotFoundError(_) => not_found(),
        E::RegistryError { envelope, .. } => {
            let is = |code: &[OciErrorCode]| envelope.errors.iter().any(|e| code.contains(&e.code));
            if is(&[
                OciErrorCode::ManifestUnknown,
                OciErrorCode::NameUnknown,
                OciErrorCode::NotFound,
                OciErrorCode::BlobUnknown,
            ]) {
                not_found()
            } else if is(&[OciErrorCode::Unauthorized, OciErrorCode::Denied]) {
                RegistryError::Refused { registry, message }
            } else {
                RegistryError::Failed { registry, message }
            }
        }
        E::ServerError { code: 404, .. } => not_found(),
        E::UnauthorizedError { .. }
        | E::AuthenticationFailure(_)
        | E::ServerError {
            code: 401 | 403, ..
        } => RegistryError::Refused { registry, message },
        E::RequestError(error) if error.is_connect() || error.is_timeout() => {
            RegistryError::Unreachable { registry, message }
        }
        E::IoError(error) if error.kind() == io::ErrorKind::FileTooLarge => {
            RegistryError::NotAComponent {
                reference: reference.to_string(),
                message: "it has more bytes than its manifest says".into(),
            }
        }
        E::DigestError(oci_client::errors::DigestError::VerificationError { expected, actual }) => {
            RegistryError::OtherDigest {
                reference: reference.to_string(),
                expected,
                found: actual,
            }
        }
        E::UnsupportedMediaTypeError(_)
        | E::VersionedParsingError(_)
        | E::ManifestParsingError(_)
        | E::UnsupportedSchemaVersionError(_)
        | E::ImageIndexParsingNoPlatformResolverError => RegistryError::NotAComponent {
            reference: reference.to_string(),
            message,
        },
        _ => RegistryError::Failed { registry, message },
    }
}

/// An error and its causes on a line.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(error) = next {
        let message = error.to_string();
        if !text.contains(&message) {
            text = format!("{text}: {message}");
        }
        next = error.source();
    }
    text
}
