//! Slips that any model makes: a truncated text, a number in quotes, a misspelt name, a placeholder.

use callwright::failure::Code as Failure;
use callwright::validate::IssueCode as Code;
use serde_json::Value as Json;

use super::facts::Facts;
use super::outcome::ratio;
use super::signs::Sign;
use super::spelling::{is_same_in_other_letters, misspelt};
use super::{ScoredReason, limits};
use crate::summary::{HeldInText, Side, ValueShape, ViolationCode};

/// Repair rules that fix a slip of the pen, whatever the schema is: what was meant is already there.
const SLIPS_THAT_REPAIR_FIXES: &str = "boolean_from_string|date_separators|json_from_string|key_repeated|key_spelling|\
                                       layer_unwrapped|list_layer|number_from_string";

/// From this share of the calls on, a rule speaks for the cluster.
const REPAIRED_FROM: f64 = 0.5;

/// Texts that hold the place of a value to be filled in, or say that there is none.
const PLACEHOLDERS: &str = "string|n/a|todo|tbd|placeholder|undefined|xxx|...|?|value|example|unknown|none|na|nil|-|\
                            missing|not provided|not specified|not available|not given";

/// Words for true and false in many programming languages.
const BOOLEANS: [&str; 12] = [
    "true", "false", "yes", "no", "on", "off", "y", "n", "t", "f", "1", "0",
];

/// What violations of this kind generally are.
pub(super) fn in_general(facts: &Facts<'_>) -> Option<ScoredReason> {
    let Some(code) = facts.code else {
        let ViolationCode::Failure(failure) = facts.key.issue else {
            return Some(Sign::Never.because("not about the schema"));
        };
        return Some(Sign::Never.because(match failure {
            Failure::UnknownTool => "no such tool is declared",
            Failure::TruncatedCall | Failure::TruncatedResponse => "cut off before its end",
            Failure::InvalidJson | Failure::InvalidOutputJson => "not JSON",
            _ => "not about the schema",
        }));
    };
    let (sign, why) = match (code, facts.shape) {
        (Code::DuplicateKey, _) => (
            Sign::Never,
            "a key appears twice, so it is unclear which is meant",
        ),
        (_, ValueShape::Masked) => (Sign::Never, "the value is a secret and cannot be looked at"),
        _ if facts.key.side == Side::Output => (Sign::OwnResult, "the tool itself returns this"),
        (Code::Type, _) if facts.key.path.is_empty() => {
            (Sign::Never, "arguments are always an object")
        }
        (Code::Required | Code::DependentRequired, _) => {
            (Sign::MissingKey, "a missing key was mostly forgotten")
        }
        (_, ValueShape::Null | ValueShape::Number) => return None,
        (Code::Type, _) => (Sign::OtherType, "another type is mostly a slip"),
        (Code::UnknownKey, _) => (Sign::UnknownKey, "an undeclared key is mostly made up"),
        (
            Code::Union
            | Code::SeveralBranches
            | Code::Not
            | Code::NotAllowed
            | Code::Other
            | Code::Contains,
            _,
        ) => (Sign::Confusion, "the call is mostly confused"),
        _ => return None,
    };
    Some(sign.because(why))
}

/// Signs of a slip.
pub(super) fn slips(facts: &Facts<'_>) -> Vec<ScoredReason> {
    if *facts.shape == ValueShape::Holds(HeldInText::BrokenJson) {
        return vec![Sign::Never.because("broken JSON in a text")];
    }
    let mut reasons = Vec::from_iter(limits::distance(facts));
    if facts.key.side == Side::Input {
        if let Some(repaired) = repaired(facts) {
            reasons.push(repaired);
        } else {
            reasons.extend(unquoted(facts));
            reasons.extend(placeholder(facts));
            reasons.extend(misspelling(facts));
        }
    }
    reasons
}

/// Whether repair fixes it without loss.
fn repaired(facts: &Facts<'_>) -> Option<ScoredReason> {
    let quoted = match facts.shape {
        ValueShape::Holds(HeldInText::Integer | HeldInText::Number) => "a number in quotes",
        ValueShape::Holds(HeldInText::Boolean) => "a boolean in quotes",
        ValueShape::Holds(HeldInText::Null) => "null in quotes",
        ValueShape::Holds(HeldInText::Object | HeldInText::Array) => "JSON inside a text",
        _ => "",
    };
    if !quoted.is_empty() {
        return Some(Sign::Repaired.because(format!("{quoted}: a slip that repair fixes")));
    }
    if is_boolean_word(facts) {
        let why = "a word for true or false, in quotes: to many programs every text is true";
        return Some(Sign::Repaired.because(why));
    }
    SLIPS_THAT_REPAIR_FIXES.split('|').find_map(|rule| {
        let calls = facts.cluster.calls;
        let times = times_applied(facts, rule)?;
        let why = format!("{times} of {calls} are slips that repair fixes ({rule})");
        Some(Sign::Repaired.because(why))
    })
}

/// How often a repair rule was applied, if it speaks for the cluster.
fn times_applied(facts: &Facts<'_>, rule: &str) -> Option<u64> {
    let times = facts.cluster.rules.get(rule).copied()?;
    (ratio(times, facts.cluster.calls) >= REPAIRED_FROM).then_some(times)
}

/// Whether repair adds quotes, or takes a value out of a list.
fn unquoted(facts: &Facts<'_>) -> impl Iterator<Item = ScoredReason> {
    let rules = ["string_from_scalar", "scalar_from_array"].into_iter();
    rules.filter_map(|rule| {
        let (times, calls) = (times_applied(facts, rule)?, facts.cluster.calls);
        let why = format!("{times} of {calls} are repaired without loss ({rule})");
        Some(Sign::Unquoted.because(why))
    })
}

/// Whether a boolean is expected, and words for booleans were sent.
fn is_boolean_word(facts: &Facts<'_>) -> bool {
    let is_boolean = |node: &&Json| {
        let name = node.get("type").and_then(Json::as_str);
        name.is_some_and(|name| name.eq_ignore_ascii_case("boolean"))
    };
    let is_word = |value: &Json| {
        let word = value.as_str().map(str::to_lowercase);
        word.is_some_and(|word| BOOLEANS.contains(&word.as_str()))
    };
    facts.code == Some(Code::Type)
        && facts.nodes.iter().any(is_boolean)
        && !facts.values.is_empty()
        && facts.values.iter().all(is_word)
}

/// Whether at least half of the values are only placeholders.
fn placeholder(facts: &Facts<'_>) -> Option<ScoredReason> {
    let texts: Vec<&str> = facts.values.iter().filter_map(Json::as_str).collect();
    let mut found = texts.iter().filter(|text| is_placeholder(text));
    let count = found.clone().count();
    let first = found.next().filter(|_| 2 * count >= texts.len())?;
    let sign = match facts.code {
        Some(Code::Format | Code::Pattern | Code::Type) => Sign::Filler,
        _ => Sign::Placeholder,
    };
    let why = format!("{first:?} is a placeholder for a value");
    Some(sign.because(why))
}

fn is_placeholder(text: &str) -> bool {
    let lower = text.trim().to_lowercase();
    let between = |open: &str, close: &str| lower.starts_with(open) && lower.ends_with(close);
    PLACEHOLDERS.split('|').any(|known| known == lower)
        || (lower.len() > 2 && (between("<", ">") || between("{", "}") || between("${", "}")))
        || ["your_", "your-", "insert_", "example_"]
            .iter()
            .any(|beginning| lower.starts_with(beginning))
}

/// Whether the key or the value is a misspelling of one that the schema knows.
fn misspelling(facts: &Facts<'_>) -> Option<ScoredReason> {
    match facts.code? {
        Code::UnknownKey => {
            let known = facts.around.iter();
            let known = known.filter_map(|node| node.get("properties")?.as_object());
            let names = known.flat_map(|properties| properties.keys().map(String::as_str));
            let meant = misspelt(&facts.name, names)?;
            let why = format!("close to the key {meant:?}: a misspelling");
            Some(Sign::MisspeltKey.because(why))
        }
        Code::Enum | Code::Const => {
            let Some(Json::String(value)) = facts.shape.value() else {
                return None;
            };
            let listed = facts.nodes.iter().flat_map(|node| {
                let values = node.get("enum").and_then(Json::as_array);
                values.into_iter().flatten().chain(node.get("const"))
            });
            let meant = misspelt(&value, listed.filter_map(Json::as_str))?;
            Some(if is_same_in_other_letters(&value, meant) {
                Sign::OtherCase.because(format!("the allowed value {meant:?} in other letters"))
            } else {
                let why = format!("close to the allowed value {meant:?}: a misspelling");
                Sign::MisspeltValue.because(why)
            })
        }
        _ => None,
    }
}
