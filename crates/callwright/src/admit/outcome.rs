//! The outcome of a call, as far as admission cares: did it work, is it the same as last time, is it worth trying again.
//!
//! In comes what the tool answered, out goes an [`Outcome`]: a digest that two answers share if they say the same,
//! and the beginning of the answer, for messages about it. The answer itself is not kept.

use std::borrow::Cow;

use super::acknowledge::acknowledges;
use super::asked::Asked;
use super::volatile;
use crate::json::Value;
use crate::text::{first_bytes, snippet};
use crate::words::transient::{is_transient, is_turned_away};
use crate::words::{Checked, Code, Digest, Failure, Next, Outcome, Output, Success};

/// How much of an answer is remembered, in characters: enough to recognise it.
const REMEMBERED: usize = 60;

/// How much of an error is searched for signs of a passing trouble, in bytes. They are at the beginning.
const SEARCHED: usize = 2_048;

/// What a tool answered.
#[derive(Debug, Clone, Copy)]
pub enum Answer<'a> {
    /// Text, which may be JSON.
    Text(&'a str),
    /// A JSON value that has already been read.
    Value(&'a Value<'a>),
}

impl Outcome {
    /// A call that worked.
    pub fn ok(answer: Answer<'_>) -> Self {
        Outcome::new(Success::Ok, answer, &Asked::default())
    }

    /// A call that failed. Whether the trouble passes is read from the words of the error.
    pub fn error(answer: Answer<'_>) -> Self {
        let success = if is_transient(&beginning(answer, SEARCHED)) {
            Success::Transient
        } else {
            Success::Error
        };
        Outcome::new(success, answer, &Asked::default())
    }

    /// A call that failed for a reason that passes, as its runner knows.
    pub fn transient(answer: Answer<'_>) -> Self {
        Outcome::new(Success::Transient, answer, &Asked::default())
    }

    /// The outcome of a call that ran and whose result was judged.
    pub(crate) fn of(checked: &Checked<'_>, arguments: Option<&Value<'_>>) -> Self {
        let success = success(checked);
        let asked = arguments.map(Asked::new).unwrap_or_default();
        match said(checked) {
            Said::Answer(answer) => Outcome::new(success, answer, &asked),
            Said::Text(text) => Outcome::new(success, Answer::Text(&text), &asked),
            // Failures are told apart by what the model does not hear of, too.
            Said::Failure(failure) => {
                let hidden = failure.for_operator().unwrap_or_default();
                let told = failure.told().unwrap_or_default();
                let all = format!("{} {told} {hidden}", failure.code_name());
                Outcome::new(success, Answer::Text(&all), &asked)
            }
        }
    }

    fn new(success: Success, answer: Answer<'_>, asked: &Asked<'_>) -> Self {
        Outcome {
            success,
            digest: volatile::steady(answer, asked, Digest::of),
            acknowledges: success == Success::Ok && acknowledges(answer, asked),
            turned_away: success == Success::Transient
                && is_turned_away(&beginning(answer, SEARCHED)),
        }
    }
}

impl Checked<'_> {
    /// What admission remembers of it. Long answers take a while to read; who has time asks before it matters.
    pub fn outcome(&self) -> &Outcome {
        self.outcome_of(None)
    }

    /// The same, next to the arguments of the call.
    pub(crate) fn outcome_of(&self, arguments: Option<&Value<'_>>) -> &Outcome {
        self.outcome.get_or_init(|| Outcome::of(self, arguments))
    }
}

/// The beginning of an answer, for messages about it. What the model does not hear of is not in it.
pub(super) fn beginning_of(checked: &Checked<'_>) -> String {
    let bytes = REMEMBERED * 4;
    let text = match said(checked) {
        Said::Answer(answer) => beginning(answer, bytes),
        Said::Text(ref text) => return snippet(first_bytes(text, bytes).trim(), REMEMBERED),
        Said::Failure(failure) => {
            Cow::Borrowed(first_bytes(failure.told().unwrap_or_default(), bytes))
        }
    };
    snippet(text.trim(), REMEMBERED)
}

/// What a call was answered with.
enum Said<'c> {
    Answer(Answer<'c>),
    Text(Cow<'c, str>),
    Failure(&'c Failure),
}

fn said<'c>(checked: &'c Checked<'_>) -> Said<'c> {
    match (&checked.output, &checked.failure) {
        (Some(Output::Value(value)), _) => Said::Answer(Answer::Value(value)),
        (Some(Output::Text(text)), _) => Said::Answer(Answer::Text(text)),
        (Some(output), _) => Said::Text(output.text()),
        (None, Some(failure)) => Said::Failure(failure),
        (None, None) => Said::Answer(Answer::Text("")),
    }
}

/// How a call that ran went, by what was made of its result.
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

/// The first `bytes` of an answer, or a few less where a character would be cut.
fn beginning(answer: Answer<'_>, bytes: usize) -> Cow<'_, str> {
    match answer {
        Answer::Text(text) => Cow::Borrowed(first_bytes(text, bytes)),
        Answer::Value(Value::String(text)) => Cow::Borrowed(first_bytes(text, bytes)),
        Answer::Value(value) => match text_of(value) {
            Some(text) => Cow::Borrowed(first_bytes(text, bytes)),
            None => Cow::Owned(value.json_beginning(bytes)),
        },
    }
}

/// The words of an MCP result, without what is around them.
fn text_of<'v>(value: &'v Value<'_>) -> Option<&'v str> {
    let first = value.get("content")?.as_array()?.first()?;
    (first.get("type")?.as_str()? == "text").then(|| first.get("text")?.as_str())?
}
