//! An MCP server behind the guard, and a client whose model makes three mistakes.
//!
//! Run it with `cargo run -p callwright-examples --example mcp`. It starts itself twice: as the guard, which does what
//! `callwright mcp -- SERVER` does, and as the server, which knows nothing about callwright. For each call it prints what
//! the model sent and what came back; the server's results say what reached it.

use std::env;
use std::error::Error;
use std::io::{self, BufRead, BufReader, Write};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;

use callwright_mcp::guard::Settings;
use callwright_mcp::hub::{self, ServerGroup};
use serde_json::{Value, json};

/// What the model sends, each call with a title.
const CALLS: [(&str, &str, &str); 5] = [
    (
        "a valid call",
        "find_note",
        r#"{"query": "lamp", "limit": 2}"#,
    ),
    (
        "a number in quotes",
        "find_note",
        r#"{"query": "lamp", "limit": "2"}"#,
    ),
    (
        "a missing argument and a wrong type",
        "find_note",
        r#"{"limit": "many"}"#,
    ),
    ("a payment", "pay", r#"{"to": "Ann", "amount": 12.5}"#),
    (
        "the same payment again",
        "pay",
        r#"{"to": "Ann", "amount": 12.5}"#,
    ),
];

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let myself = env::current_exe()?;
    match env::args().nth(1).as_deref() {
        None => {
            let mut guard = Command::new(myself)
                .arg("guard")
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()?;
            let (Some(to_guard), Some(from_guard)) = (guard.stdin.take(), guard.stdout.take())
            else {
                return Err("the guard has no pipes".into());
            };
            client(to_guard, BufReader::new(from_guard))?;
            Ok(if guard.wait()?.success() {
                ExitCode::SUCCESS
            } else {
                ExitCode::FAILURE
            })
        }
        Some("guard") => {
            let server = ServerGroup::direct(myself.into_os_string(), vec!["server".into()]);
            let end = hub::run(Arc::new(Settings::default()), &server, |warning: &str| {
                eprintln!("{warning}");
            })?;
            Ok(ExitCode::from(end.code))
        }
        Some("server") => {
            serve()?;
            Ok(ExitCode::SUCCESS)
        }
        Some(other) => Err(format!("unknown role {other}").into()),
    }
}

/// Shakes hands, then makes the calls one by one, as an MCP client does.
fn client(mut to_guard: impl Write, mut from_guard: impl BufRead) -> Result<(), Box<dyn Error>> {
    let mut ask = |id: usize, method: &str, params: &str| -> Result<Value, Box<dyn Error>> {
        writeln!(
            to_guard,
            r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#
        )?;
        let mut line = String::new();
        from_guard.read_line(&mut line)?;
        Ok(serde_json::from_str(&line)?)
    };
    let me = r#"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"example","version":"1"}}"#;
    let _ = ask(0, "initialize", me)?;
    for (number, (title, tool, arguments)) in CALLS.iter().enumerate() {
        let params = format!(r#"{{"name":"{tool}","arguments":{arguments}}}"#);
        let answer = ask(number + 1, "tools/call", &params)?;
        let text = answer["result"]["content"][0]["text"].as_str();
        println!("{}. {title}", number + 1);
        println!("   model:  {tool} {arguments}");
        println!("   result: {}", text.unwrap_or_default());
    }
    Ok(())
}

/// A server of two tools. It trusts its arguments, as most servers do.
fn serve() -> Result<(), Box<dyn Error>> {
    let mut stdout = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let request: Value = serde_json::from_str(&line?)?;
        let params = &request["params"];
        let result = match request["method"].as_str() {
            Some("initialize") => json!({
                "protocolVersion": params["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "notes", "version": "1"},
            }),
            Some("tools/list") => json!({"tools": [
                {"name": "find_note", "inputSchema": {
                    "type": "object",
                    "properties": {"query": {"type": "string"}, "limit": {"type": "integer"}},
                    "required": ["query"],
                }},
                {"name": "pay", "inputSchema": {
                    "type": "object",
                    "properties": {"to": {"type": "string"}, "amount": {"type": "number"}},
                    "required": ["to", "amount"],
                }},
            ]}),
            Some("tools/call") => {
                let name = params["name"].as_str().unwrap_or_default();
                let text = format!("{name} ran with {}", params["arguments"]);
                json!({"content": [{"type": "text", "text": text}]})
            }
            _ => continue,
        };
        let answer = json!({"jsonrpc": "2.0", "id": request["id"], "result": result});
        writeln!(stdout, "{answer}")?;
        stdout.flush()?;
    }
    Ok(())
}
