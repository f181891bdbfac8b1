//! An API that answers with exact bytes, and a client in front of the gateway.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use callwright_gateway::{Gateway, GatewayOptions};
use callwright_http::body;
use callwright_http::upstream::{Upstream, UpstreamLimits};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::{HeaderMap, Method, Response};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

/// What the API does after sending the head of an answer.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    /// Sends these bytes.
    Send(Bytes),
    /// Waits.
    Wait(Duration),
    /// Closes the connection, like a server that dies.
    Die,
}

/// The events of a stream, in order.
pub(crate) fn sent(stream: &str) -> Vec<Step> {
    stream
        .split_inclusive("\n\n")
        .map(|event| Step::Send(Bytes::copy_from_slice(event.as_bytes())))
        .collect()
}

/// A request as it arrived.
#[derive(Debug, Clone, Default)]
pub(crate) struct Arrived {
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

/// An API with the same answer for all requests.
pub(crate) struct ScriptedApi {
    pub(crate) port: u16,
    arrived: Arc<Mutex<Vec<Arrived>>>,
    /// How many connections the client closed.
    closed: Arc<Mutex<usize>>,
}

impl ScriptedApi {
    /// `head` is the status line and headers, without those that say where the body ends.
    pub(crate) async fn start(head: &str, steps: Vec<Step>) -> Self {
        let head = head.to_owned();
        Self::answering(move |_| (head.clone(), steps.clone())).await
    }

    /// An API whose answer depends on the request.
    pub(crate) async fn answering(
        script: impl Fn(&Arrived) -> (String, Vec<Step>) + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let api = ScriptedApi {
            port,
            arrived: Arc::default(),
            closed: Arc::default(),
        };
        let (arrived, closed) = (Arc::clone(&api.arrived), Arc::clone(&api.closed));
        let script: Script = Arc::new(script);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (arrived, closed) = (Arc::clone(&arrived), Arc::clone(&closed));
                tokio::spawn(answer(stream, Arc::clone(&script), arrived, closed));
            }
        });
        api
    }

    pub(crate) async fn json(body: &str) -> Self {
        let head = "HTTP/1.1 200 OK\ncontent-type: application/json\nx-request-id: r7";
        Self::start(
            head,
            vec![Step::Send(Bytes::copy_from_slice(body.as_bytes()))],
        )
        .await
    }

    pub(crate) async fn events(steps: Vec<Step>) -> Self {
        Self::start(
            "HTTP/1.1 200 OK\ncontent-type: text/event-stream; charset=utf-8",
            steps,
        )
        .await
    }

    pub(crate) fn arrived(&self) -> Vec<Arrived> {
        self.arrived.lock().expect("a lock").clone()
    }

    pub(crate) fn closed(&self) -> usize {
        *self.closed.lock().expect("a lock")
    }

    pub(crate) fn options(&self) -> GatewayOptions {
        GatewayOptions::new(format!("http://127.0.0.1:{}", self.port))
    }
}

type Script = Arc<dyn Fn(&Arrived) -> (String, Vec<Step>) + Send + Sync>;

async fn answer(
    mut stream: TcpStream,
    script: Script,
    arrived: Arc<Mutex<Vec<Arrived>>>,
    closed: Arc<Mutex<usize>>,
) {
    let Some(request) = Box::pin(read_request(&mut stream)).await else {
        return;
    };
    let (head, steps) = script(&request);
    arrived.lock().expect("a lock").push(request);
    let head = head.replace('\n', "\r\n");
    let chunked = format!("{head}\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n");
    if stream.write_all(chunked.as_bytes()).await.is_err() {
        return;
    }
    for step in steps {
        match step {
            Step::Send(bytes) => {
                let chunk = [format!("{:x}\r\n", bytes.len()).as_bytes(), &bytes, b"\r\n"].concat();
                if stream.write_all(&chunk).await.is_err() {
                    *closed.lock().expect("a lock") += 1;
                    return;
                }
            }
            Step::Wait(time) => {
                let mut byte = [0];
                tokio::select! {
                    () = tokio::time::sleep(time) => {}
                    read = stream.read(&mut byte) => {
                        if matches!(read, Ok(0) | Err(_)) {
                            *closed.lock().expect("a lock") += 1;
                            return;
                        }
                    }
                }
            }
            Step::Die => return,
        }
    }
    let _ = stream.write_all(b"0\r\n\r\n").await;
}

async fn read_request(stream: &mut TcpStream) -> Option<Arrived> {
    let mut bytes = Vec::new();
    let head_end = loop {
        let mut part = [0; 16_384];
        let read = stream.read(&mut part).await.ok().filter(|read| *read > 0)?;
        bytes.extend_from_slice(&part[..read]);
        if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break at + 4;
        }
    };
    let head = String::from_utf8_lossy(&bytes[..head_end]).to_lowercase();
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "));
    let mut body = bytes[head_end..].to_vec();
    let is_over = |body: &Vec<u8>| match length.map(|length| length.trim().parse::<usize>()) {
        Some(Ok(length)) => body.len() >= length,
        _ if head.contains("transfer-encoding: chunked") => body.ends_with(b"0\r\n\r\n"),
        _ => true,
    };
    while !is_over(&body) {
        let mut part = [0; 16_384];
        let read = stream.read(&mut part).await.ok().filter(|read| *read > 0)?;
        body.extend_from_slice(&part[..read]);
    }
    Some(Arrived { head, body })
}

/// A gateway that runs until dropped.
pub(crate) struct Running {
    pub(crate) port: u16,
    pub(crate) gateway: Arc<Gateway>,
    client: Upstream,
    end: Option<oneshot::Sender<()>>,
    served: tokio::task::JoinHandle<()>,
}

impl Running {
    pub(crate) async fn start(options: GatewayOptions) -> Self {
        let gateway = Arc::new(Gateway::new(options).expect("valid options"));
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let (end, ended) = oneshot::channel();
        let serving = Arc::clone(&gateway);
        let served = tokio::spawn(async move {
            let shutdown = async {
                let _ = ended.await;
            };
            serving.serve(listener, shutdown).await.expect("serves");
        });
        let limits = UpstreamLimits {
            connect: Duration::from_secs(5),
            silence: Duration::from_secs(20),
            max_bytes: 256 * 1024 * 1024,
            idle_connection: Duration::from_secs(3),
        };
        let client = Upstream::new(&format!("http://127.0.0.1:{port}"), limits).expect("a client");
        Running {
            port,
            gateway,
            client,
            end: Some(end),
            served,
        }
    }

    pub(crate) async fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Bytes>,
    ) -> Response<Incoming> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(
                name.parse::<hyper::header::HeaderName>().expect("a name"),
                value.parse().expect("a value"),
            );
        }
        let uri = self.client.at(path);
        self.client
            .pipe(method, uri, map, body::full(body))
            .await
            .expect("an answer")
    }

    pub(crate) async fn post(&self, path: &str, body: impl Into<Bytes>) -> Response<Incoming> {
        self.send(
            Method::POST,
            path,
            &[("content-type", "application/json")],
            body,
        )
        .await
    }

    pub(crate) async fn get(&self, path: &str) -> String {
        text(self.send(Method::GET, path, &[], "").await).await
    }

    /// Stops it and waits until it has drained.
    pub(crate) async fn end(mut self) {
        if let Some(end) = self.end.take() {
            let _ = end.send(());
        }
        self.served.await.expect("ends");
    }

    pub(crate) fn begin_end(&mut self) {
        if let Some(end) = self.end.take() {
            let _ = end.send(());
        }
    }
}

/// The whole body of an answer.
pub(crate) async fn text(response: Response<Incoming>) -> String {
    let bytes = response
        .into_body()
        .collect()
        .await
        .expect("a body")
        .to_bytes();
    String::from_utf8(bytes.to_vec()).expect("text")
}

/// The body received, and whether it was broken off.
pub(crate) async fn until_broken(response: Response<Incoming>) -> (String, bool) {
    let mut body = response.into_body();
    let mut all = Vec::new();
    loop {
        match body.frame().await {
            Some(Ok(frame)) => all.extend_from_slice(&frame.into_data().unwrap_or_default()),
            Some(Err(_)) => return (String::from_utf8_lossy(&all).into_owned(), true),
            None => return (String::from_utf8_lossy(&all).into_owned(), false),
        }
    }
}
