//! Stage 9: one record per call, to any number of sinks.
//!
//! Takes a settled call; returns an [`Event`] with everything that an operator may want to know: what was sent, what went to
//! the tool, every edit, why it was refused, what was returned and how long it took. [`Sinks`] hands it to any number of sinks:
//! a JSON Lines file, a callback, a channel. Each has its own thread and bounded queue, so that a sink that blocks, fails or
//! panics never delays or fails a call; the events it missed are counted. Without sinks no event is built.
//!
//! Sinks mask secrets, on their own threads: see [`Values`]. This module judges nothing and sends nothing to the model.

mod common_secrets;
mod json_lines;
mod line;
mod mask;
mod queue;
mod sink;
mod sinks;
mod span;
mod time;

use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

pub use json_lines::JsonLines;
pub use line::EventLine;
pub use mask::Values;
pub use sink::{Callback, ChannelSink, On, Sink, SinkError, SinkStats, callback, channel};
pub use sinks::{SinkRegistration, Sinks, SinksBuilder};
pub use span::ToolSpan;
#[doc(hidden)]
pub use time::calendar_date;

use crate::call::{Arguments, Call, Completeness};
use crate::gate::Gate;
use crate::json::{Value, read_value};
use crate::tool::Tool;
use crate::validate::Secrets;
pub use crate::verdict::Judgement;
use crate::verdict::{Settled, Verdict};
use crate::vocabulary::{
    Cause, Checked, Digest, Edit, Failure, Fingerprint, Notation, Notice, OutputVerdict, Place,
};

/// Everything about one call. It owns its data, so that it can be handed to other threads.
///
/// ```
/// use std::time::SystemTime;
/// use callwright::{Call, Gate, ToolSpec, event::Event};
/// use serde_json::json;
///
/// let tool = ToolSpec::new("login", json!({"properties": {"user": {}, "password": {"writeOnly": true}}}));
/// let gate = Gate::builder().tool(tool).build()?;
/// let call = Call::from_text("login", r#"{"user": "ann", "password": "hunter2"}"#);
/// let event = Event::of(&gate, &call, &gate.judge(&call), SystemTime::UNIX_EPOCH);
/// let line = event.line().to_string();
/// assert!(line.contains(r#""arguments":{"user":"ann","password":"[masked]"}"#));
/// assert!(!line.contains("hunter2"));
/// # Ok::<(), callwright::Error>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Event {
    /// When the call arrived.
    pub time: SystemTime,
    /// The conversation, if it belongs to one.
    pub session: Option<String>,
    /// The turn: it starts with a message from the user.
    pub turn: Option<u64>,
    /// The round: one answer of the model.
    pub round: Option<u64>,
    /// The provider's id of the call.
    pub id: Option<Value<'static>>,
    /// The name of the tool; as the model wrote it, if there is no such tool.
    pub tool: String,
    /// The name that the model used, if it differs.
    pub tool_sent: Option<String>,
    /// The identity of the call.
    pub fingerprint: Fingerprint,
    /// The gate's verdict.
    pub verdict: Judgement,
    /// The arguments as the model sent them.
    pub sent: Arguments<'static>,
    /// What the provider reported about the end of the model's answer.
    pub completeness: Completeness,
    /// The notation of the call, if it was extracted from a message.
    pub rescued: Option<Notation>,
    /// The edits of the arguments.
    pub edits: Vec<Edit>,
    /// Why the call was refused.
    pub failure: Option<Failure>,
    /// The notice that the model got with the result or the refusal.
    pub notice: Option<Notice>,
    /// The model that made the call, if known.
    pub model: Option<String>,
    /// What a gateway fixed around the calls of the answer up to this one: the names of
    /// [`EnvelopeDefect`](crate::wire::EnvelopeDefect)s.
    pub mended: Vec<&'static str>,
    /// How the model was asked again for the call, if a gateway did so.
    pub reask: Option<Reask>,
    /// Whether the call ran although the ledger could not be reached, so that no budget and no loop counts it.
    pub uncounted: bool,
    /// The verdict on the result, if there was a result.
    pub output_verdict: Option<OutputVerdict>,
    /// The schema's objections to arguments that went to the tool anyway.
    pub warning: Option<Failure>,
    /// What is wrong with the result, or why there is none.
    pub output_failure: Option<Failure>,
    /// Equal for equal results.
    pub output_digest: Option<Digest>,
    /// The result, if it is kept.
    pub output: Option<Value<'static>>,
    /// Whether the tool failed, or reported that it did.
    pub is_error: bool,
    /// How long the tool took, all attempts together; `None` if it did not run.
    pub latency: Option<Duration>,
    /// How long the gate took.
    pub gate_time: Duration,
    /// How often the tool was run.
    pub attempts: u32,
    /// For the operator's eyes only: the whole chain of errors of a failed tool.
    pub operator_detail: Option<String>,
    /// The arguments of a repaired call; for any other call they are the ones that were sent.
    repaired: Option<Value<'static>>,
    masks: Masks,
}

/// How a model was asked again for a refused call, with a request that the client does not see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reask {
    /// How many times.
    pub tries: u32,
    /// The stable name of the outcome: `accepted`, or why not.
    pub outcome: &'static str,
    /// How many tokens it took, as far as the provider reported them.
    pub tokens: u64,
}

/// What to mask in the values of an event.
#[derive(Debug, Clone, Default)]
struct Masks {
    input: Option<Arc<Secrets>>,
    output: Option<Arc<Secrets>>,
}

impl Event {
    /// The record of a call and its verdict. Facts that are known later are added later.
    ///
    /// The gate knows what must be masked. A call of an unknown tool may have been meant for any tool, so everything that any
    /// tool marks as a secret is masked.
    pub fn of(gate: &Gate, call: &Call<'_>, verdict: &Verdict<'_>, time: SystemTime) -> Self {
        let tool = verdict.tool();
        let name = tool.map_or(call.tool.as_ref(), Tool::name);
        Event {
            time,
            session: None,
            turn: None,
            round: None,
            id: call.id.clone().map(Value::into_owned),
            tool: name.to_owned(),
            tool_sent: (name != call.tool).then(|| call.tool.to_string()),
            fingerprint: gate.fingerprint(call, verdict),
            verdict: verdict.judgement(),
            sent: call.arguments.clone().into_owned(),
            completeness: call.completeness,
            rescued: call.rescued,
            edits: verdict.edits().to_vec(),
            failure: verdict.failure().cloned(),
            notice: match verdict {
                Verdict::Refused(refused) => refused.notice.clone(),
                _ => None,
            },
            model: None,
            mended: Vec::new(),
            reask: None,
            uncounted: false,
            warning: verdict.warning().cloned(),
            output_verdict: None,
            output_failure: None,
            output_digest: None,
            output: None,
            is_error: false,
            latency: None,
            gate_time: Duration::ZERO,
            attempts: 0,
            operator_detail: None,
            repaired: match verdict {
                Verdict::Repaired(repaired) => Some(repaired.arguments().clone()),
                _ => None,
            },
            masks: match tool {
                Some(tool) => Masks {
                    input: tool.secrets().cloned(),
                    output: tool.output_secrets().cloned(),
                },
                None => Masks {
                    input: gate.tool_set().all_secrets().cloned(),
                    output: None,
                },
            },
        }
    }

    /// The same event at its place in a conversation.
    #[must_use]
    pub fn at(mut self, place: Place<'_>) -> Self {
        self.session = Some(place.session.to_owned());
        self.turn = place.at.turn;
        self.round = place.at.round;
        self
    }

    /// The same event, for a call that ran `attempts` times and took this long in total.
    #[must_use]
    pub fn ran(mut self, attempts: u32, latency: Duration) -> Self {
        self.attempts = attempts;
        self.latency = Some(latency);
        self
    }

    /// The same event with everything that settling the call has added: the notice, and the verdict on the result.
    #[must_use]
    pub fn settled(mut self, settled: &Settled<'_>) -> Self {
        self.notice = settled.notice().cloned();
        self.uncounted = settled.uncounted;
        match &settled.result {
            Some(result) => self.with_result(result),
            None => self,
        }
    }

    /// The same event with the verdict on the result.
    #[must_use]
    pub fn with_result(mut self, result: &Checked<'_>) -> Self {
        self.output_verdict = Some(result.verdict);
        self.output_failure = result.failure.as_deref().cloned();
        self.output_digest = Some(result.outcome().digest);
        self.is_error = result.verdict == OutputVerdict::Failed;
        let of_failure = result.failure.as_ref().and_then(|it| it.for_operator());
        let notes = result.notes.iter().map(String::as_str);
        let told: Vec<&str> = of_failure.into_iter().chain(notes).collect();
        if !told.is_empty() {
            self.operator_detail = Some(told.join("; "));
        }
        self
    }

    /// The same event with the result itself. It may be large, and only a replay needs it.
    #[must_use]
    pub fn with_output(mut self, output: Value<'_>) -> Self {
        self.output = Some(output.into_owned());
        self
    }

    /// The arguments that went to the tool; for a refused call, what the model sent, if it could be parsed.
    pub fn arguments(&self) -> Option<Cow<'_, Value<'_>>> {
        if let Some(repaired) = &self.repaired {
            return Some(Cow::Borrowed(repaired));
        }
        let nothing = || Some(Cow::Owned(Value::Object(Vec::new())));
        match &self.sent {
            Arguments::Absent | Arguments::Value(Value::Null) => nothing(),
            Arguments::Value(value) => Some(Cow::Borrowed(value)),
            Arguments::Text(text) => match read_value(text) {
                Ok(Value::Null) => nothing(),
                Ok(value) => Some(Cow::Owned(value)),
                Err(_) if text.trim_ascii().is_empty() => nothing(),
                Err(_) => None,
            },
        }
    }

    /// The first thing that went wrong: with the call, or with its result.
    pub fn error(&self) -> Option<&Failure> {
        let of_result = || {
            let is_error = self.output_verdict.is_some_and(OutputVerdict::is_error);
            self.output_failure.as_ref().filter(|_| is_error)
        };
        self.failure.as_ref().or_else(of_result)
    }

    /// Whether the tool was run.
    pub fn was_executed(&self) -> bool {
        self.attempts > 0
    }

    /// The event as a line of JSON Lines, with secrets masked and without the result.
    pub fn line(&self) -> EventLine<'_> {
        EventLine::new(self)
    }

    /// Its approximate size in bytes: everything that grows with the call is counted.
    fn weight(&self) -> usize {
        // The fixed fields, and names and a failure of the usual size.
        const REST: usize = 1_024;
        let texts = [&self.session, &self.tool_sent, &self.operator_detail];
        let texts = texts.into_iter().flatten().map(String::len).sum::<usize>();
        let failures = [&self.failure, &self.warning, &self.output_failure];
        let failures = failures.into_iter().flatten().map(failure_weight);
        let sent = match &self.sent {
            Arguments::Absent => 0,
            Arguments::Text(text) => text.len(),
            Arguments::Value(value) => weight(value),
        };
        let edits = self.edits.iter();
        let values = [&self.id, &self.repaired, &self.output];
        let values = values.into_iter().flatten().map(weight).sum::<usize>();
        REST + sent
            + values
            + texts
            + self.tool.len()
            + failures.sum::<usize>()
            + edits
                .map(|edit| weight(&edit.before) + weight(&edit.after))
                .sum::<usize>()
    }
}

fn failure_weight(failure: &Failure) -> usize {
    // What was expected and what was received, both cut to a line.
    const ISSUE: usize = 512;
    let issues = failure.issues().iter();
    let issues = issues.map(|issue| ISSUE + issue.path.as_pointer().len());
    let texts = [failure.tool_message(), failure.for_operator()];
    let name = match &failure.cause {
        Cause::UnknownTool { name, .. } => name.len(),
        _ => 0,
    };
    name + issues.sum::<usize>() + texts.into_iter().flatten().map(str::len).sum::<usize>()
}

fn weight(value: &Value<'_>) -> usize {
    size_of::<Value<'_>>()
        + match value {
            Value::String(text) => text.len(),
            Value::Number(number) => number.as_str().len(),
            Value::Array(items) => items.iter().map(weight).sum(),
            Value::Object(members) => members
                .iter()
                .map(|(key, value)| size_of::<Cow<'_, str>>() + key.len() + weight(value))
                .sum(),
            Value::Null | Value::Bool(_) => 0,
        }
}
