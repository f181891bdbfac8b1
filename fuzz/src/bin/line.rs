//! Feeds any text as a line of a recording: a call in some format, a message, or neither.
#![no_main]

use std::sync::LazyLock;

use callwright::feedback::Feedback;
use callwright::parse::read_value;
use callwright::wire::read_tools;
use callwright::wire::{self, Provider, RecordedLine};
use callwright::{Gate, Verdict};
use callwright_fuzz::{Bounds, assert_presentable, bounded, cases, plant, tools};
use libfuzzer_sys::fuzz_target;

const BOUNDS: Bounds = Bounds {
    reads: (1_000_000, 500),
    allocated: (2 << 20, 1_024),
    held: (64 << 20, 16 << 10),
};

static GATE: LazyLock<Gate> = LazyLock::new(|| {
    let mut specs = Vec::new();
    for (file, case) in cases(&["wire", "rescue"]) {
        for spec in read_tools(&tools(&file, &case).to_string()).expect("tools") {
            if !specs
                .iter()
                .any(|known: &callwright::ToolSpec| known.name == spec.name)
            {
                specs.push(spec);
            }
        }
    }
    Gate::builder().tools(specs).build().expect("names differ")
});

fn seeds() -> Vec<Vec<u8>> {
    let cases = cases(&["wire", "parse", "feedback", "rescue"]);
    let line = |case: &serde_json::Value| match (case["line"].as_str(), case.get("call")) {
        (Some(line), _) => line.to_owned(),
        (None, Some(call)) => call.to_string(),
        (None, None) => serde_json::json!({"text": case["text"]}).to_string(),
    };
    cases
        .iter()
        .map(|(_, case)| line(case).into_bytes())
        .collect()
}

fuzz_target!(
    init: {
        plant(seeds());
        LazyLock::force(&GATE);
    },
    |text: &str| bounded(text.as_bytes(), BOUNDS, || {
        let line = wire::read_recorded_line(text);
        if let Ok(RecordedLine::Message(message)) = &line
            && let Ok(rescued) = GATE.rescue(message)
        {
            for call in &rescued.calls {
                assert_presentable(call, &GATE.judge(call));
            }
        }
        let Ok(call) = wire::read_line(text) else { return };
        let verdict = GATE.judge(&call);
        assert_presentable(&call, &verdict);
        for (name, provider) in Provider::ALL {
            let rendered = wire::render(provider, &call, &verdict, &Feedback::default()).to_string();
            let value = read_value(&rendered).expect("a rendered verdict is JSON");
            // A call that may run reads back as a call with the same arguments.
            if verdict.failure().is_none() {
                let again = wire::read_call(value).expect("a rendered call is a call");
                let second = GATE.judge(&again);
                assert!(matches!(second, Verdict::Valid(_)), "{name}: {rendered}");
                assert_eq!(second.arguments(), verdict.arguments(), "{name}: {rendered}");
            }
        }
    })
);
