//! Runs `corpus/replay/decide`: takes facts about a cluster, compares the decision: bug or edge case.
#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a test")]

mod facts;

use std::path::PathBuf;

use callwright_replay::decide::{BUG_UP_TO, EDGE_CASE_FROM, ViolationKind, decide};
use facts::{ClusterFacts, ToolFacts, summary};
use serde::Deserialize;
use serde_json::{Value as Json, json};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[allow(dead_code, reason = "for people")]
    about: String,
    declared: Json,
    tool: ToolFacts,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    declared: Option<Json>,
    tool: Option<ToolFacts>,
    cluster: ClusterFacts,
    expect: Expect,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expect {
    kind: ViolationKind,
    score: Option<i32>,
    #[serde(default)]
    reasons: Vec<String>,
}

#[test]
fn the_corpus_holds() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../corpus/replay/decide");
    let mut wrong = Vec::new();
    let mut all = 0;
    for file in std::fs::read_dir(folder).expect("the folder") {
        let path = file.expect("a file").path();
        let text = std::fs::read_to_string(&path).expect("text");
        let file: File = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{path:?}: {e}"));
        for case in file.cases {
            all += 1;
            let declared = case.declared.as_ref().unwrap_or(&file.declared);
            let tool = case.tool.as_ref().unwrap_or(&file.tool);
            let judged = decide(&summary(
                declared,
                tool,
                std::slice::from_ref(&case.cluster),
            ));
            let [judged] = &judged[..] else {
                panic!("one cluster, {} judgements", judged.len());
            };
            let said = |text: &String| judged.reasons.iter().any(|it| it.why.contains(text));
            let sum: i32 = judged.reasons.iter().map(|reason| reason.points).sum();
            assert_eq!(judged.score, sum, "{}", case.name);
            if judged.kind != case.expect.kind
                || case.expect.score.is_some_and(|score| score != judged.score)
                || !case.expect.reasons.iter().all(said)
            {
                wrong.push(format!("{}: {path:?}\n{judged:#?}", case.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert!(all >= 40, "the corpus has shrunk to {all}");
}

/// A limit has no gaps: values below an edge case are edge cases too, unless the tool refuses them.
#[test]
fn a_few_values_before_an_edge_case_are_one() {
    let declared = json!({"name": "t", "inputSchema": {"type": "object", "properties": {
        "count": {"type": "integer", "maximum": 80}}}});
    let tool: ToolFacts =
        serde_json::from_value(json!({"calls": 500, "results": 500})).expect("facts");
    let cluster = |shape: &str, calls: u64, fine: u64, largest: u64| -> ClusterFacts {
        let facts = json!({"path": "/count", "issue": "maximum", "shape": shape, "calls": calls,
            "ran_fine": fine, "tool_refused": calls - fine, "smallest": largest, "largest": largest});
        serde_json::from_value(facts).expect("facts")
    };
    let many = cluster("integer of 3 digits", 60, 60, 200);
    let kind_of_few = |few: ClusterFacts| {
        let shape = few.shape.clone();
        let judged = decide(&summary(&declared, &tool, &[many.clone(), few]));
        let own = judged.iter().find(|it| it.cluster.shape.name() == shape);
        own.expect("it is judged").kind
    };
    assert_eq!(
        kind_of_few(cluster("integer of 2 digits", 1, 1, 95)),
        ViolationKind::EdgeCase
    );
    assert_ne!(
        kind_of_few(cluster("integer of 2 digits", 4, 0, 95)),
        ViolationKind::EdgeCase
    );
    assert_ne!(
        kind_of_few(cluster("integer of 4 digits", 1, 1, 9_500)),
        ViolationKind::EdgeCase
    );
}

#[test]
fn the_page_states_the_rule() {
    let page = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/replay-rule.md");
    let page = std::fs::read_to_string(page).expect("the page");
    assert!(page.contains(&format!("{EDGE_CASE_FROM} or more")));
    assert!(page.contains(&format!("{BUG_UP_TO} or less")));
}
