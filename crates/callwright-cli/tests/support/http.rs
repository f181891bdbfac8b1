//! HTTP servers, and guards in front of them.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Value, json};

use super::program;

/// A timeout against hangs.
const LONG: Duration = Duration::from_secs(120);

/// A server that prints its port on its first line, and ends when its input is closed.
pub(crate) struct Server {
    pub(crate) child: Child,
    pub(crate) url: String,
}

impl Server {
    pub(crate) fn start(python: &str, script: &Path) -> Self {
        Self::start_with(python, script, &[])
    }

    /// With a certificate and its key, it serves `https`.
    pub(crate) fn start_with(python: &str, script: &Path, certificate: &[&Path]) -> Self {
        let mut child = Command::new(python)
            .arg(script)
            .args(certificate)
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("Python runs");
        let mut port = String::new();
        let mut stdout = BufReader::new(child.stdout.take().expect("piped"));
        stdout.read_line(&mut port).expect("a line");
        let scheme = if certificate.is_empty() {
            "http"
        } else {
            "https"
        };
        let url = format!("{scheme}://127.0.0.1:{}/mcp", port.trim());
        Server { child, url }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// `callwright mcp --upstream … --listen …`.
pub(crate) struct Guard {
    pub(crate) child: Child,
    pub(crate) url: String,
    said: Option<JoinHandle<String>>,
}

impl Guard {
    pub(crate) fn start(upstream: &str, options: &[&str]) -> Self {
        Self::start_by(&mut program(), upstream, options)
    }

    /// Starts a program with a prepared environment.
    pub(crate) fn start_by(program: &mut Command, upstream: &str, options: &[&str]) -> Self {
        Self::listen(program, &[&["--upstream", upstream], options].concat())
    }

    /// Guards what the arguments name.
    pub(crate) fn listen(program: &mut Command, arguments: &[&str]) -> Self {
        let mut child = program
            .args(["mcp", "--listen", "127.0.0.1:0"])
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program runs");
        let mut stderr = BufReader::new(child.stderr.take().expect("piped"));
        let mut line = String::new();
        stderr.read_line(&mut line).expect("a line");
        let at = line
            .split_whitespace()
            .find(|word| word.starts_with("http"));
        let url = format!("{}mcp", at.unwrap_or_else(|| panic!("{line:?}")));
        let said = std::thread::spawn(move || {
            let mut said = String::new();
            let _ = stderr.read_to_string(&mut said);
            said
        });
        Guard {
            child,
            url,
            said: Some(said),
        }
    }

    /// Terminates it; returns its exit code and stderr.
    pub(crate) fn end(mut self) -> (Option<i32>, String) {
        let number = self.child.id().to_string();
        let sent = Command::new("kill").args(["-TERM", &number]).status();
        assert!(sent.expect("kill runs").success());
        let status = self.child.wait().expect("it ends");
        let said = self.said.take().expect("it is taken once");
        (status.code(), said.join().expect("no panic"))
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends a POST request; its answer is still to be read.
pub(crate) fn post(url: &str, session: Option<&str>, message: &Value) -> BufReader<TcpStream> {
    let rest = url.strip_prefix("http://").expect("http");
    let (host, path) = rest.split_once('/').expect("a path");
    let body = message.to_string();
    let session = session.map_or_else(String::new, |name| format!("Mcp-Session-Id: {name}\r\n"));
    let request = format!(
        "POST /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n{session}Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(host).expect("it listens");
    stream.set_read_timeout(Some(LONG)).expect("a socket");
    stream.write_all(request.as_bytes()).expect("it reads");
    BufReader::new(stream)
}

/// The response to a GET request, including its head.
pub(crate) fn get(url: &str) -> String {
    let rest = url.strip_prefix("http://").expect("http");
    let (host, path) = rest.split_once('/').expect("a path");
    let mut stream = TcpStream::connect(host).expect("it listens");
    stream.set_read_timeout(Some(LONG)).expect("a socket");
    let request = format!("GET /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("it reads");
    self::rest(BufReader::new(stream))
}

/// The rest of an answer.
pub(crate) fn rest(mut answer: BufReader<TcpStream>) -> String {
    let mut bytes = Vec::new();
    // A killed server does not end the body properly.
    let _cut = answer.read_to_end(&mut bytes);
    String::from_utf8(bytes).expect("UTF-8")
}

/// Opens a session over HTTP; returns its id.
pub(crate) fn session(url: &str) -> String {
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "plain", "version": "1"}});
    let message = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello});
    let answer = rest(post(url, None, &message));
    let name = answer.lines().find_map(|line| {
        let (key, value) = line.split_once(": ")?;
        key.eq_ignore_ascii_case("mcp-session-id").then_some(value)
    });
    let name = name.unwrap_or_else(|| panic!("{answer}")).to_owned();
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    rest(post(url, Some(&name), &ready));
    name
}

/// A call of a tool.
pub(crate) fn call(id: usize, tool: &str, arguments: &Value) -> Value {
    let params = json!({"name": tool, "arguments": arguments, "_meta": {"progressToken": id}});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
}
