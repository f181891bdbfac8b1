//! One test for each kind of change: takes clusters, compares the changed schema, its proof and its effect.
#![allow(
    clippy::expect_used,
    clippy::needless_pass_by_value,
    clippy::unwrap_used,
    reason = "a test"
)]

mod facts;

use callwright_replay::decide::{ViolationKind, decide};
use callwright_replay::propose::{ChangeKind, Proof, Proposals, propose};
use callwright_replay::summary::{FieldUse, Parameter, Summary, ToolSummary, Version};
use facts::{ClusterFacts, ToolFacts, summary};
use serde_json::{Value as Json, json};

/// A cluster whose calls the tool all accepts.
fn taken(cluster: Json) -> ClusterFacts {
    let mut facts: ClusterFacts = serde_json::from_value(merged(
        json!({"calls": 30, "ran_fine": 30, "sessions": 60}),
        &cluster,
    ))
    .expect("facts");
    if cluster.get("tool_refused").is_some() {
        facts.ran_fine = 0;
    }
    facts
}

fn merged(mut base: Json, with: &Json) -> Json {
    for (key, value) in with.as_object().expect("an object") {
        base[key] = value.clone();
    }
    base
}

fn proposals(schema: &Json, clusters: &[ClusterFacts]) -> Proposals {
    let tool = ToolFacts {
        calls: 1_000,
        results: 1_000,
        tool_errors: 0,
        sessions: 900,
        models: ["a", "b", "c"].map(|name| (name.to_owned(), 300)).into(),
        days: 7,
    };
    let declared = json!({"name": "t", "inputSchema": schema});
    let summary = summary(&declared, &tool, clusters);
    propose(&summary, &decide(&summary))
}

/// The only proposal: its change, its title, and the schema after it.
#[track_caller]
fn becomes(schema: Json, clusters: Vec<Json>, change: ChangeKind, title: &str, expected: Json) {
    let clusters: Vec<ClusterFacts> = clusters.into_iter().map(taken).collect();
    let made = proposals(&schema, &clusters);
    let [proposal] = &made.changes[..] else {
        panic!("{made:#?}");
    };
    let mut changed = schema;
    json_patch::patch(&mut changed, &proposal.patch).expect("the patch fits");
    assert_eq!(changed, expected);
    assert_eq!(proposal.title, title);
    assert_eq!(proposal.change, change);
    assert_eq!(proposal.kind, ViolationKind::EdgeCase);
    let calls: u64 = clusters.iter().map(|cluster| cluster.calls).sum();
    assert_eq!((proposal.accepts, proposal.touches), (calls, calls));
    assert_eq!(proposal.accepts_bugs, 0);
    assert!(matches!(proposal.proof, Proof::Proved(_)), "{proposal:#?}");
    let first = serde_json::to_value(&proposal.patch[0]).unwrap();
    assert_eq!(first["op"], "test");
}

fn object(properties: Json) -> Json {
    json!({"type": "object", "properties": properties, "additionalProperties": false})
}

fn null(path: &str) -> Json {
    json!({"path": path, "issue": "type", "shape": "null", "values": [null]})
}

#[test]
fn null_beside_a_type() {
    becomes(
        object(json!({"a": {"type": "string", "minLength": 1}})),
        vec![null("/a")],
        ChangeKind::Nullable,
        "`a` may also be null",
        object(json!({"a": {"type": ["string", "null"], "minLength": 1}})),
    );
}

#[test]
fn null_in_an_enum() {
    becomes(
        object(json!({"a": {"type": "string", "enum": ["x"]}})),
        vec![json!({"path": "/a", "issue": "enum", "shape": "null", "values": [null]})],
        ChangeKind::Nullable,
        "`a` may also be null",
        object(json!({"a": {"type": ["string", "null"], "enum": ["x", null]}})),
    );
}

#[test]
fn null_in_a_union() {
    becomes(
        object(json!({"a": {"anyOf": [{"type": "string"}, {"type": "integer"}]}})),
        vec![null("/a")],
        ChangeKind::Nullable,
        "`a` may also be null",
        object(
            json!({"a": {"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]}}),
        ),
    );
}

#[test]
fn null_in_a_choice_of_one() {
    becomes(
        object(json!({"a": {"oneOf": [{"type": "string"}, {"type": "integer"}]}})),
        vec![null("/a")],
        ChangeKind::Nullable,
        "`a` may also be null",
        object(
            json!({"a": {"oneOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]}}),
        ),
    );
}

#[test]
fn null_as_open_api_spells_it() {
    becomes(
        object(json!({"a": {"type": "string"}, "b": {"type": "string", "nullable": true}})),
        vec![null("/a")],
        ChangeKind::Nullable,
        "`a` may also be null",
        object(
            json!({"a": {"type": "string", "nullable": true}, "b": {"type": "string", "nullable": true}}),
        ),
    );
}

#[test]
fn null_where_the_default_is_null() {
    becomes(
        object(json!({"a": {"type": "string", "default": null}})),
        vec![null("/a")],
        ChangeKind::DefaultAllowed,
        "`a` may be its own default, null",
        object(json!({"a": {"type": ["string", "null"], "default": null}})),
    );
}

#[test]
fn null_at_one_use_of_a_shared_definition() {
    let defs = json!({"d": {"type": "string"}});
    becomes(
        json!({"properties": {"a": {"$ref": "#/$defs/d", "description": "x"}, "b": {"$ref": "#/$defs/d"}}, "$defs": defs}),
        vec![null("/a")],
        ChangeKind::Nullable,
        "`a` may also be null",
        json!({"properties": {
            "a": {"description": "x", "anyOf": [{"$ref": "#/$defs/d"}, {"type": "null"}]},
            "b": {"$ref": "#/$defs/d"},
        }, "$defs": defs}),
    );
}

#[test]
fn a_definition_with_one_use_is_changed_itself() {
    becomes(
        json!({"properties": {"a": {"$ref": "#/$defs/d"}}, "$defs": {"d": {"type": "string"}}}),
        vec![null("/a")],
        ChangeKind::Nullable,
        "`a` may also be null",
        json!({"properties": {"a": {"$ref": "#/$defs/d"}}, "$defs": {"d": {"type": ["string", "null"]}}}),
    );
}

#[test]
fn a_key_that_is_left_out() {
    let mut schema = object(json!({"a": {"type": "string"}, "b": {}}));
    schema["required"] = json!(["a", "b"]);
    let mut expected = schema.clone();
    expected["required"] = json!(["b"]);
    let missing = json!({"path": "/a", "issue": "required"});
    becomes(
        schema,
        vec![missing.clone()],
        ChangeKind::Optional,
        "`a` may be left out",
        expected,
    );
    becomes(
        json!({"properties": {"a": {}}, "required": ["a"]}),
        vec![missing],
        ChangeKind::Optional,
        "`a` may be left out",
        json!({"properties": {"a": {}}}),
    );
}

#[test]
fn a_key_of_items_that_is_left_out() {
    becomes(
        object(json!({"rows": {"type": "array", "items": {"required": ["x", "y"]}}})),
        vec![json!({"path": "/rows/*/x", "issue": "required"})],
        ChangeKind::Optional,
        "`rows[].x` may be left out",
        object(json!({"rows": {"type": "array", "items": {"required": ["y"]}}})),
    );
}

fn value(path: &str, value: &str) -> Json {
    json!({"path": path, "issue": "enum", "shape": format!("{value:?}"), "values": [value]})
}

#[test]
fn values_of_an_enum_in_one_change() {
    becomes(
        object(json!({"p": {"type": "string", "enum": ["low", "high"]}})),
        vec![value("/p", "urgent"), value("/p", "never")],
        ChangeKind::WiderEnum,
        "`p` may also be \"never\" or \"urgent\"",
        object(json!({"p": {"type": "string", "enum": ["low", "high", "never", "urgent"]}})),
    );
}

#[test]
fn a_constant_and_constants_in_a_union() {
    becomes(
        object(json!({"p": {"const": "a1"}})),
        vec![json!({"path": "/p", "issue": "const", "shape": "\"zzzz\"", "values": ["zzzz"]})],
        ChangeKind::WiderEnum,
        "`p` may also be \"zzzz\"",
        object(json!({"p": {"enum": ["a1", "zzzz"]}})),
    );
    becomes(
        object(json!({"p": {"anyOf": [{"const": "a"}, {"const": "b"}]}})),
        vec![value("/p", "zzzz")],
        ChangeKind::WiderEnum,
        "`p` may also be \"zzzz\"",
        object(json!({"p": {"anyOf": [{"const": "a"}, {"const": "b"}, {"const": "zzzz"}]}})),
    );
}

#[test]
fn an_enum_with_too_many_other_values_is_opened() {
    let letters = ('a'..='z').map(|letter| value("/p", &letter.to_string().repeat(9)));
    becomes(
        object(json!({"p": {"enum": ["x"]}})),
        letters.collect(),
        ChangeKind::OpenEnum,
        "`p` may be any value of its type",
        object(json!({"p": {"type": "string"}})),
    );
}

#[test]
fn wider_types() {
    becomes(
        object(json!({"n": {"type": "integer", "minimum": 0}})),
        vec![json!({"path": "/n", "issue": "type", "shape": "number", "values": [0.5, 1.25]})],
        ChangeKind::WiderType,
        "`n` may also be a number",
        object(json!({"n": {"type": "number", "minimum": 0}})),
    );
    becomes(
        object(json!({"n": {"type": "string"}})),
        vec![
            json!({"path": "/n", "issue": "type", "shape": "array of string", "values": [["a"]], "calls": 300, "ran_fine": 300}),
        ],
        ChangeKind::WiderType,
        "`n` may also be an array of string",
        object(json!({"n": {"type": ["string", "array"], "items": {"type": "string"}}})),
    );
}

#[test]
fn wider_ranges_go_as_far_as_was_seen() {
    let over = |digits: &str, most: u32| {
        json!({"path": "/n", "issue": "maximum", "shape": format!("integer of {digits} digits"),
            "values": [most], "smallest": most, "largest": most})
    };
    becomes(
        object(json!({"n": {"type": "integer", "maximum": 100}})),
        vec![over("3", 480), over("4", 1000)],
        ChangeKind::WiderRange,
        "`n` may go up to 1000",
        object(json!({"n": {"type": "integer", "maximum": 1000}})),
    );
    becomes(
        object(json!({"n": {"type": "number", "exclusiveMinimum": 0}})),
        vec![
            json!({"path": "/n", "issue": "minimum", "shape": "integer of 1 digit", "values": [0], "smallest": 0, "largest": 0}),
        ],
        ChangeKind::WiderRange,
        "`n` may go down to 0",
        object(json!({"n": {"type": "number", "minimum": 0}})),
    );
    becomes(
        object(json!({"n": {"type": "number", "multipleOf": 5}})),
        vec![
            json!({"path": "/n", "issue": "multiple_of", "shape": "integer of 1 digit", "values": [7]}),
        ],
        ChangeKind::WiderRange,
        "`n` may be any value without `multipleOf`",
        object(json!({"n": {"type": "number"}})),
    );
}

#[test]
fn longer_texts_and_lists() {
    becomes(
        object(json!({"s": {"type": "string", "maxLength": 80}})),
        vec![
            json!({"path": "/s", "issue": "max_length", "shape": "257 to 512 characters", "smallest": 260, "largest": 300}),
        ],
        ChangeKind::WiderLength,
        "`s` may have up to 300 characters",
        object(json!({"s": {"type": "string", "maxLength": 300}})),
    );
    becomes(
        object(json!({"s": {"type": "array", "minItems": 1, "uniqueItems": true}})),
        vec![
            json!({"path": "/s", "issue": "min_items", "shape": "no items", "values": [[]], "smallest": 0, "largest": 0}),
        ],
        ChangeKind::WiderLength,
        "`s` may have as few as 0 items",
        object(json!({"s": {"type": "array", "minItems": 0, "uniqueItems": true}})),
    );
}

#[test]
fn a_format_without_evidence_is_removed() {
    let month =
        json!({"path": "/d", "issue": "format", "shape": "like 9999-99", "values": ["2026-01"]});
    let schema = object(json!({"d": {"type": "string", "format": "date"}}));
    becomes(
        schema.clone(),
        vec![month.clone()],
        ChangeKind::NoFormat,
        "`d` may be any text without `format`",
        object(json!({"d": {"type": "string"}})),
    );
    // If other values are bugs, only the values that were seen are allowed.
    let bug = json!({"path": "/d", "issue": "format", "shape": "like a", "values": ["soon"], "tool_refused": 30});
    let made = proposals(&schema, &[taken(month), taken(bug)]);
    let [proposal] = &made.changes[..] else {
        panic!("{made:#?}");
    };
    assert_eq!(
        proposal.after,
        json!({"type": "string", "anyOf": [{"format": "date"}, {"pattern": "^[0-9]{4}-[0-9]{2}$"}]})
    );
    assert_eq!((proposal.accepts, proposal.accepts_bugs), (30, 0));
    assert!(matches!(proposal.proof, Proof::Proved(_)), "{proposal:#?}");
}

#[test]
fn a_key_that_the_schema_does_not_name() {
    becomes(
        object(json!({"a": {}})),
        vec![
            json!({"path": "/zone", "issue": "unknown_key", "shape": "string", "values": ["UTC"], "days": 7, "models": {"a": 10, "b": 10, "c": 10}}),
            json!({"path": "/zone", "issue": "unknown_key", "shape": "null", "values": [null], "days": 7, "models": {"a": 10, "b": 10, "c": 10}}),
        ],
        ChangeKind::MoreKeys,
        "`zone` may be there: null or a string",
        object(json!({"a": {}, "zone": {"type": ["null", "string"]}})),
    );
}

#[test]
fn bugs_are_never_proposed_but_counted_if_a_proposal_accepts_them() {
    let schema = object(json!({"n": {"type": "integer", "maximum": 100}}));
    let clusters = [
        json!({"path": "/n", "issue": "maximum", "shape": "integer of 4 digits", "values": [5000], "smallest": 5000, "largest": 5000}),
        json!({"path": "/n", "issue": "maximum", "shape": "integer of 3 digits", "values": [300], "smallest": 300, "largest": 300, "tool_refused": 30}),
    ];
    let made = proposals(&schema, &clusters.map(taken));
    let [proposal] = &made.changes[..] else {
        panic!("{made:#?}");
    };
    assert_eq!(proposal.clusters.len(), 1);
    assert_eq!((proposal.accepts, proposal.accepts_bugs), (60, 30));
}

#[test]
fn where_several_branches_could_be_meant_nothing_is_proposed() {
    let branch = |name: &str| json!({"properties": {"kind": {"const": name}, "n": {"type": "integer"}}, "required": ["kind"]});
    let schema = object(json!({"x": {"oneOf": [branch("a"), branch("b")]}}));
    let cluster = json!({"path": "/x/n", "issue": "type", "shape": "null", "values": [null]});
    let made = proposals(&schema, &[taken(cluster)]);
    assert!(made.changes.is_empty(), "{made:#?}");
    assert_eq!(made.unplaced.len(), 1);
    assert!(made.unplaced[0].why.contains("several alternatives"));
}

#[test]
fn what_a_proof_cannot_show_is_reported() {
    // A branch of `oneOf` that accepts more may overlap with another branch.
    let schema = object(
        json!({"x": {"oneOf": [{"type": "string", "maxLength": 3}, {"type": "string", "minLength": 6}]}}),
    );
    let cluster = json!({"path": "/x", "issue": "max_length", "shape": "5 to 8 characters", "values": ["abcde"], "smallest": 5, "largest": 5});
    let made = proposals(&schema, &[taken(cluster)]);
    for proposal in &made.changes {
        assert_ne!(proposal.after["oneOf"][0]["maxLength"], json!(6));
    }
}

#[test]
fn advice_tells_what_to_write() {
    let schema = object(json!({"limit": {"type": "integer"}}));
    let cluster = json!({"path": "/limit", "issue": "type", "shape": "integer in a string", "values": ["10"]});
    let made = proposals(&schema, &[taken(cluster)]);
    assert!(made.changes.is_empty());
    assert_eq!(
        made.advice[0].text,
        "say in the description of `limit` that it is a whole number, without quotes: 30 calls sent \"10\""
    );
}

#[test]
fn advice_tells_what_is_looser_than_all_traffic() {
    let schema = object(json!({
        "sort": {"type": "string"}, "query": {"type": "string"}, "limit": {"type": "integer"}, "page": {"type": "integer"},
    }));
    let declared = json!({"name": "t", "inputSchema": schema});
    let mut tool = ToolSummary {
        sampled: 2_000,
        ..ToolSummary::default()
    };
    let version = Version {
        declared: declared.to_string(),
        calls: 2_000,
        ..Version::default()
    };
    tool.versions.add("v".to_owned(), version);
    let mut summary = Summary::default();
    summary.tools.add("t".to_owned(), tool);
    // How many different values each parameter has, and in how many calls.
    for (name, different, calls) in [
        ("sort", 2, 2_000),
        ("query", 9, 2_000),
        ("limit", 50, 1_500),
        ("page", 3, 1_500),
    ] {
        let mut seen = FieldUse {
            present: calls,
            largest: Some(99.0),
            ..FieldUse::default()
        };
        for call in 0..calls {
            seen.values.add(Some(format!("\"{}\"", call % different)));
        }
        let parameter = Parameter {
            tool: "t".to_owned(),
            name: name.to_owned(),
        };
        summary.parameters.add(parameter, seen);
    }
    let made = propose(&summary, &[]);
    let texts: Vec<&str> = made.advice.iter().map(|it| it.text.as_str()).collect();
    assert_eq!(
        texts,
        [
            "`limit` has no maximum, and was never more than 99 in 1,500 calls",
            "`query` is optional, and all of 2,000 calls gave it: it could be required",
            "`sort` is optional, and all of 2,000 calls gave it: it could be required",
            "`sort` is any text, and only ever was \"0\", \"1\": an enum is possible",
        ]
    );
}
