//! A client of `callwright mcp` that writes and reads lines, and the parts that real servers need.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Folder, program};

/// Python with the package `mcp`. If it is missing, the test says so and passes.
pub(crate) fn python() -> Option<String> {
    let python = std::env::var("CALLWRIGHT_TEST_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let known = Command::new(&python)
        .args(["-c", "import mcp_types"])
        .output();
    if known.is_ok_and(|output| output.status.success()) {
        return Some(python);
    }
    eprintln!("skipped: no Python with the package `mcp`; `pip install mcp==2.3.0` brings it");
    None
}

/// A file of a Node package that CI installs. If it is missing, the test says so and passes.
pub(crate) fn node_module(file: &str) -> Option<PathBuf> {
    let modules = std::env::var("CALLWRIGHT_TEST_NODE_MODULES").unwrap_or_default();
    let path = Path::new(&modules).join(file);
    if path.exists() {
        return Some(path);
    }
    eprintln!(
        "skipped: there is no `{file}` in the folder that CALLWRIGHT_TEST_NODE_MODULES names"
    );
    None
}

/// A script next to the tests.
pub(crate) fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests")
        .join(name)
}

/// Writes a file that lists these servers.
pub(crate) fn servers(folder: &Folder, servers: &Value) -> PathBuf {
    let file = json!({"mcpServers": servers});
    folder.file("servers.json", file.to_string())
}

/// A client and its guard.
pub(crate) struct Client {
    pub(crate) child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    next: u64,
    folder: Folder,
}

impl Client {
    /// Guards a server. Options go before `--`.
    pub(crate) fn new(options: &[&str], server: &[&str]) -> Self {
        Self::start(&[options, &["--"], server].concat())
    }

    /// Guards an HTTP server.
    pub(crate) fn bridge(upstream: &str, options: &[&str]) -> Self {
        Self::start(&[&["--upstream", upstream], options].concat())
    }

    /// Guards all servers in a file.
    pub(crate) fn of_several(servers: &Path, options: &[&str]) -> Self {
        let servers = servers.to_str().expect("UTF-8");
        Self::start(&[&["--servers", servers], options].concat())
    }

    fn start(arguments: &[&str]) -> Self {
        let folder = Folder::new();
        let stderr = std::fs::File::create(folder.path().join("stderr")).expect("a file");
        let mut child = program()
            .arg("mcp")
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(stderr)
            .spawn()
            .expect("the program runs");
        Client {
            stdin: child.stdin.take(),
            stdout: BufReader::new(child.stdout.take().expect("piped")),
            child,
            next: 0,
            folder,
        }
    }

    /// Guards the server with the bad tools, and completes the handshake.
    pub(crate) fn with_bad_tools(python: &str, options: &[&str]) -> Self {
        let server = script("mcp_server.py");
        let mut client = Client::new(options, &[python, server.to_str().expect("UTF-8")]);
        let answer = client.shake_hands();
        assert_eq!(answer["result"]["serverInfo"]["name"], "goes-wrong");
        client
    }

    /// Completes the handshake; returns the server's answer.
    pub(crate) fn shake_hands(&mut self) -> Value {
        let params = json!({
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        });
        let answer = self.ask("initialize", &params);
        self.send(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        self.send(b"\n");
        answer
    }

    /// Sends bytes unchanged.
    pub(crate) fn send(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().expect("open");
        stdin.write_all(bytes).expect("it reads");
    }

    /// Sends a request; returns its id.
    pub(crate) fn request(&mut self, method: &str, params: &Value) -> u64 {
        self.next += 1;
        let id = self.next;
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.send(format!("{request}\n").as_bytes());
        id
    }

    /// Sends a request and waits for its answer.
    pub(crate) fn ask(&mut self, method: &str, params: &Value) -> Value {
        let id = self.request(method, params);
        let answer = self.receive();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// Calls a tool and waits for the result.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let params = json!({"name": tool, "arguments": arguments});
        self.ask("tools/call", &params)["result"].take()
    }

    /// The next line.
    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        self.stdout.read_line(&mut line).expect("UTF-8");
        line
    }

    /// The next message.
    pub(crate) fn receive(&mut self) -> Value {
        let line = self.line();
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line:?}\n{}", self.said()))
    }

    /// Sends bytes and closes the input, on another thread, so that answers can be read meanwhile.
    pub(crate) fn send_last(&mut self, bytes: Vec<u8>) -> std::thread::JoinHandle<()> {
        let mut stdin = self.stdin.take().expect("open");
        std::thread::spawn(move || stdin.write_all(&bytes).expect("it reads"))
    }

    /// Closes the input.
    pub(crate) fn close(&mut self) {
        self.stdin = None;
    }

    /// The rest of the output, the exit code and stderr.
    pub(crate) fn end(mut self) -> (String, Option<i32>, String) {
        self.close();
        let mut rest = String::new();
        self.stdout.read_to_string(&mut rest).expect("UTF-8");
        let status = self.child.wait().expect("it ends");
        (rest, status.code(), self.said())
    }

    /// The stderr output so far.
    pub(crate) fn said(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("stderr")).expect("UTF-8")
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The text of a result.
pub(crate) fn text(result: &Value) -> &str {
    result["content"][0]["text"]
        .as_str()
        .unwrap_or_else(|| panic!("{result}"))
}

/// Waits until a condition is true, for at most half a minute.
pub(crate) fn eventually(what: &str, is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(30), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Whether a process is running; a zombie is not.
pub(crate) fn runs(process: &str) -> bool {
    let Ok(status) = std::fs::read_to_string(format!("/proc/{process}/stat")) else {
        return false;
    };
    !status.contains(") Z ")
}
