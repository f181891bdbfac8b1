//! A server: accepts connections, hands their requests to a handler, and drains on shutdown.

use std::convert::Infallible;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::body::Body;

/// How many connections may be open. A client uses two or three.
const MAX_CONNECTIONS: usize = 4_096;

/// How long a client may take to send the head of a request.
const HEADER_TIMEOUT: Duration = Duration::from_secs(30);

/// How long to wait when the machine cannot open another connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// A server on a listener.
#[derive(Debug)]
pub struct HttpServer {
    listener: TcpListener,
    drain: watch::Sender<bool>,
    #[cfg(feature = "tls")]
    tls: Option<crate::tls::ServerTls>,
}

/// Tells handlers when a server begins to drain.
#[derive(Debug, Clone)]
pub struct Draining(watch::Receiver<bool>);

impl Draining {
    /// Whether the server is draining.
    pub fn is_draining(&self) -> bool {
        *self.0.borrow()
    }

    /// Waits until the server drains. A response that does not end by itself should end then.
    pub async fn wait(&mut self) {
        // It also resolves when the server is gone.
        let _dropped = self.0.wait_for(|draining| *draining).await;
    }
}

impl HttpServer {
    /// Creates a server; it accepts nothing yet.
    pub fn new(listener: TcpListener) -> Self {
        HttpServer {
            listener,
            drain: watch::Sender::new(false),
            #[cfg(feature = "tls")]
            tls: None,
        }
    }

    /// Requires clients to use TLS, if there is a certificate.
    #[cfg(feature = "tls")]
    #[must_use]
    pub fn with_tls(mut self, tls: Option<crate::tls::ServerTls>) -> Self {
        self.tls = tls;
        self
    }

    /// For handlers whose responses do not end by themselves.
    pub fn draining(&self) -> Draining {
        Draining(self.drain.subscribe())
    }

    /// Serves until `shutdown`. Then no connection is accepted, requests in progress have `finish` to complete, and
    /// the rest is cut off.
    pub async fn run<H, F>(self, handler: H, shutdown: impl Future<Output = ()>, finish: Duration)
    where
        H: Fn(IpAddr, Request<Incoming>) -> F + Clone + Send + Sync + 'static,
        F: Future<Output = Response<Body>> + Send + 'static,
    {
        let room = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        let mut connections = JoinSet::new();
        let mut shutdown = pin!(shutdown);
        loop {
            let accepted = async {
                let permit = Arc::clone(&room).acquire_owned().await;
                (self.listener.accept().await, permit)
            };
            tokio::select! {
                () = &mut shutdown => break,
                // Reaps finished connections.
                Some(_) = connections.join_next() => {}
                (accepted, permit) = accepted => match accepted {
                    Ok((stream, from)) => {
                        let (handler, draining) = (handler.clone(), self.draining());
                        #[cfg(feature = "tls")]
                        let tls = self.tls.clone();
                        connections.spawn(async move {
                            // Without it small messages are delayed in the kernel, but still arrive.
                            let _slower = stream.set_nodelay(true);
                            #[cfg(feature = "tls")]
                            if let Some(tls) = tls {
                                if let Some(stream) = tls.accept(stream).await {
                                    connection(stream, from.ip(), handler, draining).await;
                                }
                                return;
                            }
                            connection(stream, from.ip(), handler, draining).await;
                            drop(permit);
                        });
                    }
                    // Too many open files, or the client is already gone.
                    Err(_) => sleep(ACCEPT_PAUSE).await,
                },
            }
        }
        drop(self.listener);
        self.drain.send_replace(true);
        let all = async { while connections.join_next().await.is_some() {} };
        // Dropping the set cuts off the rest.
        let _cut = timeout(finish, all).await;
    }
}

async fn connection<S, H, F>(stream: S, from: IpAddr, handler: H, mut draining: Draining)
where
    S: AsyncRead + AsyncWrite + Unpin,
    H: Fn(IpAddr, Request<Incoming>) -> F,
    F: Future<Output = Response<Body>>,
{
    let service = service_fn(|request| {
        let response = handler(from, request);
        async { Ok::<_, Infallible>(response.await) }
    });
    let mut connection = pin!(
        http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEADER_TIMEOUT)
            .serve_connection(TokioIo::new(stream), service)
    );
    let is_over = tokio::select! {
        _ = connection.as_mut() => true,
        () = draining.wait() => false,
    };
    if !is_over {
        connection.as_mut().graceful_shutdown();
        // Errors here concern a client that is gone.
        let _ended = connection.await;
    }
}

/// Raises the limit of open files, which is 1,024 on many systems, to what a full server needs. It applies to the
/// whole process, so a program calls it once at startup.
pub fn raise_open_file_limit() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, getrlimit, setrlimit};
        // Two for each connection, to the client and to the upstream, and some for the program itself.
        let wanted = 2 * MAX_CONNECTIONS as u64 + 256;
        let mut limit = getrlimit(Resource::Nofile);
        let wanted = limit.maximum.map_or(wanted, |hard| hard.min(wanted));
        if limit.current.is_some_and(|current| current < wanted) {
            limit.current = Some(wanted);
            // If this fails, late clients wait until others have left.
            let _refused = setrlimit(Resource::Nofile, limit);
        }
    }
}
