//! Events: every call leaves one record, whatever its outcome. Any number of sinks receive it, each on its own thread:
//! here a JSON Lines file and a function that is called for everything that went wrong.
//!
//! Run it with `cargo run -p callwright-examples --example events`.

use std::error::Error;
use std::fs::{self, File};
use std::time::Duration;

use callwright::Call;
use callwright::admit::Place;
use callwright::check::ToolFailure;
use callwright::event::{JsonLines, On};
use callwright::toolbox::{ToolDef, ToolResult, Toolbox};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

/// Signs a customer in.
#[derive(Deserialize, JsonSchema)]
struct SignIn {
    customer: u32,
    /// Never shown in an event
    #[schemars(extend("writeOnly" = true))]
    password: String,
}

async fn sign_in(asked: SignIn) -> ToolResult<String> {
    match asked.password.as_str() {
        "correct horse" => Ok(format!("customer {} is signed in", asked.customer)),
        _ => Err(ToolFailure::new("wrong_password", "The password is wrong.")),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::temp_dir().join(format!("callwright-events-{}.jsonl", std::process::id()));
    let toolbox = Toolbox::builder()
        .tool(ToolDef::new("sign_in", sign_in))
        .sink("record", JsonLines::new(File::create(&path)?))
        .on(On::Error, |event| {
            if let Some(failure) = event.error() {
                println!("alert: {} failed with {}", event.tool, failure.code_name());
            }
        })
        .build()?;

    let calls = [
        r#"{"customer": 1042, "password": "correct horse"}"#,
        r#"{"customer": "1042", "password": "battery staple"}"#,
        r#"{"customer": "Ann", "password": "correct horse"}"#,
    ];
    for (round, arguments) in (0..).zip(calls) {
        let call = Call::from_text("sign_in", arguments);
        let settled = toolbox.invoke(&call, Place::new("chat-7", 0, round)).await;
        // The model has its answer; the sinks may still be writing.
        drop(settled);
    }

    // Calls do not wait for sinks, so flush before reading the record.
    toolbox.sinks().flush(Duration::from_secs(10));
    println!("\nthe record:");
    for line in fs::read_to_string(&path)?.lines() {
        let event: Value = serde_json::from_str(line)?;
        let (verdict, arguments) = (&event["verdict"], &event["arguments"]);
        println!("round {}: {verdict} {arguments}", event["round"]);
    }
    println!();
    for (sink, stats) in toolbox.sinks().stats() {
        let (delivered, dropped) = (stats.delivered, stats.dropped);
        println!("{sink}: {delivered} delivered, {dropped} dropped");
    }
    fs::remove_file(&path)?;
    Ok(())
}
