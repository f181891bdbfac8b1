//! The dashboard in `deploy/` uses only metrics that the gateway has, and Helm accepts the chart.
//!
//! `CALLWRIGHT_TEST_HELM` is Helm. Without it the chart test says so and passes.
#![allow(
    clippy::expect_used,
    clippy::print_stderr,
    reason = "a test may panic, and says what it skips"
)]

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use callwright_live::{Guards, Live};

/// The metric names in a text.
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
    let metrics = Live::new(Guards::Api, "x")
        .page("metrics", 0)
        .expect("metrics")
        .text;
    let (asked, counted) = (names(&dashboard), names(&metrics));
    assert!(asked.len() > 6, "{asked:?}");
    let unknown: Vec<_> = asked.difference(&counted).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}

#[test]
fn helm_takes_the_chart() {
    let Ok(helm) = std::env::var("CALLWRIGHT_TEST_HELM") else {
        eprintln!("skipped: CALLWRIGHT_TEST_HELM is not set");
        return;
    };
    let chart = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/helm");
    // Everything that can be switched on.
    let all = [
        r#"policy="[tool.x]\neffect = \"read\"""#,
        r#"clientKeysSecret="keys""#,
        r#"upstreamHeaders=["authorization: Bearer ${KEY}"]"#,
        r#"options=["--mode=observe"]"#,
        "autoscaling.enabled=true",
        "serviceMonitor.enabled=true",
    ];
    for (values, kinds) in [(&all[..0], 4), (&all[..], 7)] {
        let run = |command: &[&str]| {
            let set = values.iter().flat_map(|value| ["--set-json", value]);
            let mut run = Command::new(&helm);
            let run = run
                .args(command)
                .arg(&chart)
                .args(set)
                .output()
                .expect("Helm runs");
            let printed = String::from_utf8_lossy(&run.stdout).into_owned();
            assert!(
                run.status.success(),
                "{printed}{}",
                String::from_utf8_lossy(&run.stderr)
            );
            printed
        };
        run(&["lint", "--strict"]);
        let printed = run(&["template", "release"]);
        assert_eq!(printed.matches("\nkind: ").count(), kinds, "{printed}");
    }
}
