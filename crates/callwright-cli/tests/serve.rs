//! `callwright serve` as a program: in front of a local API, reloaded and stopped by signals.
#![cfg(unix)]
#![allow(
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a test may panic, and says what it skips"
)]

mod support;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use support::{Folder, program};

const REQUEST: &str = r#"{"model":"m","messages":[],"tools":[{"type":"function","function":{"name":"read_file","parameters":{"type":"object","properties":{"path":{"type":"string"},"lines":{"type":"integer"}},"required":["path"]}}}]}"#;
const ANSWER: &str = r#"{"id":"c1","choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"read_file","arguments":"{\"path\":\"a.txt\",\"lines\":\"3\"}"}}]},"finish_reason":"tool_calls"}]}"#;

/// An API that answers everything the same, after a delay.
fn api(delay: Duration) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let at = listener.local_addr().expect("an address");
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || answer(stream, delay));
        }
    });
    format!("http://{at}")
}

fn answer(mut stream: TcpStream, delay: Duration) {
    let mut reader = BufReader::new(stream.try_clone().expect("a clone"));
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return;
        }
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
        if line == "\r\n" {
            break;
        }
    }
    let mut body = vec![0; length];
    if reader.read_exact(&mut body).is_err() {
        return;
    }
    thread::sleep(delay);
    let _ = write!(
        stream,
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{ANSWER}",
        ANSWER.len()
    );
}

/// The running program and its stderr.
struct Serving {
    child: Child,
    said: Receiver<String>,
    address: String,
}

impl Serving {
    fn start(options: &[&str]) -> Self {
        let mut child = program()
            .args(["serve", "--listen", "127.0.0.1:0"])
            .args(options)
            .env("TEST_KEY", "from the environment")
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        let stderr = BufReader::new(child.stderr.take().expect("piped"));
        let (say, said) = channel();
        thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                if say.send(line).is_err() {
                    return;
                }
            }
        });
        let mut serving = Serving {
            child,
            said,
            address: String::new(),
        };
        let line = serving.line("http://");
        let (_, rest) = line.split_once("http://").expect("an address");
        let address = rest.split([' ', '/']).next().unwrap_or_default();
        address.clone_into(&mut serving.address);
        serving
    }

    /// The next line that contains this text.
    fn line(&self, text: &str) -> String {
        loop {
            let line = self.said.recv_timeout(Duration::from_secs(20)).expect(text);
            if line.contains(text) {
                return line;
            }
        }
    }

    fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        let sent = Command::new("kill").args(["-s", name, &pid]).status();
        assert!(sent.expect("kill").success());
    }

    fn end(mut self) -> i32 {
        self.signal("TERM");
        self.child.wait().expect("ends").code().expect("a code")
    }
}

fn send(address: &str, key: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("a connection");
    let length = REQUEST.len();
    write!(
        stream,
        "POST /v1/chat/completions HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {key}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{REQUEST}"
    )
    .expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    answer
}

const REPAIRED: &str = r#""arguments":"{\"path\":\"a.txt\",\"lines\":3}""#;

#[test]
fn a_call_is_repaired_recorded_and_replayed() {
    let folder = Folder::new();
    let record = folder.path().join("calls.jsonl");
    let serving = Serving::start(&[
        "--upstream",
        &api(Duration::ZERO),
        "--record",
        record.to_str().expect("text"),
    ]);
    let answer = send(&serving.address, "k");
    assert!(
        answer.contains(REPAIRED) && answer.contains("x-callwright: calls=1 repaired=1"),
        "{answer}"
    );
    assert_eq!(serving.end(), 0);
    let recorded = std::fs::read_to_string(&record).expect("records");
    assert!(recorded.contains(r#""verdict":"repaired""#), "{recorded}");
    // The tools are recorded as well.
    let run = program()
        .args(["replay", "--format", "json"])
        .arg(&record)
        .output()
        .expect("runs");
    let report = String::from_utf8_lossy(&run.stdout);
    let report: serde_json::Value = serde_json::from_str(&report).expect("a report");
    assert_eq!(report["calls"]["repaired"], 1, "{report}");
}

#[test]
fn settings_are_read_again_and_a_bad_file_changes_nothing() {
    let folder = Folder::new();
    let keys = folder.file("keys", "one\n");
    let policy = folder.file("policy.toml", "");
    let serving = Serving::start(&[
        "--upstream",
        &api(Duration::ZERO),
        "--upstream-header",
        "authorization: Bearer ${TEST_KEY}",
        "--client-key-file",
        keys.to_str().expect("text"),
        "--policy",
        policy.to_str().expect("text"),
    ]);
    assert!(send(&serving.address, "two").starts_with("HTTP/1.1 401"));
    std::fs::write(&keys, "two\n").expect("written");
    serving.signal("HUP");
    serving.line("reloaded the policy");
    assert!(send(&serving.address, "two").starts_with("HTTP/1.1 200"));
    std::fs::write(&policy, "no policy = [").expect("written");
    serving.signal("HUP");
    serving.line("policy.toml");
    serving.line("the old settings stay in force");
    assert!(send(&serving.address, "two").contains(REPAIRED));
    assert_eq!(serving.end(), 0);
}

#[test]
fn an_answer_in_progress_is_finished_when_it_is_ended() {
    let serving = Serving::start(&["--upstream", &api(Duration::from_millis(600))]);
    let address = serving.address.clone();
    let answered = thread::spawn(move || send(&address, "k"));
    thread::sleep(Duration::from_millis(200));
    assert_eq!(serving.end(), 0);
    assert!(answered.join().expect("an answer").contains(REPAIRED));
}

#[test]
fn the_page_can_have_its_own_address() {
    let serving = Serving::start(&["--upstream", &api(Duration::ZERO), "--admin", "127.0.0.1:0"]);
    let line = serving.line("status page at");
    let (_, rest) = line.split_once("http://").expect("an address");
    let admin = rest.split('/').next().unwrap_or_default();
    let get = |address: &str, path: &str| {
        let mut stream = TcpStream::connect(address).expect("a connection");
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n"
        )
        .expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        answer
    };
    assert!(get(admin, "/metrics").contains("callwright_calls_total"));
    assert!(get(admin, "/callwright/").contains("<title>callwright</title>"));
    // On the clients' address this path belongs to the API.
    assert!(get(&serving.address, "/callwright/metrics").contains("finish_reason"));
    assert_eq!(serving.end(), 0);
}

#[test]
fn wrong_options_are_named() {
    for (options, told) in [
        (vec!["--upstream", "ftp://x"], "use `http` or `https`"),
        (
            vec![
                "--upstream",
                "http://x",
                "--upstream-header",
                "authorization",
            ],
            "must have the form 'name: value'",
        ),
        (
            vec![
                "--upstream",
                "http://x",
                "--upstream-header",
                "a: ${NOT_THERE}",
            ],
            "cannot read the variable NOT_THERE",
        ),
        (
            vec!["--upstream", "http://x", "--listen", "0.0.0.0:0"],
            "can be reached from other machines",
        ),
    ] {
        let run = program()
            .arg("serve")
            .args(
                ["--listen", "127.0.0.1:0"]
                    .iter()
                    .filter(|_| !options.contains(&"--listen")),
            )
            .args(&options)
            .output()
            .expect("runs");
        let said = String::from_utf8_lossy(&run.stderr);
        assert!(said.contains(told), "{said}");
        assert!(matches!(run.status.code(), Some(2 | 3)));
    }
}

#[cfg(feature = "tls")]
#[test]
fn clients_can_be_made_to_use_tls() {
    let folder = Folder::new();
    let (certificate, key) = (
        folder.path().join("certificate.pem"),
        folder.path().join("key.pem"),
    );
    let made = Command::new("openssl")
        .args([
            "req",
            "-x509",
            "-nodes",
            "-newkey",
            "ec",
            "-days",
            "2",
            "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
        ])
        .args([
            "-subj",
            "/CN=127.0.0.1",
            "-addext",
            "subjectAltName=IP:127.0.0.1",
            "-keyout",
        ])
        .arg(&key)
        .arg("-out")
        .arg(&certificate)
        .output();
    if !made.is_ok_and(|made| made.status.success())
        || Command::new("curl").arg("--version").output().is_err()
    {
        eprintln!("skipped: there is no `openssl` and `curl`");
        return;
    }
    let serving = Serving::start(&[
        "--upstream",
        &api(Duration::ZERO),
        "--tls-cert",
        certificate.to_str().expect("text"),
        "--tls-key",
        key.to_str().expect("text"),
    ]);
    let run = Command::new("curl")
        .args(["-s", "--max-time", "20", "--cacert"])
        .arg(&certificate)
        .args(["-d", REQUEST])
        .arg(format!("https://{}/v1/chat/completions", serving.address))
        .output()
        .expect("curl");
    assert!(
        String::from_utf8_lossy(&run.stdout).contains(REPAIRED),
        "{run:?}"
    );
    assert_eq!(serving.end(), 0);
}
