//! Any text as the arguments of any tool of the corpus, with any grade of repair.
//!
//! Input: two bytes that choose the tool, one that chooses the grade, then the text.
#![no_main]

use std::sync::LazyLock;

use callwright::parse::read_value;
use callwright::repair::{Edit, Grade, RepairPolicy};
use callwright::validate::SchemaCache;
use callwright::wire::read_tools;
use callwright::{Call, Gate, ToolSpec, Verdict, json};
use callwright_fuzz::{Bounds, assert_presentable, bounded, cases, plant, tools};
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

/// Every call of the corpus, as the first tool of its name that was declared as in its case.
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
    init: plant(seeds()),
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
                assert_nothing_dropped(text, repaired.arguments(), repaired.edits());
            }
        }
        _ => {}
    }
}

/// The calls that a refused one holds differ, would run, and hold nothing that was not sent.
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

/// What went to the tool is valid and stays as it is when it is sent again.
fn assert_fixed(gate: &Gate, tool: &str, arguments: &json::Value<'_>) {
    let text = arguments.to_string();
    let again = Call::from_text(tool, text.as_str());
    let verdict = gate.judge(&again);
    // Of a tool whose schema cannot be used nobody can say more.
    assert!(matches!(verdict, Verdict::Valid(_)), "{text}");
    assert_eq!(verdict.arguments(), Some(arguments));
}

/// Every leaf is in the text, perhaps escaped, or in the schema.
fn assert_nothing_invented(text: &str, declared: &str, arguments: &json::Value<'_>) {
    // Text may be in text in text.
    let mut sources = vec![text.to_owned()];
    for level in 0..4 {
        sources.push(unescaped(&sources[level]));
    }
    sources.extend([declared.to_owned(), unescaped(declared)]);
    let occurs = |leaf: &str| sources.iter().any(|source| source.contains(leaf));
    // A date may have got other separators; its digits stay.
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
            json::Value::Number(number) => occurs(number.as_str()),
            json::Value::Bool(yes) => {
                let word = if *yes { "true" } else { "false" };
                sources
                    .iter()
                    .any(|source| source.to_lowercase().contains(word))
            }
            _ => true,
        };
        assert!(ok, "{leaf} is neither in the call nor in the schema");
    });
}

/// Every word that was sent is in what goes to the tool, or in an edit on record that is not about words around the
/// call. Names of tags, of control tokens and of languages are shapes of a template, not words.
fn assert_nothing_dropped(text: &str, arguments: &json::Value<'_>, edits: &[Edit]) {
    // The words that templates, labels and fences are made of.
    const SHAPES: &str = "true false null none nil action actions ai analysis antml api arg args argument arguments \
        assistant b bash begin block bos bot c call calling calls channel chatbot code commentary constrain content d \
        deepseek dsml e end eod eom eos eot f fn from func function functionary functioncall functions functools gemma glm \
        go granite header hermes html http id im input inputs inst invocation invoke java javascript js json json5 jsonc \
        jsonl key kimi l list llama longcat ls markdown mcp md message minimax mistral model moonshot msg n name ndjson \
        nemotron object observation of output pad param parameter parameters params payload phi plain plaintext plugin \
        prompt py python python3 qwen r recipient request reserved response return role ruby rust s section seed sentence \
        sep separator sh shell sot special sql start stop t tag tags text think thinking thought tml to token tokens toml \
        tool toolcall tools ts turn txt type typescript u use value x xai xlam xml yaml yml";
    let words = |text: &str| -> Vec<String> {
        let runs = text.split(|c: char| !c.is_alphanumeric());
        runs.filter(|run| !run.is_empty())
            .map(str::to_lowercase)
            .collect()
    };
    let mut kept = String::new();
    everything(arguments, &mut kept);
    for edit in edits {
        assert!(!matches!(edit.rule, "prose" | "comment"), "{edit:?}");
        kept.push_str(edit.path.as_pointer());
        everything(&edit.before, &mut kept);
        everything(&edit.after, &mut kept);
    }
    let kept: String = words(&kept).concat();
    let is_shape = |word: &str| SHAPES.split_whitespace().any(|shape| shape == word);
    let is_kept = |word: &String| kept.contains(word.as_str()) || is_shape(word);
    // Templates write their words as one, cut off or with a slip, and reasoning may hold any: what is debris is for the
    // tests of the table to say. Here only what is between the first bracket and the last counts then.
    let is_debris = edits
        .iter()
        .any(|edit| matches!(edit.rule, "control_token" | "reasoning"));
    let inner = || text.get(text.find(['{', '['])?..=text.rfind(['}', ']'])?);
    let text = if is_debris {
        inner().unwrap_or_default()
    } else {
        text
    };
    // The id of a call beside its arguments is not an argument.
    let is_opened = edits.iter().any(|edit| edit.rule == "envelope");
    // Text may be in text may be in text.
    let mut level = without_tokens(text);
    if is_opened {
        level = without_ids(&level);
    }
    let mut missing = Vec::new();
    for _ in 0..5 {
        let lost = words(&level).into_iter().find(|word| !is_kept(word));
        let Some(lost) = lost else { return };
        missing.push(lost);
        level = unescaped(&level);
    }
    panic!("{missing:?} of {text:?} is gone: {arguments} {edits:?}");
}

/// A text without members that are called `id`.
fn without_ids(text: &str) -> String {
    let mut pieces = text.split("\"id\"");
    let mut rest = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        // The blank before the value, the value, and what comes after it.
        rest.push_str(piece.splitn(3, '"').nth(2).unwrap_or_default());
    }
    rest
}

/// A text without what looks like a control token.
fn without_tokens(text: &str) -> String {
    let mut pieces = text.split("<|");
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        out.push(' ');
        out.push_str(piece.split_once("|>").map_or(piece, |(_, rest)| rest));
    }
    out
}

/// Keys and leaves as text.
fn everything(value: &json::Value<'_>, out: &mut String) {
    match value {
        json::Value::Array(items) => items.iter().for_each(|item| everything(item, out)),
        json::Value::Object(members) => members.iter().for_each(|(key, item)| {
            out.push_str(key);
            out.push(' ');
            everything(item, out);
        }),
        json::Value::String(text) => out.push_str(text),
        leaf => out.push_str(&leaf.to_string()),
    }
    out.push(' ');
}

fn leaves(value: &json::Value<'_>, found: &mut impl FnMut(&json::Value<'_>)) {
    match value {
        json::Value::Array(items) => items.iter().for_each(|item| leaves(item, found)),
        json::Value::Object(members) => members.iter().for_each(|(_, item)| leaves(item, found)),
        leaf => found(leaf),
    }
}

/// A text with the escapes of JSON decoded, wherever they are.
fn unescaped(text: &str) -> String {
    let mut units: Vec<u16> = Vec::new();
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        rest = &rest[next.len_utf8()..];
        let kind = rest.chars().next().filter(|_| next == '\\');
        let decoded = match kind {
            Some('n') => '\n',
            Some('t') => '\t',
            Some('r') => '\r',
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some(plain @ ('"' | '\'' | '\\' | '/')) => plain,
            Some('u') => {
                if let Some(Ok(unit)) = rest.get(1..5).map(|hex| u16::from_str_radix(hex, 16)) {
                    units.push(unit);
                    rest = &rest[5..];
                    continue;
                }
                units.push(u16::from(b'\\'));
                continue;
            }
            _ => {
                units.extend(next.encode_utf16(&mut [0; 2]).iter());
                continue;
            }
        };
        rest = &rest[1..];
        units.extend(decoded.encode_utf16(&mut [0; 2]).iter());
    }
    String::from_utf16_lossy(&units)
}
