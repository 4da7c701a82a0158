//! Where a server listens, and how.

use std::{
    future::Future,
    io,
    net::{SocketAddr, TcpListener},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use axum::Router;
use axum_server::{
    Handle, Server,
    tls_rustls::{RustlsAcceptor, RustlsConfig},
};
use clap::Args;
use rustls::{
    ServerConfig,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};

use super::connection::Bounded;
use crate::{ambient, exit_code::Exit, failure::Failure};

/// How long a new connection may take for the head of its first request.
const FIRST: Duration = Duration::from_secs(30);
/// How long a connection may be without a request, and take for its head. Longer than clients keep theirs, so that none
/// sends a request on a connection that is about to be closed.
const NEXT: Duration = Duration::from_secs(100);
/// How long a client may take to agree on keys.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// Says where to listen, and with what certificate.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Listening")]
pub(crate) struct ListenArguments {
    /// The address and port; with port 0 any that is free
    #[arg(long, value_name = "ADDRESS")]
    listen: SocketAddr,
    /// The certificate of this server and those that lead to its root, as PEM
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_certificate: Option<PathBuf>,
    /// The certificate's private key, as PEM
    #[arg(long, value_name = "FILE", requires = "tls_certificate")]
    tls_key: Option<PathBuf>,
    /// Listen without TLS where other machines can connect: they can read the token, and all else
    #[arg(long, conflicts_with = "tls_key")]
    insecure_listen: bool,
}

impl ListenArguments {
    /// Begins to listen. Nothing is answered before [`Listener::serve`].
    pub(crate) fn bind(&self) -> Result<Listener, Failure> {
        let tls = match (&self.tls_certificate, &self.tls_key) {
            (Some(certificate), Some(key)) => Some(tls(certificate, key)?),
            _ => None,
        };
        let is_secure = tls.is_some() || self.listen.ip().is_loopback();
        if !is_secure && !self.insecure_listen {
            return Err(Failure::usage(format!(
                "--listen {}: without TLS it listens on loopback addresses only",
                self.listen
            ))
            .hint("give --tls-certificate and --tls-key, or --insecure-listen where everybody on the network may read all"));
        }
        let bind = || {
            let socket = TcpListener::bind(self.listen)?;
            let address = socket.local_addr()?;
            Ok((socket, address))
        };
        let (socket, address) = bind().map_err(|error: io::Error| {
            Failure::from(error).during(format!("cannot listen on {}", self.listen))
        })?;
        Ok(Listener {
            socket,
            address,
            tls,
        })
    }
}

/// A socket that listens.
pub(crate) struct Listener {
    socket: TcpListener,
    address: SocketAddr,
    tls: Option<RustlsConfig>,
}

impl Listener {
    /// Where it listens.
    pub(crate) const fn address(&self) -> SocketAddr {
        self.address
    }

    /// The same as the beginning of an address that clients use.
    pub(crate) fn url(&self) -> String {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://{}", self.address)
    }

    /// Answers requests until `end` is done; then those that are in flight have `last` to be answered.
    pub(crate) async fn serve(
        self,
        routes: Router,
        end: impl Future<Output = ()>,
        last: Duration,
    ) -> io::Result<()> {
        let handle = Handle::new();
        let server = patient(axum_server::from_tcp(self.socket)?.handle(handle.clone()));
        let routes = routes.into_make_service();
        let serving = async {
            match self.tls {
                Some(tls) => {
                    let acceptor = RustlsAcceptor::new(tls)
                        .handshake_timeout(HANDSHAKE)
                        .acceptor(Bounded::new());
                    server.acceptor(acceptor).serve(routes).await
                }
                None => server.acceptor(Bounded::new()).serve(routes).await,
            }
        };
        let mut serving = std::pin::pin!(serving);
        tokio::select! {
            served = &mut serving => return served,
            () = end => handle.graceful_shutdown(Some(last)),
        }
        serving.await
    }
}

/// With how long it waits for a client.
fn patient(mut server: Server<SocketAddr>) -> Server<SocketAddr> {
    server.http_builder().http1().header_read_timeout(NEXT);
    server.http1_only().first_request_timeout(FIRST)
}

fn tls(certificate: &Path, key: &Path) -> Result<RustlsConfig, Failure> {
    let read = |path: &Path| {
        ambient::read_file(path)
            .map_err(|error| Failure::from(error).during(format!("cannot read {}", path.display())))
    };
    let wrong = |path: &Path, error: &dyn std::error::Error| {
        Failure::new(Exit::Usage, format!("{}: {error}", path.display()))
    };
    let chain: Vec<_> = CertificateDer::pem_slice_iter(&read(certificate)?)
        .collect::<Result<_, _>>()
        .map_err(|error| wrong(certificate, &error))?;
    let secret = PrivateKeyDer::from_pem_slice(&read(key)?).map_err(|error| wrong(key, &error))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|builder| {
            builder
                .with_no_client_auth()
                .with_single_cert(chain, secret)
        });
    let mut config = config.map_err(|error| wrong(certificate, &error))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(RustlsConfig::from_config(Arc::new(config)))
}
