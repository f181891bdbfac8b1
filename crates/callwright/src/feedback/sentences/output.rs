//! Sentences about results, and about tools that failed.

use std::time::Duration;

use crate::text::{dotted_within, one_line, quoted};
use crate::vocabulary::{ErrorSign, FailureKind, MorePages, Next, OutputFault, ToolFailure};

use super::syntax::syntax_at;
use super::{NAME, PATH};

/// How much is shown of a sentence written by a tool or an operator. Longer ones are data, not a message.
const OWN_WORDS: usize = 600;

/// What is wrong with a result, for everything except individual fields.
pub(in crate::feedback) fn output(fault: &OutputFault) -> String {
    match fault {
        // Reported line by line.
        OutputFault::Violation(_) => String::new(),
        OutputFault::Syntax {
            line,
            column,
            path,
            problem,
            found,
        } => {
            let what = syntax_at(*line, *column, path, *problem, found.as_deref());
            format!("The result is not valid JSON: {what}.")
        }
        OutputFault::Nothing => "The result is empty, though the tool promises JSON.".to_owned(),
        OutputFault::NotText { offset } => {
            format!("The result is not text: byte {offset} is not UTF-8.")
        }
        OutputFault::TooDeep => "The result is nested too deeply to be read.".to_owned(),
        OutputFault::TooLarge { bytes } => {
            format!("The result is too long to be read: it has {bytes} bytes.")
        }
        OutputFault::NoJson { path } => {
            let place = dotted_within(path, PATH);
            format!(
                "The result does not fit its schema: {place}: received a value that JSON cannot hold."
            )
        }
        OutputFault::CutOff { path } if path.is_root() => "The result was cut off.".to_owned(),
        OutputFault::CutOff { path } => {
            format!("The result was cut off at {}.", dotted_within(path, PATH))
        }
        OutputFault::ErrorInDisguise { sign, said, .. } => {
            let what = match sign {
                ErrorSign::Html => "The result is a page of HTML instead of data".to_owned(),
                ErrorSign::Status(status) if !says(said.as_deref(), *status) => {
                    format!("The result is an error, HTTP {status}")
                }
                ErrorSign::Status(_) | ErrorSign::Member | ErrorSign::Text => {
                    "The result is an error".to_owned()
                }
            };
            match said.as_deref() {
                None | Some("") => format!("{what}."),
                Some(said) => format!("{what}: {}", ended(said)),
            }
        }
        OutputFault::Empty { argument, value } => {
            let argument = dotted_within(argument, PATH);
            match value {
                Some(value) => format!("Nothing was found for {argument}={value}."),
                None => format!("Nothing was found for {argument}."),
            }
        }
        OutputFault::MorePages(pages) => more_pages(pages),
        OutputFault::CutText => "The text ends in the middle.".to_owned(),
        OutputFault::Omitted { mark } => {
            format!(
                "Something was left out, as the text says: {}.",
                quoted(mark, NAME)
            )
        }
        OutputFault::TooLong { shown, bytes } => {
            format!("The result has {bytes} bytes; these are the first {shown}.")
        }
        OutputFault::Finding(finding) => ended(&one_line(&finding.detail, OWN_WORDS)),
    }
}

/// Whether a message names a status itself.
fn says(words: Option<&str>, status: u16) -> bool {
    words.is_some_and(|words| words.contains(&status.to_string()))
}

fn more_pages(pages: &MorePages) -> String {
    match (pages.items, pages.total) {
        (Some(items), Some(total)) => format!("The result holds {items} of {total} items."),
        (None, Some(total)) => format!("There are {total} items in all."),
        _ => "There is more.".to_owned(),
    }
}

/// What to do about a result, where that depends on the fault.
pub(in crate::feedback) fn output_hint(fault: &OutputFault) -> Option<String> {
    match fault {
        OutputFault::MorePages(MorePages {
            next: Some((argument, value)),
            ..
        }) => Some(format!(
            "Call again with {}={value} to continue.",
            one_line(argument, NAME)
        )),
        OutputFault::TooLong { .. } => {
            Some("Continue with what you have, or ask for less at once.".to_owned())
        }
        OutputFault::ErrorInDisguise {
            transient: true, ..
        } => Some("Wait, then send the same call again.".to_owned()),
        OutputFault::Finding(finding) => {
            let hint = finding.hint.as_deref()?;
            Some(one_line(hint, OWN_WORDS))
        }
        _ => None,
    }
}

/// Why a tool failed: its own message if that is meant for the model, never that of an unknown error.
pub(in crate::feedback) fn tool_failure(
    failure: &ToolFailure,
    tool: &str,
    said: Option<&str>,
    passes: bool,
) -> String {
    let tool = quoted(tool, NAME);
    let detail = failure.detail().filter(|detail| !detail.trim().is_empty());
    match (detail, said, failure.kind()) {
        (Some(detail), ..) => ended(&one_line(detail, OWN_WORDS)),
        (None, Some(""), FailureKind::Reported) => {
            format!("The tool {tool} answered with an error and did not say which.")
        }
        (None, Some(said), _) => format!("The tool {tool} answered with an error: {}", ended(said)),
        (None, None, kind) => match kind {
            FailureKind::TimedOut(after) => {
                format!("The tool {tool} did not answer within {}.", duration(after))
            }
            FailureKind::Panicked => format!("The tool {tool} crashed."),
            FailureKind::Cancelled => {
                format!("The call to {tool} was cancelled before it finished.")
            }
            FailureKind::NotStarted => {
                format!("The call to {tool} was cancelled before it started.")
            }
            FailureKind::Defect if failure.objection().is_some() => {
                let (path, message) = failure.objection().map_or_else(Default::default, |it| {
                    (dotted_within(&it.0, PATH), one_line(&it.1, NAME))
                });
                format!(
                    "The tool {tool} does not accept {path}: {}",
                    ended(&message)
                )
            }
            FailureKind::Defect => {
                format!("The tool {tool} cannot read arguments that its own schema accepts.")
            }
            _ if passes => format!("The tool {tool} is not available at the moment."),
            FailureKind::Transient | FailureKind::Reported | FailureKind::Internal => {
                format!("The tool {tool} failed with an internal error.")
            }
        },
    }
}

/// What to do about a failed tool, where that depends on the failure.
pub(in crate::feedback) fn tool_failure_hint(
    failure: &ToolFailure,
    said: Option<&str>,
    once: bool,
) -> Option<String> {
    if let Some(hint) = failure.hint() {
        return Some(one_line(hint, OWN_WORDS));
    }
    if failure.objection().is_some() {
        return Some("Correct it and call the tool again.".to_owned());
    }
    let unsure = matches!(
        failure.kind(),
        FailureKind::TimedOut(_)
            | FailureKind::Cancelled
            | FailureKind::Panicked
            | FailureKind::Internal
    );
    if once && unsure {
        return Some("It may have taken effect: check that before you call it again.".to_owned());
    }
    if let Some(wait) = failure.retry_after() {
        let wait = duration(wait);
        return Some(format!("Wait {wait}, then send the same call again."));
    }
    // There is nothing to act on.
    (said == Some("")).then(|| next_hint(Next::ChangeApproach).to_owned())
}

/// What to do next, if that is set without a hint.
pub(in crate::feedback) fn next_hint(next: Next) -> &'static str {
    match next {
        Next::FixArguments => "Correct the arguments and call the tool again.",
        Next::RetrySame => "Send the same call again.",
        Next::RetryLater => "Wait, then send the same call again.",
        Next::ChangeApproach => "Try another way or tell the user.",
        Next::Continue => "Continue with what you have.",
        Next::AskUser => "Ask the user how to proceed.",
        Next::Stop => "Stop here: report what you have and what is missing.",
    }
}

/// The text before a notice of ours in a result, so that it is not taken for part of the result.
pub(in crate::feedback) fn beside_result(note: &str) -> String {
    format!("[{note}]")
}

fn duration(time: Duration) -> String {
    // Tenths of a second are precise enough.
    match (time.as_secs(), time.subsec_millis() / 100) {
        (0, _) => format!("{} ms", time.as_millis()),
        (1, 0) => "1 second".to_owned(),
        (seconds, 0) => format!("{seconds} seconds"),
        (seconds, tenths) => format!("{seconds}.{tenths} seconds"),
    }
}

/// A quotation as the end of a sentence.
fn ended(said: &str) -> String {
    let mut sentence = said.to_owned();
    end_sentence(&mut sentence);
    sentence
}

/// Ends a sentence with a full stop if it has none.
pub(in crate::feedback) fn end_sentence(sentence: &mut String) {
    if !sentence.is_empty() && !sentence.ends_with(['.', '!', '?', '…']) {
        sentence.push('.');
    }
}
