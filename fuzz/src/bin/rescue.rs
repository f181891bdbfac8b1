//! Feeds any text as a message: rescued calls are only of offered tools, only where there is nothing else, and never
//! completed.
#![no_main]

use std::sync::LazyLock;

use callwright::call::{Arguments, Completeness};
use callwright::rescue::Message;
use callwright::tool::Effect;
use callwright::wire::read_tools;
use callwright::{Call, Gate};
use callwright_fuzz::{
    Bounds, Kept, assert_can_miss, assert_presentable, bounded, cases, plant, tools,
};
use libfuzzer_sys::fuzz_target;

const BOUNDS: Bounds = Bounds {
    reads: (1_000_000, 4_000),
    allocated: (4 << 20, 8_192),
    held: (64 << 20, 16 << 10),
};

static GATE: LazyLock<Gate> = LazyLock::new(|| {
    let (file, case) = cases(&["rescue"]).swap_remove(0);
    let specs = read_tools(&tools(&file, &case).to_string()).expect("tools");
    Gate::builder().tools(specs).build().expect("names differ")
});

fn seeds() -> Vec<Vec<u8>> {
    cases(&["rescue"])
        .iter()
        .filter_map(|(_, case)| Some(case["text"].as_str()?.as_bytes().to_vec()))
        .collect()
}

fuzz_target!(
    init: {
        plant(seeds());
        assert_can_miss();
        LazyLock::force(&GATE);
    },
    |text: &str| bounded(text.as_bytes(), BOUNDS, || {
        let message = Message::from_text(text);
        let Ok(rescued) = GATE.rescue(&message) else { return };
        assert!(!rescued.calls.is_empty());
        assert!(text.starts_with(rescued.rest));
        let mut only_reads = true;
        for call in &rescued.calls {
            let verdict = GATE.judge(call);
            let letters = |name: &str| -> String {
                // A control token may follow the name.
                let name = name.split("<|").next().unwrap_or_default();
                // After a namespace, so may the number of the call.
                let name = name.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches(':');
                let kept = name.chars().filter(|c| c.is_alphanumeric());
                kept.flat_map(char::to_lowercase).collect()
            };
            // A dot may be that of a namespace, or an underscore.
            let called = [call.tool.as_ref(), call.tool.rsplit('.').next().unwrap_or_default()].map(letters);
            let is_offered = GATE.tools().any(|tool| called.contains(&letters(tool.name())));
            assert!(is_offered, "only tools that are offered, in any spelling: {}", call.tool);
            let tool = GATE.tool(&call.tool);
            only_reads &= tool.is_none_or(|tool| tool.spec().effect == Effect::Read);
            assert_presentable(call, &verdict);
            assert!(call.completeness != Completeness::CutOff || verdict.failure().is_some());
        }
        if only_reads {
            return;
        }
        // A tag ends the reasoning.
        let rest = rescued.rest.trim_ascii();
        let harmless = rest.is_empty() || rest.ends_with(['>', ']']);
        assert!(harmless, "only reasoning may come before it: {rest}");
        let whole = rescued.calls.iter().all(|call| call.completeness != Completeness::CutOff);
        // A truncated call is refused, whatever it contains.
        if whole {
            assert_nothing_dropped(text, rescued.rest, &rescued.calls);
        }
        let quotations = [format!("For example {text}"), format!("For example:\n{text}")];
        let followed = [format!("{text}\nThat is how."), format!("{text} not yet")];
        // After a truncated call, words are part of it.
        for quoted in quotations.iter().chain(followed.iter().filter(|_| whole)) {
            let message = Message::from_text(quoted.as_str());
            // Only the last calls may be taken, if all of them are read-only: what comes before them then stays text.
            let taken = GATE.rescue(&message).map(|rescued| rescued.calls).unwrap_or_default();
            let reads = |call: &Call<'_>| GATE.tool(&call.tool).is_some_and(|tool| tool.spec().effect == Effect::Read);
            assert!(taken.iter().all(reads), "{quoted}");
        }
    })
);

/// Every word of the message is in a call, or stays text.
fn assert_nothing_dropped(text: &str, rest: &str, calls: &[Call<'_>]) {
    let mut kept = Kept::new(true, true);
    kept.add_text(rest);
    for call in calls {
        kept.add_name(&call.tool);
        match &call.arguments {
            Arguments::Absent => {}
            Arguments::Text(text) => kept.add_text(text),
            Arguments::Value(value) => kept.add_value(value),
        }
    }
    // The attribute for the type of a parameter, which the schema knows.
    kept.add_text("string true false");
    if let Some(missing) = kept.missing(text) {
        panic!("{missing:?} of {text:?} is gone: {calls:?}");
    }
}
