//! What the schema itself says about the value: its default, its examples, its descriptions.

use serde_json::Value as Json;

use super::facts::Facts;
use super::points::{DESCRIBED, DESCRIBED_AGAINST, DESCRIBED_BY_TOOL, OWN_DEFAULT};
use super::{Reason, say};

/// Words of a description that make a key optional.
const OPTIONAL: [&str; 14] = [
    "optional",
    "if omitted",
    "when omitted",
    "if not given",
    "if not provided",
    "if not specified",
    "if absent",
    "may be omitted",
    "can be omitted",
    "may be left out",
    "leave out",
    "leave empty",
    "defaults to",
    "by default",
];

/// Words that make it required, whatever else is said.
const REQUIRED: [&str; 4] = ["not optional", "required", "must be given", "mandatory"];

/// Words of a description that allow `null`.
const NULL: [&str; 4] = ["null", "none", "nil", "undefined"];

/// Words before a value that rule it out.
const NEGATIONS: [&str; 9] = [
    "not", "never", "no", "don't", "without", "cannot", "non", "avoid", "isn't",
];

/// How many words before a value are looked at for a negation.
const NEGATION_REACH: usize = 3;

/// Whether the value is the schema's own default, or one of its examples.
pub(super) fn own_default(facts: &Facts<'_>, reasons: &mut Vec<Reason>) {
    for node in &facts.nodes {
        if facts.key.issue == "required" {
            if node.get("default").is_some() {
                say(
                    reasons,
                    OWN_DEFAULT,
                    "the schema has a default for the missing key",
                );
                return;
            }
            continue;
        }
        if is_any(facts, node.get("default")) {
            say(reasons, OWN_DEFAULT, "equals the schema's own default");
            return;
        }
        let listed = node.get("examples").and_then(Json::as_array);
        let mut examples = listed.into_iter().flatten().chain(node.get("example"));
        if examples.any(|example| is_any(facts, Some(example))) {
            say(
                reasons,
                OWN_DEFAULT,
                "equals one of the schema's own examples",
            );
            return;
        }
    }
}

/// Whether a value of the schema stands for the whole cluster: it is the only value there is.
fn is_any(facts: &Facts<'_>, own: Option<&Json>) -> bool {
    own.is_some_and(|own| facts.values.len() == 1 && facts.values.contains(own))
}

/// What the descriptions say.
pub(super) fn described(facts: &Facts<'_>, reasons: &mut Vec<Reason>) {
    for text in facts.descriptions() {
        if let Some((points, why)) = said(facts, text, "the description") {
            return say(reasons, points, why);
        }
    }
    // A description further out may speak about something else, so it must name the thing.
    let around = facts.around.iter();
    let around = around.filter_map(|node| node.get("description")?.as_str());
    for text in around.chain([facts.declared.description.as_str()]) {
        match naming(facts, text) {
            Some((true, name)) => {
                let why = format!("the tool's description names {name}");
                return say(reasons, DESCRIBED_BY_TOOL, why);
            }
            Some((false, name)) => {
                let why = format!("the tool's description speaks against {name}");
                return say(reasons, DESCRIBED_AGAINST, why);
            }
            None => {}
        }
    }
}

/// What the description of the very parameter says.
fn said(facts: &Facts<'_>, text: &str, whose: &str) -> Option<(i32, String)> {
    let lower = text.to_lowercase();
    let phrase = |words: &[&'static str]| {
        let mut found = words.iter().copied();
        found.find(|word| position(&lower, word).is_some())
    };
    match (facts.key.issue.as_str(), facts.key.shape.as_str()) {
        ("required", _) => {
            if let Some(word) = phrase(&REQUIRED) {
                return Some((DESCRIBED_AGAINST, format!("{whose} says \"{word}\"")));
            }
            let word = phrase(&OPTIONAL)?;
            Some((DESCRIBED, format!("{whose} says \"{word}\"")))
        }
        (_, "null") => {
            let word = phrase(&NULL).or_else(|| phrase(&OPTIONAL))?;
            if is_negated(&lower, position(&lower, word)?) {
                return Some((DESCRIBED_AGAINST, format!("{whose} rules \"{word}\" out")));
            }
            Some((DESCRIBED, format!("{whose} says \"{word}\"")))
        }
        ("type" | "union", shape) => {
            let word = phrase(type_words(shape))?;
            if is_negated(&lower, position(&lower, word)?) {
                return Some((DESCRIBED_AGAINST, format!("{whose} rules \"{word}\" out")));
            }
            Some((DESCRIBED, format!("{whose} says \"{word}\"")))
        }
        ("maximum" | "minimum" | "max_length" | "min_length" | "max_items" | "min_items", _) => {
            let number = reached(facts, &lower)?;
            Some((DESCRIBED, format!("{whose} says \"{number}\"")))
        }
        _ => match naming(facts, text)? {
            (true, name) => Some((DESCRIBED, format!("{whose} names {name}"))),
            (false, name) => Some((DESCRIBED_AGAINST, format!("{whose} speaks against {name}"))),
        },
    }
}

/// Words for a type beside the declared one.
fn type_words(shape: &str) -> &'static [&'static str] {
    match shape {
        "number" => &["fraction", "decimal", "float", "fractional", "half"],
        "integer" => &[
            "or a number",
            "or number",
            "or integer",
            "or an integer",
            "or id",
            "numeric",
        ],
        "boolean" => &["or a boolean", "or boolean", "or true", "or false"],
        "date in a string" | "date-time in a string" => &["or a date", "or date", "iso 8601"],
        "string" | "empty string" => &[
            "or a string",
            "or string",
            "or text",
            "or a text",
            "or name",
        ],
        "object" | "empty object" => &["or an object", "or object"],
        array if array.contains("array") => &[
            "or a list",
            "or list",
            "or an array",
            "or array",
            "one or more",
            "list of",
        ],
        _ => &[],
    }
}

/// The number of a description that the cluster stays within, where the schema's limit is tighter.
fn reached(facts: &Facts<'_>, text: &str) -> Option<String> {
    let is_most = facts.key.issue.starts_with("max");
    let extreme = if is_most {
        facts.cluster.largest?
    } else {
        facts.cluster.smallest?
    };
    let words = text.split(|letter: char| !(letter.is_alphanumeric() || "-.,".contains(letter)));
    for word in words {
        let digits = word.trim_matches(|letter| "-.,".contains(letter) && letter != '-');
        let Ok(number) = digits.replace(',', "").parse::<f64>() else {
            continue;
        };
        // `up to 500` for what was seen up to 480, and not for what was seen up to 12.
        let (least, most) = (
            extreme.abs().min(number.abs()),
            extreme.abs().max(number.abs()),
        );
        let is_within = if is_most {
            extreme <= number
        } else {
            extreme >= number
        };
        if (is_within && least * 2.0 >= most) || (extreme - number).abs() < f64::EPSILON {
            return Some(digits.to_owned());
        }
    }
    None
}

/// Whether a text names the key or the value, and whether it is for it.
fn naming(facts: &Facts<'_>, text: &str) -> Option<(bool, String)> {
    let name = match facts.key.issue.as_str() {
        "unknown_key" => facts.name.clone(),
        "enum" | "const" => match serde_json::from_str(&facts.key.shape).ok()? {
            Json::String(value) => value,
            value @ Json::Number(_) => value.to_string(),
            _ => return None,
        },
        "format" | "pattern" => match &facts.values[..] {
            [Json::String(value)] => value.clone(),
            _ => return None,
        },
        _ => return None,
    };
    // A letter or two, and words of every text, must be in quotes to be meant.
    let lower = text.to_lowercase();
    let wanted = name.to_lowercase();
    let quoted = ['"', '\'', '`'].iter().find_map(|quote| {
        let quoted = format!("{quote}{wanted}{quote}");
        lower.find(&quoted)
    });
    let plain = (wanted.len() >= 3)
        .then(|| position(&lower, &wanted))
        .flatten();
    let at = quoted.or(plain)?;
    Some((!is_negated(&lower, at), format!("\"{name}\"")))
}

/// Where a word or a phrase stands in a text, as whole words.
fn position(text: &str, phrase: &str) -> Option<usize> {
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let found = text.match_indices(phrase).map(|(at, _)| at);
    let mut whole = found.filter(|at| {
        let before = text[..*at].chars().next_back();
        let after = text[at + phrase.len()..].chars().next();
        !before.is_some_and(is_word) && !after.is_some_and(is_word)
    });
    whole.next()
}

/// Whether one of the words before a place, in the same sentence, says no.
fn is_negated(text: &str, at: usize) -> bool {
    let sentence = text[..at].rsplit(['.', ';', '!', '?']).next();
    let words = sentence.unwrap_or_default();
    let words = words.split(|letter: char| !(letter.is_alphanumeric() || letter == '\''));
    let last: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let reach = last.len().saturating_sub(NEGATION_REACH);
    last[reach..].iter().any(|word| NEGATIONS.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_are_whole_words() {
        assert_eq!(position("a nullable text", "null"), None);
        assert_eq!(position("a text or null.", "null"), Some(10));
        assert_eq!(position("größe: null", "null"), Some(9));
    }

    #[test]
    fn a_negation_reaches_a_few_words() {
        let negated = |text: &str| is_negated(text, text.len());
        assert!(negated("do not use "));
        assert!(negated("must never be "));
        assert!(!negated("not every value is a name. the word "));
    }
}
