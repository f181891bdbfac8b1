//! The user is asked over MCP, by a real client: the official Python SDK talks to the example `ask_over_mcp`.
//!
//! Where Python or its package `mcp` is missing, the test says so and passes.
#![allow(
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a test may panic, and says what it skips"
)]

use std::env;
use std::path::Path;
use std::process::Command;

#[test]
fn a_real_client_asks_its_user() {
    let python = env::var("CALLWRIGHT_TEST_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let known = Command::new(&python).args(["-c", "import mcp"]).output();
    if !known.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: no Python with the package `mcp`; `pip install mcp` brings it");
        return;
    }
    // The examples are built with the tests, beside them.
    let test = env::current_exe().expect("this test");
    let built = test.parent().and_then(Path::parent).expect("target/debug");
    let server = built.join("examples").join("ask_over_mcp");
    if !server.exists() {
        eprintln!("skipped: the examples are not built; run the whole test suite");
        return;
    }
    let client = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/elicitation.py");
    let output = Command::new(&python)
        .arg(client)
        .arg(server)
        .output()
        .expect("Python runs");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let refusal = "\"pay\" ran with these very arguments";
    let lines: Vec<&str> = said.lines().collect();
    let starts =
        |at: usize, text: &str| assert!(lines[at].starts_with(text), "line {at} of\n{said}");
    starts(0, "ok paid");
    // Allowed once …
    starts(1, "ok paid");
    // … then declined, which stops everything.
    starts(2, "error The user has said stop.");
    starts(3, "error The user has said stop.");
    starts(
        4,
        &format!("asked 2 The model wants to call \"pay\" again. {refusal}"),
    );
    // A client that cannot ask gets the refusal.
    starts(5, "ok paid");
    for at in 6..9 {
        starts(at, &format!("error {refusal}"));
    }
}
