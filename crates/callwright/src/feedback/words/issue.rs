//! An issue in words: the noun phrases for what was expected and what came, and the sentences around them.
//!
//! Every phrase about a value, a key or a schema is made here, and only for issues that are shown. Nothing is shown
//! whole: enough of a value to recognise it, little enough for path, expectation and value to share a line.

use std::collections::HashSet;
use std::fmt;

use serde_json::Value as Schema;

use super::{NAME, PATH};
use crate::text::{
    cut_line, dotted_within, fitting, list, list_of, one_line, push_cut, push_dotted_within,
    quoted, snippet,
};
use crate::words::{
    Comparison, Correction, Expected, Issue, IssueCode, Received, ReceivedKeys, Unit,
};

/// How many characters of a received value, a constant or a key are shown: enough to recognise it, little enough for
/// path, expectation and value to share a line of 100.
const PREVIEW: usize = 30;

/// How many characters a list of allowed values or keys may take, for the same reason.
const LIST: usize = 48;

/// How many characters a list of keys that came may take: they are all there is to say.
const RECEIVED_LIST: usize = 40;

/// How many characters the alternatives of a union may take, for the same reason.
const ALTERNATIVES: usize = 60;

/// How many characters of a regular expression are shown.
const REGEX: usize = 40;

/// How many characters a tool's own words about an argument may have: they are all that the line says.
const STATED: usize = 100;

/// Appends `limit: expected integer, received string "abc"` in at most `max` characters.
pub(in crate::feedback) fn push_issue_line(out: &mut String, issue: &Issue, max: usize) {
    let start = out.len();
    push_dotted_within(out, &issue.path, PATH.min(max / 2));
    out.push_str(": ");
    push_fitted(out, start, issue, max, push_message);
}

/// What is wrong, without the place, in at most `max` characters.
pub(in crate::feedback) fn issue_message(issue: &Issue, max: usize) -> String {
    let mut out = String::new();
    push_fitted(&mut out, 0, issue, max, push_message);
    out
}

/// One issue of the numbered style in at most `max` characters.
pub(in crate::feedback) fn numbered_issue(number: usize, issue: &Issue, max: usize) -> String {
    let mut out = format!("{number}. ");
    if issue.path.is_root() {
        push_dotted_within(&mut out, &issue.path, PATH);
    } else {
        out.push_str("Field '");
        push_dotted_within(&mut out, &issue.path, PATH.min(max / 2));
        out.push('\'');
    }
    out.push(' ');
    push_fitted(&mut out, 0, issue, max, push_numbered);
    out
}

/// What to change about one issue, if there is more to say than what is wrong.
pub(in crate::feedback) fn recommendation(issue: &Issue) -> Option<String> {
    let path = dotted_within(&issue.path, PATH);
    Some(match issue.suggestion.as_ref()? {
        Correction::Use(meant) if issue.code != IssueCode::Required => {
            format!("{path}: use {}", quoted(meant, NAME))
        }
        other => format!("{path}: {other}"),
    })
}

/// A part of a sentence about an issue.
#[derive(Clone, Copy)]
enum SentencePart<'p> {
    Text(&'p str),
    Expected,
    Received,
    /// The type of what came.
    ReceivedType,
    /// What may be meant, as a question.
    Proposal,
}

/// An issue and its two phrases, cut where they do not fit as they are.
struct Sentence<'s> {
    issue: &'s Issue,
    /// What was expected and what came, cut.
    cut: Option<[&'s str; 2]>,
}

impl Sentence<'_> {
    fn push(&self, out: &mut String, parts: &[SentencePart<'_>]) {
        let issue = self.issue;
        for part in parts {
            match (*part, self.cut) {
                (SentencePart::Text(text), _)
                | (SentencePart::Expected, Some([text, _]))
                | (SentencePart::Received, Some([_, text])) => out.push_str(text),
                (SentencePart::Expected, None) => push_expected(out, &issue.expected),
                (SentencePart::Received, None) => push_received(out, &issue.received),
                (SentencePart::ReceivedType, Some([_, ""])) => {}
                (SentencePart::Proposal, _) => {
                    if let Some(Correction::Use(meant)) = &issue.suggestion {
                        push_all(out, &[", did you mean ", &quoted(meant, NAME), "?"]);
                    }
                }
                (SentencePart::ReceivedType, _) => {
                    out.push_str(issue.received.type_name());
                }
            }
        }
    }
}

/// Appends an issue in the words of a style.
type Push = fn(&mut String, &Sentence<'_>);

/// Appends an issue so that everything from `start` on has at most `max` characters. The place and the
/// proposal say most, so the phrases between them give way.
fn push_fitted(out: &mut String, start: usize, issue: &Issue, max: usize, push: Push) {
    let fits = |line: &str| line.len() <= max || line.chars().count() <= max;
    let from = out.len();
    push(out, &Sentence { issue, cut: None });
    if fits(&out[start..]) {
        return;
    }
    out.truncate(from);
    let cut = Some(["", ""]);
    push(out, &Sentence { issue, cut });
    let room = max.saturating_sub(out[start..].chars().count());
    out.truncate(from);
    let received = match issue.code {
        IssueCode::UnknownKey => String::new(),
        _ => cut_line(issue.received.to_string(), (room / 2).max(8)),
    };
    let left = room.saturating_sub(received.chars().count()).max(8);
    let expected = cut_list(issue.expected.to_string(), left);
    let cut = Some([expected.as_str(), received.as_str()]);
    push(out, &Sentence { issue, cut });
    if !fits(&out[start..]) {
        let line = cut_line(out.split_off(start), max);
        out.push_str(&line);
    }
}

/// A phrase of at most `max` characters; a list is cut after one of its items.
fn cut_list(phrase: String, max: usize) -> String {
    if phrase.chars().count() <= max {
        return phrase;
    }
    let end = phrase
        .char_indices()
        .nth(max.saturating_sub(2))
        .map_or(phrase.len(), |(at, _)| at);
    match phrase[..end].rfind("\", ") {
        Some(item) => format!("{}\" …", &phrase[..item]),
        None => cut_line(phrase, max),
    }
}

fn push_message(out: &mut String, sentence: &Sentence<'_>) {
    use SentencePart::{Expected, Proposal, Received, Text};
    let issue = sentence.issue;
    let parts: &[SentencePart<'_>] = match (issue.code, &issue.suggestion) {
        (IssueCode::Required, _) if issue.received == self::Received::Nothing => {
            &[Text("Required")]
        }
        (IssueCode::Required, Some(_)) => &[Text("Required, received as "), Received],
        (IssueCode::Required, None) => &[Text("Required, received "), Received],
        (IssueCode::DependentRequired, _) => &[Text("Required together with "), Received],
        (IssueCode::UnknownKey, Some(_)) => &[Text("unknown key"), Proposal],
        (IssueCode::UnknownKey, None) => &[Text("unknown key, expected "), Expected],
        (IssueCode::DuplicateKey, _) => &[Text("duplicate key, send it once")],
        (IssueCode::NotAllowed, _) => &[Text("not allowed here, leave it out")],
        (IssueCode::Other, _) if matches!(issue.expected, self::Expected::Stated(_)) => &[Expected],
        _ => &[
            Text("expected "),
            Expected,
            Text(", received "),
            Received,
            Proposal,
        ],
    };
    sentence.push(out, parts);
}

fn push_numbered(out: &mut String, sentence: &Sentence<'_>) {
    use SentencePart::{Expected, Proposal, Received, ReceivedType, Text};
    let issue = sentence.issue;
    let parts: &[SentencePart<'_>] = match (issue.code, &issue.suggestion) {
        (IssueCode::Required, _) if issue.received == self::Received::Nothing => {
            &[Text("is required but missing")]
        }
        (IssueCode::Required, _) => &[
            Text("is required but missing (received "),
            Received,
            Text(")"),
        ],
        (IssueCode::DependentRequired, _) => &[
            Text("is required together with "),
            Received,
            Text(" but missing"),
        ],
        (IssueCode::UnknownKey, Some(_)) => &[Text("is unknown"), Proposal],
        (IssueCode::UnknownKey, None) => &[Text("is unknown, expected "), Expected],
        (IssueCode::DuplicateKey, _) => &[Text("stands there twice, send it once")],
        (IssueCode::NotAllowed, _) => &[Text("is not allowed here, leave it out")],
        (IssueCode::Other, _) if matches!(issue.expected, self::Expected::Stated(_)) => {
            &[Text("is refused: "), Expected]
        }
        (IssueCode::Type, _) => &[Text("expected "), Expected, Text(", got "), ReceivedType],
        _ => &[
            Text("expected "),
            Expected,
            Text(", got "),
            Received,
            Proposal,
        ],
    };
    sentence.push(out, parts);
}

fn push_all(out: &mut String, parts: &[&str]) {
    for part in parts {
        out.push_str(part);
    }
}

/// Appends what was expected, as a noun phrase.
fn push_expected(out: &mut String, expected: &Expected) {
    match expected {
        Expected::Type(name) => out.push_str(name.name()),
        Expected::ArrayOf(item) => push_all(out, &["array of ", item.name(), "s"]),
        Expected::ObjectWith(keys) => push_all(out, &["object with ", &list(keys, PREVIEW)]),
        Expected::OneOfTypes(types) => out.push_str(&either(&texts(types))),
        Expected::OneOf(values) => match values.as_array().map_or(&[][..], Vec::as_slice) {
            [only] => out.push_str(&literal(only)),
            several => {
                let literals = fitting(several.iter().map(literal), several.len(), LIST);
                push_all(out, &["one of ", &literals]);
            }
        },
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
        Expected::Key(names) => match &**names {
            only @ [_] => out.push_str(&list(only, LIST)),
            names => push_all(out, &["one of ", &list(names, LIST)]),
        },
        Expected::KeyMatching(regexes) => push_all(out, &["keys matching ", &list(regexes, LIST)]),
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

/// Appends what came, as a noun phrase: its type and its beginning.
fn push_received(out: &mut String, received: &Received) {
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
        Schema::String(text) => quoted(text, PREVIEW),
        other => snippet(&other.to_string(), PREVIEW),
    }
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

/// The alternatives of a union: `string, object with "a" or null`, as many as a line holds.
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

/// What a format looks like, for the formats that models get wrong most.
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
