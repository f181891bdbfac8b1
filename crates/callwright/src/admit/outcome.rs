//! The outcome of a call as admission sees it: did it work, is it the same as last time, is a retry worthwhile.
//!
//! Takes a tool's answer; returns an [`Outcome`]: a digest that is equal for answers with the same meaning, and the beginning
//! of the answer, for messages about it. The answer itself is not kept.

use std::borrow::Cow;

use super::acknowledge::acknowledges;
use super::asked::Asked;
use super::volatile;
use crate::json::Value;
use crate::text::{first_bytes, snippet};
use crate::vocabulary::transient::is_turned_away;
use crate::vocabulary::{
    Checked, Code, Digest, Failure, Next, Outcome, Output, Success, TextHash, hash,
};

/// How much of an answer is remembered, in characters: enough to recognise it.
const REMEMBERED: usize = 60;

/// How much of an error is searched for signs of a transient failure, in bytes. They are at the beginning.
const SEARCHED: usize = 2_048;

/// The longest receipt, in bytes. A longer answer has content.
const LONGEST_RECEIPT: usize = 400;

/// What is equal for two receipts: the digest of a short answer without anything that has a digit in it. `None` if the answer is
/// no receipt.
pub(super) fn receipt(checked: &Checked<'_>, arguments: Option<&Value<'_>>) -> Option<Digest> {
    let asked = arguments.map(Asked::new).unwrap_or_default();
    (success(checked) == Success::Ok).then_some(())?;
    volatile::steady(&content_of(checked), &asked, |text| {
        (text.len() <= LONGEST_RECEIPT).then(|| Digest::of(&without_numbers(text)))
    })
}

/// The answer of a tool, with everything that distinguishes it from others.
fn content_of<'a>(checked: &'a Checked<'_>) -> AnswerContent<'a> {
    AnswerContent::of(checked, |failure| {
        // Failures also differ in the details that the model does not see.
        let hidden = failure.for_operator().unwrap_or_default();
        let message = failure.tool_message().unwrap_or_default();
        format!("{} {message} {hidden}", failure.code_name()).into()
    })
}

/// A text without its ids, dates and amounts: every word with a digit in it.
fn without_numbers(text: &str) -> String {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    let mut words: Vec<&str> = text.split(|c: char| !is_part(c)).collect();
    words.retain(|word| !word.contains(|c: char| c.is_ascii_digit()));
    words.join(" ")
}

/// A tool's answer.
pub(super) enum AnswerContent<'a> {
    /// Text, which may be JSON.
    Text(Cow<'a, str>),
    /// A parsed JSON value.
    Value(&'a Value<'a>),
}

impl Outcome {
    /// The outcome of a call whose result was judged. Whether the answer only acknowledges the call is worked out if
    /// `may_acknowledge`, and is otherwise `false`.
    pub(super) fn of(
        checked: &Checked<'_>,
        arguments: Option<&Value<'_>>,
        may_acknowledge: bool,
        hash: TextHash,
    ) -> Self {
        let success = success(checked);
        let asked = arguments.map(Asked::new).unwrap_or_default();
        let answer = content_of(checked);
        Outcome {
            success,
            digest: volatile::steady(&answer, &asked, |text| Digest(hash(text))),
            acknowledges: may_acknowledge
                && success == Success::Ok
                && acknowledges(&answer, &asked),
            turned_away: success == Success::Transient
                && answer.is_one_text()
                && is_turned_away(&answer.beginning(SEARCHED)),
        }
    }
}

impl Checked<'_> {
    /// What admission remembers of it. Computed once; a long answer takes a while, so call this early if there is time.
    pub fn outcome(&self) -> &Outcome {
        self.outcome_of(None)
    }

    /// The same, given the arguments of the call.
    pub(crate) fn outcome_of(&self, arguments: Option<&Value<'_>>) -> &Outcome {
        self.outcome
            .get_or_init(|| Outcome::of(self, arguments, true, hash))
    }
}

/// The beginning of an answer, for messages about it. It never contains what the model must not see.
pub(super) fn beginning_of(checked: &Checked<'_>) -> String {
    let answer = AnswerContent::of(checked, |failure| {
        failure.tool_message().unwrap_or_default().into()
    });
    snippet(answer.beginning(REMEMBERED * 4).trim(), REMEMBERED)
}

/// Whether a call that ran worked, according to the verdict on its result.
fn success(checked: &Checked<'_>) -> Success {
    match &checked.failure {
        Some(failure) if checked.is_error() => {
            let passes = matches!(failure.code, Code::Transient | Code::Timeout);
            if passes || failure.next() == Next::RetryLater {
                Success::Transient
            } else {
                Success::Error
            }
        }
        _ => Success::Ok,
    }
}

impl<'a> AnswerContent<'a> {
    fn of(checked: &'a Checked<'_>, of_failure: impl FnOnce(&'a Failure) -> Cow<'a, str>) -> Self {
        match (&checked.output, &checked.failure) {
            (Some(Output::Value(value)), _) => AnswerContent::Value(value),
            (Some(output), _) => AnswerContent::Text(output.text()),
            (None, Some(failure)) => AnswerContent::Text(of_failure(failure)),
            (None, None) => AnswerContent::Text(Cow::Borrowed("")),
        }
    }

    /// Whether nothing follows its first block of text.
    fn is_one_text(&self) -> bool {
        match self {
            AnswerContent::Text(_) => true,
            AnswerContent::Value(value) => {
                let blocks = value.get("content").and_then(Value::as_array);
                blocks.is_none_or(|blocks| blocks.len() == 1)
            }
        }
    }

    /// The first `bytes`, or a few less to avoid cutting a character.
    fn beginning(&self, bytes: usize) -> Cow<'_, str> {
        let text = match self {
            AnswerContent::Text(text) | AnswerContent::Value(Value::String(text)) => text,
            AnswerContent::Value(value) => match text_of(value) {
                Some(text) => text,
                None => return Cow::Owned(value.json_beginning(bytes)),
            },
        };
        Cow::Borrowed(first_bytes(text, bytes))
    }
}

/// The text of an MCP result, without its envelope.
fn text_of<'v>(value: &'v Value<'_>) -> Option<&'v str> {
    let first = value.get("content")?.as_array()?.first()?;
    (first.get("type")?.as_str()? == "text").then(|| first.get("text")?.as_str())?
}
