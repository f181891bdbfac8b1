//! Arguments that are not JSON: where, what is wrong there, and what to do about it.

use super::PATH;
use crate::json::{Path, Problem};
use crate::text::dotted_within;
use crate::vocabulary::Cause;

/// Where a text is not JSON, and what is wrong there.
pub(super) fn syntax_at(
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
pub(super) fn syntax_advice(problem: Problem, found: &str, at_start: bool) -> Option<&'static str> {
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
pub(super) fn is_left_over(cause: &Cause) -> bool {
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
pub(in crate::feedback) fn syntax(problem: Problem, found: Option<&str>) -> String {
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
