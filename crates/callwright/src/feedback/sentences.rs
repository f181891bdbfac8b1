//! The only place with sentences for the model.
//!
//! Imperative, present tense, no apology, no stack trace. Path first, then what was expected, then what was received. Takes
//! data and returns text; decides nothing. Invalid arguments are in `sentences/issue.rs`, refused admission in
//! `sentences/admission.rs`, bad results in `sentences/output.rs`.

mod admission;
mod issue;
mod output;
mod phrase;

use std::borrow::Cow;

pub(crate) use admission::CHOICES;
pub(super) use admission::{notice, objection, objection_hint, question, stopped};
pub(super) use issue::{
    issue_message, no_arguments, numbered_line, push_issue_line, recommendation,
};
pub(super) use output::{beside_result, end_sentence, output, tool_failure};

use crate::json::{Path, Problem, Value};
use crate::text::{dotted_within, quoted, snippet};
use crate::words::{Cause, Class, Code, Cut, Edit, Failure};

/// The longest path in a line. The end of a path names the field, so the beginning is cut.
const PATH: usize = 48;

/// The longest name that is shown whole: a cut name is useless, and real ones are shorter.
const NAME: usize = 128;

/// The text before and after the detail of an instruction to try again.
pub(super) fn instruction_frame(failure: &Failure) -> (&'static str, Cow<'_, str>) {
    let own = || match failure.advice {
        Some(_) => hint(failure),
        None => Cow::Borrowed(""),
    };
    match failure.code {
        Code::InvalidArguments => (
            "Please rewrite the input with valid arguments. Errors: ",
            own(),
        ),
        Code::InvalidJson if is_left_over(&failure.cause) => ("", own()),
        Code::InvalidJson => ("Please rewrite the input as valid JSON. Error: ", own()),
        _ => ("", hint(failure)),
    }
}

/// What to do about a failure: the operator's advice, else the failure's own hint, else the usual one for its code.
pub(super) fn hint(failure: &Failure) -> Cow<'_, str> {
    if let Some(lines) = &failure.advice {
        return Cow::Owned(lines.join(" "));
    }
    let own = match &failure.cause {
        Cause::Output(fault) => output::output_hint(fault),
        Cause::Tool {
            failure,
            once,
            said,
            ..
        } => output::tool_failure_hint(failure, said.as_deref(), *once),
        Cause::CutOff {
            cut: Cut::Doubtful, ..
        } => Some("Send the same call again.".to_owned()),
        Cause::CutOff {
            cut: Cut::Unclosed, ..
        } => Some("Send the whole JSON object again.".to_owned()),
        _ => None,
    };
    let is_result = matches!(failure.cause, Cause::Output(_) | Cause::Tool { .. });
    if let (None, true, Some(next)) = (&own, is_result, failure.escalated) {
        return Cow::Borrowed(output::next_hint(next));
    }
    own.map_or_else(
        || Cow::Borrowed(objection_hint(failure).unwrap_or(failure.code.row().hint)),
        Cow::Owned,
    )
}

/// The text before the invalid fields of a result.
pub(super) const VIOLATION: &str = "The result does not fit its schema: ";

/// What is wrong, for everything except individual arguments.
pub(super) fn detail(cause: &Cause) -> String {
    match cause {
        // Reported line by line, and with its original cause.
        Cause::Arguments(_) | Cause::Objection(_) => String::new(),
        Cause::Output(fault) => output(fault),
        Cause::Tool {
            failure,
            tool,
            said,
            passes,
            ..
        } => tool_failure(failure, tool, said.as_deref(), *passes),
        Cause::LedgerAway { .. } => {
            "Calls cannot be counted at the moment, so this one is not run.".to_owned()
        }
        Cause::Syntax {
            line,
            column,
            path,
            problem,
            found,
            ..
        } => {
            if is_left_over(cause) {
                let found = found.as_deref();
                let found = found.map_or("what is".to_owned(), |found| format!("\"{found}\""));
                return format!("Send only the JSON object: remove {found} after it");
            }
            let place = syntax_at(*line, *column, path, *problem, found.as_deref());
            let at_start = (*line, *column) == (1, 1);
            let advice = syntax_advice(*problem, found.as_deref().unwrap_or_default(), at_start);
            advice.map_or(place.clone(), |advice| format!("{place}; {advice}"))
        }
        Cause::CutOff {
            cut: Cut::Doubtful, ..
        } => "The provider does not say that the answer is complete, so the call was not run."
            .to_owned(),
        Cause::CutOff {
            cut: Cut::Unclosed, ..
        } => "The arguments end before their last bracket, so the call was not run.".to_owned(),
        Cause::CutOff { path, cut } => {
            let place = if path.is_root() {
                "before its arguments were complete".to_owned()
            } else {
                format!("at {}", dotted_within(path, PATH))
            };
            match cut {
                Cut::Declared => {
                    format!("The call was cut off by the provider {place}, so it was not run.")
                }
                _ => format!("The call was cut off {place}, so it was not run."),
            }
        }
        Cause::Blank => "the arguments are empty; send {} if the tool needs none".to_owned(),
        Cause::SeveralValues { count, identical } => {
            let which = if *identical { "identical" } else { "different" };
            format!("The input holds {count} {which} JSON values instead of one, so none was run.")
        }
        Cause::TwoReadings {
            path,
            first,
            second,
        } => {
            let place = dotted_within(path, PATH);
            let (first, second) = (snippet(first, 30), snippet(second, 30));
            if first == second {
                // Secrets are not shown.
                return format!("{place} can be read in two ways, so the call was not run.");
            }
            format!("{place} could mean {first} or {second}, so the call was not run.")
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
            let name = quoted(name, NAME);
            match nearest.as_slice() {
                [] => format!("There is no tool named {name}."),
                names => {
                    let names: Vec<String> = names.iter().map(|name| quoted(name, NAME)).collect();
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

/// Where a text is not JSON, and what is wrong there.
fn syntax_at(
    line: usize,
    column: usize,
    path: &Path,
    problem: Problem,
    found: Option<&str>,
) -> String {
    let place = if path.is_root() {
        String::new()
    } else {
        format!(" ({})", dotted_within(path, PATH))
    };
    let what = syntax(problem, found);
    format!("line {line}, column {column}{place}: {what}")
}

/// What to do about arguments that are not JSON, where the text at the error tells.
fn syntax_advice(problem: Problem, found: &str, at_start: bool) -> Option<&'static str> {
    const LITERALS: [&str; 6] = ["True", "TRUE", "False", "FALSE", "None", "NULL"];
    const VARIABLES: [&str; 4] = ["undefined", "NaN", "Infinity", "-Infinity"];
    if VARIABLES.iter().any(|variable| found.starts_with(variable)) {
        Some("this is an unresolved variable: send its value")
    } else if found.starts_with("//") || found.starts_with("/*") || found.starts_with('#') {
        Some("send only the JSON object, without comments")
    } else if at_start || problem == Problem::TrailingText {
        Some("send only the JSON object")
    } else if let Problem::Unexpected { expected } = problem {
        let after_value = expected.starts_with("`,`");
        let wants_value = expected == "a value";
        if wants_value && LITERALS.iter().any(|literal| found.starts_with(literal)) {
            Some("write true, false and null in lower case")
        } else if wants_value && found.starts_with(|c: char| c.is_alphabetic() || c == '\'') {
            Some("texts need double quotes")
        } else if after_value && is_calculated(found) {
            Some("send the result of a calculation, not the calculation")
        } else if after_value && found.starts_with(['}', ']']) {
            Some("a bracket before it is not closed")
        } else {
            None
        }
    } else {
        None
    }
}

/// Whether a value is followed by arithmetic: `* 2`, `+(1`. A path or an option that ran out of its quotes is not.
fn is_calculated(found: &str) -> bool {
    let operand = found.strip_prefix(['+', '-', '*', '/', '%', '^']);
    operand.is_some_and(|operand| {
        let next = operand.trim_start().chars().next();
        next.is_some_and(|next| next.is_ascii_digit() || next == '(')
    })
}

/// Whether the only problem is text after the arguments that is neither part of them nor another call.
fn is_left_over(cause: &Cause) -> bool {
    match cause {
        Cause::Syntax {
            after_object: true,
            found,
            ..
        } => !found
            .as_deref()
            .is_some_and(|found| found.starts_with(',') || found.contains(['{', '[', ':'])),
        _ => false,
    }
}

/// What is wrong with a text that is not JSON; `found` is the text at that place, if it may be shown.
pub(super) fn syntax(problem: Problem, found: Option<&str>) -> String {
    let wanted = match problem {
        Problem::Unexpected { expected } => format!("expected {expected}"),
        Problem::CutOff => return "the text ends here".to_owned(),
        Problem::BadEscape => "expected a JSON escape (write a backslash as two)".to_owned(),
        Problem::BadUnicodeEscape => "expected four hex digits after \\u".to_owned(),
        Problem::LoneSurrogate => "expected both halves of the character".to_owned(),
        Problem::ControlCharacter => {
            "expected no raw control character in a string (escape it, as in \\n)".to_owned()
        }
        Problem::LeadingZero => "expected a number without leading zeros".to_owned(),
        Problem::NumberOutOfRange => "expected a number in the range of a double".to_owned(),
        Problem::TrailingText => "expected nothing after the JSON value".to_owned(),
        Problem::TooDeep => return "nested too deeply".to_owned(),
    };
    match found {
        None => wanted,
        Some("") => format!("{wanted}, found the end of the text"),
        Some(text) => format!("{wanted}, found `{text}`"),
    }
}

/// Appends a sentence to a text.
pub(super) fn and(mut text: String, sentence: &str) -> String {
    end_sentence(&mut text);
    format!("{text} {sentence}")
}

/// The arguments as they may have been meant.
pub(super) fn example(arguments: &str) -> String {
    format!("The arguments do not fit. If this is what you mean, send {arguments}")
}

/// How many more lines there are.
pub(super) fn more(left: usize) -> String {
    format!("+{left} more")
}

/// The note about edits.
pub(super) fn receipt(lines: &[String]) -> String {
    format!("Note: the arguments were corrected: {}.", lines.join("; "))
}

/// What was changed, so that the model learns.
pub(super) fn edit(edit: &Edit) -> String {
    let edit = edit.shown();
    let place = dotted_within(&edit.path, PATH);
    let before = snippet(&edit.before.to_string(), 24);
    let after = snippet(&edit.after.to_string(), 24);
    match edit.rule {
        "null_left_out" | "null_text_left_out" | "default_left_out" | "empty_member_left_out"
            if edit.after == Value::Null =>
        {
            format!("{place} was {before}; left out")
        }
        "unknown_key_dropped" => format!("{place} is unknown and was {before}; left out"),
        "default_for_missing" => format!("{place} was missing; its default {after} was taken"),
        "key_spelling" | "key_near" | "key_words" | "only_key_left" | "key_of_allowed_value" => {
            format!("key {before} was taken for {after}")
        }
        // Text that was skipped while reading: words, comments, fences.
        _ if edit.after.as_str() == Some("") => format!("{before} was left out"),
        "raw_control" => format!(
            "{place}: a raw {} was read as its escape",
            written(&edit.before)
        ),
        // JSON text that was read as other JSON text: in quotes, both would look like values.
        "literal" | "backslash" | "single_quotes" | "inner_quotes" | "unquoted_key"
        | "half_quoted_key" | "missing_comma" | "trailing_comma" | "white_space" => {
            let [before, after] = [&edit.before, &edit.after].map(|it| written(it));
            let place = if edit.path.is_root() {
                edit.rule
            } else {
                &place
            };
            format!("{place}: {before} was read as {after}")
        }
        _ if edit.path.is_root() => format!("{}: {before} was read as {after}", edit.rule),
        _ => format!("{place} was {before}; sent on as {after}"),
    }
}

/// A piece of text as written.
fn written(text: &Value<'_>) -> String {
    snippet(text.as_str().unwrap_or_default(), 24)
}

/// The frame of the numbered style.
pub(super) fn numbered(failure: &Failure, lines: &[String]) -> String {
    let lines = lines.join("\n");
    match (&failure.cause, &failure.advice) {
        (Cause::Output(_), _) => {
            let hint = hint(failure);
            format!("The result does not fit its schema:\n\n{lines}\n\n{hint}")
        }
        (_, Some(_)) => {
            let hint = hint(failure);
            format!("Parameter validation failed:\n\n{lines}\n\n{hint}")
        }
        _ => format!(
            "Parameter validation failed:\n\n{lines}\n\nPlease fix the parameters and try again."
        ),
    }
}

/// The numbered style for failures that are not a list of issues.
pub(super) fn numbered_other(failure: &Failure, detail: &str) -> String {
    let title = match failure.code {
        Code::InvalidJson => "The input is not valid JSON:",
        Code::UnknownTool => "Unknown tool:",
        _ => match failure.class() {
            Class::Runtime | Class::Logical => "The tool failed:",
            Class::SchemaMismatch | Class::SemanticGarbage => "The result cannot be used:",
            Class::PartialData => "The result is not complete:",
            _ => "The call was not run:",
        },
    };
    format!("{title}\n\n1. {detail}\n\n{}", hint(failure))
}
