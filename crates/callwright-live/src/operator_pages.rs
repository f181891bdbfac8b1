//! The operator pages of a guard over HTTP: under `/callwright/` on the client address, or alone on another one.
//!
//! Takes requests for them; returns the status page, its figures, metrics and health checks. On the client address,
//! the page and the figures, which contain examples of calls, are only served to this machine: a client that may call
//! a tool need not see what others called it with.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use callwright::event::Sinks;
use callwright_http::body::{self, Body};
use callwright_http::host_check::HostCheck;
use callwright_http::server::HttpServer;
use hyper::header::{CONTENT_TYPE, FORWARDED, HeaderName, HeaderValue};
use hyper::{HeaderMap, Request, Response, StatusCode, Uri};
use serde_json::json;
use tokio::net::TcpListener;

use crate::Live;

/// The path of the pages. Neither an LLM API nor an MCP server uses it.
const PREFIX: &str = "/callwright/";

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The pages of one guard.
#[derive(Debug)]
pub struct OperatorPages {
    live: Arc<Live>,
    /// The sinks whose lost events are counted.
    sinks: Sinks,
    host_check: HostCheck,
    is_draining: AtomicBool,
    /// Whether they have a separate address.
    are_elsewhere: AtomicBool,
}

impl OperatorPages {
    /// Pages that show `live`, and how many events `sinks` lost.
    pub fn new(live: Arc<Live>, sinks: Sinks, host_check: HostCheck) -> Self {
        OperatorPages {
            live,
            sinks,
            host_check,
            is_draining: AtomicBool::new(false),
            are_elsewhere: AtomicBool::new(false),
        }
    }

    /// Whether a request on the client address is for one of them.
    pub fn has(&self, uri: &Uri) -> bool {
        uri.path().starts_with(PREFIX) && !self.are_elsewhere.load(Ordering::Relaxed)
    }

    /// The figures they show.
    pub fn live(&self) -> &Live {
        &self.live
    }

    /// Marks the guard as no longer accepting requests.
    pub fn drain(&self) {
        self.is_draining.store(true, Ordering::Relaxed);
    }

    /// Answers a request on the client address.
    pub fn answer<B>(&self, from: IpAddr, request: &Request<B>) -> Response<Body> {
        let is_local = from.is_loopback() && !is_forwarded(request.headers());
        self.page(request, is_local)
    }

    /// Serves only these pages, until the future is dropped. They are then not served on the client address.
    pub async fn serve(self: Arc<Self>, listener: TcpListener) {
        self.are_elsewhere.store(true, Ordering::Relaxed);
        let handler = move |_, request| std::future::ready(self.page(&request, true));
        HttpServer::new(listener)
            .run(handler, std::future::pending(), Duration::ZERO)
            .await;
    }

    fn page<B>(&self, request: &Request<B>, shows_calls: bool) -> Response<Body> {
        if let Some(objection) = self.host_check.objection(request.headers()) {
            return refused(StatusCode::FORBIDDEN, objection);
        }
        let path = request.uri().path();
        let path = path
            .strip_prefix(PREFIX)
            .unwrap_or(path.trim_start_matches('/'));
        match path {
            "health" => body::json(StatusCode::OK, r#"{"status":"ok"}"#),
            "ready" if self.is_draining.load(Ordering::Relaxed) => {
                body::json(StatusCode::SERVICE_UNAVAILABLE, r#"{"status":"draining"}"#)
            }
            "ready" => body::json(StatusCode::OK, r#"{"status":"ready"}"#),
            "" | "stats" if !shows_calls => {
                let text = "This page shows calls. Open it on the guard's own machine, or give it a separate address with `--admin`.";
                refused(StatusCode::FORBIDDEN, text)
            }
            _ => {
                let sinks = self.sinks.stats();
                let lost = sinks.iter().map(|(_, sink)| sink.dropped + sink.failed);
                let Some(page) = self.live.page(path, lost.sum()) else {
                    let text = "Not found. The status page is at /callwright/.";
                    return refused(StatusCode::NOT_FOUND, text);
                };
                let mut response = Response::new(body::full(page.text));
                let kind = HeaderValue::from_static(page.content_type);
                response.headers_mut().insert(CONTENT_TYPE, kind);
                response
            }
        }
    }
}

/// Whether a proxy on this machine says that the request came from elsewhere.
fn is_forwarded(headers: &HeaderMap) -> bool {
    headers.contains_key(FORWARDED) || headers.contains_key(X_FORWARDED_FOR)
}

fn refused(status: StatusCode, why: &str) -> Response<Body> {
    body::json(status, json!({"error": {"message": why}}).to_string())
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;
    use crate::Guards;

    fn status(path: &str, from: [u8; 4], header: Option<(&str, &str)>) -> u16 {
        let pages = OperatorPages::new(
            Arc::new(Live::new(Guards::Api, "test")),
            Sinks::default(),
            HostCheck::default(),
        );
        let mut request = Request::builder().uri(path).header("host", "localhost");
        if let Some((name, value)) = header {
            request = request.header(name, value);
        }
        let request = request.body(()).expect("a request");
        let from = IpAddr::V4(Ipv4Addr::from(from));
        pages.answer(from, &request).status().as_u16()
    }

    #[test]
    fn calls_are_shown_on_this_machine_only() {
        let (here, there) = ([127, 0, 0, 1], [10, 0, 0, 7]);
        let via = Some(("x-forwarded-for", "10.0.0.7"));
        for path in ["/callwright/", "/callwright/stats"] {
            assert_eq!(status(path, here, None), 200, "{path}");
            assert_eq!(status(path, there, None), 403, "{path}");
            assert_eq!(status(path, here, via), 403, "{path}");
        }
        for path in [
            "/callwright/health",
            "/callwright/ready",
            "/callwright/metrics",
        ] {
            assert_eq!(status(path, there, None), 200, "{path}");
        }
        assert_eq!(status("/callwright/other", here, None), 404);
        let page = Some(("origin", "https://evil.example"));
        assert_eq!(status("/callwright/stats", here, page), 403);
    }
}
