//! An upstream that sends exact bytes, a gateway in front of it, and a client that accepts any response, all over TCP.

#![allow(dead_code, reason = "each test uses a part of it")]
#![allow(clippy::needless_pass_by_value, reason = "replies are written inline")]

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use callwright::event::{Event, Sinks, callback};
use callwright_gateway::{Gateway, GatewayOptions};
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// What an upstream answers.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) media_type: &'static str,
    pub(crate) body: String,
    pub(crate) after: Duration,
}

impl Reply {
    pub(crate) fn json(body: impl ToString) -> Self {
        let body = body.to_string();
        Reply {
            status: 200,
            media_type: "application/json",
            body,
            after: Duration::ZERO,
        }
    }

    pub(crate) fn events(body: impl ToString) -> Self {
        Reply {
            media_type: "text/event-stream",
            ..Reply::json(body)
        }
    }

    pub(crate) fn error(status: u16, body: impl ToString) -> Self {
        Reply {
            status,
            ..Reply::json(body)
        }
    }

    pub(crate) fn after(self, after: Duration) -> Self {
        Reply { after, ..self }
    }
}

/// A request or response as it arrived.
#[derive(Debug, Clone, Default)]
pub(crate) struct Message {
    /// The path of a request, or the status of a response.
    pub(crate) about: String,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Message {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("not JSON: {}", self.body))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }
}

/// A gateway in front of an upstream that sends these replies in order.
pub(crate) struct World {
    gateway: SocketAddr,
    requests: Arc<Mutex<Vec<Message>>>,
    /// How many connections were closed before the reply.
    left: Arc<AtomicUsize>,
    events: Arc<Mutex<Vec<Value>>>,
    sinks: Sinks,
}

impl World {
    pub(crate) async fn new(replies: Vec<Reply>, change: impl FnOnce(&mut GatewayOptions)) -> Self {
        let upstream = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = upstream.local_addr().expect("an address");
        let requests: Arc<Mutex<Vec<Message>>> = Arc::default();
        let left: Arc<AtomicUsize> = Arc::default();
        tokio::spawn(answer(
            upstream,
            replies.into(),
            Arc::clone(&requests),
            Arc::clone(&left),
        ));
        let events: Arc<Mutex<Vec<Value>>> = Arc::default();
        let seen = Arc::clone(&events);
        let sink = callback(move |event: &Event| {
            let line = serde_json::from_str(&event.line().to_string()).expect("JSON");
            seen.lock().expect("a lock").push(line);
        });
        let sinks = Sinks::builder()
            .sink("test", sink)
            .start()
            .expect("a thread");
        let mut options = GatewayOptions::new(format!("http://{address}"));
        options.sinks = sinks.clone();
        change(&mut options);
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let gateway = listener.local_addr().expect("an address");
        tokio::spawn(async move {
            let gateway = Gateway::new(options).expect("valid options");
            let served = gateway.serve(listener, std::future::pending()).await;
            served.expect("it serves");
        });
        World {
            gateway,
            requests,
            left,
            events,
            sinks,
        }
    }

    /// Sends a request, and waits for the whole response.
    pub(crate) async fn post(&self, path: &str, body: &str) -> Message {
        self.post_with(path, body, "").await
    }

    pub(crate) async fn post_with(&self, path: &str, body: &str, headers: &str) -> Message {
        self.post_bytes(path, body.as_bytes(), headers).await
    }

    pub(crate) async fn post_bytes(&self, path: &str, body: &[u8], headers: &str) -> Message {
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n",
            body.len(),
        );
        self.send(&[head.as_bytes(), body].concat()).await
    }

    /// The text of the metrics.
    pub(crate) async fn metrics(&self) -> String {
        self.send(
            b"GET /callwright/metrics HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n",
        )
        .await
        .body
    }

    async fn send(&self, request: &[u8]) -> Message {
        let mut stream = TcpStream::connect(self.gateway)
            .await
            .expect("a connection");
        stream.write_all(request).await.expect("it is sent");
        let mut response = Vec::new();
        stream.read_to_end(&mut response).await.expect("it is read");
        let response = String::from_utf8(response).expect("text");
        let (head, body) = response.split_once("\r\n\r\n").expect("a head");
        let about = head.split(' ').nth(1).expect("a status").to_owned();
        let is_chunked = head
            .to_ascii_lowercase()
            .contains("transfer-encoding: chunked");
        let body = if is_chunked {
            without_chunks(body)
        } else {
            body.to_owned()
        };
        Message {
            about,
            head: head.to_owned(),
            body,
        }
    }

    /// Sends a request and disconnects after `time`.
    pub(crate) async fn leave(&self, path: &str, body: &str, time: Duration) {
        let _ = tokio::time::timeout(time, self.post(path, body)).await;
    }

    /// How many requests were closed before the upstream answered.
    pub(crate) fn left(&self) -> usize {
        self.left.load(Ordering::Relaxed)
    }

    /// The requests that reached the upstream.
    pub(crate) fn requests(&self) -> Vec<Message> {
        self.requests.lock().expect("a lock").clone()
    }

    /// The events that were recorded.
    pub(crate) fn events(&self) -> Vec<Value> {
        self.sinks.flush(Duration::from_secs(5));
        self.events.lock().expect("a lock").clone()
    }
}

async fn answer(
    listener: TcpListener,
    mut replies: VecDeque<Reply>,
    requests: Arc<Mutex<Vec<Message>>>,
    left: Arc<AtomicUsize>,
) {
    while let Ok((mut stream, _)) = listener.accept().await {
        let Some(request) = read_request(&mut stream).await else {
            continue;
        };
        requests.lock().expect("a lock").push(request);
        let Some(reply) = replies.pop_front() else {
            continue;
        };
        let mut nothing = [0];
        tokio::select! {
            () = tokio::time::sleep(reply.after) => {}
            // The only thing left to read is the end of the connection.
            _ = stream.read(&mut nothing) => {
                left.fetch_add(1, Ordering::Relaxed);
                continue;
            }
        }
        let Reply {
            status,
            media_type,
            body,
            ..
        } = reply;
        let head = format!(
            "HTTP/1.1 {status} Said\r\ncontent-type: {media_type}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
            body.len(),
        );
        let _ = stream
            .write_all(&[head.as_bytes(), body.as_bytes()].concat())
            .await;
        let _ = stream.shutdown().await;
    }
}

async fn read_request(stream: &mut TcpStream) -> Option<Message> {
    let mut bytes = Vec::new();
    loop {
        let mut portion = [0; 4096];
        let read = stream.read(&mut portion).await.ok()?;
        bytes.extend_from_slice(&portion[..read]);
        let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else {
            if read == 0 {
                return None;
            }
            continue;
        };
        let (head, body) = (String::from_utf8_lossy(&bytes[..end]), &bytes[end + 4..]);
        let received = body.len();
        let body = String::from_utf8_lossy(body);
        let request = Message {
            about: head.split(' ').nth(1)?.to_owned(),
            head: head.to_string(),
            body: body.to_string(),
        };
        let length: usize = request.header("content-length")?.parse().ok()?;
        if received >= length {
            return Some(request);
        }
        if read == 0 {
            return None;
        }
    }
}

fn without_chunks(mut body: &str) -> String {
    let mut whole = String::new();
    while let Some((size, rest)) = body.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).expect("a size");
        if size == 0 {
            break;
        }
        whole.push_str(&rest[..size]);
        body = &rest[size + 2..];
    }
    whole
}
