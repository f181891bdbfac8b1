//! A proxy built from this crate's parts, between a plain client and an upstream that is also a server of this crate.
#![allow(clippy::expect_used, reason = "a test may panic")]

use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use callwright_http::body::{self, Body};
use callwright_http::server::HttpServer;
use callwright_http::sse::{EventFields, EventReader};
use callwright_http::upstream::{TransferError, Upstream, UpstreamLimits};
use futures_util::{StreamExt, stream};
use hyper::body::{Frame, Incoming};
use hyper::header::{LOCATION, USER_AGENT};
use hyper::{HeaderMap, Method, Request, Response, StatusCode};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

/// A timeout against hangs.
const LONG: Duration = Duration::from_secs(60);

struct Running {
    url: String,
    end: oneshot::Sender<()>,
    served: JoinHandle<()>,
}

impl Running {
    async fn end(self) {
        self.end.send(()).expect("it serves");
        let served = timeout(LONG, self.served).await;
        served.expect("in time").expect("no panic");
    }
}

fn start<H, F>(server: HttpServer, port: u16, finish: Duration, handler: H) -> Running
where
    H: Fn(IpAddr, Request<Incoming>) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Response<Body>> + Send + 'static,
{
    let (end, ended) = oneshot::channel();
    let shutdown = async { ended.await.unwrap_or_default() };
    Running {
        url: format!("http://127.0.0.1:{port}/base?key=secret"),
        end,
        served: tokio::spawn(server.run(handler, shutdown, finish)),
    }
}

async fn server() -> (HttpServer, u16) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("an address").port();
    (HttpServer::new(listener), port)
}

/// Echoes, redirects, sends too much, or never answers.
async fn odd(_: IpAddr, request: Request<Incoming>) -> Response<Body> {
    let mut response = Response::new(body::full(Bytes::new()));
    match request.uri().path() {
        "/echo" => {
            let agent = request.headers()[USER_AGENT].clone();
            let whole = body::read(request.into_body(), 1_000, LONG).await;
            *response.body_mut() = body::full(whole.expect("a body"));
            response.headers_mut().insert(USER_AGENT, agent);
        }
        "/slash" => {
            *response.status_mut() = StatusCode::PERMANENT_REDIRECT;
            let to = "/echo".parse().expect("a value");
            response.headers_mut().insert(LOCATION, to);
        }
        "/away" => {
            *response.status_mut() = StatusCode::TEMPORARY_REDIRECT;
            let to = "http://other.example/".parse().expect("a value");
            response.headers_mut().insert(LOCATION, to);
        }
        "/large" => *response.body_mut() = body::full(vec![b'x'; 1_001]),
        "/large-event" => *response.body_mut() = body::full(vec![b'x'; 2_000]),
        "/breaks" => {
            let frames = [Ok(Frame::data("data: 1\n\nda".into())), Err("cut".into())];
            // The first frame is sent before the error occurs.
            let frames = stream::iter(frames).then(|frame| async {
                sleep(Duration::from_millis(100)).await;
                frame
            });
            *response.body_mut() = body::streamed(frames);
        }
        _ => sleep(LONG).await,
    }
    response
}

const LIMITS: UpstreamLimits = UpstreamLimits {
    connect: LONG,
    silence: Duration::from_millis(300),
    max_bytes: 1_000,
    idle_connection: Duration::from_secs(3),
};

#[tokio::test]
async fn an_upstream_is_bounded_and_stays_the_same() {
    let (server, port) = server().await;
    let running = start(server, port, LONG, odd);
    let upstream = Upstream::new(&running.url, LIMITS).expect("a URL");
    assert_eq!(
        upstream.to_string(),
        format!("http://127.0.0.1:{port}/base"),
        "without the query"
    );
    let send = async |path: &str| {
        let uri = upstream.at(path);
        let body = Bytes::from_static(b"hello");
        upstream
            .send(Method::POST, uri, HeaderMap::new(), body)
            .await
    };
    for path in ["/echo", "/slash"] {
        let response = send(path).await.expect("a response");
        assert_eq!(response.headers()[USER_AGENT], "callwright");
        let read = upstream.read(response.into_body()).await;
        assert_eq!(read.expect("a body"), "hello", "{path}");
    }
    let away = send("/away").await;
    assert!(matches!(away, Err(TransferError::Redirected)), "{away:?}");
    let never = send("/never").await;
    assert!(matches!(never, Err(TransferError::Silent(_))), "{never:?}");
    let large = send("/large").await.expect("a response").into_body();
    let large = upstream.read(large).await;
    assert!(
        matches!(large, Err(TransferError::TooLarge(1_000))),
        "{large:?}"
    );
    let large = send("/large-event").await.expect("a response");
    let large = EventReader::new(large.into_body(), 1_000).next().await;
    assert!(
        matches!(large, Err(TransferError::TooLarge(1_000))),
        "{large:?}"
    );
    let breaks = send("/breaks").await.expect("a response");
    let mut events = EventReader::new(breaks.into_body(), 1_000);
    let first = events.next().await.expect("whole").expect("an event");
    assert_eq!(first, "data: 1\n\n");
    let cut = events.next().await;
    assert!(matches!(cut, Err(TransferError::Broken(_))), "{cut:?}");
    // Requests that never end are cut off.
    drop(running.served);
}

#[tokio::test]
async fn a_server_drains() {
    let (server, port) = server().await;
    let mut draining = server.draining();
    let ended = draining.clone();
    let handler = move |_, request: Request<Incoming>| {
        let mut ended = ended.clone();
        async move {
            if request.uri().path() == "/slow" {
                ended.wait().await;
                sleep(Duration::from_millis(300)).await;
                return body::json(StatusCode::OK, "7");
            }
            let tick = stream::once(async { Ok(Frame::data(Bytes::from("data: tick\n\n"))) });
            let until = stream::once(async move { ended.wait().await }).filter_map(async |()| None);
            Response::new(body::streamed(tick.chain(until)))
        }
    };
    let running = start(server, port, LONG, handler);
    let upstream = Upstream::new(&running.url, LIMITS).expect("a URL");
    let limits = UpstreamLimits {
        silence: LONG,
        ..LIMITS
    };
    let patient = Arc::new(Upstream::new(&running.url, limits).expect("a URL"));
    let get = |upstream: &Upstream, path| {
        let uri = upstream.at(path);
        (Method::GET, uri, HeaderMap::new(), Bytes::new())
    };
    let slow = tokio::spawn({
        let patient = Arc::clone(&patient);
        let (method, uri, headers, none) = get(&patient, "/slow");
        async move { patient.send(method, uri, headers, none).await }
    });
    let (method, uri, headers, none) = get(&upstream, "/endless");
    let endless = upstream.send(method, uri, headers, none).await;
    let mut events = EventReader::new(endless.expect("a response").into_body(), 1_000);
    let event = events.next().await.expect("whole").expect("an event");
    assert_eq!(
        EventFields::read(&event).data.as_deref(),
        Some(&b"tick"[..])
    );
    // Wait until the slow request has arrived.
    sleep(Duration::from_millis(300)).await;
    let began = Instant::now();
    running.end().await;
    assert!(began.elapsed() < LONG / 2, "nothing is left to wait for");
    draining.wait().await;
    assert!(events.next().await.expect("whole").is_none());
    let slow = slow.await.expect("no panic").expect("a response");
    assert_eq!(patient.read(slow.into_body()).await.expect("whole"), "7");
}

#[tokio::test]
async fn what_does_not_end_is_cut_off() {
    let (server, port) = server().await;
    let running = start(server, port, Duration::from_millis(100), odd);
    let limits = UpstreamLimits {
        silence: LONG,
        ..LIMITS
    };
    let upstream = Upstream::new(&running.url, limits).expect("a URL");
    let uri = upstream.at("/never");
    let never = tokio::spawn(async move {
        let none = Bytes::new();
        upstream
            .send(Method::GET, uri, HeaderMap::new(), none)
            .await
    });
    sleep(Duration::from_millis(300)).await;
    running.end().await;
    let never = timeout(LONG, never).await.expect("in time");
    assert!(never.expect("no panic").is_err());
}

#[test]
fn only_urls_that_can_be_sent_to_are_accepted() {
    for url in [
        "",
        "localhost",
        "/mcp",
        "ftp://localhost/",
        "http://user:secret@localhost/",
    ] {
        let refused = Upstream::new(url, LIMITS).expect_err(url);
        assert!(!refused.to_string().contains("secret"), "{refused}");
    }
}
