//! What is a slip, whoever makes it: a text that is cut off, a number in quotes, a misspelt name, a placeholder.

use callwright::validate::IssueCode;
use serde_json::Value as Json;

use super::facts::Facts;
use super::outcome::ratio;
use super::points::{
    CONFUSION, FAR_FROM_LIMIT, FILLER, HEALED, MISSING_KEY, MISSPELT_KEY, MISSPELT_VALUE,
    NEAR_LIMIT, NEVER, OTHER_CASE, OTHER_TYPE, OWN_RESULT, PLACEHOLDER, STANDS_FOR_ALL,
    UNKNOWN_KEY, UNQUOTED,
};
use super::spelling::{is_same_in_other_letters, misspelt};
use super::{Reason, say};
use crate::summary::Side;

/// Rules of repair that mend a slip of the pen, whatever the schema is: what was meant stands there already.
const HEALING: [&str; 8] = [
    "boolean_from_string",
    "date_separators",
    "json_from_string",
    "key_repeated",
    "key_spelling",
    "layer_unwrapped",
    "list_layer",
    "number_from_string",
];

/// From this share of the calls on a rule speaks for the cluster.
const HEALED_FROM: f64 = 0.5;

/// Texts that stand for a value that somebody was to fill in, or that say that there is none.
const PLACEHOLDERS: [&str; 21] = [
    "string",
    "n/a",
    "todo",
    "tbd",
    "placeholder",
    "undefined",
    "xxx",
    "...",
    "?",
    "value",
    "example",
    "unknown",
    "none",
    "na",
    "nil",
    "-",
    "missing",
    "not provided",
    "not specified",
    "not available",
    "not given",
];

/// Words for true and false in many languages of programs.
const BOOLEANS: [&str; 12] = [
    "true", "false", "yes", "no", "on", "off", "y", "n", "t", "f", "1", "0",
];

/// What violations of this kind are in general.
pub(super) fn in_general(facts: &Facts<'_>, reasons: &mut Vec<Reason>) {
    let issue = facts.key.issue.as_str();
    let is_of_schema = IssueCode::ALL.iter().any(|code| code.name() == issue);
    if !is_of_schema || issue == "duplicate_key" {
        let why = match issue {
            "unknown_tool" => "no such tool is declared",
            "duplicate_key" => "one key stands twice, and nobody knows which is meant",
            "truncated_call" | "truncated_response" => "cut off before its end",
            "invalid_json" | "invalid_output_json" => "not JSON",
            _ => "no matter of the schema",
        };
        return say(reasons, NEVER, why);
    }
    if facts.key.shape == "masked" {
        return say(
            reasons,
            NEVER,
            "the value is a secret, and nobody can look at it",
        );
    }
    if facts.key.side == Side::Output {
        return say(reasons, OWN_RESULT, "the tool itself answers so");
    }
    if issue == "type" && facts.key.path.is_empty() {
        let why = "arguments are always an object";
        return say(reasons, NEVER, why);
    }
    match (issue, facts.key.shape.as_str()) {
        ("required" | "dependent_required", _) => {
            say(reasons, MISSING_KEY, "a missing key was mostly forgotten");
        }
        (_, "null" | "number") => {}
        ("type", _) => say(reasons, OTHER_TYPE, "another type is mostly a slip"),
        ("unknown_key", _) => {
            let why = "a key that nobody declared is mostly made up";
            say(reasons, UNKNOWN_KEY, why);
        }
        ("union" | "several_branches" | "not" | "not_allowed" | "other" | "contains", _) => {
            say(reasons, CONFUSION, "the call is mostly confused");
        }
        _ => {}
    }
}

/// What speaks for a slip.
pub(super) fn slips(facts: &Facts<'_>, reasons: &mut Vec<Reason>) {
    if facts.key.shape == "broken JSON in a string" {
        return say(reasons, NEVER, "broken JSON in a text");
    }
    limits(facts, reasons);
    if facts.key.side == Side::Output {
        return;
    }
    if is_healed(facts, reasons) {
        return;
    }
    placeholders(facts, reasons);
    misspellings(facts, reasons);
}

/// Whether repair mends it without loss.
fn is_healed(facts: &Facts<'_>, reasons: &mut Vec<Reason>) -> bool {
    let quoted = match facts.key.shape.as_str() {
        "integer in a string" | "number in a string" => "a number in quotes",
        "boolean in a string" => "a boolean in quotes",
        "null in a string" => "null in quotes",
        "object in a string" | "array in a string" => "JSON inside a text",
        _ => "",
    };
    if !quoted.is_empty() {
        say(
            reasons,
            HEALED,
            format!("{quoted}: a slip that repair heals"),
        );
        return true;
    }
    if is_boolean_word(facts) {
        say(
            reasons,
            HEALED,
            "a word for true or false, in quotes: to many programs every text is true",
        );
        return true;
    }
    let calls = facts.cluster.calls;
    let healed = |rule: &str| {
        let times = facts.cluster.rules.get(rule).copied();
        times.filter(|times| ratio(*times, calls) >= HEALED_FROM)
    };
    for rule in HEALING {
        if let Some(times) = healed(rule) {
            let why = format!("{times} of {calls} are slips that repair heals ({rule})");
            say(reasons, HEALED, why);
            return true;
        }
    }
    for rule in ["string_from_scalar", "scalar_from_array"] {
        if let Some(times) = healed(rule) {
            let why = format!("{times} of {calls} are mended by repair without loss ({rule})");
            say(reasons, UNQUOTED, why);
        }
    }
    false
}

/// Whether a boolean belongs there, and words for booleans came.
fn is_boolean_word(facts: &Facts<'_>) -> bool {
    let is_boolean = |node: &&Json| {
        let name = node.get("type").and_then(Json::as_str);
        name.is_some_and(|name| name.eq_ignore_ascii_case("boolean"))
    };
    let is_word = |value: &Json| {
        let word = value.as_str().map(str::to_lowercase);
        word.is_some_and(|word| BOOLEANS.contains(&word.as_str()))
    };
    facts.key.issue == "type"
        && facts.nodes.iter().any(is_boolean)
        && !facts.values.is_empty()
        && facts.values.iter().all(is_word)
}

/// Whether at least half of the values only hold the place of one.
fn placeholders(facts: &Facts<'_>, reasons: &mut Vec<Reason>) {
    let texts: Vec<&str> = facts.values.iter().filter_map(Json::as_str).collect();
    let mut found = texts.iter().filter(|text| is_placeholder(text));
    let count = found.clone().count();
    let Some(first) = found.next().filter(|_| 2 * count >= texts.len()) else {
        return;
    };
    let points = match facts.key.issue.as_str() {
        "format" | "pattern" | "type" => FILLER,
        _ => PLACEHOLDER,
    };
    let why = format!("{first:?} stands for a value that was to be filled in");
    say(reasons, points, why);
}

fn is_placeholder(text: &str) -> bool {
    let lower = text.trim().to_lowercase();
    let between = |open: &str, close: &str| lower.starts_with(open) && lower.ends_with(close);
    PLACEHOLDERS.contains(&lower.as_str())
        || (lower.len() > 2 && (between("<", ">") || between("{", "}") || between("${", "}")))
        || ["your_", "your-", "insert_", "example_"]
            .iter()
            .any(|beginning| lower.starts_with(beginning))
}

/// Whether the key or the value is a misspelling of one that the schema knows.
fn misspellings(facts: &Facts<'_>, reasons: &mut Vec<Reason>) {
    match facts.key.issue.as_str() {
        "unknown_key" => {
            let known = facts.around.iter();
            let known = known.filter_map(|node| node.get("properties")?.as_object());
            let names = known.flat_map(|properties| properties.keys().map(String::as_str));
            if let Some(meant) = misspelt(&facts.name, names) {
                let why = format!("close to the key {meant:?}: a misspelling");
                say(reasons, MISSPELT_KEY, why);
            }
        }
        "enum" | "const" => {
            let Ok(Json::String(value)) = serde_json::from_str(&facts.key.shape) else {
                return;
            };
            let listed = facts.nodes.iter();
            let listed = listed.flat_map(|node| {
                let values = node.get("enum").and_then(Json::as_array);
                values.into_iter().flatten().chain(node.get("const"))
            });
            if let Some(meant) = misspelt(&value, listed.filter_map(Json::as_str)) {
                if is_same_in_other_letters(&value, meant) {
                    let why = format!("the allowed value {meant:?} in other letters");
                    say(reasons, OTHER_CASE, why);
                } else {
                    let why = format!("close to the allowed value {meant:?}: a misspelling");
                    say(reasons, MISSPELT_VALUE, why);
                }
            }
        }
        _ => {}
    }
}

/// How far a number or a length is from its limit.
fn limits(facts: &Facts<'_>, reasons: &mut Vec<Reason>) {
    let (keywords, extreme): (&[&str], _) = match facts.key.issue.as_str() {
        "maximum" => (&["maximum", "exclusiveMaximum"], facts.cluster.largest),
        "max_length" => (&["maxLength"], facts.cluster.largest),
        "max_items" => (&["maxItems"], facts.cluster.largest),
        _ => return,
    };
    let Some(extreme) = extreme else { return };
    let limit = facts.nodes.iter().find_map(|node| {
        let mut limits = keywords.iter().filter_map(|keyword| node.get(*keyword));
        limits.find_map(Json::as_f64)
    });
    let Some(limit) = limit.filter(|limit| *limit > 0.0) else {
        return;
    };
    if extreme <= limit * 10.0 {
        say(
            reasons,
            NEAR_LIMIT,
            format!("{extreme} is within ten times the limit of {limit}"),
        );
    } else if extreme > limit * 1000.0 {
        let why = format!("{extreme} is more than a thousand times the limit of {limit}");
        say(reasons, FAR_FROM_LIMIT, why);
    } else if let Some(number) = facts.values.iter().find(|value| stands_for_all(value)) {
        say(
            reasons,
            STANDS_FOR_ALL,
            format!("{number} stands for \"all of them\""),
        );
    }
}

/// Nines only, from four on, or the largest number of a common type.
fn stands_for_all(value: &Json) -> bool {
    const LARGEST: [u64; 6] = [
        0x7fff,
        0xffff,
        0x7fff_ffff,
        0xffff_ffff,
        0x1f_ffff_ffff_ffff,
        0x7fff_ffff_ffff_ffff,
    ];
    value.as_u64().is_some_and(|number| {
        let digits = number.to_string();
        let is_nines = digits.len() >= 4 && digits.bytes().all(|digit| digit == b'9');
        is_nines || LARGEST.contains(&number)
    })
}
