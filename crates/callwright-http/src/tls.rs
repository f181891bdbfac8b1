//! TLS for incoming connections: a certificate and its key, which can be reloaded while a server runs.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use rustls::ServerConfig;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// How long a client may take for the handshake. A slow connection takes a second.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// The certificate of a server. Clones share it.
#[derive(Debug, Clone)]
pub struct ServerTls(Arc<Mutex<Arc<ServerConfig>>>);

/// Why a certificate cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("cannot use the {what} in {path}: {why}")]
pub struct CertificateError {
    what: &'static str,
    path: String,
    why: String,
}

impl ServerTls {
    /// Reads a certificate chain and the private key of its first certificate, both in PEM format.
    ///
    /// # Errors
    ///
    /// If either cannot be read, or if they do not belong together.
    pub fn read(certificates: &Path, key: &Path) -> Result<Self, CertificateError> {
        let config = config(certificates, key)?;
        Ok(ServerTls(Arc::new(Mutex::new(config))))
    }

    /// Reloads them. Open connections are not affected.
    ///
    /// # Errors
    ///
    /// Like [`ServerTls::read`]; nothing changes then.
    pub fn reload(&self, certificates: &Path, key: &Path) -> Result<(), CertificateError> {
        let config = config(certificates, key)?;
        *self.0.lock() = config;
        Ok(())
    }

    /// Performs the handshake with a client; `None` if that fails.
    pub(crate) async fn accept(&self, stream: TcpStream) -> Option<TlsStream<TcpStream>> {
        let config = Arc::clone(&self.0.lock());
        let accepted = timeout(HANDSHAKE, TlsAcceptor::from(config).accept(stream));
        accepted.await.ok()?.ok()
    }
}

fn config(certificates: &Path, key: &Path) -> Result<Arc<ServerConfig>, CertificateError> {
    let error = |what: &'static str, path: &Path, why: &dyn std::fmt::Display| CertificateError {
        what,
        path: path.display().to_string(),
        why: why.to_string(),
    };
    let chain: Result<Vec<CertificateDer<'static>>, _> =
        CertificateDer::pem_file_iter(certificates).and_then(Iterator::collect);
    let chain = chain.map_err(|why| error("certificates", certificates, &why))?;
    let private = PrivateKeyDer::from_pem_file(key).map_err(|why| error("key", key, &why))?;
    let ring = Arc::new(rustls::crypto::ring::default_provider());
    let built = ServerConfig::builder_with_provider(ring)
        .with_safe_default_protocol_versions()
        .and_then(|builder| {
            builder
                .with_no_client_auth()
                .with_single_cert(chain, private)
        });
    let mut config = built.map_err(|why| error("certificates", certificates, &why))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}
