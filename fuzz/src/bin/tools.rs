//! Feeds any text as a tool file: it is read or refused, compiled or quarantined, and calls of its tools get a verdict.
#![no_main]

use callwright::repair::{Grade, RepairPolicy};
use callwright::validate::SchemaCache;
use callwright::wire::read_tools;
use callwright::{Call, Gate, Verdict};
use callwright_fuzz::{Bounds, assert_presentable, bounded, cases, plant, tools};
use libfuzzer_sys::fuzz_target;

/// The patterns of a list may take 48 MB when compiled, and to build them the engine allocates up to ten times that much.
const BOUNDS: Bounds = Bounds {
    reads: (2_000_000, 6_000),
    allocated: (512 << 20, 16 << 10),
    held: (64 << 20, 16 << 10),
};

const CALLS: [&str; 4] = [
    "{}",
    r#"{"a": "1", "b": [null], "path": 5, "name": {"x": true}}"#,
    r#"{"a": {"a": {"a": {"a": []}}}, "items": [1, 1.5, "x", {"a": "b"}], "kind": "A"}"#,
    "{'a': True",
];

fn seeds() -> Vec<Vec<u8>> {
    let mut seeds: Vec<Vec<u8>> = cases(&["tools"])
        .iter()
        .map(|(_, case)| match case["text"].as_str() {
            Some(text) => text.as_bytes().to_vec(),
            None => case["file"].to_string().into_bytes(),
        })
        .collect();
    let mut declared: Vec<String> = cases(&["validate", "repair", "feedback"])
        .iter()
        .map(|(file, case)| tools(file, case).to_string())
        .collect();
    declared.sort();
    declared.dedup();
    seeds.extend(declared.into_iter().map(String::into_bytes));
    seeds
}

fuzz_target!(
    init: plant(seeds()),
    |text: &str| bounded(text.as_bytes(), BOUNDS, || {
        let Ok(specs) = read_tools(text) else { return };
        let names: Vec<String> = specs.iter().map(|spec| spec.name.clone()).collect();
        let builder = Gate::builder()
            .tools(specs)
            .repair(RepairPolicy::UpTo(Grade::Guess))
            .cache(SchemaCache::new(100));
        let Ok(gate) = builder.build() else { return };
        // Explaining refusals for many tools only repeats the same work.
        for name in names.iter().take(4) {
            for arguments in CALLS {
                let call = Call::from_text(name.as_str(), arguments);
                let verdict = gate.judge(&call);
                assert_presentable(&call, &verdict);
                if let Verdict::Repaired(repaired) = &verdict {
                    let again = Call::from_value(name.as_str(), repaired.arguments().clone());
                    assert!(matches!(gate.judge(&again), Verdict::Valid(_)));
                }
            }
        }
    })
);
