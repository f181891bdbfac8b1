//! The cost of the search for a repair, in steps.

use serde_json::{Value as Schema, json};

use super::super::stakes::CallStakes;
use super::super::{SEARCHING, Stakes};
use super::*;

/// The verdict on arguments of a read-only tool, how many edits were tried, and how many steps that took.
fn cost(schema: &Schema, arguments: &Schema) -> (bool, usize, usize) {
    let schema = CompiledSchema::compile(schema.clone()).expect("a schema");
    let (work, mut trace) = (Work::new(SEARCHING), Some(Vec::new()));
    let value = Value::from(arguments).into_owned();
    let rules = Allowed {
        cap: Grade::Guess,
        stakes: &CallStakes::new(Stakes::Reads, &value),
        tool: "run",
        null_may_clear: false,
    };
    let healing = search(&value, None, &schema, rules, &work, &mut trace);
    let is_healed = matches!(healing, Healing::Healed { .. });
    let trials = trace.map_or(0, |trials| trials.len());
    (is_healed, trials, SEARCHING - work.left())
}

fn object(count: usize, key: impl Fn(usize) -> String, value: &Schema) -> Schema {
    (0..count).map(|at| (key(at), value.clone())).collect()
}

fn closed(count: usize, key: fn(usize) -> String) -> Schema {
    let properties = object(count, key, &json!({"type": "integer"}));
    json!({"properties": properties, "additionalProperties": false})
}

#[test]
fn repaired_calls_take_a_fraction_of_the_budget() {
    let values: Vec<String> = (0..10_000).map(|at| format!("value_{at}_name")).collect();
    let mut values = values.clone();
    values.push("delivered".to_owned());
    let schema = json!({"properties": {"status": {"enum": values}}});
    let (is_healed, _, steps) = cost(&schema, &json!({"status": "delivred"}));
    assert!(is_healed && steps < SEARCHING / 3 * 2, "{steps}");

    let numbers: Vec<String> = (0..60).map(|at| at.to_string()).collect();
    let schema = json!({"properties": {"n": {"items": {"type": "integer"}}}});
    let (is_healed, trials, steps) = cost(&schema, &json!({"n": numbers}));
    assert!(is_healed && trials == 60 && steps < SEARCHING, "{steps}");
}

#[test]
fn edits_are_judged_together() {
    let schema = json!({"properties": {"n": {"items": {"type": "integer"}}}});
    let steps = |count: usize| {
        let numbers: Vec<String> = (0..count).map(|at| at.to_string()).collect();
        let (is_healed, trials, steps) = cost(&schema, &json!({"n": numbers}));
        assert!(is_healed && trials == count);
        steps
    };
    let (few, many) = (steps(15), steps(60));
    assert!(many < 5 * few, "{few} {many}");
}

/// What would not be done one by one is not done together either.
#[test]
fn edits_that_do_not_help_are_not_made() {
    let number = json!({"type": "integer", "maximum": 100});
    let schema = json!({"properties": {"a": number, "b": number, "c": number}});
    let healed = |schema: &Schema, arguments: Schema| cost(schema, &arguments).0;
    assert!(healed(&schema, json!({"a": "5", "b": "6", "c": "7"})));
    assert!(!healed(&schema, json!({"a": "5", "b": "600", "c": "7"})));
    let list = json!({"type": "array", "uniqueItems": true, "items": {"type": "integer"}});
    let schema = json!({"properties": {"n": list}});
    assert!(healed(&schema, json!({"n": ["1", "2"]})));
    assert!(!healed(&schema, json!({"n": ["1", "1"]})));
    let schema = closed(2, |at| format!("some_{}_field", letters(at)));
    let sent = json!({"some_a_Field": 1, "someAField": 2});
    assert!(!healed(&schema, sent), "two keys for one");
}

/// 2.6 kB of such arguments once took six seconds.
#[test]
fn unknown_keys_end_with_the_budget() {
    for count in [64, 200, 2_000] {
        let schema = closed(count, |at| format!("some_{at}_field"));
        let sent = object(count, |at| format!("sone_{at}_feild"), &json!("x"));
        let (is_healed, trials, _) = cost(&schema, &sent);
        assert!(!is_healed && trials <= 64, "{count}: {trials}");
    }
}

#[test]
fn respelt_keys_end_with_the_budget() {
    for (count, healed) in [(20, true), (200, false), (4_000, false)] {
        let schema = closed(count, |at| format!("some_{}_field", letters(at)));
        let sent = object(count, |at| format!("some_{}Field", letters(at)), &json!(1));
        let (is_healed, trials, _) = cost(&schema, &sent);
        assert!(is_healed == healed && trials <= 64, "{count}: {trials}");
    }
}

/// Digits may be all that distinguishes two names.
fn letters(number: usize) -> String {
    let digits = number.to_string();
    let letter = |digit: u8| char::from(b'a' + digit - b'0');
    digits.bytes().map(letter).collect()
}

/// Steps grow linearly with the arguments, not with their square.
#[test]
fn steps_grow_with_the_arguments() {
    let missing = |count: usize| {
        let mut schema = closed(count, |at| format!("some_{at}_field"));
        schema["required"] = (0..count).map(|at| format!("some_{at}_field")).collect();
        cost(&schema, &json!({"note": "x"})).2
    };
    let items = |count: usize| {
        let schema = json!({"properties": {"n": {"items": {"type": "integer"}}}});
        cost(&schema, &json!({"n": vec!["x"; count]})).2
    };
    for (name, steps) in [
        ("missing", &missing as &dyn Fn(usize) -> usize),
        ("items", &items),
    ] {
        let (small, large) = (steps(60), steps(240));
        assert!(large < 5 * small, "{name}: {small} {large}");
    }
}
