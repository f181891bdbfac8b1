//! The text around the lines of a failure: "Please rewrite the input with valid arguments. Errors: …", "Parameter validation
//! failed: …". The lines themselves are in the files beside this one.

use std::borrow::Cow;

use super::syntax::is_left_over;
use super::{end_sentence, hint};
use crate::vocabulary::{Cause, Class, Code, Failure};

/// The text before and after the detail of an instruction to try again.
pub(in crate::feedback) fn instruction_frame(failure: &Failure) -> (&'static str, Cow<'_, str>) {
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

/// The text before the invalid fields of a result.
pub(in crate::feedback) const VIOLATION: &str = "The result does not fit its schema: ";

/// The frame of the numbered style.
pub(in crate::feedback) fn numbered(failure: &Failure, lines: &[String]) -> String {
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
pub(in crate::feedback) fn numbered_other(failure: &Failure, detail: &str) -> String {
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

/// Appends a sentence to a text.
pub(in crate::feedback) fn and(mut text: String, sentence: &str) -> String {
    end_sentence(&mut text);
    format!("{text} {sentence}")
}

/// The arguments as they may have been meant.
pub(in crate::feedback) fn example(arguments: &str) -> String {
    format!("The arguments do not fit. If this is what you mean, send {arguments}")
}

/// How many more lines there are.
pub(in crate::feedback) fn more(left: usize) -> String {
    format!("+{left} more")
}
