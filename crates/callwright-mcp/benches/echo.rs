//! What a guard costs: calls of a tool that answers at once, over stdio, one after the other.
//!
//! Side by side in one run: the server alone, behind a proxy that only copies lines, and behind `callwright mcp`. They
//! take turns, so that whatever else the machine does strikes all of them. Beside them the guard alone, in this process.
//! The program is taken from `CALLWRIGHT`, or from where cargo puts it: `cargo build --release` comes first.
#![allow(
    missing_docs,
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a bench"
)]

use std::env;
use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use callwright::admit::Steps;
use callwright_mcp::guard::{Guard, Now, Outbox, Settings};

/// How many calls each gets.
const CALLS: usize = 2_000;

/// How many come before, so that everybody has warmed up.
const WARM_UP: usize = 200;

const POLICY: &str = "\
[loops]
tool_calls = { notice = 10000, refuse = 10000 }
turn_calls = { notice = 10000, refuse = 10000 }
";

const LIST: &str = r#"{"jsonrpc":"2.0","id":"list","method":"tools/list"}"#;
const TOOLS: &str = r#"{"jsonrpc":"2.0","id":"list","result":{"tools":[{"name":"echo","inputSchema":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}}]}}"#;

fn main() {
    // The server and the proxy are this very program, asked for by a word that cargo never gives.
    match env::args().nth(1).as_deref() {
        Some("serve") => serve(),
        Some("copy") => copy(),
        _ => measure(),
    }
}

fn call(number: usize) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{number},"method":"tools/call","params":{{"name":"echo","arguments":{{"text":"hello {number}"}}}}}}"#
    )
}

fn answer(line: &str) -> String {
    let (_, id) = line.split_once("\"id\":").expect("a request");
    let id = id.split(',').next().expect("an id");
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":"hello {id}"}}]}}}}"#
    )
}

/// A server that has one tool and nothing to do.
fn serve() {
    let mut stdout = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let line = line.unwrap();
        let answer = if line.contains("tools/list") {
            TOOLS.to_owned()
        } else {
            answer(&line)
        };
        writeln!(stdout, "{answer}").unwrap();
        stdout.flush().unwrap();
    }
}

/// A proxy that looks at nothing.
fn copy() {
    let mut server = server_command();
    let mut child = server
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let to_server = child.stdin.take().unwrap();
    let from_server = BufReader::new(child.stdout.take().unwrap());
    thread::spawn(move || copy_lines(BufReader::new(io::stdin()), to_server));
    copy_lines(from_server, io::stdout());
    child.wait().unwrap();
}

fn copy_lines(mut from: impl BufRead, mut to: impl Write) {
    let mut line = Vec::new();
    while from.read_until(b'\n', &mut line).unwrap() > 0 {
        to.write_all(&line).unwrap();
        to.flush().unwrap();
        line.clear();
    }
}

fn server_command() -> Command {
    let mut command = Command::new(env::current_exe().unwrap());
    command.arg("serve");
    command
}

struct Client {
    name: &'static str,
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    took: Vec<Duration>,
}

impl Client {
    fn start(name: &'static str, mut command: Command) -> Self {
        let mut child = command
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
            took: Vec::with_capacity(CALLS),
        };
        assert_eq!(client.ask(LIST), TOOLS);
        client
    }

    fn ask(&mut self, line: &str) -> String {
        self.stdin
            .write_all(format!("{line}\n").as_bytes())
            .unwrap();
        self.stdin.flush().unwrap();
        let mut answer = String::new();
        self.stdout.read_line(&mut answer).unwrap();
        answer.trim_end().to_owned()
    }

    fn time(&mut self, number: usize) {
        let line = call(number);
        let began = Instant::now();
        let said = self.ask(&line);
        let took = began.elapsed();
        assert_eq!(said, answer(&line), "{}", self.name);
        if number >= WARM_UP {
            self.took.push(took);
        }
    }
}

fn measure() {
    let mut copier = Command::new(env::current_exe().unwrap());
    copier.arg("copy");
    let mut clients = vec![
        Client::start("the server alone", server_command()),
        Client::start("behind a line copier", copier),
    ];
    match program() {
        Some(program) => {
            // More calls than a turn of a model has.
            let policy =
                env::temp_dir().join(format!("callwright-echo-{}.toml", std::process::id()));
            fs::write(&policy, POLICY).unwrap();
            let mut guarded = Command::new(program);
            guarded.arg("mcp").arg("--policy").arg(&policy).arg("--");
            guarded.arg(env::current_exe().unwrap()).arg("serve");
            clients.push(Client::start("behind callwright", guarded));
        }
        None => println!("there is no callwright to measure: build it, or name it in CALLWRIGHT"),
    }
    for number in 0..WARM_UP + CALLS {
        for client in &mut clients {
            client.time(number);
        }
    }
    for client in clients {
        let Client {
            name,
            mut child,
            stdin,
            took,
            ..
        } = client;
        drop(stdin);
        child.wait().unwrap();
        print(name, took);
    }
    print("the guard in process", guard_alone());
}

/// The same calls and answers through the guard, without pipes.
fn guard_alone() -> Vec<Duration> {
    let most = Steps::new(10_000, 10_000);
    let mut settings = Settings::default();
    settings.policy.admission.tool_calls = most;
    settings.policy.admission.turn_calls = most;
    let guard = Guard::new(Arc::new(settings), "bench");
    let mut out = Outbox::default();
    guard.from_client(LIST.as_bytes(), Now::by_clock(), &mut out);
    guard.from_server(TOOLS.as_bytes(), Now::by_clock(), &mut out);
    let mut all = Vec::with_capacity(CALLS);
    for number in 0..WARM_UP + CALLS {
        let line = call(number);
        let said = answer(&line);
        let began = Instant::now();
        let mut out = Outbox::default();
        guard.from_client(line.as_bytes(), Now::by_clock(), &mut out);
        guard.from_server(said.as_bytes(), Now::by_clock(), &mut out);
        let took = began.elapsed();
        assert_eq!(out.to_client.len(), 1);
        if number >= WARM_UP {
            all.push(took);
        }
    }
    all
}

/// The built program: named, or beside the folder of this one.
fn program() -> Option<PathBuf> {
    if let Some(named) = env::var_os("CALLWRIGHT") {
        return Some(PathBuf::from(named));
    }
    let own = env::current_exe().ok()?;
    let built = own.parent()?.parent()?.join("callwright");
    built.is_file().then_some(built)
}

fn print(name: &str, mut took: Vec<Duration>) {
    took.sort();
    let at = |percent: usize| took[(took.len() - 1) * percent / 100].as_secs_f64() * 1e6;
    println!(
        "{name:<22} median {:>8.1} µs   p95 {:>8.1} µs   p99 {:>8.1} µs",
        at(50),
        at(95),
        at(99)
    );
}
