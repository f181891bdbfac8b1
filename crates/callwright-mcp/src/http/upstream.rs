//! The server that is guarded.
//!
//! In goes a request, out comes its answer, or what is wrong, in words for whoever runs both. A request is sent once:
//! whether a call that got no answer ran, nobody knows.

use std::error::Error;
use std::time::Duration;

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{LOCATION, USER_AGENT};
use hyper::http::uri::PathAndQuery;
use hyper::{HeaderMap, Method, Request, Response, StatusCode, Uri};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use tokio::time::timeout;

use super::{HttpError, Options};

#[cfg(not(feature = "tls"))]
type Connector = HttpConnector;
#[cfg(feature = "tls")]
type Connector = hyper_rustls::HttpsConnector<HttpConnector>;

/// How long a connection is kept for the next request. Common servers close theirs after five seconds of silence, and a
/// request that crosses this on its way is lost.
const KEPT: Duration = Duration::from_secs(3);

/// After how much silence the machine asks whether the other one is still there.
const KEEP_ALIVE: Duration = Duration::from_secs(60);

/// How often a server may send us elsewhere. Frameworks do so once, for a slash at the end.
const MOST_REDIRECTS: usize = 3;

/// The server that is guarded.
#[derive(Debug)]
pub(crate) struct Upstream {
    client: Client<Connector, Full<Bytes>>,
    uri: Uri,
    shown: String,
    silence: Duration,
    most_bytes: usize,
}

/// What is wrong with the server.
#[derive(Debug)]
pub(crate) enum Trouble {
    Unreachable(String),
    Silent(Duration),
    Broken(String),
    TooBig(usize),
    Elsewhere,
    Compressed,
}

impl Upstream {
    pub(crate) fn new(options: &Options) -> Result<Self, HttpError> {
        let uri: Uri = options
            .upstream
            .parse()
            .map_err(|_| HttpError::Upstream("give a URL such as http://localhost:8000/mcp"))?;
        let Some(authority) = uri.authority() else {
            return Err(HttpError::Upstream("give a URL with `http://` and a host"));
        };
        if authority.as_str().contains('@') {
            return Err(HttpError::Upstream(
                "credentials do not go into the URL; let the client send them in a header",
            ));
        }
        match uri.scheme_str() {
            Some("http") => {}
            Some("https") if cfg!(feature = "tls") => {}
            Some("https") => {
                return Err(HttpError::Upstream(
                    "`https` needs a build with the feature `tls`",
                ));
            }
            _ => return Err(HttpError::Upstream("only `http` and `https` are known")),
        }
        let scheme = uri.scheme_str().unwrap_or_default();
        let shown = format!("{scheme}://{authority}{}", uri.path());
        Ok(Upstream {
            client: Client::builder(TokioExecutor::new())
                .pool_idle_timeout(KEPT)
                .pool_timer(TokioTimer::new())
                .build(connector(options.connect)?),
            shown,
            uri,
            silence: options.silence,
            most_bytes: options.most_bytes,
        })
    }

    /// Where the endpoint of the server is on its host.
    pub(crate) fn path(&self) -> &str {
        self.uri.path()
    }

    /// The endpoint, with what a client asks for behind the `?` unless the operator has said something there.
    pub(crate) fn endpoint(&self, query: Option<&str>) -> Uri {
        match (self.uri.query(), query) {
            (None, Some(query)) => self.at(&format!("{}?{query}", self.uri.path())),
            _ => self.uri.clone(),
        }
    }

    /// Another path on the host of the server.
    pub(crate) fn at(&self, path: &str) -> Uri {
        let mut parts = self.uri.clone().into_parts();
        if let Ok(path) = PathAndQuery::try_from(path) {
            parts.path_and_query = Some(path);
        }
        Uri::from_parts(parts).unwrap_or_else(|_| self.uri.clone())
    }

    /// Sends a request and waits for the beginning of its answer.
    pub(crate) async fn send(
        &self,
        method: Method,
        uri: Uri,
        headers: HeaderMap,
        body: Bytes,
    ) -> Result<Response<Incoming>, Trouble> {
        let mut uri = uri;
        for _ in 0..=MOST_REDIRECTS {
            let mut request = Request::new(Full::new(body.clone()));
            *request.method_mut() = method.clone();
            *request.uri_mut() = uri.clone();
            *request.headers_mut() = headers.clone();
            if !request.headers().contains_key(USER_AGENT) {
                let ours = hyper::header::HeaderValue::from_static("callwright");
                request.headers_mut().insert(USER_AGENT, ours);
            }
            let answer = timeout(self.silence, self.client.request(request))
                .await
                .map_err(|_| Trouble::Silent(self.silence))?
                .map_err(|error| Trouble::Unreachable(root(&error)))?;
            if !answer.status().is_redirection() || answer.status() == StatusCode::NOT_MODIFIED {
                return Ok(answer);
            }
            // Clients must not be led round the guard, so we go there ourselves, and never to another host.
            uri = self.next(&uri, &answer).ok_or(Trouble::Elsewhere)?;
        }
        Err(Trouble::Elsewhere)
    }

    fn next(&self, from: &Uri, answer: &Response<Incoming>) -> Option<Uri> {
        let keeps_method = matches!(
            answer.status(),
            StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT
        );
        let to = answer.headers().get(LOCATION).filter(|_| keeps_method)?;
        let to: Uri = to.to_str().ok()?.parse().ok()?;
        let is_here = match to.authority() {
            None => to.path().starts_with('/'),
            Some(authority) => Some(authority) == from.authority() && to.scheme() == from.scheme(),
        };
        is_here.then(|| self.at(to.path_and_query().map_or("/", PathAndQuery::as_str)))
    }

    /// Reads all of an answer.
    pub(crate) async fn read(&self, mut body: Incoming) -> Result<Bytes, Trouble> {
        let mut all = Vec::new();
        loop {
            let frame = timeout(self.silence, body.frame())
                .await
                .map_err(|_| Trouble::Silent(self.silence))?;
            let Some(frame) = frame else {
                return Ok(all.into());
            };
            let frame = frame.map_err(|error| Trouble::Broken(root(&error)))?;
            if let Ok(data) = frame.into_data() {
                if all.len() + data.len() > self.most_bytes {
                    return Err(Trouble::TooBig(self.most_bytes));
                }
                all.extend_from_slice(&data);
            }
        }
    }

    /// What is wrong, and what to do next.
    pub(crate) fn tell(&self, trouble: &Trouble) -> String {
        let at = &self.shown;
        match trouble {
            Trouble::Unreachable(why) => format!(
                "The MCP server at {at} cannot be reached: {why}. Start it, or give the guard another upstream URL."
            ),
            Trouble::Silent(time) => format!(
                "The MCP server at {at} has said nothing for {} seconds. Look whether it still works.",
                time.as_secs()
            ),
            Trouble::Broken(why) => format!(
                "The MCP server at {at} broke off its answer: {why}. Whether the call ran is not known."
            ),
            Trouble::TooBig(most) => format!(
                "The MCP server at {at} sends a message of more than {most} bytes. Ask for less."
            ),
            Trouble::Elsewhere => format!(
                "The MCP server at {at} sends its clients to another address. Give the guard that address."
            ),
            Trouble::Compressed => format!(
                "The MCP server at {at} compresses its answers although nobody asked for it. Switch that off."
            ),
        }
    }

    /// How many bytes a message may have.
    pub(crate) fn most_bytes(&self) -> usize {
        self.most_bytes
    }
}

fn connector(within: Duration) -> Result<Connector, HttpError> {
    let mut http = HttpConnector::new();
    http.set_connect_timeout(Some(within));
    http.set_keepalive(Some(KEEP_ALIVE));
    http.set_nodelay(true);
    secured(http)
}

#[cfg(not(feature = "tls"))]
#[allow(clippy::unnecessary_wraps, reason = "with TLS it can fail")]
fn secured(http: HttpConnector) -> Result<Connector, HttpError> {
    Ok(http)
}

#[cfg(feature = "tls")]
fn secured(mut http: HttpConnector) -> Result<Connector, HttpError> {
    http.enforce_http(false);
    let builder = hyper_rustls::HttpsConnectorBuilder::new()
        .with_provider_and_native_roots(rustls::crypto::ring::default_provider())?;
    Ok(builder.https_or_http().enable_http1().wrap_connector(http))
}

/// What is at the bottom of an error, which says most.
pub(crate) fn root(error: &dyn Error) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}
