//! Runs `corpus/replay/decide`: facts about a cluster in, bug or edge case out.
#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a test")]

mod facts;

use std::path::PathBuf;

use callwright_replay::decide::{BUG_UP_TO, EDGE_CASE_FROM, Kind, decide};
use facts::{ClusterFacts, ToolFacts, summary};
use serde::Deserialize;
use serde_json::Value as Json;

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
    kind: Kind,
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

#[test]
fn the_page_states_the_rule() {
    let page = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/replay-rule.md");
    let page = std::fs::read_to_string(page).expect("the page");
    assert!(page.contains(&format!("{EDGE_CASE_FROM} or more")));
    assert!(page.contains(&format!("{BUG_UP_TO} or less")));
}
