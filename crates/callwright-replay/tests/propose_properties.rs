//! Proofs are true: whatever the old schema accepts, the new one accepts, for any schema and any value. And a change
//! does what it is for.
#![allow(
    clippy::cast_precision_loss,
    clippy::expect_used,
    reason = "what is generated is small and well-formed"
)]

mod facts;

use callwright::json::Value;
use callwright::tool::normalise;
use callwright::validate::CompiledSchema;
use callwright_replay::decide::decide;
use callwright_replay::propose::{Proof, apply, propose, suggestions_file};
use facts::{ClusterFacts, ToolFacts, summary};
use proptest::prelude::*;
use serde_json::{Value as Json, json};

/// Values of all types from a small vocabulary, so that they match schemas made of the same words.
fn values() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        (-3i64..12).prop_map(Json::from),
        (-3i64..12).prop_map(|number| json!(number as f64 + 0.5)),
        prop_oneof![
            Just(""),
            Just("x"),
            Just("yy"),
            Just("2026-01-01"),
            Just("zzzzz")
        ]
        .prop_map(Json::from),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3).prop_map(Json::from),
            objects(inner),
        ]
    })
}

fn objects(inner: impl Strategy<Value = Json>) -> impl Strategy<Value = Json> {
    let key = prop_oneof![Just("a"), Just("b"), Just("c")];
    proptest::collection::btree_map(key, inner, 0..4).prop_map(|members| json!(members))
}

fn leaf_schemas() -> impl Strategy<Value = Json> {
    let names = || {
        prop_oneof![
            Just("string"),
            Just("integer"),
            Just("number"),
            Just("boolean"),
            Just("null")
        ]
    };
    prop_oneof![
        names().prop_map(|name| json!({"type": name})),
        (names(), names()).prop_map(|(one, other)| {
            if one == other {
                json!({"type": one})
            } else {
                json!({"type": [one, other]})
            }
        }),
        (0i64..5, 5i64..9).prop_map(
            |(least, most)| json!({"type": "integer", "minimum": least, "maximum": most})
        ),
        (0i64..5).prop_map(
            |least| json!({"type": "number", "exclusiveMinimum": least, "multipleOf": 2})
        ),
        (0u64..2, 2u64..4).prop_map(
            |(least, most)| json!({"type": "string", "minLength": least, "maxLength": most})
        ),
        Just(json!({"type": "string", "format": "date"})),
        Just(json!({"type": "string", "pattern": "^x"})),
        Just(json!({"type": "string", "enum": ["x", "yy"]})),
        Just(json!({"enum": [1, "x", null]})),
        Just(json!({"const": "x"})),
        Just(json!({"type": "string", "nullable": true})),
        Just(json!({"$ref": "#/$defs/d"})),
        Just(json!({})),
    ]
}

fn schemas() -> impl Strategy<Value = Json> + Clone {
    leaf_schemas().prop_recursive(3, 16, 3, |inner| {
        let list = proptest::collection::vec(inner.clone(), 1..3);
        let either = proptest::collection::vec(inner.clone(), 2..4);
        prop_oneof![
            3 => object_schemas(inner.clone()),
            2 => (inner.clone(), 0u64..2, 1u64..3).prop_map(|(items, least, most)| {
                json!({"type": "array", "items": items, "minItems": least, "maxItems": most, "uniqueItems": true})
            }),
            1 => list.clone().prop_map(|first| json!({"type": "array", "prefixItems": first})),
            1 => either.clone().prop_map(|branches| json!({"anyOf": branches})),
            1 => either.prop_map(|branches| json!({"oneOf": branches})),
            1 => list.prop_map(|all| json!({"allOf": all})),
            1 => inner.clone().prop_map(|ruled_out| json!({"not": ruled_out})),
            1 => (inner.clone(), inner.clone(), inner.clone()).prop_map(|(one, then, other)| {
                json!({"if": one, "then": then, "else": other})
            }),
            1 => inner.prop_map(|one| json!({"type": "array", "contains": one})),
        ]
    })
}

fn object_schemas(inner: impl Strategy<Value = Json> + Clone) -> impl Strategy<Value = Json> {
    let named = proptest::collection::btree_map(
        prop_oneof![Just("a"), Just("b"), Just("c")],
        inner.clone(),
        0..4,
    );
    let required = proptest::sample::subsequence(vec!["a", "b", "c"], 0..3);
    let rest = prop_oneof![
        2 => Just(json!(false)),
        2 => Just(json!(true)),
        1 => inner,
    ];
    (named, required, rest, any::<bool>()).prop_map(|(named, required, rest, unevaluated)| {
        let keyword = if unevaluated && rest == false {
            "unevaluatedProperties"
        } else {
            "additionalProperties"
        };
        json!({"type": "object", "properties": named, "required": required, keyword: rest})
    })
}

fn whole() -> impl Strategy<Value = Json> {
    (object_schemas(schemas()), schemas()).prop_map(|(mut root, definition)| {
        root["$defs"] = json!({"d": definition});
        root
    })
}

fn compile(schema: &Json) -> Option<CompiledSchema> {
    CompiledSchema::compile(normalise(schema).into_owned()).ok()
}

/// The objections to a value, as clusters of calls that the tool accepts.
fn clusters(compiled: &CompiledSchema, value: &Json) -> Vec<ClusterFacts> {
    let issues = compiled.issues(&Value::from(value));
    let mut found: Vec<ClusterFacts> = Vec::new();
    for issue in issues {
        let here = value.pointer(issue.path.as_pointer());
        let shape = match (issue.code.name(), here) {
            (_, None) => String::new(),
            ("enum" | "const", Some(here)) => here.to_string(),
            ("format" | "pattern", Some(_)) => "like a".to_owned(),
            ("minimum" | "maximum" | "multiple_of", _) => "integer of 1 digit".to_owned(),
            (_, Some(here)) => match here {
                Json::Null => "null",
                Json::Bool(_) => "boolean",
                Json::Number(number) if number.is_f64() => "number",
                Json::Number(_) => "integer",
                Json::String(_) => "string",
                Json::Array(_) => "array of several types",
                Json::Object(_) => "object",
            }
            .to_owned(),
        };
        let measure = here.and_then(|here| match here {
            Json::Number(number) => number.as_f64(),
            Json::String(text) => Some(text.chars().count() as f64),
            Json::Array(items) => Some(items.len() as f64),
            _ => None,
        });
        let path: String = issue
            .path
            .segments()
            .map(|segment| match segment.parse::<usize>() {
                Ok(_) => "/*".to_owned(),
                Err(_) => format!("/{segment}"),
            })
            .collect();
        let facts = json!({
            "path": path, "issue": issue.code.name(), "shape": shape, "calls": 300, "ran_fine": 300, "sessions": 60,
            "days": 7, "models": {"a": 100, "b": 100, "c": 100},
            "smallest": measure, "largest": measure,
            "values": here.into_iter().collect::<Vec<_>>(),
        });
        let facts: ClusterFacts = serde_json::from_value(facts).expect("facts");
        if found.iter().all(|known| known.key("t") != facts.key("t")) {
            found.push(facts);
        }
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn what_was_accepted_stays_accepted(
        schema in whole(),
        wrong in proptest::collection::vec(objects(values()), 1..4),
        probes in proptest::collection::vec(objects(values()), 24),
    ) {
        let Some(old) = compile(&schema) else { return Ok(()) };
        let mut all: Vec<ClusterFacts> = Vec::new();
        for value in &wrong {
            for facts in clusters(&old, value) {
                if all.iter().all(|known| known.key("t") != facts.key("t")) {
                    all.push(facts);
                }
            }
        }
        let models: std::collections::BTreeMap<String, u64> =
            ["a", "b", "c"].map(|name| (name.to_owned(), 300)).into();
        let tool = ToolFacts {
            calls: 1_000, results: 1_000, tool_errors: 0, sessions: 900, models: models.clone(), days: 7,
        };
        let declared = json!({"name": "t", "inputSchema": schema});
        let summary = summary(&declared, &tool, &all);
        let made = propose(&summary, &decide(&summary));
        let mut accepted = Vec::new();
        for proposal in &made.changes {
            let mut changed = schema.clone();
            json_patch::patch(&mut changed, &proposal.patch).expect("the patch fits");
            prop_assert_ne!(&changed, &schema);
            let new = compile(&changed);
            prop_assert!(new.is_some(), "{}", changed);
            let new = new.expect("just seen");
            if !matches!(proposal.proof, Proof::Proved(_)) {
                continue;
            }
            accepted.push(proposal.number);
            for probe in probes.iter().chain(&wrong) {
                let value = Value::from(probe);
                prop_assert!(
                    !old.accepts(&value) || new.accepts(&value),
                    "{probe} is refused after {proposal:#?}",
                );
            }
        }
        // All of them together, as a tool file.
        let text = serde_json::to_string_pretty(&json!([declared])).expect("text");
        let suggestions = suggestions_file(&made, Some(&text));
        let Ok(applied) = apply(&text, &suggestions, &accepted, false) else { return Ok(()) };
        let applied: Json = serde_json::from_str(&applied).expect("JSON");
        let new = compile(&applied[0]["inputSchema"]).expect("it compiles");
        for probe in &probes {
            let value = Value::from(probe);
            prop_assert!(!old.accepts(&value) || new.accepts(&value), "{probe}: {applied}");
        }
    }
}
