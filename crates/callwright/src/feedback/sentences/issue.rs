//! Issues as text: the sentences around the phrases of `phrase.rs`, one line for each issue or group of issues.

use super::phrase::{choices, expected_within, push_all, push_expected, push_received};
use super::{NAME, PATH};
use crate::feedback::lines::{IssueLine, LineDifference, around_index, index};
use crate::json::{Kind, Path};
use crate::text::{cut_line, dotted_within, list, push_dotted_within, quoted};
use crate::vocabulary::{Correction, Expected, Issue, IssueCode, Received, SchemaType};

/// How many indexes are named if not every item of a list is affected.
const INDEXES: usize = 5;

/// Appends `limit: expected integer, received string "abc"` in at most `max` characters.
pub(in crate::feedback) fn push_issue_line(out: &mut String, line: &IssueLine<'_>, max: usize) {
    let start = out.len();
    match (line.difference, line.first.code, &line.first.suggestion) {
        (LineDifference::Keys, IssueCode::UnknownKey, _) => push_unknown_keys(out, line, max),
        (LineDifference::Items, _, Some(Correction::Rename { from, to })) => {
            push_items(out, line, max, false);
            let (from, to) = (quoted(from, NAME), quoted(to, NAME));
            push_all(out, &[": ", &from, " must be ", &to]);
        }
        _ => {
            push_places(out, line, max, ["", ""]);
            out.push_str(": ");
            push_fitted(out, start, line, max, push_message);
        }
    }
    fit(out, start, max);
}

/// What is wrong, without the path, in at most `max` characters.
pub(in crate::feedback) fn issue_message(issue: &Issue, max: usize) -> String {
    let mut out = String::new();
    push_fitted(&mut out, 0, &IssueLine::new(issue), max, push_message);
    fit(&mut out, 0, max);
    out
}

/// One line of the numbered style in at most `max` characters.
pub(in crate::feedback) fn numbered_line(
    number: usize,
    line: &IssueLine<'_>,
    max: usize,
) -> String {
    let mut out = format!("{number}. ");
    if line.first.path.is_root() {
        push_dotted_within(&mut out, &line.first.path, PATH);
    } else {
        out.push_str(if line.difference == LineDifference::Keys {
            "Fields "
        } else {
            "Field "
        });
        push_places(&mut out, line, max, ["'", "'"]);
    }
    out.push(' ');
    push_fitted(&mut out, 0, line, max, push_numbered);
    fit(&mut out, 0, max);
    out
}

/// The one message for all issues of a tool that has no parameters.
pub(in crate::feedback) fn no_arguments(issues: &[Issue], max: usize) -> Option<String> {
    let first = issues.first()?;
    let is_of_root = first.path.parent_pointer().is_empty() && !first.path.is_root();
    let takes_none =
        first.code == IssueCode::UnknownKey && first.expected == Expected::NoFurtherKeys;
    if !is_of_root || !takes_none {
        return None;
    }
    let names: Vec<_> = issues
        .iter()
        .filter_map(|issue| issue.path.last())
        .collect();
    let key = if names.len() == 1 { "key" } else { "keys" };
    let names = list(&names, RECEIVED_KEYS);
    Some(cut_line(
        format!("This tool takes no arguments: send {{}} (unknown {key} {names})"),
        max,
    ))
}

/// How many characters the keys may take that were sent to a tool without parameters.
const RECEIVED_KEYS: usize = 40;

/// Cuts the text appended since `start` to `max` characters.
fn fit(out: &mut String, start: usize, max: usize) {
    if !fits(&out[start..], max) {
        let line = cut_line(out.split_off(start), max);
        out.push_str(&line);
    }
}

fn fits(line: &str, max: usize) -> bool {
    line.len() <= max || line.chars().count() <= max
}

/// Appends the paths of a line, each in these quotes.
fn push_places(out: &mut String, line: &IssueLine<'_>, max: usize, quotes: [&str; 2]) {
    let most = PATH.min(max / 2);
    match line.difference {
        LineDifference::Items => {
            out.push_str(quotes[0]);
            push_items(out, line, max, true);
            out.push_str(quotes[1]);
        }
        _ => {
            for (at, issue) in line.issues().enumerate() {
                out.push_str(if at > 0 { ", " } else { "" });
                out.push_str(quotes[0]);
                push_dotted_within(out, &issue.path, most);
                out.push_str(quotes[1]);
            }
        }
    }
}

/// Appends `files (every item).path`, the last part only if requested.
fn push_items(out: &mut String, line: &IssueLine<'_>, max: usize, with_inner: bool) {
    let Some((list, inner)) = around_index(line.first) else {
        return push_dotted_within(out, &line.first.path, PATH.min(max / 2));
    };
    push_dotted_within(out, &Path::from_pointer(list), PATH.min(max / 2));
    let count = line.others.len() + 1;
    if line.first.item.is_some_and(|item| item.items == count) {
        out.push_str(" (every item)");
    } else {
        let indexes: Vec<&str> = line.issues().take(INDEXES).map(index).collect();
        push_all(out, &[" (items ", &indexes.join(", ")]);
        if count > INDEXES {
            push_all(out, &[" … +", &(count - INDEXES).to_string()]);
        }
        out.push(')');
    }
    if with_inner && !inner.is_empty() {
        let inner = dotted_within(&Path::from_pointer(inner), PATH.min(max / 2));
        push_all(
            out,
            &[if inner.starts_with('[') { "" } else { "." }, &inner],
        );
    }
}

/// Appends `params: unknown keys "latitude", "longitude"; allowed: "query", "page"`.
fn push_unknown_keys(out: &mut String, line: &IssueLine<'_>, max: usize) {
    let start = out.len();
    let parent = line.first.path.parent();
    if !parent.is_root() {
        push_dotted_within(out, &parent, PATH.min(max / 2));
        out.push_str(": ");
    }
    let names: Vec<_> = line
        .issues()
        .filter_map(|issue| issue.path.last())
        .collect();
    push_all(out, &["unknown keys ", &list(&names, max)]);
    push_instead(out, start, line, max);
}

/// Appends what to do about several unknown keys.
fn push_instead(out: &mut String, start: usize, line: &IssueLine<'_>, max: usize) {
    let issue = line.first;
    if issue.expected == Expected::NoFurtherKeys {
        return out.push_str(", leave them out");
    }
    out.push_str("; allowed: ");
    let used = out[start..].chars().count();
    out.push_str(&choices(&issue.expected, max.saturating_sub(used)));
}

/// What to change about one issue, if that adds to what is wrong.
pub(in crate::feedback) fn recommendation(issue: &Issue) -> Option<String> {
    let path = dotted_within(&issue.path, PATH);
    Some(match issue.suggestion.as_ref()? {
        Correction::Use(meant) if issue.code != IssueCode::Required => {
            format!("{path}: use {}", quoted(meant, NAME))
        }
        Correction::Value(meant) => format!("{path}: use {meant}"),
        other => format!("{path}: {other}"),
    })
}

/// A part of a sentence about an issue.
#[derive(Clone, Copy)]
enum SentencePart<'p> {
    Text(&'p str),
    /// `is`, or `are` for several keys.
    Is,
    Expected,
    /// What is expected of a missing key, in brackets, unless any text will do.
    Wanted,
    Received,
    /// The type that was received.
    ReceivedType,
    /// What may have been meant, as a question.
    Proposal,
    /// What to do about an unknown key.
    Instead,
}

/// The issues of a line and their two phrases, cut if they do not fit.
struct Sentence<'s> {
    line: &'s IssueLine<'s>,
    /// What was expected and what was received, cut.
    cut: Option<[&'s str; 2]>,
}

impl Sentence<'_> {
    fn push(&self, out: &mut String, parts: &[SentencePart<'_>]) {
        let issue = self.line.first;
        for part in parts {
            match (*part, self.cut) {
                (SentencePart::Text(text), _)
                | (SentencePart::Expected, Some([text, _]))
                | (SentencePart::Received, Some([_, text])) => out.push_str(text),
                (SentencePart::Is, _) if self.line.difference == LineDifference::Keys => {
                    out.push_str("are");
                }
                (SentencePart::Is, _) => out.push_str("is"),
                (SentencePart::Expected, None) => push_expected(out, &issue.expected),
                (SentencePart::Wanted, _) if goes_without_saying(&issue.expected) => {}
                (SentencePart::Wanted, Some([text, _])) => push_all(out, &[" (", text, ")"]),
                (SentencePart::Wanted, None) => {
                    out.push_str(" (");
                    push_expected(out, &issue.expected);
                    out.push(')');
                }
                (SentencePart::Received, None) => {
                    push_received(out, &issue.received);
                    self.push_others(out);
                }
                (SentencePart::ReceivedType, Some([_, ""])) => {}
                (SentencePart::ReceivedType, _) => out.push_str(issue.received.type_name()),
                (SentencePart::Proposal, _) => match &issue.suggestion {
                    Some(Correction::Use(meant)) => {
                        push_all(out, &[", did you mean ", &quoted(meant, NAME), "?"]);
                    }
                    Some(Correction::Value(meant)) => {
                        push_all(out, &[", did you mean ", &meant.to_string(), "?"]);
                    }
                    _ => {}
                },
                (SentencePart::Instead, _) if self.line.difference == LineDifference::Keys => {
                    let start = out.len();
                    push_instead(out, start, self.line, usize::MAX);
                }
                (SentencePart::Instead, _) => out.push_str(", leave it out"),
            }
        }
    }

    /// Other items may have other values.
    fn push_others(&self, out: &mut String) {
        let first = &self.line.first.received;
        if self
            .line
            .others
            .iter()
            .any(|issue| issue.received != *first)
        {
            out.push_str(" and others");
        }
    }
}

/// Whether an expectation of a missing key need not be mentioned: most keys are texts, and any text will do.
fn goes_without_saying(expected: &Expected) -> bool {
    matches!(
        expected,
        Expected::Type(SchemaType::String)
            | Expected::SomeValue
            | Expected::AnyValue
            | Expected::AnotherForm
            | Expected::Schema(_)
    )
}

/// Appends a line in the words of a style.
type Push = fn(&mut String, &Sentence<'_>);

/// Appends a line so that everything from `start` on has at most `max` characters, if possible. The path and the proposal carry
/// the most information, so the phrases between them are cut first.
fn push_fitted(out: &mut String, start: usize, line: &IssueLine<'_>, max: usize, push: Push) {
    let from = out.len();
    push(out, &Sentence { line, cut: None });
    if fits(&out[start..], max) {
        return;
    }
    out.truncate(from);
    let cut = Some(["", ""]);
    push(out, &Sentence { line, cut });
    let room = max.saturating_sub(out[start..].chars().count());
    out.truncate(from);
    let issue = line.first;
    let received = match (issue.code, &issue.received) {
        (IssueCode::UnknownKey, _) => String::new(),
        // Where texts are listed, it is obvious that a text was received.
        (IssueCode::Enum, Received::Text(text)) => quoted(text, (room / 2).max(8)),
        (_, received) => cut_line(received.to_string(), (room / 2).max(8)),
    };
    let left = room.saturating_sub(received.chars().count()).max(8);
    let expected = expected_within(&issue.expected, left);
    // A part of the first value says less than the proposal.
    let expected = match &issue.suggestion {
        Some(Correction::Use(_)) if expected.ends_with('…') => "another value",
        _ => &expected,
    };
    let cut = Some([expected, received.as_str()]);
    push(out, &Sentence { line, cut });
}

fn push_message(out: &mut String, sentence: &Sentence<'_>) {
    use SentencePart::{Expected, Instead, Proposal, Received, Text, Wanted};
    let issue = sentence.line.first;
    let parts: &[SentencePart<'_>] = match (issue.code, &issue.suggestion) {
        (IssueCode::Required, _) if issue.received == self::Received::Nothing => {
            &[Text("Required"), Wanted]
        }
        (IssueCode::Required, Some(_)) => &[Text("Required, received as "), Received],
        (IssueCode::Required, None) => &[Text("Required"), Wanted, Text(", received "), Received],
        (IssueCode::DependentRequired, _) => &[Text("Required together with "), Received],
        (IssueCode::UnknownKey, Some(Correction::LeaveOut)) => &[Text("unknown key"), Instead],
        (IssueCode::UnknownKey, Some(_)) => &[Text("unknown key"), Proposal],
        (IssueCode::UnknownKey, None) if issue.expected == self::Expected::NoFurtherKeys => {
            &[Text("unknown key"), Instead]
        }
        (IssueCode::UnknownKey, None) => &[Text("unknown key, expected "), Expected],
        (IssueCode::DuplicateKey, _) => &[Text("duplicate key, send it once")],
        (IssueCode::NotAllowed, _) => &[Text("not allowed here, leave it out")],
        (IssueCode::Other, _) if matches!(issue.expected, self::Expected::Stated(_)) => &[Expected],
        (IssueCode::Enum, _) if is_text_wanted(issue) => &[
            Text("expected string, "),
            Expected,
            Text(", received "),
            Received,
            Proposal,
        ],
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

/// Whether another type was received where texts are listed, so that a list of them might suggest that several can be sent.
fn is_text_wanted(issue: &Issue) -> bool {
    let is_of_texts = match &issue.expected {
        Expected::OneOf(values) => values
            .as_array()
            .is_some_and(|values| values.iter().all(serde_json::Value::is_string)),
        _ => false,
    };
    is_of_texts
        && issue
            .received
            .kind()
            .is_some_and(|kind| kind != Kind::String)
}

fn push_numbered(out: &mut String, sentence: &Sentence<'_>) {
    use SentencePart::{Expected, Instead, Is, Proposal, Received, ReceivedType, Text, Wanted};
    let issue = sentence.line.first;
    let parts: &[SentencePart<'_>] = match (issue.code, &issue.suggestion) {
        (IssueCode::Required, _) if issue.received == self::Received::Nothing => {
            &[Is, Text(" required but missing"), Wanted]
        }
        (IssueCode::Required, _) => &[
            Is,
            Text(" required but missing (received "),
            Received,
            Text(")"),
        ],
        (IssueCode::DependentRequired, _) => &[
            Is,
            Text(" required together with "),
            Received,
            Text(" but missing"),
        ],
        (IssueCode::UnknownKey, _) if sentence.line.difference == LineDifference::Keys => {
            &[Is, Text(" unknown"), Instead]
        }
        (IssueCode::UnknownKey, Some(Correction::LeaveOut)) => &[Is, Text(" unknown"), Instead],
        (IssueCode::UnknownKey, Some(_)) => &[Is, Text(" unknown"), Proposal],
        (IssueCode::UnknownKey, None) if issue.expected == self::Expected::NoFurtherKeys => {
            &[Is, Text(" unknown"), Instead]
        }
        (IssueCode::UnknownKey, None) => &[Is, Text(" unknown, expected "), Expected],
        (IssueCode::DuplicateKey, _) => &[Is, Text(" there twice, send it once")],
        (IssueCode::NotAllowed, _) => &[Is, Text(" not allowed here, leave it out")],
        (IssueCode::Other, _) if matches!(issue.expected, self::Expected::Stated(_)) => {
            &[Is, Text(" refused: "), Expected]
        }
        (IssueCode::Type, _) => &[
            Text("expected "),
            Expected,
            Text(", got "),
            ReceivedType,
            Proposal,
        ],
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
