//! How the cost of one call grows with its size and the size of its schema, in instructions counted by callgrind.
//!
//! `cargo bench --bench growth` runs this program under valgrind for each row and size, with and without the call, and
//! prints the difference and the exponent: 1.0 is linear, 2.0 is quadratic. None may be above 1.1. The floor is the
//! cost of reading the largest call and asking the engine once whether it is valid: no refusal can cost less. Then it
//! reads lists of tools of 1 MB, most of them hostile, and prints what that costs and how many tools are left unjudged.
#![expect(
    clippy::print_stdout,
    clippy::expect_used,
    clippy::cast_precision_loss,
    reason = "a table for people"
)]
#![allow(missing_docs)]

#[path = "support/callgrind.rs"]
mod callgrind;

use std::hint::black_box;
use std::process::Command;
use std::sync::Arc;

use callgrind::instructions;
use callwright::feedback::Feedback;
use callwright::parse::read_value;
use callwright::repair::{Grade, RepairPolicy};
use callwright::validate::SchemaCache;
use callwright::wire::read_tools;
use callwright::{Call, Gate, ToolSpec};
use serde_json::{Map, Value, json};

/// A row: what grows, and a schema and arguments of that size. For tools the size is their number.
type Row = (&'static str, [usize; 3], fn(usize) -> (Value, String));

/// Five milliseconds, at four instructions per nanosecond. No call may take longer.
const MOST: f64 = 20e6;

/// The steepest growth that counts as linear.
const STEEPEST: f64 = 1.1;

/// 200 milliseconds and 100 MB: the limits for a list of tools of 1 MB.
const MOST_FOR_LIST: f64 = 800e6;
const MOST_MEGABYTES: u64 = 100;

/// Sizes far enough apart for a slope, up to calls of 64 kB.
const WIDE: [usize; 3] = [500, 1_000, 4_000];

/// As many branches as are examined.
const FEW: [usize; 3] = [30, 60, 240];

/// As deep as a call may be.
const DEEP: [usize; 3] = [12, 24, 96];

const ROWS: &[Row] = &[
    ("valid keys", WIDE, valid_keys),
    ("valid keys, others allowed", WIDE, valid_open_keys),
    ("unknown keys", WIDE, unknown_keys),
    ("unknown keys of one", WIDE, few_unknown_keys),
    ("keys in another spelling", WIDE, respelt_keys),
    ("missing keys", WIDE, missing_keys),
    ("missing keys with defaults", WIDE, defaults),
    ("depth", DEEP, depth),
    ("issues: numbers as texts", WIDE, numbers_as_texts),
    ("issues: wrong items", WIDE, wrong_items),
    ("issues: objects without a key", WIDE, objects_without_a_key),
    ("issues: items of n keys", WIDE, items_of_many_keys),
    ("issues: no object of n keys", WIDE, no_object_of_many_keys),
    ("issues: items of a union", WIDE, items_of_a_union),
    ("issues: items of few branches", FEW, items_of_a_union),
    ("issues: items ruled out", WIDE, items_ruled_out),
    ("missing keys of one enum", WIDE, missing_keys_of_one_enum),
    ("enum values, one slip", WIDE, enum_slip),
    ("enum values, anagrams", WIDE, enum_anagrams),
    ("enum values, a list as text", WIDE, enum_list),
    ("tools, unknown name", WIDE, one_tool),
    ("branches, none fits", WIDE, branches),
    ("parts of a schema", WIDE, parts),
    ("text length", [4_000, 16_000, 64_000], long_text),
    (
        "text length, broken JSON",
        [4_000, 16_000, 64_000],
        broken_text,
    ),
    (
        "text length, inner quotes",
        [4_000, 16_000, 64_000],
        inner_quotes,
    ),
];

/// A list of tools, and what is in it.
type ToolList = (&'static str, fn() -> Value);

/// Lists of tools of about 1 MB.
const LISTS: &[ToolList] = &[
    ("list: usual tools", usual_tools),
    ("list: one tool", one_large_tool),
    ("list: patterns", tools_with_patterns),
    ("list: parts", tools_with_parts),
    ("list: references", tools_with_references),
    ("list: unions", tools_with_unions),
];

fn main() {
    let mut arguments = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with("--"));
    let first = arguments.next();
    match (first.as_deref(), arguments.next(), arguments.next()) {
        (Some(what @ ("load" | "floor" | "run")), Some(row), Some(size)) => {
            run(what, &row, size.parse().expect("a size"));
        }
        (Some(what @ ("list" | "empty list")), Some(row), None) => read_list(&row, what == "list"),
        (only, ..) => {
            compare(only.unwrap_or_default());
            compare_lists(only.unwrap_or_default());
        }
    }
}

/// Reads one list in this process, or only generates its text, and prints how many tools are unjudged and how many
/// megabytes it took.
fn read_list(row: &str, is_read: bool) {
    let (_, make) = LISTS.iter().find(|(name, _)| *name == row).expect("a row");
    let text = make().to_string();
    if is_read {
        let specs = read_tools(&text).expect("tools");
        let gate = Gate::builder().tools(specs).build().expect("a gate");
        let unjudged = gate.tools().filter(|tool| tool.quarantined().is_some());
        println!("{} of {}", unjudged.count(), gate.tools().count());
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = peak.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok());
    println!("{}", kilobytes.unwrap_or(0_u64) / 1024);
}

fn compare_lists(only: &str) {
    for (row, _) in LISTS.iter().filter(|(row, _)| row.contains(only)) {
        let program = std::env::current_exe().expect("this program");
        let run = Command::new(program).args(["list", row]).output();
        let printed = String::from_utf8(run.expect("it ran").stdout).expect("UTF-8");
        let mut lines = printed.lines();
        let (unjudged, megabytes) = (lines.next(), lines.next());
        let megabytes: u64 = megabytes.and_then(|it| it.parse().ok()).unwrap_or(0);
        let costs = instructions(&["list", row]).zip(instructions(&["empty list", row]));
        let Some(cost) = costs.map(|(all, load)| all.saturating_sub(load) as f64) else {
            return;
        };
        let is_met = cost <= MOST_FOR_LIST && megabytes <= MOST_MEGABYTES;
        let (mark, unjudged) = (if is_met { "" } else { " !" }, unjudged.unwrap_or("?"));
        let cost = cost / 1e6;
        println!("{row:<30} {cost:>9.0}M   {megabytes} MB   {unjudged} tools unjudged{mark}");
    }
}

/// Runs one call of one size in this process, or only the setup before it, or only the floor.
fn run(what: &str, row: &str, size: usize) {
    let (_, _, make) = ROWS.iter().find(|(name, ..)| *name == row).expect("a row");
    let (schema, text) = make(size);
    let count = if row.starts_with("tools") { size } else { 1 };
    let name = |at: usize| format!("look_up_{at}_orders");
    let tools = (0..count).map(|at| ToolSpec::new(name(at), schema.clone()));
    let gate = Gate::builder()
        .tools(tools)
        .repair(RepairPolicy::UpTo(Grade::Guess));
    let gate = gate.build().expect("a gate");
    let tool = if count > 1 {
        "lok_up_order".to_owned()
    } else {
        name(0)
    };
    // The first refusal compiles what is needed to explain the others; that should not be counted.
    for text in ["{\"\": 0}", "{\"items\": [{}]}"] {
        black_box(gate.judge(&Call::from_text(name(0), text)).name());
    }
    let compiled = SchemaCache::shared().compile(&Arc::new(schema));
    let compiled = compiled.expect("a schema");
    match what {
        "run" => {
            let call = Call::from_text(tool, text);
            let verdict = gate.judge(&call);
            let told = verdict.failure().map(|it| Feedback::default().render(it));
            black_box((verdict.name(), told));
        }
        "floor" => {
            let value = read_value(&text);
            black_box(value.is_ok_and(|value| compiled.accepts(&value)));
        }
        _ => {}
    }
}

fn compare(only: &str) {
    println!("instructions per call at three sizes, and how they grow; ! is beyond the goal");
    for (row, sizes, _) in ROWS.iter().filter(|(row, ..)| row.contains(only)) {
        let mut costs = Vec::new();
        for size in sizes {
            let (Some(load), Some(all)) = (count("load", row, *size), count("run", row, *size))
            else {
                println!("skipped: valgrind does not run here");
                return;
            };
            costs.push(all.saturating_sub(load).max(1) as f64);
        }
        let least = count("floor", row, sizes[2]).zip(count("load", row, sizes[2]));
        let floor = least.map_or(0, |(floor, load)| floor.saturating_sub(load)) as f64;
        let grown = (sizes[2] as f64 / sizes[1] as f64).ln();
        let exponent = (costs[2] / costs[1]).ln() / grown;
        let mark = |is_met: bool| if is_met { "" } else { " !" };
        let (growth, most) = (mark(exponent <= STEEPEST), mark(costs[2] <= MOST));
        let costs: Vec<String> = costs
            .iter()
            .map(|it| format!("{:>9.0}k", it / 1e3))
            .collect();
        let (costs, floor) = (costs.join(" "), floor / 1e3);
        println!("{row:<30} {costs}{most:<2}  floor {floor:>8.0}k   {exponent:.2}{growth}");
    }
}

fn count(what: &str, row: &str, size: usize) -> Option<u64> {
    instructions(&[what, row, &size.to_string()])
}

/// A name of two words, different for each number.
fn key(at: usize) -> String {
    let letter = |at: usize| char::from(b'a' + u8::try_from(at % 26).expect("a letter"));
    let letters: String = [at, at / 26, at / 676].into_iter().map(letter).collect();
    format!("{letters}_field")
}

fn object(count: usize, member: impl Fn(usize) -> (String, Value)) -> Value {
    Value::Object((0..count).map(member).collect::<Map<_, _>>())
}

fn closed(count: usize, property: &Value) -> Value {
    let properties = object(count, |at| (key(at), property.clone()));
    json!({"type": "object", "properties": properties, "additionalProperties": false})
}

fn valid_keys(size: usize) -> (Value, String) {
    let text = object(size, |at| (key(at), json!(at))).to_string();
    (closed(size, &json!({"type": "integer"})), text)
}

fn valid_open_keys(size: usize) -> (Value, String) {
    let (mut schema, text) = valid_keys(size);
    schema["additionalProperties"] = json!(true);
    (schema, text)
}

fn unknown_keys(size: usize) -> (Value, String) {
    let text = object(size, |at| (format!("{}s_x", key(at)), json!(at))).to_string();
    (closed(size, &json!({"type": "integer"})), text)
}

fn few_unknown_keys(size: usize) -> (Value, String) {
    let text = object(size, |at| (format!("{}x", key(at)), json!(at))).to_string();
    (closed(1, &json!({"type": "integer"})), text)
}

fn respelt_keys(size: usize) -> (Value, String) {
    let text = object(size, |at| (key(at).replace("_f", "F"), json!(at))).to_string();
    (closed(size, &json!({"type": "integer"})), text)
}

fn missing_keys(size: usize) -> (Value, String) {
    let mut schema = closed(size, &json!({"type": "integer"}));
    schema["required"] = (0..size).map(key).collect();
    let text = object(size, |at| (format!("my_{}", key(at)), json!(at))).to_string();
    (schema, text)
}

fn defaults(size: usize) -> (Value, String) {
    let mut schema = closed(size, &json!({"type": "integer", "default": 1}));
    schema["required"] = (0..size).map(key).collect();
    schema["additionalProperties"] = json!(true);
    (schema, json!({"note": "x ".repeat(size)}).to_string())
}

fn depth(size: usize) -> (Value, String) {
    let node =
        json!({"type": "object", "properties": {"in": {"$ref": "#"}, "n": {"type": "integer"}}});
    let value = (1..size).fold(json!({"n": "5"}), |inner, _| json!({"in": inner, "n": "5"}));
    (node, value.to_string())
}

fn list_of(items: &Value) -> Value {
    json!({"type": "object", "properties": {"items": {"type": "array", "items": items}}})
}

fn numbers_as_texts(size: usize) -> (Value, String) {
    let items: Vec<String> = (0..size).map(|at| at.to_string()).collect();
    let schema = list_of(&json!({"type": "integer"}));
    (schema, json!({"items": items}).to_string())
}

fn wrong_items(size: usize) -> (Value, String) {
    let items: Vec<String> = (0..size).map(|at| format!("no {at}")).collect();
    let schema = list_of(&json!({"type": "integer"}));
    (schema, json!({"items": items}).to_string())
}

fn objects_without_a_key(size: usize) -> (Value, String) {
    let items: Vec<Value> = (0..size).map(|at| json!({"nmae": at})).collect();
    let item = json!({"type": "object", "properties": {"name": {}}, "required": ["name"]});
    (list_of(&item), json!({"items": items}).to_string())
}

/// How many items have objections in the rows where the schema of an item grows.
const ITEMS: usize = 250;

fn list_of_items(item: &Value, sent: &Value) -> (Value, String) {
    let items = vec![sent; ITEMS];
    (list_of(item), json!({"items": items}).to_string())
}

fn items_of_many_keys(size: usize) -> (Value, String) {
    list_of_items(
        &closed(size, &json!({"type": "integer"})),
        &json!({"abc_feild": 5}),
    )
}

fn no_object_of_many_keys(size: usize) -> (Value, String) {
    let mut item = closed(size, &json!({"type": "integer"}));
    item["required"] = (0..size).map(key).collect();
    list_of_items(&item, &json!("x"))
}

fn items_of_a_union(size: usize) -> (Value, String) {
    let (union, _) = branches(size);
    list_of_items(&union, &json!({"n": "x"}))
}

fn items_ruled_out(size: usize) -> (Value, String) {
    let values: Vec<String> = (0..size).map(key).collect();
    list_of_items(&json!({"not": {"enum": values}}), &json!(key(1)))
}

fn missing_keys_of_one_enum(size: usize) -> (Value, String) {
    let mut schema = closed(ITEMS, &json!({"$ref": "#/$defs/value"}));
    schema["required"] = (0..ITEMS).map(key).collect();
    schema["$defs"]["value"]["enum"] = (0..size).map(key).collect();
    (schema, "{}".to_owned())
}

fn one_of(size: usize, name: fn(usize) -> String) -> Value {
    let values: Vec<String> = (0..size).map(name).collect();
    json!({"type": "object", "properties": {"value": {"enum": values}}})
}

fn enum_slip(size: usize) -> (Value, String) {
    let slip = key(size / 2).replace("field", "feild");
    (one_of(size, key), json!({"value": slip}).to_string())
}

fn enum_anagrams(size: usize) -> (Value, String) {
    fn anagram(at: usize) -> String {
        let mut letters: Vec<char> = "abcdefghijklmnop".chars().collect();
        let length = letters.len();
        (0..length).for_each(|place| letters.swap(place, (at * 7 + place * at) % length));
        letters.into_iter().collect()
    }
    let value = json!({"value": "ponmlkjihgfedcba"});
    (one_of(size, anagram), value.to_string())
}

fn enum_list(size: usize) -> (Value, String) {
    let values: Vec<String> = (0..size).map(key).collect();
    let text = values.iter().rev().map(String::as_str).collect::<Vec<_>>();
    let text = json!({"items": text.join(", ")}).to_string();
    (list_of(&json!({"enum": values})), text)
}

fn one_tool(_: usize) -> (Value, String) {
    (json!({"type": "object"}), "{}".to_owned())
}

fn branches(size: usize) -> (Value, String) {
    let branch = |at: usize| {
        let properties = json!({key(at): {"type": "integer"}, "n": {"type": "integer"}});
        json!({"type": "object", "properties": properties, "required": [key(at)]})
    };
    let branches: Vec<Value> = (0..size).map(branch).collect();
    (
        json!({"type": "object", "anyOf": branches}),
        json!({"n": "x"}).to_string(),
    )
}

fn parts(size: usize) -> (Value, String) {
    let part = |at: usize| json!({"properties": {key(at): {"type": "integer"}}});
    let parts: Vec<Value> = (0..size).map(part).collect();
    let schema = json!({"type": "object", "allOf": parts, "unevaluatedProperties": false});
    (
        schema,
        json!({"aab_feild": 5, "bbb_feild": "6"}).to_string(),
    )
}

fn long_text(size: usize) -> (Value, String) {
    let properties = json!({"text": {"type": "string"}, "limit": {"type": "integer"}});
    let text = json!({"text": "word ".repeat(size / 5), "limit": "five"});
    (
        json!({"type": "object", "properties": properties}),
        text.to_string(),
    )
}

fn broken_text(size: usize) -> (Value, String) {
    let (schema, _) = long_text(1);
    (
        schema,
        format!("{{'text': 'word', 'limit': [{}", "'5', ".repeat(size / 5)),
    )
}

fn inner_quotes(size: usize) -> (Value, String) {
    let (schema, _) = long_text(1);
    (
        schema,
        format!(
            "{{\"text\": \"say {}\", \"limit\": x}}",
            "\"a\" b ".repeat(size / 6)
        ),
    )
}

/// A list of tools of 1 MB.
fn list(schema: impl Fn(usize) -> Value) -> Value {
    const SIZE: usize = 1_000_000;
    let (mut tools, mut size) = (Vec::new(), 0);
    while size < SIZE {
        let at = tools.len();
        let tool = json!({"name": format!("tool_{at}"), "inputSchema": schema(at)});
        size += tool.to_string().len();
        tools.push(tool);
    }
    Value::Array(tools)
}

fn usual_tools() -> Value {
    list(|at| {
        let mut schema = closed(
            20,
            &json!({"type": "string", "description": format!("of {at}")}),
        );
        schema["required"] = json!([key(0), key(1)]);
        schema
    })
}

fn one_large_tool() -> Value {
    list(|_| closed(17_000, &json!({"type": "string", "maxLength": 100})))
}

fn tools_with_patterns() -> Value {
    list(|at| {
        let pattern = json!({"pattern": format!("^(\\w{{1,250}}){{1,4}}{at}$")});
        closed(100, &pattern)
    })
}

fn tools_with_parts() -> Value {
    list(|at| {
        let mut schema = parts(100).0;
        schema["title"] = json!(at);
        schema
    })
}

/// Definitions that refer to the next one twice each.
fn tools_with_references() -> Value {
    list(|at| {
        let twice = |level: usize| {
            let next = json!({"$ref": format!("#/$defs/{}", level + 1)});
            json!({"allOf": [next, next]})
        };
        let mut definitions = object(60, |level| (level.to_string(), twice(level)));
        definitions["60"] = json!({"title": at});
        json!({"$ref": "#/$defs/0", "$defs": definitions})
    })
}

fn tools_with_unions() -> Value {
    list(|at| {
        let mut schema = branches(100).0;
        schema["title"] = json!(at);
        schema
    })
}
