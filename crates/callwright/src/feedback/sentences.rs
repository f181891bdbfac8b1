//! The only place with sentences for the model.
//!
//! Imperative, present tense, no apology, no stack trace. Path first, then what was expected, then what was received. Takes
//! data and returns text; decides nothing. Invalid arguments are in `sentences/issue.rs`, arguments that are not JSON in
//! `sentences/syntax.rs`, the text around both in `sentences/frame.rs`, repairs in `sentences/edit.rs`, refused admission in
//! `sentences/admission.rs`, bad results in `sentences/output.rs`.

mod admission;
mod edit;
mod frame;
mod issue;
mod output;
mod phrase;
mod syntax;

use std::borrow::Cow;

pub(crate) use admission::CHOICES;
pub(super) use admission::{notice, objection, objection_hint, question, stopped};
pub(super) use edit::{edit, receipt};
pub(super) use frame::{
    VIOLATION, and, example, instruction_frame, more, numbered, numbered_other,
};
pub(super) use issue::{
    issue_message, no_arguments, numbered_line, push_issue_line, recommendation,
};
pub(super) use output::{beside_result, end_sentence, output, tool_failure};
pub(super) use syntax::syntax;

use self::syntax::{is_left_over, syntax_advice, syntax_at};
use crate::text::{dotted_within, quoted, snippet};
use crate::vocabulary::{Cause, Cut, Failure};

/// The longest path in a line. The end of a path names the field, so the beginning is cut.
const PATH: usize = 48;

/// The longest name that is shown whole: a cut name is useless, and real ones are shorter.
const NAME: usize = 128;

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
                let found = found.map_or("what is".to_owned(), |found| format!("`{found}`"));
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
