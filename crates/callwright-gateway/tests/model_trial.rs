//! The harness for a real model (`model/trial.py`), with a server that answers as the model does.
//!
//! `CALLWRIGHT_TEST_SDK_PYTHON` is a Python with `openai`, `anthropic` and `jsonschema`. Without it the test says so
//! and passes.
#![allow(
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a test may panic, and says what it skips"
)]

mod support;

use std::path::Path;
use std::process::Stdio;

use callwright_gateway::GatewayOptions;
use support::scripted::Running;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Command;

#[tokio::test]
async fn eleven_of_fourteen_arrive_in_every_way() {
    let Ok(python) = std::env::var("CALLWRIGHT_TEST_SDK_PYTHON") else {
        eprintln!("skipped: CALLWRIGHT_TEST_SDK_PYTHON is not set");
        return;
    };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/model");
    let mut model = Command::new(&python)
        .arg(folder.join("as_the_model.py"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("Python runs");
    let mut port = String::new();
    let stdout = model.stdout.take().expect("piped");
    BufReader::new(stdout)
        .read_line(&mut port)
        .await
        .expect("a port");
    let direct = format!("http://127.0.0.1:{}", port.trim());
    let gateway = Running::start(GatewayOptions::new(&direct)).await;
    let run = Command::new(&python)
        .arg(folder.join("trial.py"))
        .args([
            "ask",
            &direct,
            &format!("http://127.0.0.1:{}", gateway.port),
        ])
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .await
        .expect("it runs");
    let printed = String::from_utf8_lossy(&run.stdout);
    assert!(
        run.status.success(),
        "{printed}{}",
        String::from_utf8_lossy(&run.stderr)
    );
    let counts: Vec<Vec<&str>> = printed
        .lines()
        .skip(1)
        .map(|line| line.split_whitespace().rev().take(2).collect())
        .collect();
    assert_eq!(counts, vec![vec!["11", "0"]; 6], "{printed}");
}
