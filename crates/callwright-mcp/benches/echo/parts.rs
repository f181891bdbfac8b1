//! Servers and clients.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// Raises the limits, since the bench makes more calls than a normal turn.
const POLICY: &str = "\
[loops]
tool_calls = { notice = 10000, refuse = 10000 }
turn_calls = { notice = 10000, refuse = 10000 }
";

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
const WELCOME: &str = r#"{"jsonrpc":"2.0","id":"hello","result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"bench","version":"1"}}}"#;
pub(crate) const LIST: &str = r#"{"jsonrpc":"2.0","id":"list","method":"tools/list"}"#;
pub(crate) const TOOLS: &str = r#"{"jsonrpc":"2.0","id":"list","result":{"tools":[{"name":"echo","inputSchema":{"type":"object","properties":{"message":{"type":"string"}},"required":["message"]}}]}}"#;

pub(crate) fn call(number: usize) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{number},"method":"tools/call","params":{{"name":"echo","arguments":{{"message":"hello {number}"}}}}}}"#
    )
}

/// The answer of this bench's server.
pub(crate) fn answer(line: &str) -> String {
    let (_, id) = line.split_once("\"id\":").expect("a request");
    let id = id.split(',').next().expect("an id");
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":"Echo: hello {id}"}}]}}}}"#
    )
}

/// A server with one tool that does no work.
pub(crate) fn serve() {
    let mut stdout = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let line = line.unwrap();
        let answer = if line.contains("tools/call") {
            answer(&line)
        } else if line.contains("tools/list") {
            TOOLS.to_owned()
        } else if line.contains("initialize\"") {
            WELCOME.to_owned()
        } else {
            continue;
        };
        writeln!(stdout, "{answer}").unwrap();
        stdout.flush().unwrap();
    }
}

/// The command of this bench's server.
pub(crate) fn fast() -> Vec<OsString> {
    vec![env::current_exe().unwrap().into(), "serve".into()]
}

/// The command of the official example, if it is installed.
pub(crate) fn everything() -> Option<Vec<OsString>> {
    let modules = env::var_os("CALLWRIGHT_TEST_NODE_MODULES")?;
    let file = Path::new(&modules).join("@modelcontextprotocol/server-everything/dist/index.js");
    file.is_file()
        .then(|| vec!["node".into(), file.into(), "stdio".into()])
}

/// The built program: from the environment, or next to this one's folder.
pub(crate) fn program() -> Option<PathBuf> {
    if let Some(named) = env::var_os("CALLWRIGHT") {
        return Some(PathBuf::from(named));
    }
    let own = env::current_exe().ok()?;
    let built = own.parent()?.parent()?.join("callwright");
    built.is_file().then_some(built)
}

pub(crate) const ALONE: &str = "the server alone";
pub(crate) const COPIED: &str = "behind a line copier";
pub(crate) const VALIDATED: &str = "behind a validator";
pub(crate) const GUARDED: &str = "behind callwright";

/// A client for the server alone, and one each for the server behind a line copier, a validator and the guard.
pub(crate) fn clients(server: &[OsString], options: &[&str]) -> Vec<Client> {
    let behind = |pipe: &str| {
        let mut command = vec![env::current_exe().unwrap().into(), pipe.into()];
        command.extend_from_slice(server);
        command
    };
    let mut clients = vec![
        Client::start(ALONE, server),
        Client::start(COPIED, &behind("copy")),
        Client::start(VALIDATED, &behind("validate")),
    ];
    clients.extend(guarded(server, options));
    clients
}

/// A client of a server behind the guard.
pub(crate) fn guarded(server: &[OsString], options: &[&str]) -> Option<Client> {
    let policy = env::temp_dir().join(format!("callwright-echo-{}.toml", std::process::id()));
    fs::write(&policy, POLICY).unwrap();
    let mut command: Vec<OsString> = vec![program()?.into(), "mcp".into()];
    command.extend(["--policy".into(), policy.into()]);
    command.extend(options.iter().map(OsString::from));
    command.push("--".into());
    command.extend_from_slice(server);
    Some(Client::start(GUARDED, &command))
}

pub(crate) struct Client {
    pub(crate) name: &'static str,
    pub(crate) child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    line: String,
}

impl Client {
    fn start(name: &'static str, command: &[OsString]) -> Self {
        let mut child = Command::new(&command[0])
            .args(&command[1..])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect(name);
        let mut client = Client {
            name,
            stdin: child.stdin.take().unwrap(),
            stdout: BufReader::new(child.stdout.take().unwrap()),
            child,
            line: String::new(),
        };
        client.ask(INITIALIZE, "\"hello\"");
        client.send(INITIALIZED);
        client.ask(LIST, "\"list\"");
        client
    }

    pub(crate) fn send(&mut self, line: &str) {
        self.stdin
            .write_all(format!("{line}\n").as_bytes())
            .unwrap();
    }

    pub(crate) fn receive(&mut self) -> &str {
        self.line.clear();
        self.stdout.read_line(&mut self.line).unwrap();
        assert!(!self.line.is_empty(), "{} has ended", self.name);
        self.line.trim_end()
    }

    /// Sends a request, and waits for the answer that contains `part`.
    pub(crate) fn ask(&mut self, line: &str, part: &str) {
        self.send(line);
        // Servers also send messages of other kinds.
        while !self.receive().contains(part) {}
    }

    /// Ends the program. Its numbers must be read before.
    pub(crate) fn end(self) {
        let Client {
            mut child, stdin, ..
        } = self;
        drop(stdin);
        child.wait().unwrap();
    }
}
