//! The only file with sentences for the model.
//!
//! Imperative, present, no apology, no stack trace. Path first, then what was expected, then what
//! came. Data in, text out; nothing is decided here.

use crate::classify::{Cause, Code, Failure};
use crate::parse::Problem;
use crate::text::{cut_line, dotted, dotted_within, push_dotted_within, quoted};
use crate::validate::{Issue, IssueCode};

/// The longest path in a line. The end of a path names the field, so the beginning is cut.
const PATH: usize = 48;

/// What stands before the detail of an instruction to try again, and what behind it.
pub(super) fn instruction_frame(code: Code) -> (&'static str, &'static str) {
    match code {
        Code::InvalidArguments => (
            "Please rewrite the input with valid arguments. Errors: ",
            "",
        ),
        Code::InvalidJson => ("Please rewrite the input as valid JSON. Error: ", ""),
        other => ("", other.row().hint),
    }
}

/// What is wrong, for everything but single arguments.
pub(super) fn detail(cause: &Cause) -> String {
    match cause {
        // Told line by line.
        Cause::Arguments(_) => String::new(),
        Cause::Syntax {
            line,
            column,
            path,
            problem,
            found,
        } => {
            let place = if path.is_root() {
                String::new()
            } else {
                format!(" ({})", dotted_within(path, PATH))
            };
            format!(
                "line {line}, column {column}{place}: {}",
                syntax(*problem, found.as_deref())
            )
        }
        Cause::CutOff { path, declared } => {
            let place = if path.is_root() {
                "before its arguments were complete".to_owned()
            } else {
                format!("at {}", dotted_within(path, PATH))
            };
            let by = if *declared { " by the provider" } else { "" };
            format!("The call was cut off{by} {place}, so it was not run.")
        }
        Cause::SeveralValues { count, identical } => {
            let which = if *identical { "identical" } else { "different" };
            format!("The input holds {count} {which} JSON values instead of one, so none was run.")
        }
        Cause::TooLong { bytes, limit } => {
            format!("The arguments have {bytes} bytes, more than the {limit} that are read.")
        }
        Cause::TooDeep { path, limit } => {
            let place = if path.is_root() {
                String::new()
            } else {
                format!(" (at {})", dotted_within(path, PATH))
            };
            format!("The arguments are nested deeper than {limit} levels{place}.")
        }
        Cause::UnknownTool { name, nearest } => {
            let name = quoted(name, 40);
            match nearest.as_slice() {
                [] => format!("There is no tool named {name}."),
                names => {
                    let names: Vec<String> = names.iter().map(|name| quoted(name, 40)).collect();
                    let all = match names.as_slice() {
                        [first @ .., last] if !first.is_empty() => {
                            format!("{} or {last}", first.join(", "))
                        }
                        _ => names.concat(),
                    };
                    format!("There is no tool named {name}. Did you mean {all}?")
                }
            }
        }
    }
}

/// What is wrong with a text that is not JSON; `found` is what stands at the place, if that may be
/// shown.
pub(super) fn syntax(problem: Problem, found: Option<&str>) -> String {
    let wanted = match problem {
        Problem::Unexpected { expected } => format!("expected {expected}"),
        Problem::CutOff => return "the text ends here".to_owned(),
        Problem::BadEscape => "expected a JSON escape (write a backslash as two)".to_owned(),
        Problem::BadUnicodeEscape => "expected four hex digits behind \\u".to_owned(),
        Problem::LoneSurrogate => "expected both halves of the character".to_owned(),
        Problem::ControlCharacter => {
            "expected no raw control character in a string (escape it, as in \\n)".to_owned()
        }
        Problem::LeadingZero => "expected a number without leading zeros".to_owned(),
        Problem::NumberOutOfRange => "expected a number in the range of a double".to_owned(),
        Problem::TrailingText => "expected nothing behind the JSON value".to_owned(),
        Problem::TooDeep => return "nested too deeply".to_owned(),
    };
    match found {
        None => wanted,
        Some("") => format!("{wanted}, found the end of the text"),
        Some(text) => format!("{wanted}, found `{text}`"),
    }
}

/// Appends `limit: expected integer, received string "abc"` in at most `max` characters.
pub(super) fn push_issue_line(out: &mut String, issue: &Issue, max: usize) {
    let start = out.len();
    push_dotted_within(out, &issue.path, PATH.min(max / 2));
    out.push_str(": ");
    let path_end = out.len();
    push_issue_message(out, issue, &issue.expected, &issue.received);
    if fits(&out[start..], max) {
        return;
    }
    // The place and the proposal say most, so the phrases between them give way: half of what is
    // left for what was expected, the rest for what came.
    out.truncate(path_end);
    push_issue_message(out, issue, "", "");
    let room = max.saturating_sub(out[start..].chars().count());
    out.truncate(path_end);
    let received = match issue.code {
        IssueCode::UnknownKey => String::new(),
        _ => cut_line(issue.received.clone(), (room / 2).max(8)),
    };
    let left = room.saturating_sub(received.chars().count()).max(8);
    let expected = cut_line(issue.expected.clone(), left);
    push_issue_message(out, issue, &expected, &received);
    let line = cut_line(out.split_off(start), max);
    out.push_str(&line);
}

fn fits(line: &str, max: usize) -> bool {
    line.len() <= max || line.chars().count() <= max
}

/// What is wrong, without the place.
pub(super) fn issue_message(issue: &Issue) -> String {
    let mut out = String::new();
    push_issue_message(&mut out, issue, &issue.expected, &issue.received);
    out
}

fn push_issue_message(out: &mut String, issue: &Issue, expected: &str, received: &str) {
    let suggestion = issue.suggestion.as_deref();
    let mut say = |parts: &[&str]| parts.iter().for_each(|part| out.push_str(part));
    match issue.code {
        IssueCode::Required => match (issue.received.is_empty(), suggestion) {
            (true, _) => say(&["Required"]),
            (false, Some(_)) => say(&["Required, received as ", received]),
            (false, None) => say(&["Required, received ", received]),
        },
        IssueCode::DependentRequired => say(&["Required together with ", received]),
        IssueCode::UnknownKey => match suggestion {
            Some(meant) => say(&["unknown key, did you mean ", &quoted(meant, 40), "?"]),
            None => say(&["unknown key, expected ", expected]),
        },
        IssueCode::DuplicateKey => say(&["duplicate key, send it once"]),
        IssueCode::NotAllowed => say(&["not allowed here, leave it out"]),
        _ => {
            say(&["expected ", expected, ", received ", received]);
            if let Some(meant) = suggestion {
                say(&[", did you mean ", &quoted(meant, 40), "?"]);
            }
        }
    }
}

/// One issue of the numbered style.
pub(super) fn numbered_issue(issue: &Issue) -> String {
    let field = if issue.path.is_root() {
        dotted(&issue.path)
    } else {
        format!("Field '{}'", dotted_within(&issue.path, PATH))
    };
    let Issue {
        expected,
        received,
        suggestion,
        ..
    } = issue;
    match issue.code {
        IssueCode::Required => match received.as_str() {
            "" => format!("{field} is required but missing"),
            came => format!("{field} is required but missing (received {came})"),
        },
        IssueCode::DependentRequired => {
            format!("{field} is required together with {received} but missing")
        }
        IssueCode::UnknownKey => match suggestion {
            Some(meant) => format!("{field} is unknown, did you mean {}?", quoted(meant, 40)),
            None => format!("{field} is unknown, expected {expected}"),
        },
        IssueCode::DuplicateKey => format!("{field} stands there twice, send it once"),
        IssueCode::NotAllowed => format!("{field} is not allowed here"),
        IssueCode::Type => format!("{field} expected {expected}, got {}", type_of(received)),
        _ => {
            let meant = suggestion
                .as_ref()
                .map(|meant| format!(", did you mean {}?", quoted(meant, 40)))
                .unwrap_or_default();
            format!("{field} expected {expected}, got {received}{meant}")
        }
    }
}

/// The type in a phrase such as `string "abc"` or `empty array`.
fn type_of(received: &str) -> &str {
    let phrase = received.strip_prefix("empty ").unwrap_or(received);
    phrase.split_once(' ').map_or(phrase, |(kind, _)| kind)
}

/// The frame of the numbered style.
pub(super) fn numbered(lines: &[String]) -> String {
    format!(
        "Parameter validation failed:\n\n{}\n\nPlease fix the parameters and try again.",
        lines.join("\n")
    )
}

/// The numbered style of what is not a list of issues.
pub(super) fn numbered_other(failure: &Failure, detail: &str) -> String {
    let title = match failure.code {
        Code::InvalidJson => "The input is not valid JSON:",
        Code::UnknownTool => "Unknown tool:",
        _ => "The call was not run:",
    };
    format!("{title}\n\n1. {detail}\n\n{}", failure.code.row().hint)
}

/// What to change about one issue, if there is more to say than what is wrong.
pub(super) fn recommendation(issue: &Issue) -> Option<String> {
    let suggestion = issue.suggestion.as_ref()?;
    let path = dotted_within(&issue.path, PATH);
    Some(match issue.code {
        IssueCode::Required => format!("{path}: {suggestion}"),
        _ => format!("{path}: use {}", quoted(suggestion, 40)),
    })
}
