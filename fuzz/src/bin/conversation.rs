//! Feeds any text as the lines of a recorded conversation: each call is opened and closed, and a session that is saved
//! and resumed in the middle continues as if nothing had happened.
#![no_main]

use std::sync::LazyLock;

use callwright::feedback::Feedback;
use callwright::parse::read_value;
use callwright::wire::read_tools;
use callwright::wire::{self, Recorded};
use callwright::{Gate, Opened, Settled, ToolSpec, Verdict};
use callwright_fuzz::{Bounds, bounded, cases, plant, tools};
use libfuzzer_sys::fuzz_target;

const BOUNDS: Bounds = Bounds {
    reads: (3_000_000, 4_000),
    allocated: (64 << 20, 4_096),
    held: (64 << 20, 16 << 10),
};

static TOOLS: LazyLock<Vec<ToolSpec>> = LazyLock::new(|| {
    let mut specs: Vec<ToolSpec> = Vec::new();
    for (file, case) in cases(&["loops"]) {
        for spec in read_tools(&tools(&file, &case).to_string()).expect("tools") {
            if !specs.iter().any(|known| known.name == spec.name) {
                specs.push(spec);
            }
        }
    }
    specs
});

fn seeds() -> Vec<Vec<u8>> {
    let line = |step: &serde_json::Value| {
        let mut call = step["call"].clone();
        call["session"] = serde_json::json!("s");
        format!("{call}\n")
    };
    cases(&["loops"])
        .iter()
        .map(|(_, case)| {
            let steps = case["calls"].as_array().expect("calls").iter();
            let calls = steps.filter(|step| step.get("call").is_some());
            calls.map(line).collect::<String>().into_bytes()
        })
        .collect()
}

fn gate() -> Gate {
    Gate::builder()
        .tools(TOOLS.iter().cloned())
        .build()
        .expect("names differ")
}

fn settle<'c>(gate: &'c Gate, recorded: &'c Recorded<'_>) -> Option<Settled<'c>> {
    let place = recorded.place()?;
    Some(match (gate.open(&recorded.call, place), recorded.ran()) {
        (Opened::Refused(refused), _) => Verdict::Refused(refused).into(),
        (Opened::Admitted(ticket), Some(ran)) => gate.close(ticket, ran),
        (Opened::Admitted(ticket), None) => ticket.into(),
    })
}

fuzz_target!(
    init: {
        plant(seeds());
        LazyLock::force(&TOOLS);
    },
    |text: &str| bounded(text.as_bytes(), BOUNDS, || {
        let (straight, moved) = (gate(), gate());
        let feedback = Feedback::default();
        // Longer conversations find nothing new, and are slow.
        for line in text.lines().take(40) {
            let Ok(recorded) = wire::read_recorded(line) else { continue };
            let (Some(one), Some(other)) = (settle(&straight, &recorded), settle(&moved, &recorded)) else {
                continue;
            };
            let one = one.line(&recorded.call, &feedback).to_string();
            assert_eq!(one, other.line(&recorded.call, &feedback).to_string());
            read_value(&one).expect("a verdict line is JSON");
            let session = recorded.place().expect("it was settled").session;
            let saved = moved.ledger().save(session).expect("memory").expect("it was used");
            let text = serde_json::to_string(&saved).expect("a session is JSON");
            let again = serde_json::from_str(&text).expect("a session is read back");
            assert_eq!(saved, again);
            moved.ledger().resume(session, again).expect("memory");
        }
    })
);
