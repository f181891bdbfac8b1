//! Calls in many sessions do not leak memory: a million calls in a release build, forty thousand in a debug build,
//! where each takes about a millisecond.
#![allow(clippy::expect_used, reason = "a test may panic")]

use std::sync::Arc;
use std::time::Duration;

use callwright::Call;
use callwright::admit::Place;
use callwright::event::JsonLines;
use callwright::toolbox::{ToolDef, ToolResult, Toolbox};
use schemars::JsonSchema;
use serde::Deserialize;

const SESSIONS: u64 = if cfg!(debug_assertions) { 8 } else { 200 };

#[derive(Deserialize, JsonSchema)]
struct Look {
    number: u64,
}

/// The memory of this process in bytes, where the system reports it. No other test may run in it.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kilobytes * 1024)
}

/// Calls in all sessions at once, one after the other in each; returns how many succeeded.
async fn calls(toolbox: &Arc<Toolbox>, from: u64, to: u64) -> u64 {
    let sessions: Vec<_> = (0..SESSIONS)
        .map(|session| {
            let toolbox = Arc::clone(toolbox);
            tokio::spawn(async move {
                let name = format!("chat-{session}");
                let mut worked = 0;
                for number in from..to {
                    let text = format!(r#"{{"number": {number}}}"#);
                    let call = Call::from_text("look", text);
                    // A turn has fifty rounds.
                    let place = Place::new(&name, number / 50, number);
                    let settled = toolbox.invoke(&call, place).await;
                    worked += u64::from(!settled.is_error());
                }
                worked
            })
        })
        .collect();
    let mut worked = 0;
    for session in sessions {
        worked += session.await.expect("no panic");
    }
    worked
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn memory_is_flat_over_many_calls() {
    // A sink that keeps up gets every event; this one is given time to keep up.
    const BATCH: u64 = 50;
    const CALLS: u64 = 5_000;
    let tool = ToolDef::new("look", |look: Look| async move {
        tokio::task::yield_now().await;
        ToolResult::Ok(format!("nothing behind door {}", look.number))
    });
    let toolbox = Toolbox::builder()
        .tool(tool)
        .sink("nowhere", JsonLines::new(std::io::sink()))
        .build()
        .expect("a good tool");
    let toolbox = Arc::new(toolbox);
    let mut worked = 0;
    let mut before = None;
    for batch in 0..CALLS / BATCH {
        worked += calls(&toolbox, batch * BATCH, (batch + 1) * BATCH).await;
        assert!(toolbox.sinks().flush(Duration::from_secs(60)));
        // After a fifth of its calls, each session remembers as much as it ever will.
        if batch == CALLS / BATCH / 5 {
            before = resident();
        }
    }
    assert_eq!(worked, SESSIONS * CALLS);
    match (before, resident()) {
        (Some(before), Some(after)) => {
            println!("{before} bytes after a fifth, {after} in the end");
            // For the remaining four fifths, a leak of fifty bytes per call would show.
            let most = SESSIONS * CALLS * 4 / 5 * 50;
            assert!(after < before + most, "{before} bytes became {after}");
        }
        _ => println!("this system does not tell how much memory is used"),
    }
    let (_, stats) = &toolbox.sinks().stats()[0];
    assert_eq!(
        (stats.delivered, stats.dropped, stats.failed),
        (SESSIONS * CALLS, 0, 0)
    );
}
