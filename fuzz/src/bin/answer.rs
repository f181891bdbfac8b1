//! Feeds any text as a provider's whole answer and as the history of a request: it is read or refused, and every call
//! in it gets a verdict.
#![no_main]

use std::sync::LazyLock;

use callwright::call::Completeness;
use callwright::parse::read_value;
use callwright::wire::{self, HistoryEntry, read_tools};
use callwright::{Call, Gate};
use callwright_fuzz::{Bounds, assert_presentable, bounded, cases, plant};
use libfuzzer_sys::fuzz_target;

const BOUNDS: Bounds = Bounds {
    reads: (1_000_000, 500),
    allocated: (2 << 20, 1_024),
    held: (64 << 20, 16 << 10),
};

static GATE: LazyLock<Gate> = LazyLock::new(|| {
    let tools = r#"[{"name": "search", "inputSchema": {"type": "object", "properties": {"query": {"type": "string"},
        "limit": {"type": "integer"}}, "required": ["query"], "additionalProperties": false}}, {"name": "ping"}]"#;
    let specs = read_tools(tools).expect("tools");
    Gate::builder().tools(specs).build().expect("two names")
});

fn seeds() -> Vec<Vec<u8>> {
    let bodies = cases(&["answers"]).into_iter().map(|(_, case)| {
        let body = case.get("body").or(case.get("history")).unwrap_or(&case);
        body.to_string().into_bytes()
    });
    bodies.collect()
}

fn judge(call: &Call<'_>) {
    let verdict = GATE.judge(call);
    assert_presentable(call, &verdict);
    assert!(call.completeness != Completeness::CutOff || verdict.failure().is_some());
}

fuzz_target!(
    init: {
        plant(seeds());
        LazyLock::force(&GATE);
    },
    |text: &str| bounded(text.as_bytes(), BOUNDS, || {
        let Ok(value) = read_value(text) else { return };
        for answer in wire::read_whole_answer(value.clone()).into_iter().flatten() {
            answer.calls.iter().flatten().for_each(judge);
        }
        for entry in wire::read_history(value) {
            if let HistoryEntry::Answer(answer) = entry {
                answer.calls.iter().flatten().for_each(judge);
            }
        }
    })
);
