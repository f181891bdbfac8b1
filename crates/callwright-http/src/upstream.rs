//! A client for a single upstream host.
//!
//! Takes requests for it; returns its responses as soon as they begin. A request is never sent twice: without a
//! response, it is unknown whether the upstream acted on it. Redirects are only followed on the same host, so that
//! clients are not led around the proxy.

use std::error::Error;
use std::fmt;
use std::io;
use std::time::Duration;

use bytes::Bytes;
use hyper::body::Incoming;
use hyper::header::{HeaderValue, LOCATION, USER_AGENT};
use hyper::http::uri::PathAndQuery;
use hyper::{HeaderMap, Method, Request, Response, StatusCode, Uri};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use tokio::time::timeout;

use crate::body::{self, Body};

#[cfg(not(feature = "tls"))]
type Connector = HttpConnector;
#[cfg(feature = "tls")]
type Connector = hyper_rustls::HttpsConnector<HttpConnector>;

/// How long a connection may be silent before the system checks whether the peer is still there.
const TCP_KEEP_ALIVE: Duration = Duration::from_secs(60);

/// How many redirects are followed. Frameworks send one, for a trailing slash.
const MAX_REDIRECTS: usize = 3;

/// How long to wait for an upstream, and how much to read from it.
#[derive(Debug, Clone, Copy)]
pub struct UpstreamLimits {
    /// How long connecting may take.
    pub connect: Duration,
    /// How long the upstream may be silent before a response, and within a body that is read completely.
    pub silence: Duration,
    /// The largest such body, in bytes.
    pub max_bytes: usize,
    /// How long an idle connection is kept for the next request. Common servers close theirs after five seconds, and
    /// a request sent at that moment is lost.
    pub idle_connection: Duration,
}

/// A client for one upstream. Displayed as its URL without the query, which may contain a secret.
#[derive(Debug)]
pub struct Upstream {
    client: Client<Connector, Body>,
    uri: Uri,
    limits: UpstreamLimits,
}

/// Why an upstream cannot be used at all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UpstreamSetupError {
    /// The URL cannot be used. The URL itself is not shown: it may contain a secret.
    #[error("{0}")]
    Url(&'static str),
    /// Without them, no `https` upstream can be trusted.
    #[error("cannot load the certificates that this machine trusts: {0}")]
    Certificates(#[from] io::Error),
}

/// Why a request, a response or a body failed. Displayed as what the sender did, and what to do about it: "cannot be
/// reached: connection refused. Start it, or use another upstream URL."
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TransferError {
    /// The connection could not be made.
    #[error("cannot be reached: {0}. Start it, or use another upstream URL.")]
    Unreachable(String),
    /// Nothing arrived for this long.
    #[error("has sent nothing for {} seconds. Check whether it is still running.", .0.as_secs())]
    Silent(Duration),
    /// The connection broke.
    #[error("did not complete its response: {}. The request may or may not have been carried out.", root_cause(.0))]
    Broken(#[from] hyper::Error),
    /// An event stream ended in the middle of an event.
    #[error(
        "ended its response in the middle of a message. The request may or may not have been carried out."
    )]
    Unfinished,
    /// More bytes arrived than are allowed.
    #[error("sent a message of more than {0} bytes. Ask for less.")]
    TooLarge(usize),
    /// A redirect leads to another host, or loops.
    #[error("redirects to another address. Use that address as the upstream URL.")]
    Redirected,
    /// A body is compressed, so it cannot be examined.
    #[error("compresses its responses although it was not asked to. Turn that off.")]
    Compressed,
}

impl Upstream {
    /// Creates a client for the upstream at this URL. It connects with the first request.
    ///
    /// # Errors
    ///
    /// If the URL cannot be used, or if certificates are needed and cannot be loaded.
    pub fn new(url: &str, limits: UpstreamLimits) -> Result<Self, UpstreamSetupError> {
        let refused = |why| Err(UpstreamSetupError::Url(why));
        let Ok(uri) = url.parse::<Uri>() else {
            return refused("use a URL such as http://localhost:8000/mcp");
        };
        let Some(authority) = uri.authority() else {
            return refused("use a URL with `http://` and a host");
        };
        if authority.as_str().contains('@') {
            return refused("the URL contains credentials; let the client send them in a header");
        }
        match uri.scheme_str() {
            Some("http") => {}
            Some("https") if cfg!(feature = "tls") => {}
            Some("https") => return refused("`https` needs a build with the feature `tls`"),
            _ => return refused("use `http` or `https`"),
        }
        Ok(Upstream {
            client: Client::builder(TokioExecutor::new())
                .pool_idle_timeout(limits.idle_connection)
                .pool_timer(TokioTimer::new())
                .build(connector(limits.connect)?),
            uri,
            limits,
        })
    }

    /// The path of the URL.
    pub fn path(&self) -> &str {
        self.uri.path()
    }

    /// The largest body that is read completely, in bytes.
    pub fn max_bytes(&self) -> usize {
        self.limits.max_bytes
    }

    /// The URL, with the client's query unless it has its own.
    pub fn endpoint(&self, query: Option<&str>) -> Uri {
        match (self.uri.query(), query) {
            (None, Some(query)) => self.at(&format!("{}?{query}", self.uri.path())),
            _ => self.uri.clone(),
        }
    }

    /// Another path and query on the same host.
    pub fn at(&self, path: &str) -> Uri {
        let mut parts = self.uri.clone().into_parts();
        if let Ok(path) = PathAndQuery::try_from(path) {
            parts.path_and_query = Some(path);
        }
        Uri::from_parts(parts).unwrap_or_else(|_| self.uri.clone())
    }

    /// Sends a request and waits for the response to begin.
    ///
    /// # Errors
    ///
    /// If there is no response, or only redirects that are not followed.
    pub async fn send(
        &self,
        method: Method,
        mut uri: Uri,
        headers: HeaderMap,
        body: Bytes,
    ) -> Result<Response<Incoming>, TransferError> {
        for _ in 0..=MAX_REDIRECTS {
            let body = body::full(body.clone());
            let response = self.pipe(method.clone(), uri.clone(), headers.clone(), body);
            let response = response.await?;
            let status = response.status();
            if !status.is_redirection() || status == StatusCode::NOT_MODIFIED {
                return Ok(response);
            }
            uri = self
                .redirected(&uri, &response)
                .ok_or(TransferError::Redirected)?;
        }
        Err(TransferError::Redirected)
    }

    /// Sends a request whose body may still be arriving, and waits for the response to begin, whatever its status.
    ///
    /// # Errors
    ///
    /// If there is no response.
    pub async fn pipe(
        &self,
        method: Method,
        uri: Uri,
        headers: HeaderMap,
        body: Body,
    ) -> Result<Response<Incoming>, TransferError> {
        let silence = self.limits.silence;
        let mut request = Request::new(body);
        *request.method_mut() = method;
        *request.uri_mut() = uri;
        *request.headers_mut() = headers;
        let agent = request.headers_mut().entry(USER_AGENT);
        agent.or_insert(HeaderValue::from_static("callwright"));
        timeout(silence, self.client.request(request))
            .await
            .map_err(|_| TransferError::Silent(silence))?
            .map_err(|error| TransferError::Unreachable(root_cause(&error)))
    }

    /// The target of a redirect; `None` if it is not followed.
    fn redirected(&self, from: &Uri, response: &Response<Incoming>) -> Option<Uri> {
        let keeps_method = matches!(
            response.status(),
            StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT
        );
        let to = response.headers().get(LOCATION).filter(|_| keeps_method)?;
        let to: Uri = to.to_str().ok()?.parse().ok()?;
        let is_same_host = match to.authority() {
            None => to.path().starts_with('/'),
            Some(authority) => Some(authority) == from.authority() && to.scheme() == from.scheme(),
        };
        is_same_host.then(|| self.at(to.path_and_query().map_or("/", PathAndQuery::as_str)))
    }

    /// Reads the complete body of a response.
    ///
    /// # Errors
    ///
    /// If it is too large or too slow, or breaks off.
    pub async fn read(&self, body: Incoming) -> Result<Bytes, TransferError> {
        body::read(body, self.limits.max_bytes, self.limits.silence).await
    }
}

impl fmt::Display for Upstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = self.uri.scheme_str().unwrap_or_default();
        let host = self.uri.authority().map_or("", |host| host.as_str());
        write!(f, "{scheme}://{host}{}", self.uri.path())
    }
}

#[cfg_attr(
    not(feature = "tls"),
    allow(clippy::unnecessary_wraps, reason = "with TLS it can fail")
)]
fn connector(timeout: Duration) -> io::Result<Connector> {
    let mut http = HttpConnector::new();
    http.set_connect_timeout(Some(timeout));
    http.set_keepalive(Some(TCP_KEEP_ALIVE));
    http.set_nodelay(true);
    #[cfg(feature = "tls")]
    let http = {
        http.enforce_http(false);
        let ring = rustls::crypto::ring::default_provider();
        let builder = hyper_rustls::HttpsConnectorBuilder::new();
        let builder = builder.with_provider_and_native_roots(ring)?;
        builder.https_or_http().enable_http1().wrap_connector(http)
    };
    Ok(http)
}

fn root_cause(mut error: &dyn Error) -> String {
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}
