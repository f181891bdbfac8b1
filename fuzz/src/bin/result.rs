//! Feeds any text as a tool's answer, checked against the tools of the corpus with every detector and with CEL
//! conditions.
//!
//! Input: one byte that chooses the tool, then the text.
#![no_main]

use std::sync::LazyLock;

use callwright::check::{Detector, Output, Ran};
use callwright::feedback::Feedback;
use callwright::parse::read_value;
use callwright::wire::read_tools;
use callwright::{Call, Gate, Opened, Policy, ToolSpec};
use callwright_fuzz::{Bounds, bounded, cases, plant, tools};
use libfuzzer_sys::fuzz_target;

const BOUNDS: Bounds = Bounds {
    reads: (500_000, 500),
    allocated: (32 << 20, 1_024),
    held: (64 << 20, 16 << 10),
};

/// Each examines the whole result; the last one does so in a nested loop.
const CHECKS: &str = r#"
[[check]]
when = "has(output.has_more) && output.has_more && size(output) > 1"
class = "partial_data"
code = "more"
detail = "There is more."

[[check]]
when = "type(output) == list && output.exists(one, output.all(other, one == other))"
class = "semantic_garbage"
code = "all_the_same"
detail = "All are the same."
"#;

static SUBJECTS: LazyLock<Vec<(ToolSpec, Gate)>> = LazyLock::new(|| {
    let mut subjects: Vec<(ToolSpec, Gate)> = Vec::new();
    for (file, case) in cases(&["output"]) {
        for spec in read_tools(&tools(&file, &case).to_string()).expect("tools") {
            if subjects.iter().all(|(known, _)| *known != spec) {
                let mut policy = Policy::from_toml(CHECKS).expect("a policy");
                policy.output.detect = Some(Detector::ALL.map(|(_, detector)| detector).to_vec());
                let builder = Gate::builder().tool(spec.clone()).policy(policy);
                subjects.push((spec, builder.build().expect("one tool")));
            }
        }
    }
    subjects
});

fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for (_, case) in cases(&["output"]) {
        let output = match &case["call"]["output"] {
            serde_json::Value::String(text) => text.clone(),
            value => value.to_string(),
        };
        let at = SUBJECTS
            .iter()
            .position(|(spec, _)| case["call"]["tool"] == *spec.name);
        let at = u8::try_from(at.unwrap_or_default()).unwrap_or_default();
        seeds.push([&[at], output.as_bytes()].concat());
    }
    seeds
}

fn settle(gate: &Gate, call: &Call<'_>, output: Output<'_>) {
    let Opened::Admitted(ticket) = gate.open(call, None) else {
        return;
    };
    let settled = gate.close(ticket, Ran::ok(output));
    let feedback = Feedback::default();
    read_value(&settled.line(call, &feedback).to_string()).expect("a verdict line is JSON");
    settled.text(&feedback);
}

fuzz_target!(
    init: plant(seeds()),
    |data: &[u8]| {
        let [at, text @ ..] = data else { return };
        let Ok(text) = std::str::from_utf8(text) else { return };
        let (spec, gate) = &SUBJECTS[usize::from(*at) % SUBJECTS.len()];
        bounded(data, BOUNDS, || {
            // The validity of the call does not matter here.
            let call = Call::from_text(spec.name.as_str(), "{}");
            settle(gate, &call, Output::Text(text.into()));
            if let Ok(value) = read_value(text) {
                settle(gate, &call, Output::Value(value));
            }
        });
    }
);
