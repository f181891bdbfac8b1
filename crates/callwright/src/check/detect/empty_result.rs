//! Detects an empty result of a call that names its subject.
//!
//! A tool that looks up `customer_id` "C-17" and finds nothing returns `{"orders": []}`, and a model reads that as a fact about
//! a customer who may not exist. Detected: results with nothing in them, and short texts that say so, if an argument is an id
//! by its name or by `format: uuid`. Ignored: calls that only search or filter, tools that change something (many of them
//! return an empty result for "done"), paths and addresses (a file may be empty), ids of the surroundings such as `session_id`,
//! and any result with anything else in it, even just the id: a tool that repeats it may know it.

mod ids;

use std::sync::LazyLock;

use regex::Regex;

use super::names::{is_one_of, unwrapped};
use crate::json::{Path, Value};
use crate::nearest::words;
use crate::text::{quoted, snippet};
use crate::tool::Tool;
use crate::vocabulary::{Effect, LOOKING, OutputFault, word_list};

/// How much of an id is shown, in characters. Ids are shorter.
const SHOWN: usize = 80;

/// The longest text that can say that nothing was found, in bytes: a sentence.
const LONGEST_TEXT: usize = 160;

/// Words in the name of a tool that returns something that exists, besides those of [`LOOKING`].
const LOOKS: &[&str] = word_list![
    lookup look retrieve load details detail info information status track history summary select
    check browse by
];

/// Words in the name of a tool that changes something.
const CHANGES: &[&str] = word_list![
    create update delete remove add set send post put patch insert write save cancel book
    reserve submit move rename assign unassign close open start stop press click type run
    execute upload invite approve reject archive restore transfer pay refund modify edit mark
    notify clear
];

/// Members next to an empty list that add nothing.
const BESIDE: &[&str] = word_list![
    count total totalcount totalresults totalitems totalhits totalpages size page pagesize
    perpage limit offset skip hasmore hasnext hasnextpage next nextcursor nextpage nextpagetoken
    cursor previous prev pagination paging pageinfo meta metadata links status success ok
    message
];

/// Members that say that there is something after all: on another page, or in total.
const ELSEWHERE: &[&str] = word_list![
    count total totalcount totalresults totalitems totalhits totalpages hasmore hasnext
    hasnextpage next nextcursor nextpage nextpagetoken previous prev cursor
];

/// Nouns for a missing thing, besides the names that the call uses.
const NOUNS: &[&str] = word_list![
    result results record records entry entries item items match matches data row rows documents
];

/// `No orders found for customer C-17.`, `Order not found`
static NOTHING: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let none = r"(?:no|0|zero) (?:matching |such )?(?<a>[a-z]+)(?: (?:was|were))? (?:found|available|returned|exists?|matched)(?: .*)?";
    let bare = r"no (?:matching )?(?<b>[a-z]+)";
    let missing =
        r"(?:the |this )?(?<c>[a-z]+)(?: \S+)?(?: was| were| is| could)? not (?:be )?found";
    let absent = r"(?:the |this )?(?<d>[a-z]+)(?: \S+)? does not exist";
    let nothing = r"(?<e>nothing|none) (?:was )?found(?: .*)?|not found";
    Regex::new(&format!(
        r"(?i)^(?:{none}|{bare}|{missing}|{absent}|{nothing})[.!]?$"
    ))
    .ok()
});

pub(in crate::check) fn empty_result(
    tool: &Tool,
    arguments: &Value<'_>,
    output: &Value<'_>,
) -> Option<OutputFault> {
    if matches!(tool.spec().effect, Effect::Write | Effect::Destructive) {
        return None;
    }
    let kind = emptiness(output)?;
    let tool_words = words(tool.name());
    let has = |list: &[&str]| tool_words.iter().any(|word| list.contains(&word.as_str()));
    let looks = tool.spec().effect == Effect::Read || has(LOOKING) || has(LOOKS);
    if !looks && (has(CHANGES) || kind != Emptiness::List) {
        return None;
    }
    let (name, value) = ids::named(tool, arguments)?;
    let mut known = words(name);
    known.extend(tool_words);
    let fits = match kind {
        Emptiness::List | Emptiness::Nothing => true,
        Emptiness::Absent(member) => is_about(&[member.to_ascii_lowercase()], &known),
        Emptiness::Text(text) => says_nothing(text, &known),
    };
    let path = Path::root().key(name);
    let shown = (!is_secret(tool, &path)).then(|| shown(value));
    fits.then_some(OutputFault::Empty {
        argument: path,
        value: shown,
    })
}

/// How a result is empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Emptiness<'v> {
    /// A list without items, alone or in an object with nothing else of note.
    List,
    /// `null`, `""`, `{}`.
    Nothing,
    /// An object whose only member is `null`.
    Absent(&'v str),
    /// A short text that may say that nothing was found.
    Text(&'v str),
}

fn emptiness<'v>(output: &'v Value<'_>) -> Option<Emptiness<'v>> {
    match unwrapped(output) {
        Value::Null => Some(Emptiness::Nothing),
        Value::String(text) => match text.trim() {
            "" | "null" | "None" | "nil" | "undefined" | "{}" => Some(Emptiness::Nothing),
            "[]" => Some(Emptiness::List),
            text if text.len() <= LONGEST_TEXT && !text.contains('\n') => {
                Some(Emptiness::Text(text))
            }
            _ => None,
        },
        Value::Array(items) => items.is_empty().then_some(Emptiness::List),
        Value::Object(members) => match members.as_slice() {
            [] => Some(Emptiness::Nothing),
            [(key, Value::Null)] => Some(Emptiness::Absent(key)),
            members => {
                let is_list = |(_, value): &(_, Value<'_>)| is_empty_list(value);
                let says_more = members.iter().any(|(key, value)| {
                    is_elsewhere(key, value)
                        || match value {
                            Value::Array(_) => !is_empty_list(value),
                            Value::Null | Value::Bool(false) => false,
                            Value::Object(inner) => {
                                (!inner.is_empty() && !is_one_of(key, BESIDE))
                                    || inner.iter().any(|(key, value)| is_elsewhere(key, value))
                            }
                            _ => !is_one_of(key, BESIDE),
                        }
                });
                (!says_more && members.iter().any(is_list)).then_some(Emptiness::List)
            }
        },
        Value::Bool(_) | Value::Number(_) => None,
    }
}

/// Whether a member says that there is something on another page.
fn is_elsewhere(key: &str, value: &Value<'_>) -> bool {
    let says = match value {
        Value::Bool(yes) => *yes,
        Value::Number(number) => number.as_f64() > 0.0,
        Value::String(text) => !text.is_empty(),
        _ => false,
    };
    says && is_one_of(key, ELSEWHERE)
}

fn is_empty_list(value: &Value<'_>) -> bool {
    matches!(value, Value::Array(items) if items.is_empty())
}

/// Whether a text says that the call's subject was not found.
fn says_nothing(text: &str, known: &[String]) -> bool {
    let Some(found) = NOTHING.as_ref().and_then(|pattern| pattern.captures(text)) else {
        return false;
    };
    let nouns: Vec<String> = ["a", "b", "c", "d"]
        .iter()
        .filter_map(|group| found.name(group))
        .map(|noun| noun.as_str().to_lowercase())
        .collect();
    nouns.is_empty() || is_about(&nouns, known)
}

/// Whether a noun is a general one or a word of the call, in singular or plural.
fn is_about(nouns: &[String], known: &[String]) -> bool {
    let same = |noun: &str, word: &str| {
        noun == word || noun.strip_suffix('s') == Some(word) || word.strip_suffix('s') == Some(noun)
    };
    nouns
        .iter()
        .all(|noun| NOUNS.contains(&noun.as_str()) || known.iter().any(|word| same(noun, word)))
}

/// Whether an argument must not be shown. If that is unknown, because the schema cannot be used, it must not.
fn is_secret(tool: &Tool, path: &Path) -> bool {
    tool.takes_secrets()
        && tool
            .schema()
            .is_none_or(|schema| !schema.source().is_object() || schema.hides(path))
}

fn shown(value: &Value<'_>) -> String {
    match value {
        Value::String(text) => quoted(text, SHOWN),
        other => snippet(&other.to_string(), SHOWN),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pattern_is_a_pattern() {
        assert!(NOTHING.is_some());
    }

    #[test]
    fn texts_refer_to_the_subject_of_the_call() {
        let known = words("get_order order_id");
        for text in [
            "No results found",
            "No orders found for C-17.",
            "Order not found",
            "Order C-17 was not found.",
            "Not found",
            "Nothing found",
            "No data",
            "0 records found",
            "The order C-17 does not exist.",
        ] {
            assert!(says_nothing(text, &known), "{text}");
        }
        for text in [
            "No",
            "No problems found",
            "No vulnerabilities were found",
            "No, the order was shipped.",
            "The parcel was not found damaged",
            "Order shipped; invoice not found in the mail",
            "ok",
        ] {
            assert!(!says_nothing(text, &known), "{text}");
        }
    }
}
