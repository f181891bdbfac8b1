//! The noun phrases for what was expected, what was received and what was probably meant.
//!
//! Every phrase about a value, a key or a schema is made here, and only for issues that are shown. Values are never shown in
//! full: enough to recognise them, little enough for path, expectation and value to share a line.

use std::collections::HashSet;
use std::fmt;

use serde_json::Value as Schema;

use crate::text::{cut_line, fitting, list, list_of, one_line, push_cut, quoted, snippet};
use crate::vocabulary::{
    Comparison, Correction, Expected, IssueCode, Received, ReceivedKeys, Unit,
};

/// How many characters of a received value, a constant or a key are shown: enough to recognise it, little enough for path,
/// expectation and value to share a line of 100.
const PREVIEW: usize = 30;

/// How many characters of an allowed value are shown. Half a value cannot be sent, so it is cut later than others.
const ALLOWED_VALUE: usize = 60;

/// Up to this many allowed values or keys are all shown, if the line has room for them: models choose among what they see.
const SHOWN_WHOLE: usize = 10;

/// How many characters a longer list of allowed values or keys may take.
const LONG_LIST: usize = 48;

/// How many characters a list of received keys may take: it is the whole message.
const RECEIVED_LIST: usize = 40;

/// How many characters the alternatives of a union may take, for the same reason.
const ALTERNATIVES: usize = 60;

/// How many characters of a regular expression are shown.
const REGEX: usize = 40;

/// How many characters a tool's own message about an argument may have: it is the whole line.
const STATED: usize = 100;

pub(super) fn push_all(out: &mut String, parts: &[&str]) {
    for part in parts {
        out.push_str(part);
    }
}

/// Appends what was expected, as a noun phrase.
pub(super) fn push_expected(out: &mut String, expected: &Expected) {
    match expected {
        Expected::Type(name) => out.push_str(name.name()),
        Expected::ArrayOf(item) => push_all(out, &["array of ", item.name(), "s"]),
        Expected::ObjectWith(keys) => push_all(out, &["object with ", &list(keys, PREVIEW)]),
        Expected::OneOfTypes(types) => out.push_str(&either(&texts(types))),
        Expected::OneOf(_) | Expected::Key(_) => out.push_str(&choice(expected, usize::MAX)),
        Expected::Constant(value) | Expected::Schema(value) => out.push_str(&literal(value)),
        Expected::AnyOf(all) => out.push_str(&alternatives(all)),
        Expected::ExactlyOneOf(all) => push_all(out, &["exactly one of ", &alternatives(all)]),
        Expected::Not(ruled_out) => push_all(out, &["anything but ", &ruled_out.to_string()]),
        Expected::AnotherForm => out.push_str("another form"),
        Expected::AnyValue => out.push_str("any value"),
        Expected::SomeValue => out.push_str("a value"),
        Expected::Nothing => out.push_str("nothing here"),
        Expected::Limit {
            comparison,
            limit,
            unit,
        } => {
            let limit = limit.to_string();
            push_all(out, &[comparison_words(*comparison), " ", &limit]);
            if let Some(unit) = unit {
                push_unit(out, unit_name(*unit), limit == "1");
            }
        }
        Expected::NumberWithin(name, comparison, limit) => {
            let words = comparison_words(*comparison);
            push_all(out, &[name.name(), " of ", words, " ", &limit.to_string()]);
        }
        Expected::MultipleOf(step) => push_all(out, &["a multiple of ", &step.to_string()]),
        Expected::Format(name) => match format_example(name) {
            Some(example) => push_all(out, &[name, " like ", example]),
            None => push_all(out, &["string in ", &quoted(name, PREVIEW), " format"]),
        },
        Expected::Pattern(regex) => push_all(out, &["string matching ", &quoted(regex, REGEX)]),
        Expected::ShorterText => out.push_str("shorter text: its pattern takes too many steps"),
        Expected::UniqueItems => out.push_str("unique items"),
        Expected::NoFurtherItems => out.push_str("no further items"),
        Expected::Containing { item, least, most } => {
            let item = match item {
                Some(item) => item.to_string(),
                None => "a certain item".to_owned(),
            };
            let count = match (least, most) {
                (None, None) => return push_all(out, &["array that contains ", &item]),
                (Some(least), None) => format!("at least {least}"),
                (Some(least), Some(most)) if least == most => format!("exactly {least}"),
                (Some(least), Some(most)) => format!("{least} to {most}"),
                (None, Some(most)) => format!("1 to {most}"),
            };
            push_all(out, &["array with ", &count, " items that are ", &item]);
        }
        Expected::KeyMatching(regexes) => {
            push_all(out, &["keys matching ", &list(regexes, LONG_LIST)]);
        }
        Expected::KeyThatIs(rule) => match rule.as_deref() {
            Some(Expected::Pattern(regex)) => {
                push_all(out, &["key matching ", &quoted(regex, REGEX)]);
            }
            Some(limit @ Expected::Limit { .. }) => push_all(out, &["key of ", &limit.to_string()]),
            Some(rule) => push_all(out, &["key that is ", &rule.to_string()]),
            None => out.push_str("key that is allowed by the schema"),
        },
        Expected::NoFurtherKeys => out.push_str("no further keys"),
        Expected::EachKeyOnce => out.push_str("each key once"),
        Expected::FittingArguments => out.push_str("arguments that fit the tool's schema"),
        Expected::Keyword { name, rule } => match rule {
            Some(rule) => push_all(out, &[name, " ", &quoted(rule, PREVIEW)]),
            None => push_all(out, &["value that satisfies ", name]),
        },
        Expected::Hidden(code) => out.push_str(match code {
            IssueCode::Enum => "one of the allowed values",
            IssueCode::Const => "the allowed value",
            _ => "another value",
        }),
        Expected::Stated(text) => out.push_str(&one_line(text, STATED)),
        Expected::Masked(text) => out.push_str(text),
    }
}

/// Appends what was received, as a noun phrase: its type and its beginning.
pub(super) fn push_received(out: &mut String, received: &Received) {
    match received {
        Received::Nothing => {}
        Received::Null => out.push_str("null"),
        Received::Boolean(true) => out.push_str("boolean true"),
        Received::Boolean(false) => out.push_str("boolean false"),
        Received::Number(digits) => {
            out.push_str("number ");
            push_cut(out, digits, PREVIEW);
        }
        Received::Text(text) => {
            out.push_str("string \"");
            push_cut(out, text, PREVIEW);
            out.push('"');
            if matches!(text.trim(), "undefined" | "NaN") {
                out.push_str(" (an unresolved variable)");
            }
        }
        Received::TextOfLength { characters, start } => {
            push_count(out, "string of ", *characters, "character");
            push_all(out, &[" ", &quoted(start, PREVIEW)]);
        }
        Received::Array(0) => out.push_str("empty array"),
        Received::Array(items) => push_count(out, "array of ", *items, "item"),
        Received::Object(keys) if keys.count == 0 => out.push_str("empty object"),
        Received::Object(keys) => push_keys(out, "object with ", keys, PREVIEW),
        Received::ObjectOfSize(keys) => push_count(out, "object of ", *keys, "key"),
        Received::Hidden(kind) => push_all(out, &[kind.name(), " (hidden)"]),
        Received::Key(name) => push_all(out, &["key ", &quoted(name, PREVIEW)]),
        Received::UnknownKey(name) => push_all(out, &["unknown key ", &quoted(name, PREVIEW)]),
        Received::Keys(keys) => push_keys(out, "keys ", keys, RECEIVED_LIST),
        Received::KeyAgain => out.push_str("the same key again"),
        Received::Masked { text, .. } => out.push_str(text),
    }
}

/// Appends what was probably meant.
fn push_correction(out: &mut String, correction: &Correction) {
    match correction {
        Correction::Use(text) | Correction::Masked(text) => out.push_str(text),
        Correction::Value(value) => out.push_str(&value.to_string()),
        Correction::LeaveOut => out.push_str("leave it out"),
        Correction::Rename { from, to } => {
            let (from, to) = (quoted(from, PREVIEW), quoted(to, PREVIEW));
            push_all(out, &["rename ", &from, " to ", &to]);
        }
    }
}

macro_rules! display {
    ($($type:ty => $push:ident),*) => {
        $(impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let mut out = String::new();
                $push(&mut out, self);
                f.pad(&out)
            }
        })*
    };
}

display!(Expected => push_expected, Received => push_received, Correction => push_correction);

/// `1 item`, `2 items`.
fn push_count(out: &mut String, before: &str, count: usize, noun: &str) {
    push_all(out, &[before, &count.to_string()]);
    push_unit(out, noun, count == 1);
}

fn push_unit(out: &mut String, noun: &str, is_one: bool) {
    push_all(out, &[" ", noun, if is_one { "" } else { "s" }]);
}

fn push_keys(out: &mut String, before: &str, keys: &ReceivedKeys, max: usize) {
    push_all(out, &[before, &list_of(&keys.first, keys.count, max)]);
}

fn comparison_words(comparison: Comparison) -> &'static str {
    match comparison {
        Comparison::AtLeast => "at least",
        Comparison::AtMost => "at most",
        Comparison::MoreThan => "more than",
        Comparison::LessThan => "less than",
    }
}

fn unit_name(unit: Unit) -> &'static str {
    match unit {
        Unit::Characters => "character",
        Unit::Items => "item",
        Unit::Keys => "key",
    }
}

/// A constant of the schema as JSON, cut.
fn literal(value: &Schema) -> String {
    match value {
        Schema::String(text) => quoted(text, ALLOWED_VALUE),
        other => snippet(&other.to_string(), ALLOWED_VALUE),
    }
}

/// What was expected, in at most `max` characters. Never shows more than the full phrase does, since that is what is searched
/// for secrets.
pub(super) fn expected_within(expected: &Expected, max: usize) -> String {
    match expected {
        Expected::OneOf(_) | Expected::Key(_) => choice(expected, max),
        other => cut_line(other.to_string(), max),
    }
}

/// The allowed values, in at most `max` characters: `"only"`, `one of "a", "b" … +3`.
fn choice(expected: &Expected, max: usize) -> String {
    const ONE_OF: &str = "one of ";
    if count(expected) == 1 {
        choices(expected, max)
    } else {
        [ONE_OF, &choices(expected, max.saturating_sub(ONE_OF.len()))].concat()
    }
}

/// How many values or keys are allowed.
fn count(expected: &Expected) -> usize {
    match expected {
        Expected::OneOf(values) => values.as_array().map_or(0, Vec::len),
        Expected::Key(names) => names.len(),
        _ => 1,
    }
}

/// The allowed values or keys, in at most `max` characters: all of them, or the first and how many more.
pub(super) fn choices(expected: &Expected, max: usize) -> String {
    /// The length of ` … +12` at the end of a list, without the comma that is counted with its last item.
    const MORE: usize = 4;
    let count = count(expected);
    let first = |max: usize| match expected {
        Expected::OneOf(values) => {
            let values = values.as_array().into_iter().flatten();
            fitting(values.map(literal), count, max)
        }
        Expected::Key(names) => list(names, max),
        other => other.to_string(),
    };
    // A list that is cut is kept short; one that is shown whole may be longer.
    let most = if count <= SHOWN_WHOLE {
        usize::MAX
    } else {
        LONG_LIST
    };
    let whole = first(most);
    if whole.chars().count() <= max {
        return whole;
    }
    cut_line(first(most.min(max.saturating_sub(MORE))), max)
}

fn texts(all: &[Expected]) -> Vec<String> {
    all.iter().map(Expected::to_string).collect()
}

/// `a`, `a or b`, `a, b or c`.
fn either(phrases: &[String]) -> String {
    match phrases {
        [] => "nothing".to_owned(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

/// The alternatives of a union: `string, object with "a" or null`, as many as fit in a line.
fn alternatives(all: &[Expected]) -> String {
    let mut distinct = texts(all);
    let mut seen = HashSet::new();
    distinct.retain(|phrase| seen.insert(phrase.clone()));
    let all = either(&distinct);
    if all.len() <= ALTERNATIVES || all.chars().count() <= ALTERNATIVES {
        return all;
    }
    let count = distinct.len();
    fitting(distinct.into_iter(), count, ALTERNATIVES)
}

/// An example of a format, for the formats that models most often get wrong.
fn format_example(name: &str) -> Option<&'static str> {
    Some(match name {
        "date-time" => "2026-01-31T12:00:00Z",
        "date" => "2026-01-31",
        "time" => "12:00:00Z",
        "duration" => "PT1H30M",
        "email" | "idn-email" => "name@example.com",
        "uuid" => "123e4567-e89b-12d3-a456-426614174000",
        "uri" | "iri" => "https://example.com/page",
        "hostname" | "idn-hostname" => "example.com",
        "ipv4" => "192.0.2.1",
        "ipv6" => "2001:db8::1",
        "json-pointer" => "/a/0",
        _ => return None,
    })
}
