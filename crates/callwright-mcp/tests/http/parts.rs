//! Building blocks of the tests: a real server, the guard, a real client, and a plain HTTP client.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use callwright_mcp::guard::Settings;
use callwright_mcp::http::{Options, ProxyError, serve};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::{Child, Command};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// A timeout against hangs.
pub(crate) const LONG: Duration = Duration::from_secs(120);

fn python() -> String {
    env::var("CALLWRIGHT_TEST_PYTHON").unwrap_or_else(|_| "python3".to_owned())
}

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/http")
        .join(name)
}

/// Whether there is a Python with the official SDK.
pub(crate) fn has_python() -> bool {
    let known = std::process::Command::new(python())
        .args(["-c", "import mcp.server.mcpserver, uvicorn"])
        .output();
    let has = known.is_ok_and(|output| output.status.success());
    if !has {
        eprintln!("skipped: no Python with the package `mcp` 2; `pip install mcp` brings it");
    }
    has
}

/// A server of the official SDK. It ends when dropped.
pub(crate) struct Server {
    _process: Child,
    pub(crate) url: String,
}

impl Server {
    pub(crate) async fn start(options: &[&str]) -> Self {
        let mut process = Command::new(python())
            .arg(script("server.py"))
            .args(options)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .expect("Python runs");
        let mut lines = BufReader::new(process.stdout.take().expect("piped")).lines();
        let port = timeout(LONG, lines.next_line()).await.expect("in time");
        let port = port.expect("text").expect("a port");
        Server {
            _process: process,
            url: format!("http://127.0.0.1:{port}/mcp"),
        }
    }
}

/// A guard in front of a server.
pub(crate) struct Guarded {
    pub(crate) url: String,
    pub(crate) warnings: Arc<Mutex<Vec<String>>>,
    pub(crate) settings: Arc<Settings>,
    end: Option<oneshot::Sender<()>>,
    served: JoinHandle<Result<(), ProxyError>>,
}

impl Guarded {
    pub(crate) async fn start(upstream: &str) -> Self {
        Self::start_with(Options::new(upstream)).await
    }

    pub(crate) async fn start_with(mut options: Options) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let (end, ended) = oneshot::channel::<()>();
        let warnings: Arc<Mutex<Vec<String>>> = Arc::default();
        let heard = Arc::clone(&warnings);
        options.proxy.warn = Arc::new(move |warning| {
            heard.lock().expect("not poisoned").push(warning.to_owned());
        });
        let settings = Arc::new(Settings::default());
        let shutdown = async {
            ended.await.ok();
        };
        let served = tokio::spawn(serve(listener, options, Arc::clone(&settings), shutdown));
        Guarded {
            url: format!("http://127.0.0.1:{port}/mcp"),
            warnings,
            settings,
            end: Some(end),
            served,
        }
    }

    /// Stops everything.
    pub(crate) async fn end(mut self) {
        self.end.take().expect("once").send(()).expect("it serves");
        let served = timeout(LONG, self.served).await.expect("in time");
        served.expect("no panic").expect("it served");
    }
}

/// What the official client prints.
pub(crate) async fn client(url: &str, mode: &str, steps: &[&str]) -> Vec<String> {
    let client = Command::new(python())
        .arg(script("client.py"))
        .args([url, mode])
        .args(steps)
        .kill_on_drop(true)
        .output();
    let output = timeout(LONG, client)
        .await
        .expect("in time")
        .expect("it runs");
    let said = String::from_utf8(output.stdout).expect("text");
    assert!(
        output.status.success(),
        "{said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    said.lines().map(str::to_owned).collect()
}

/// A response over plain HTTP: status, headers and body, unchanged.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }
}

/// One request over plain HTTP, on its own connection.
pub(crate) async fn request(
    url: &str,
    method: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Answer {
    let rest = url.strip_prefix("http://").expect("http");
    let (host, path) = rest.split_once('/').expect("a path");
    let mut text = format!("{method} /{path} HTTP/1.1\r\nConnection: close\r\n");
    if !headers.iter().any(|(name, _)| *name == "Host") {
        text.push_str(&format!("Host: {host}\r\n"));
    }
    if !body.is_empty() {
        text.push_str("Content-Type: application/json\r\n");
        text.push_str("Accept: application/json, text/event-stream\r\n");
        text.push_str(&format!("Content-Length: {}\r\n", body.len()));
    }
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    text.push_str("\r\n");
    text.push_str(body);
    let mut stream = TcpStream::connect(host).await.expect("it listens");
    stream.write_all(text.as_bytes()).await.expect("it reads");
    let mut all = Vec::new();
    timeout(LONG, stream.read_to_end(&mut all))
        .await
        .expect("in time")
        .expect("it answers");
    let all = String::from_utf8(all).expect("text");
    let (head, body) = all.split_once("\r\n\r\n").expect("a head");
    let status = head.split(' ').nth(1).expect("a status");
    let answer = Answer {
        status: status.parse().expect("a number"),
        head: head.to_owned(),
        body: body.to_owned(),
    };
    match answer.header("transfer-encoding") {
        Some("chunked") => Answer {
            body: unchunked(&answer.body),
            ..answer
        },
        _ => answer,
    }
}

fn unchunked(mut body: &str) -> String {
    let mut whole = String::new();
    while let Some((length, rest)) = body.split_once("\r\n") {
        let length = usize::from_str_radix(length.trim(), 16).expect("a length");
        if length == 0 || rest.len() < length {
            break;
        }
        whole.push_str(&rest[..length]);
        body = &rest[length + 2..];
    }
    whole
}
