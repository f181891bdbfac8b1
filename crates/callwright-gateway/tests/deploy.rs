//! The dashboard in `deploy/` asks for nothing that the gateway does not count.
#![allow(
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a test may panic, and says what it skips"
)]

use std::collections::BTreeSet;
use std::path::Path;

use callwright_live::Live;

/// The names of metrics in a text.
fn names(text: &str) -> BTreeSet<&str> {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let words = text.split(|letter: char| !is_part(letter));
    words
        .filter(|word| word.starts_with("callwright_") && word.len() > "callwright_".len())
        .collect()
}

#[test]
fn the_dashboard_knows_the_metrics() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy");
    let dashboard =
        std::fs::read_to_string(folder.join("grafana/callwright.json")).expect("a dashboard");
    serde_json::from_str::<serde_json::Value>(&dashboard).expect("JSON");
    let metrics = Live::new("x").page("metrics", 0).expect("metrics").text;
    let (asked, counted) = (names(&dashboard), names(&metrics));
    assert!(asked.len() > 6, "{asked:?}");
    let unknown: Vec<_> = asked.difference(&counted).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}
