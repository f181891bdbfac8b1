//! An agent behind `callwright serve`, and a model that makes every mistake once.
//!
//! Run it with `cargo run -p callwright-examples --example gateway`. Three programs that speak HTTP with each other: a
//! scripted API that streams broken answers ([`script`], [`turns`]), the gateway, and an agent that knows nothing about
//! callwright ([`agent`]). For each answer it prints what the model sent, what the agent got, and what the gateway
//! recorded.

mod agent;
mod script;
mod turns;

use std::error::Error;
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use callwright::Policy;
use callwright::event::{Event, Sinks, channel};
use callwright_gateway::{Gateway, GatewayOptions, History, Loops};
use serde_json::Value;
use tokio::net::TcpListener;

use agent::{Agent, Received};
use script::Script;
use turns::TURNS;

/// The model may be asked again for read-only tools.
const POLICY: &str = "[tool.get_weather]\neffect = \"read\"\n";

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let script = Arc::new(Script::default());
    let api = script::start(Arc::clone(&script)).await?;
    let (sink, record) = channel(100);
    let mut options = GatewayOptions::new(format!("http://{api}"));
    options.policy = Policy::from_toml(POLICY)?;
    options.sinks = Sinks::builder().sink("record", sink).start()?;
    // All three are off by default.
    options.reask = 1;
    options.loops = Loops::Stop;
    options.history = History::Mend;
    let gateway = Gateway::new(options)?;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::select! {
        served = gateway.serve(listener, std::future::pending()) => Ok(served?),
        told = tell(Agent::new(format!("http://{address}/v1")), &script, &record) => told,
    }
}

/// Runs the agent to the end, and prints every turn.
async fn tell(
    mut agent: Agent,
    script: &Script,
    record: &Receiver<Arc<Event>>,
) -> Result<(), Box<dyn Error>> {
    println!("user:    {}\n", agent::TASK);
    for (number, turn) in TURNS.iter().enumerate() {
        println!("{}. {}", number + 1, turn.mistake);
        let received = agent.turn().await?;
        for line in script.said() {
            println!("   model:   {line}");
        }
        match received {
            Received::Words(words) => println!("   agent:   {words:?}"),
            Received::Calls {
                words,
                calls,
                finish,
            } => {
                if !words.is_empty() {
                    println!("   agent:   {words:?}");
                }
                for call in calls {
                    println!(
                        "   agent:   {}: {} {}, then {}",
                        call.id, call.tool, call.arguments, call.outcome
                    );
                }
                println!("            finish_reason {finish:?}");
            }
        }
        // The record is written on a separate thread.
        for _ in 0..turn.records {
            let event = record.recv_timeout(Duration::from_secs(10))?;
            println!("   record:  {}", told(&event));
        }
        println!();
    }
    Ok(())
}

/// One record in one line: the verdict, the changes in and around the call, and the reason for a refusal.
fn told(event: &Event) -> String {
    let line: Value = serde_json::from_str(&event.line().to_string()).unwrap_or_default();
    let mut told = format!("{} {}", event.tool, event.verdict.name());
    for edit in &event.edits {
        told.push_str(&format!(", {}", edit.rule));
    }
    if let Some(notation) = event.rescued {
        told.push_str(&format!(", taken out of text ({})", notation.name()));
    }
    if let Some(failure) = &event.failure {
        told.push_str(&format!(", {}", failure.code.name()));
    }
    if let Some(notice) = &event.notice {
        told.push_str(&format!(", notice {}", notice.code.name()));
    }
    if !event.mended.is_empty() {
        told.push_str(&format!(", mended {}", event.mended.join(" and ")));
    }
    if let Some(outcome) = line["reask"]["outcome"].as_str() {
        told.push_str(&format!(", asked again: {outcome}"));
    }
    told
}
