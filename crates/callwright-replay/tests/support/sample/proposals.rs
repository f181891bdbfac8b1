//! The proposals of the sample.

use callwright_replay::decide::ClusterJudgement;
use callwright_replay::propose::{ChangeKind, Proof, Proposal, Proposals, SchemaAdvice};
use serde_json::{Value as Json, json};

struct Draft {
    number: usize,
    cluster: usize,
    change: ChangeKind,
    title: &'static str,
    before: Json,
    after: Json,
    calls: u64,
}

fn proposal(
    draft: Draft,
    judgements: &[ClusterJudgement],
    say: &dyn Fn(&str) -> String,
) -> Proposal {
    let judgement = &judgements[draft.cluster];
    let key = judgement.cluster.clone();
    let name = key.path.trim_start_matches('/').replace('~', "~0");
    let pointer = format!("/properties/{name}");
    let patch = json!([{"op": "replace", "path": pointer, "value": draft.after}]);
    Proposal {
        number: draft.number,
        tool: key.tool.clone(),
        side: key.side,
        change: draft.change,
        title: say(draft.title),
        kind: judgement.kind,
        clusters: vec![key],
        patch: serde_json::from_value(patch).expect("a patch"),
        before: draft.before,
        after: draft.after,
        pointer,
        accepts: draft.calls,
        touches: draft.calls,
        accepts_bugs: 0,
        is_estimate: false,
        shared_by: 0,
        schema_hash: String::new(),
        proof: Proof::Proved(say(
            "nothing that the old schema accepts is missing from the new one",
        )),
    }
}

fn drafts(say: &dyn Fn(&str) -> String) -> Vec<Draft> {
    vec![
        Draft {
            number: 1,
            cluster: 0,
            change: ChangeKind::WiderEnum,
            title: "`priority` may also be \"urgent\"",
            before: json!({"type": "string", "description": "How soon: low, normal, high or urgent.", "enum": ["low", "normal", "high"]}),
            after: json!({"type": "string", "description": "How soon: low, normal, high or urgent.", "enum": ["low", "normal", "high", "urgent"]}),
            calls: 5_310,
        },
        Draft {
            number: 2,
            cluster: 1,
            change: ChangeKind::Nullable,
            title: "`customer_id` may be `null`",
            before: json!({"type": "string", "default": null}),
            after: json!({"type": ["string", "null"], "default": null}),
            calls: 3_904,
        },
        Draft {
            number: 3,
            cluster: 3,
            change: ChangeKind::WiderRange,
            title: "`seats` may be up to 480",
            before: json!({"type": "integer", "minimum": 1, "maximum": 100}),
            after: json!({"type": "integer", "minimum": 1, "maximum": 480}),
            calls: 702,
        },
        Draft {
            number: 4,
            cluster: 6,
            change: ChangeKind::Optional,
            title: "`cc` need not be there",
            before: json!({"type": "object", "required": ["to", "cc", "subject"], "additionalProperties": {say("any"): say("thing")}}),
            after: json!({"type": "object", "required": ["to", "subject"], "additionalProperties": {say("any"): say("thing")}}),
            calls: 212,
        },
        Draft {
            number: 5,
            cluster: 4,
            change: ChangeKind::NoFormat,
            title: "`due` need not be a date",
            before: json!({"type": "string", "format": "date"}),
            after: json!({"type": "string"}),
            calls: 611,
        },
    ]
}

pub(super) fn proposals(
    judgements: &[ClusterJudgement],
    say: &dyn Fn(&str) -> String,
) -> Proposals {
    let mut changes: Vec<Proposal> = drafts(say)
        .into_iter()
        .map(|draft| proposal(draft, judgements, say))
        .collect();
    changes[4].accepts_bugs = 301;
    changes[4].proof = Proof::NotProved(say("formats are not compared"));
    let advice = [
        (
            "search_orders",
            "/limit",
            "Say in the description that `limit` is a number: 1,212 calls send a text.",
        ),
        (
            "get_weather",
            "/units",
            "All 180,440 calls send \"metric\" or \"imperial\": the schema allows any text.",
        ),
    ];
    Proposals {
        changes,
        advice: advice
            .into_iter()
            .map(|(tool, path, text)| SchemaAdvice {
                tool: say(tool),
                path: say(path),
                text: say(text),
            })
            .collect(),
        unplaced: Vec::new(),
    }
}
