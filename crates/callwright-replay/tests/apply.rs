//! Suggestions are written, accepted, and applied to the tool file they were made for.
#![allow(
    clippy::expect_used,
    clippy::needless_pass_by_value,
    clippy::unwrap_used,
    reason = "a test"
)]

mod facts;

use callwright_replay::decide::decide;
use callwright_replay::propose::{Proof, Proposals, apply, propose, suggestions_file};
use callwright_replay::summary::{Merged, Summary};
use facts::{ClusterFacts, ToolFacts, summary};
use serde_json::{Value as Json, json};

/// Formatted as by hand: four spaces, short lists on one line, one tool in each provider's format.
const TOOLS: &str = r#"{
    "tools": [
        {"name": "other", "inputSchema": {"type": "object"}},
        {
            "type": "function",
            "function": {
                "name": "find",
                "parameters": {
                    "type": "object",
                    "properties": {
                        "sort": {"type": "string", "enum": ["name", "size"]},
                        "limit": {"type": "integer", "maximum": 100},
                        "team": {"type": "string"}
                    },
                    "required": ["sort", "limit", "team"],
                    "additionalProperties": false
                },
                "strict": true
            }
        },
        {"name": "book", "input_schema": {"type":"object","properties":{"day":{"type":"string"}}}}
    ]
}
"#;

fn cluster(facts: Json) -> ClusterFacts {
    let mut base = json!({"calls": 50, "ran_fine": 50, "sessions": 60});
    for (key, value) in facts.as_object().unwrap() {
        base[key] = value.clone();
    }
    serde_json::from_value(base).unwrap()
}

fn part(name: &str, schema: &Json, clusters: Vec<Json>) -> Summary {
    let tool = ToolFacts {
        calls: 1_000,
        results: 1_000,
        tool_errors: 0,
        sessions: 900,
        models: [].into(),
        days: 0,
    };
    let clusters: Vec<ClusterFacts> = clusters.into_iter().map(cluster).collect();
    summary(
        &json!({"name": name, "inputSchema": schema}),
        &tool,
        &clusters,
    )
}

fn made() -> Proposals {
    let file: Json = serde_json::from_str(TOOLS).unwrap();
    let find = &file["tools"][1]["function"]["parameters"];
    let mut all = part(
        "find",
        find,
        vec![
            json!({"path": "/sort", "issue": "enum", "shape": "\"date\"", "values": ["date"], "calls": 90, "ran_fine": 90}),
            json!({"path": "/limit", "issue": "maximum", "shape": "integer of 3 digits", "values": [500], "smallest": 500, "largest": 500, "calls": 80, "ran_fine": 80}),
            json!({"path": "/limit", "issue": "type", "shape": "null", "values": [null], "calls": 70, "ran_fine": 70}),
            json!({"path": "/limit", "issue": "type", "shape": "number", "values": [1.5], "calls": 60, "ran_fine": 60}),
            json!({"path": "/sort", "issue": "required", "calls": 58, "ran_fine": 58}),
            json!({"path": "/team", "issue": "required", "calls": 56, "ran_fine": 56}),
        ],
    );
    let booked = all.merge(part(
        "book",
        &file["tools"][2]["input_schema"],
        vec![json!({"path": "/day", "issue": "type", "shape": "null", "values": [null], "calls": 40, "ran_fine": 40})],
    ));
    assert_eq!(booked, Ok(Merged::Added));
    propose(&all, &decide(&all))
}

fn titles(made: &Proposals) -> Vec<(usize, &str)> {
    let all = made.changes.iter();
    all.map(|it| (it.number, it.title.as_str())).collect()
}

#[test]
fn proposals_are_numbered_by_their_calls() {
    assert_eq!(
        titles(&made()),
        [
            (1, "`sort` may also be \"date\""),
            (2, "`limit` may go up to 500"),
            (3, "`limit` may also be null"),
            (4, "`limit` may also be a number"),
            (5, "`sort` may be left out"),
            (6, "`team` may be left out"),
            (7, "`day` may also be null"),
        ]
    );
}

#[test]
fn patches_apply_to_the_tool_as_it_is_in_its_file() {
    let file = suggestions_file(&made(), Some(TOOLS));
    assert_eq!(file["tools"][0]["schema_at"], "/function/parameters");
    assert_eq!(
        file["tools"][0]["proposals"][1]["patch"],
        json!([
            {"op": "test", "path": "/function/parameters/properties/limit/maximum", "value": 100},
            {"op": "replace", "path": "/function/parameters/properties/limit/maximum", "value": 500},
        ])
    );
    assert_eq!(file["tools"][1]["schema_at"], "/input_schema");
    let bare = suggestions_file(&made(), None);
    assert_eq!(bare["tools"][0]["schema_at"], "/inputSchema");
}

#[test]
fn only_what_was_accepted_changes() {
    for tools in [Some(TOOLS), None] {
        let file = suggestions_file(&made(), tools);
        let new = apply(TOOLS, &file, &[1, 2], false).unwrap();
        let expected = TOOLS
            .replace(r#"["name", "size"]"#, r#"["name", "size", "date"]"#)
            .replace(r#""maximum": 100"#, r#""maximum": 500"#);
        assert_eq!(new, expected);
        let new = apply(TOOLS, &file, &[7], false).unwrap();
        let expected = TOOLS.replace(
            r#""day":{"type":"string"}"#,
            r#""day":{"type":["string", "null"]}"#,
        );
        assert_eq!(new, expected);
        assert_eq!(apply(TOOLS, &file, &[], false).unwrap(), TOOLS);
    }
}

#[test]
fn changes_of_one_place_are_joined() {
    let file = suggestions_file(&made(), Some(TOOLS));
    let new = apply(TOOLS, &file, &[6, 5, 4, 3, 2, 1], false).unwrap();
    let new: Json = serde_json::from_str(&new).unwrap();
    let schema = &new["tools"][1]["function"]["parameters"];
    assert_eq!(schema["required"], json!(["limit"]));
    assert_eq!(
        schema["properties"]["limit"],
        json!({"type": ["null", "number"], "maximum": 500})
    );
}

#[track_caller]
fn refused(tools: &str, file: &Json, accept: &[usize], expected: &str) {
    let error = apply(tools, file, accept, false).unwrap_err().to_string();
    assert_eq!(error, expected);
}

#[test]
fn what_cannot_be_applied_says_why() {
    let file = suggestions_file(&made(), Some(TOOLS));
    refused(
        TOOLS,
        &file,
        &[1, 9],
        "unknown proposal 9; the numbers go from 1 to 7",
    );
    refused(
        &TOOLS.replace("\"find\"", "\"search\""),
        &file,
        &[1],
        "proposal 1: the tool file does not declare \"find\"; give the file that the replay was run with",
    );
    refused(
        &TOOLS.replace("\"size\"", "\"length\""),
        &file,
        &[2],
        "proposal 2: the schema of \"find\" has changed since; run replay again",
    );
    let unread = apply("nothing", &file, &[1], false)
        .unwrap_err()
        .to_string();
    assert!(unread.starts_with("the tool file is not JSON"), "{unread}");
    let other = apply(TOOLS, &json!({"v": 1}), &[1], false).unwrap_err();
    assert!(other.to_string().starts_with("not a suggestions file"));
    let newer = apply(TOOLS, &json!({"v": 9, "tools": []}), &[1], false).unwrap_err();
    assert!(newer.to_string().contains("version 9"), "{newer}");
    refused(
        TOOLS,
        &json!({"v": 1, "tools": []}),
        &[1],
        "the suggestions contain no proposals, so there is nothing to apply",
    );
}

#[test]
fn a_schema_with_its_keys_in_another_order_is_the_same() {
    let file = suggestions_file(&made(), Some(TOOLS));
    let turned = TOOLS.replace(
        r#"{"type": "integer", "maximum": 100}"#,
        r#"{"maximum": 100, "type": "integer"}"#,
    );
    assert!(apply(&turned, &file, &[2], false).is_ok());
}

#[test]
fn what_is_not_proved_has_to_be_forced() {
    let mut made = made();
    made.changes[0].proof = Proof::NotProved("too large to compare".to_owned());
    let file = suggestions_file(&made, Some(TOOLS));
    refused(
        TOOLS,
        &file,
        &[1],
        "proposal 1 is not proved to only loosen: too large to compare; use --force to apply it anyway",
    );
    assert!(apply(TOOLS, &file, &[1], true).is_ok());
}

#[test]
fn contradicting_proposals_are_reported() {
    let mut made = made();
    // Another new value at the same place; no rule merges the two.
    let mut other = made.changes[1].clone();
    other.number = 8;
    let text = serde_json::to_string(&other.patch).unwrap();
    let text = text.replace("500", "\"many\"");
    other.patch = serde_json::from_str(&text).unwrap();
    made.changes.push(other);
    let file = suggestions_file(&made, Some(TOOLS));
    refused(
        TOOLS,
        &file,
        &[2, 8],
        "proposals 2 and 8 contradict each other; accept one, and run replay again for the other",
    );
}
