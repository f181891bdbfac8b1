//! Signs from the schema itself: its default, its examples, its descriptions.

use callwright::validate::IssueCode as Code;
use serde_json::Value as Json;

use super::ScoredReason;
use super::facts::Facts;
use super::signs::Sign;
use crate::summary::{HeldInText, ValueShape};

/// Phrases in a description that make a key optional. (Phrases are separated by `|`, and the first match counts.)
const OPTIONAL: &str = "optional|if omitted|when omitted|if not given|if not provided|if not specified|if absent|\
                        may be omitted|can be omitted|may be left out|leave out|leave empty|defaults to|by default";

/// Phrases that make it required, whatever else is said.
const REQUIRED: &str = "not optional|required|must be given|mandatory";

/// Phrases that allow `null`.
const NULL: &str = "null|none|nil|undefined";

/// Words before a value that rule it out.
const NEGATIONS: [&str; 9] = [
    "not", "never", "no", "don't", "without", "cannot", "non", "avoid", "isn't",
];

/// How many words before a value are searched for a negation.
const NEGATION_REACH: usize = 3;

/// Whether the value is the schema's own default, or one of its examples.
pub(super) fn own_default(facts: &Facts<'_>) -> Option<ScoredReason> {
    // A value in the schema speaks for the whole cluster if it is the only value there.
    let is_only = |own: &Json| matches!(&facts.values[..], [only] if only == own);
    let why = facts.nodes.iter().find_map(|node| {
        let default = node.get("default");
        if facts.code == Some(Code::Required) {
            return default.map(|_| "the schema has a default for the missing key");
        }
        if default.is_some_and(is_only) {
            return Some("equals the schema's own default");
        }
        let listed = node.get("examples").and_then(Json::as_array);
        let mut examples = listed.into_iter().flatten().chain(node.get("example"));
        (examples.any(is_only)).then_some("equals one of the schema's own examples")
    });
    Some(Sign::OwnDefault.because(why?))
}

/// What the descriptions say.
pub(super) fn described(facts: &Facts<'_>) -> Option<ScoredReason> {
    let of = |nodes: &[&'_ Json]| -> Vec<String> {
        let texts = nodes
            .iter()
            .filter_map(|node| node.get("description")?.as_str());
        texts.map(str::to_owned).collect()
    };
    if let Some(said) = of(&facts.nodes).iter().find_map(|text| said(facts, text)) {
        return Some(said);
    }
    // A description further out may be about something else, so it must name the thing.
    let mut around = of(&facts.around);
    around.push(facts.declaration.description.clone());
    let (is_for, name) = around.iter().find_map(|text| naming(facts, text))?;
    Some(if is_for {
        Sign::DescribedByTool.because(format!("the tool's description names {name}"))
    } else {
        Sign::DescribedAgainst.because(format!("the tool's description speaks against {name}"))
    })
}

/// What the parameter's own description says.
fn said(facts: &Facts<'_>, text: &str) -> Option<ScoredReason> {
    let lower = text.to_lowercase();
    let phrase = |phrases: &'static str| {
        let mut phrases = phrases.split('|');
        phrases.find(|phrase| position(&lower, phrase).is_some())
    };
    let says =
        |sign: Sign, word: &str| Some(sign.because(format!("the description says \"{word}\"")));
    let says_unless_negated = |word: &str| {
        if is_negated(&lower, position(&lower, word)?) {
            Some(Sign::DescribedAgainst.because(format!("the description rules \"{word}\" out")))
        } else {
            says(Sign::Described, word)
        }
    };
    match (facts.code?, facts.shape) {
        (Code::Required, _) => match phrase(REQUIRED) {
            Some(word) => says(Sign::DescribedAgainst, word),
            None => says(Sign::Described, phrase(OPTIONAL)?),
        },
        (_, ValueShape::Null) => says_unless_negated(phrase(NULL).or_else(|| phrase(OPTIONAL))?),
        (Code::Type | Code::Union, shape) => says_unless_negated(phrase(type_phrases(shape)?)?),
        (Code::Maximum | Code::MaxLength | Code::MaxItems, _) => says(
            Sign::Described,
            &reached(&lower, facts.cluster.largest?, true)?,
        ),
        (Code::Minimum | Code::MinLength | Code::MinItems, _) => says(
            Sign::Described,
            &reached(&lower, facts.cluster.smallest?, false)?,
        ),
        _ => Some(match naming(facts, text)? {
            (true, name) => Sign::Described.because(format!("the description names {name}")),
            (false, name) => {
                Sign::DescribedAgainst.because(format!("the description speaks against {name}"))
            }
        }),
    }
}

/// Phrases for a type beside the declared one.
fn type_phrases(shape: &ValueShape) -> Option<&'static str> {
    Some(match shape {
        ValueShape::Number => "fraction|decimal|float|fractional|half",
        ValueShape::Integer => "or a number|or number|or integer|or an integer|or id|numeric",
        ValueShape::Boolean => "or a boolean|or boolean|or true|or false",
        ValueShape::Date | ValueShape::DateTime => "or a date|or date|iso 8601",
        ValueShape::Text | ValueShape::EmptyText => {
            "or a string|or string|or text|or a text|or name"
        }
        ValueShape::Object | ValueShape::EmptyObject => "or an object|or object",
        ValueShape::ArrayOf(_)
        | ValueShape::MixedArray
        | ValueShape::EmptyArray
        | ValueShape::Holds(HeldInText::Array) => {
            "or a list|or list|or an array|or array|one or more|list of"
        }
        _ => return None,
    })
}

/// The number in a description that the values stay within, up (or down) to an extreme.
fn reached(text: &str, extreme: f64, is_most: bool) -> Option<String> {
    let words = text.split(|letter: char| !(letter.is_alphanumeric() || "-.,".contains(letter)));
    for word in words {
        let digits = word.trim_matches(|letter| "-.,".contains(letter) && letter != '-');
        let Ok(number) = digits.replace(',', "").parse::<f64>() else {
            continue;
        };
        // `up to 500` matches values seen up to 480, but not values seen up to 12.
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

/// Whether a text names the key or the value, and whether it speaks for it.
fn naming(facts: &Facts<'_>, text: &str) -> Option<(bool, String)> {
    let name = match facts.code? {
        Code::UnknownKey => facts.name.clone(),
        Code::Enum | Code::Const => match facts.shape.value()? {
            Json::String(value) => value,
            value @ Json::Number(_) => value.to_string(),
            _ => return None,
        },
        Code::Format | Code::Pattern => match &facts.values[..] {
            [Json::String(value)] => value.clone(),
            _ => return None,
        },
        _ => return None,
    };
    // One or two letters, and common words, must be in quotes to count.
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

/// Where a word or a phrase occurs in a text, as whole words.
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

/// Whether one of the words before a position, in the same sentence, is a negation.
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
