//! Feeds any text as a policy file: it is read, or refused with a place.
#![no_main]

use callwright::{Gate, Policy, ToolSpec};
use callwright_fuzz::{Bounds, bounded, cases, plant};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

const BOUNDS: Bounds = Bounds {
    reads: (500_000, 500),
    allocated: (8 << 20, 4_096),
    held: (64 << 20, 16 << 10),
};

fn seeds() -> Vec<Vec<u8>> {
    let text = |case: &Value| match &case["policy"] {
        Value::Array(lines) => {
            let lines = lines.iter().filter_map(Value::as_str);
            lines.collect::<Vec<_>>().join("\n")
        }
        text => text.as_str().unwrap_or_default().to_owned(),
    };
    let cases = cases(&["policy"]);
    cases
        .iter()
        .map(|(_, case)| text(case).into_bytes())
        .collect()
}

fuzz_target!(
    init: plant(seeds()),
    |text: &str| bounded(text.as_bytes(), BOUNDS, || {
        match Policy::from_toml(text) {
            Ok(policy) => {
                let tools = ["search", "get_status"].map(ToolSpec::without_schema);
                Gate::builder().tools(tools).policy(policy).build().expect("two names");
            }
            Err(error) => assert!(error.to_string().contains("line"), "{error}"),
        }
    })
);
