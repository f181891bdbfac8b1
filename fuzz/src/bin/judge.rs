//! Feeds any text as the arguments of any tool in the corpus, with any repair grade.
//!
//! Input: two bytes that choose the tool, one that chooses the grade, then the text.
#![no_main]

use std::sync::LazyLock;

use callwright::parse::read_value;
use callwright::repair::{Edit, Grade, RepairPolicy};
use callwright::validate::SchemaCache;
use callwright::wire::read_tools;
use callwright::{Call, Gate, ToolSpec, Verdict, json};
use callwright_fuzz::{
    Bounds, Kept, assert_can_miss, assert_presentable, bounded, cases, plant, tools, unescaped,
};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

const BOUNDS: Bounds = Bounds {
    reads: (2_000_000, 4_000),
    allocated: (8 << 20, 8_192),
    held: (64 << 20, 16 << 10),
};

const STAGES: [&str; 3] = ["parse", "validate", "repair"];
const GRADES: [Grade; 3] = [Grade::Lossless, Grade::Lossy, Grade::Guess];

/// A tool behind a gate that repairs nothing, and behind one for each grade.
struct Subject {
    spec: ToolSpec,
    declared: String,
    strict: Gate,
    repairing: [Gate; 3],
}

static SUBJECTS: LazyLock<Vec<Subject>> = LazyLock::new(|| {
    let cache = SchemaCache::new(10_000);
    let gate = |spec: &ToolSpec, repair| {
        let builder = Gate::builder().tool(spec.clone()).repair(repair);
        builder.cache(cache.clone()).build().expect("one tool")
    };
    let subject = |spec: ToolSpec| Subject {
        strict: gate(&spec, RepairPolicy::Never),
        repairing: GRADES.map(|grade| gate(&spec, RepairPolicy::UpTo(grade))),
        declared: serde_json::to_string(&spec.input_schema.as_deref()).expect("JSON"),
        spec,
    };
    let mut specs: Vec<ToolSpec> = Vec::new();
    for (file, case) in cases(&STAGES) {
        for spec in read_tools(&tools(&file, &case).to_string()).expect("tools") {
            if !specs.contains(&spec) {
                specs.push(spec);
            }
        }
    }
    specs.into_iter().map(subject).collect()
});

/// Every call of the corpus, with the first tool of its name that was declared as in its case.
fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for (file, case) in cases(&STAGES) {
        let arguments = match &case["call"]["arguments"] {
            Value::Null => continue,
            Value::String(text) => text.clone(),
            value => value.to_string(),
        };
        let specs = read_tools(&tools(&file, &case).to_string()).expect("tools");
        let Some(spec) = specs.iter().find(|spec| case["call"]["tool"] == *spec.name) else {
            continue;
        };
        let at = SUBJECTS.iter().position(|subject| subject.spec == *spec);
        let [low, high] = u16::try_from(at.expect("a subject"))
            .expect("few")
            .to_le_bytes();
        let grade = ["lossless", "lossy", "guess"]
            .iter()
            .position(|name| case["repair"] == **name);
        let grade = u8::try_from(grade.unwrap_or(2)).expect("one of three");
        seeds.push([&[low, high, grade], arguments.as_bytes()].concat());
    }
    seeds
}

fuzz_target!(
    init: {
        plant(seeds());
        assert_can_miss();
    },
    |data: &[u8]| bounded(data, BOUNDS, || {
        let [low, high, grade, text @ ..] = data else { return };
        let Ok(text) = std::str::from_utf8(text) else { return };
        let subject = usize::from(u16::from_le_bytes([*low, *high])) % SUBJECTS.len();
        check(&SUBJECTS[subject], usize::from(*grade) % GRADES.len(), text);
    })
);

fn check(subject: &Subject, grade: usize, text: &str) {
    let call = Call::from_text(subject.spec.name.as_str(), text);
    let strict = subject.strict.judge(&call);
    let gate = &subject.repairing[grade];
    let verdict = gate.judge(&call);
    assert_presentable(&call, &verdict);
    if let Ok(value @ json::Value::Object(_)) = read_value(text) {
        let by_value = Call::from_value(subject.spec.name.as_str(), value);
        let ready = gate.judge(&by_value);
        assert_eq!(
            ready.name(),
            verdict.name(),
            "text and value are judged alike"
        );
        assert_eq!(ready.arguments(), verdict.arguments());
    }
    if verdict.failure().is_some() {
        check_parts(gate, &subject.declared, &call, text);
    }
    match (&strict, &verdict) {
        (Verdict::Valid(plain), Verdict::Valid(valid)) => {
            assert_eq!(plain.arguments(), valid.arguments());
            assert_fixed(gate, &call.tool, valid.arguments());
        }
        (Verdict::Valid(_), other) => panic!("a valid call became {}", other.name()),
        (_, Verdict::Valid(_)) => panic!("repair made a call valid without a record"),
        (Verdict::Refused(refused), Verdict::Repaired(repaired)) => {
            let code = refused.failure.code.name();
            assert_ne!(code, "truncated_call", "a cut-off call was repaired");
            let nameless = repaired.edits().is_empty();
            assert!(!nameless || subject.strict.tools().all(|tool| tool.schema().is_none()));
            let cap = GRADES[grade];
            assert!(repaired.edits().iter().all(|edit| edit.grade <= cap));
            assert_fixed(&subject.strict, &call.tool, repaired.arguments());
            assert_nothing_invented(text, &subject.declared, repaired.arguments());
            if !subject.spec.only_reads() {
                let tool = &subject.spec.name;
                assert_nothing_dropped(text, tool, repaired.arguments(), repaired.edits());
            }
        }
        _ => {}
    }
}

/// The calls inside a refused one differ, would run, and contain nothing that was not sent.
fn check_parts(gate: &Gate, declared: &str, call: &Call<'_>, text: &str) {
    let parts = gate.split(call).unwrap_or_default();
    assert_ne!(parts.len(), 1);
    for (at, part) in parts.iter().enumerate() {
        assert!(
            parts[..at]
                .iter()
                .all(|other| other.arguments != part.arguments || other.tool != part.tool)
        );
        let verdict = gate.judge(part);
        assert!(verdict.failure().is_none(), "{text:?}");
        assert_nothing_invented(text, declared, verdict.arguments().expect("it would run"));
    }
}

/// The arguments for the tool are valid, and stay unchanged when sent again.
fn assert_fixed(gate: &Gate, tool: &str, arguments: &json::Value<'_>) {
    let text = arguments.to_string();
    let again = Call::from_text(tool, text.as_str());
    let verdict = gate.judge(&again);
    assert!(matches!(verdict, Verdict::Valid(_)), "{text}");
    assert_eq!(verdict.arguments(), Some(arguments));
}

/// Every leaf is in the text, perhaps escaped, or in the schema.
fn assert_nothing_invented(text: &str, declared: &str, arguments: &json::Value<'_>) {
    // Text may be nested in text several times.
    let mut sources = vec![text.to_owned()];
    for level in 0..4 {
        sources.push(unescaped(&sources[level]));
    }
    sources.extend([declared.to_owned(), unescaped(declared)]);
    let occurs = |leaf: &str| sources.iter().any(|source| source.contains(leaf));
    // A date may have new separators; its digits stay.
    let bare = |text: &str| text.replace(['-', '/', '.', ' ', 'T'], "");
    let occurs_as_digits = |leaf: &str| {
        leaf.starts_with(|c: char| c.is_ascii_digit())
            && sources
                .iter()
                .any(|source| bare(source).contains(&bare(leaf)))
    };
    leaves(arguments, &mut |leaf| {
        let ok = match leaf {
            json::Value::String(text) => occurs(text) || occurs_as_digits(text),
            // As Python and JavaScript write it: `.5`, `1_000`.
            json::Value::Number(number) => {
                let number = number.as_str();
                let mut ungrouped = sources.iter().map(|source| source.replace('_', ""));
                occurs(number)
                    || occurs(&number.replacen("0.", ".", 1))
                    || ungrouped.any(|source| source.contains(number))
            }
            json::Value::Bool(yes) => {
                let words = if *yes {
                    ["true", "yes", "1"]
                } else {
                    ["false", "no", "0"]
                };
                let mut small = sources.iter().map(|source| source.to_lowercase());
                small.any(|source| words.iter().any(|word| source.contains(word)))
            }
            _ => true,
        };
        assert!(ok, "{leaf} is neither in the call nor in the schema");
    });
}

/// Edits that drop something around a call. The text they quote does not count as kept.
const AROUND: [&str; 8] = [
    "fence",
    "control_token",
    "reasoning",
    "extra_closer",
    "white_space",
    "call_in_list",
    "envelope",
    "repeated_value",
];

/// Every word that was sent is in the tool's arguments, or in a recorded edit of a value. No meaningful value is
/// dropped.
fn assert_nothing_dropped(text: &str, tool: &str, arguments: &json::Value<'_>, edits: &[Edit]) {
    let has = |rules: &[&str]| edits.iter().any(|edit| rules.contains(&edit.rule));
    let mut kept = Kept::new(has(&["envelope", "control_token"]), has(&["reasoning"]));
    kept.add_name(tool);
    kept.add_value(arguments);
    assert!(!has(&["prose", "comment"]), "{edits:?}");
    for edit in edits.iter().filter(|edit| !AROUND.contains(&edit.rule)) {
        let is_left_out = edit.rule.ends_with("left_out") && edit.rule != "midnight_left_out";
        let says_nothing = matches!(&edit.before, json::Value::Null)
            || edit
                .before
                .as_str()
                .is_some_and(|text| text.trim().is_empty());
        assert!(!is_left_out || says_nothing, "{edit:?}");
        kept.add_text(edit.path.as_pointer());
        kept.add_value(&edit.before);
        kept.add_value(&edit.after);
    }
    let mut text = text.to_owned();
    // The type of a parameter, which the schema knows.
    if has(&["notation", "open_notation"]) {
        text = text
            .replace(" string=\"true\"", "")
            .replace(" string=\"false\"", "");
    }
    let text = &text;
    if let Some(missing) = kept.missing(text) {
        panic!("{missing:?} of {text:?} is gone: {arguments} {edits:?}");
    }
}

fn leaves(value: &json::Value<'_>, found: &mut impl FnMut(&json::Value<'_>)) {
    match value {
        json::Value::Array(items) => items.iter().for_each(|item| leaves(item, found)),
        json::Value::Object(members) => members.iter().for_each(|(_, item)| leaves(item, found)),
        leaf => found(leaf),
    }
}
