//! Schemas and calls designed to be expensive: their cost is bounded, and the other tools work.
#![allow(clippy::expect_used, reason = "a test may panic")]

use callwright::tool::Tool;
use callwright::{Call, Gate, ToolSpec, Verdict};
use serde_json::{Map, Value, json};

/// The peak memory of this process in megabytes, where the system reports it.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kilobytes / 1024)
}

fn gate(schema: Value) -> Gate {
    let tools = [
        ToolSpec::new("x", schema),
        ToolSpec::new("ping", json!({"required": ["to"]})),
    ];
    Gate::builder().tools(tools).build().expect("two names")
}

fn judge(gate: &Gate, arguments: &Value) -> (&'static str, usize) {
    let call = Call::from_text("x", arguments.to_string());
    let verdict = gate.judge(&call);
    let issues = verdict
        .failure()
        .map_or(0, |failure| failure.issues().len());
    (verdict.name(), issues)
}

/// Definitions that each refer twice to the next one.
fn doubling(levels: usize, keyword: &str) -> Value {
    let mut definitions = Map::new();
    for level in 0..levels {
        let next = json!({"$ref": format!("#/$defs/{}", level + 1)});
        definitions.insert(level.to_string(), json!({keyword: [next, next]}));
    }
    definitions.insert(levels.to_string(), json!({"required": ["a"]}));
    json!({"$ref": "#/$defs/0", "$defs": definitions})
}

#[test]
fn references_that_double_quarantine_their_tool() {
    for keyword in ["allOf", "anyOf", "oneOf"] {
        let mut closed = doubling(60, keyword);
        closed["unevaluatedProperties"] = json!(false);
        for schema in [doubling(60, keyword), closed] {
            let gate = gate(schema);
            assert!(gate.tool("x").and_then(Tool::quarantined).is_some());
            assert_eq!(judge(&gate, &json!({})).0, "unjudged");
            let call = Call::from_text("ping", "{}");
            assert!(matches!(gate.judge(&call), Verdict::Refused(_)));
        }
    }
}

/// Each level of the value is visited twice as often as the one before; the schema is short and refers to itself.
#[test]
fn a_schema_that_doubles_with_the_value_is_stopped() {
    let part = json!({"properties": {"a": {"$ref": "#/$defs/node"}}});
    let schema = json!({
        "$ref": "#/$defs/node",
        "$defs": {"node": {"allOf": [part, part], "unevaluatedProperties": false}},
    });
    let gate = gate(schema);
    let mut value = json!({"b": 1});
    for _ in 0..90 {
        value = json!({"a": value});
    }
    let (verdict, issues) = judge(&gate, &value);
    assert_eq!(verdict, "refused");
    assert!(issues > 0);
}

#[test]
fn patterns_share_their_steps() {
    let gate = gate(json!({"properties": {"all": {"items": {"pattern": "^(?=(a+)+b)x"}}}}));
    assert!(gate.tool("x").and_then(Tool::quarantined).is_none());
    let texts = vec!["a".repeat(30); 2_000];
    let (verdict, issues) = judge(&gate, &json!({"all": texts}));
    assert_eq!(verdict, "refused");
    assert!(issues > 0);
    // The limit for one text is lower if there are many texts, but still enough for a reasonable pattern.
    let gate = gate_of_passwords();
    let fine = vec!["correct-horse-battery-7"; 5_000];
    assert_eq!(judge(&gate, &json!({"all": fine})).0, "valid");
}

/// The place does not matter: under a key, in a key, in a union, under a key that occurs twice.
#[test]
fn an_undecided_pattern_is_a_refusal() {
    let slow = json!({"pattern": "^(a|a)*\\1b"});
    let text = "a".repeat(40) + "!";
    let of_keys = json!({"propertyNames": slow});
    for (schema, arguments) in [
        (
            json!({"properties": {"a": slow}}),
            format!(r#"{{"a": "{text}"}}"#),
        ),
        (
            json!({"properties": {"a": {"items": {"anyOf": [slow, {"type": "null"}]}}}}),
            format!(r#"{{"a": [null, "{text}"]}}"#),
        ),
        (of_keys.clone(), format!(r#"{{"{text}": 1}}"#)),
        (
            json!({"properties": {"a": of_keys}}),
            format!(r#"{{"a": {{"{text}": 1}}}}"#),
        ),
        (
            json!({"patternProperties": {"^(a|a)*\\1b": {"type": "null"}}, "additionalProperties": false}),
            format!(r#"{{"{text}": 1}}"#),
        ),
        (
            json!({"properties": {"a": {"properties": {"b": slow}}}}),
            format!(r#"{{"a": {{"b": "{text}"}}, "a": 1}}"#),
        ),
        (
            json!({"properties": {"a": {"properties": {"b": slow}}}}),
            format!(r#"{{"a": 1, "a": {{"b": "{text}"}}}}"#),
        ),
        (
            json!({"not": {"properties": {"a": slow}}}),
            format!(r#"{{"a": "{text}"}}"#),
        ),
    ] {
        let gate = gate(schema.clone());
        assert!(
            gate.tool("x").and_then(Tool::quarantined).is_none(),
            "{schema}"
        );
        let call = Call::from_text("x", arguments);
        let verdict = gate.judge(&call);
        let issues = verdict
            .failure()
            .map_or(0, |failure| failure.issues().len());
        assert!(issues > 0, "{schema}: {verdict:?}");
    }
    // The issue names the text, not only the call.
    let gate = gate(json!({"properties": {"a": {"items": slow}}}));
    let call = Call::from_text("x", json!({"a": [1, text]}).to_string());
    let verdict = gate.judge(&call);
    let failure = verdict.failure().expect("a refusal");
    let places: Vec<_> = failure
        .issues()
        .iter()
        .map(|it| it.path.as_pointer())
        .collect();
    assert_eq!(places, ["/a/1"]);
}

fn gate_of_passwords() -> Gate {
    let pattern = "^(?=.*[0-9])(?=.*[a-z])(?=.*-).{8,}$";
    gate(json!({"properties": {"all": {"items": {"pattern": pattern}}}}))
}

#[test]
fn a_list_of_tools_has_one_budget() {
    let pattern = |number: usize| json!({"pattern": format!("^.{{900}}{number}$")});
    let parts: Vec<Value> = (0..10).map(pattern).collect();
    let tools = (0..200).map(|number| {
        let schema = json!({"title": number, "properties": {"a": {"allOf": parts}}});
        ToolSpec::new(format!("t{number}"), schema)
    });
    let gate = Gate::builder().tools(tools).build().expect("names");
    let quarantined = gate.tools().filter(|tool| tool.quarantined().is_some());
    assert!((190..200).contains(&quarantined.count()));
}

/// Forty kilobytes of such patterns once took 42 seconds and 3.9 GB.
#[test]
fn patterns_that_grow_quarantine_their_tool() {
    let pattern = |number: usize| format!("^(\\w{{1,250}}){{1,4}}{number}$");
    let all = |make: &dyn Fn(String) -> Value| -> Vec<Value> {
        (0..1_200).map(|number| make(pattern(number))).collect()
    };
    let keys: Map<String, Value> = (0..1_200).map(|it| (pattern(it), json!({}))).collect();
    let before = peak();
    for schema in [
        json!({"properties": {"a": {"allOf": all(&|it| json!({"pattern": it}))}}}),
        json!({"allOf": all(&|it| json!({"propertyNames": {"pattern": it}}))}),
        json!({"allOf": all(&|it| json!({"items": {"pattern": format!("(?=a){it}")}}))}),
        json!({"patternProperties": keys}),
    ] {
        assert!(schema.to_string().len() > 30_000);
        let gate = gate(schema);
        assert!(gate.tool("x").and_then(Tool::quarantined).is_some());
        assert_eq!(judge(&gate, &json!({"a": "b"})).0, "unjudged");
    }
    if let (Some(before), Some(after)) = (before, peak()) {
        assert!(after < before + 100, "{before} MB became {after}");
    }
}

#[test]
fn unions_are_explained_in_proportion_to_their_schema() {
    let branch = |number: usize| {
        let next = json!({"anyOf": [
            {"$ref": format!("#/$defs/{}", (number + 1) % 300)},
            {"$ref": format!("#/$defs/{}", (number + 7) % 300)},
            {"type": "null"},
        ]});
        json!({
            "properties": {"kind": {"const": format!("kind {number}")}, "next": next},
            "required": ["kind"],
        })
    };
    let definitions: Map<String, Value> = (0..300)
        .map(|number| (number.to_string(), branch(number)))
        .collect();
    let all: Vec<Value> = (0..300)
        .map(|number| json!({"$ref": format!("#/$defs/{number}")}))
        .collect();
    let schema = json!({"properties": {"x": {"anyOf": all}}, "$defs": definitions});
    assert!(schema.to_string().len() > 50_000);
    let gate = gate(schema);
    let value = json!({"x": {"kind": "kind 3", "next": {"kind": "kind 4", "next": {"kind": 5}}}});
    let before = peak();
    assert_eq!(judge(&gate, &value), ("refused", 1));
    if let (Some(before), Some(after)) = (before, peak()) {
        assert!(after < before + 100, "{before} MB became {after}");
    }
}

#[test]
fn large_objects_are_looked_up_by_an_index() {
    let keys: Vec<String> = (0..20_000).map(|number| format!("key_{number}")).collect();
    let gate = gate(json!({"required": keys}));
    let value: Map<String, Value> = keys.iter().map(|key| (key.clone(), json!(1))).collect();
    assert_eq!(judge(&gate, &Value::Object(value)).0, "valid");
}
