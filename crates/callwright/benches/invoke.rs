//! How much more `invoke` costs than calling the closure after `serde_json::from_str`.
//!
//! Both in one run, over the same calls: a no-op typed tool on the happy path, without a sink. Prints the medians of
//! both and their difference.
//!
//! ```console
//! $ cargo bench -p callwright --bench invoke
//! ```

#![expect(clippy::expect_used, clippy::print_stdout, reason = "a bench")]

use std::hint::black_box;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use callwright::Call;
use callwright::admit::Place;
use callwright::toolbox::{ToolDef, ToolResult, Toolbox};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Deserialize, JsonSchema)]
struct Search {
    query: String,
    #[serde(default)]
    limit: u32,
    #[serde(default)]
    tags: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Found {
    count: u32,
}

async fn search(args: Search) -> ToolResult<Found> {
    black_box((&args.query, &args.tags));
    Ok(Found { count: args.limit })
}

/// Runs a future that is immediately ready.
fn now<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    match future
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()))
    {
        Poll::Ready(output) => output,
        Poll::Pending => unreachable!("nothing here waits"),
    }
}

const CALLS: usize = 2_000;
const RUNS: usize = 101;

/// Nanoseconds per call, as the median of many runs.
fn median(mut run: impl FnMut(usize)) -> f64 {
    let mut times: Vec<f64> = (0..RUNS)
        .map(|round| {
            let start = Instant::now();
            run(round);
            #[expect(clippy::cast_precision_loss, reason = "a few thousand")]
            let calls = CALLS as f64;
            start.elapsed().as_secs_f64() * 1e9 / calls
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[RUNS / 2]
}

fn main() {
    let toolbox = Toolbox::builder()
        .tool(ToolDef::new("search", search))
        .build()
        .expect("a good tool");
    let texts: Vec<String> = (0..CALLS)
        .map(|at| {
            format!(
                r#"{{"query": "orders of customer {at}", "limit": {at}, "tags": ["open", "late"]}}"#
            )
        })
        .collect();
    let sessions: Vec<String> = (0..CALLS).map(|at| format!("chat-{}", at / 20)).collect();

    let plain = median(|_| {
        for text in &texts {
            let args: Search = serde_json::from_str(text).expect("good arguments");
            black_box(now(search(args)).expect("it works"));
        }
    });
    let alone = median(|_| {
        for text in &texts {
            let call = Call::from_text("search", text.as_str());
            let settled = now(toolbox.invoke(&call, None));
            assert!(!settled.is_error());
            black_box(&settled);
        }
    });
    let counted = median(|round| {
        for (at, text) in texts.iter().enumerate() {
            let call = Call::from_text("search", text.as_str());
            // Every run is its own turn.
            let place = Place::new(&sessions[at], round as u64, (at % 20) as u64);
            let settled = now(toolbox.invoke(&call, place));
            assert!(!settled.is_error());
            black_box(&settled);
        }
    });
    println!("closure after serde_json::from_str    {plain:>7.0} ns");
    println!(
        "invoke, outside of a conversation     {alone:>7.0} ns  (+{:.0})",
        alone - plain
    );
    println!(
        "invoke, in a conversation             {counted:>7.0} ns  (+{:.0})",
        counted - plain
    );
}
