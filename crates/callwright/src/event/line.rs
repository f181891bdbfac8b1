//! An event as one line of JSON, which [`crate::wire::read_recorded`] reads back.

use std::fmt::{self, Display, Write as _};
use std::time::Duration;

use super::common_secrets;
use super::mask::Mask;
use super::time::write_rfc3339;
use super::{Event, Values};
use crate::call::{Arguments, Completeness};
use crate::feedback::Feedback;
use crate::json::{ObjectWriter, Value, write_json_string, write_list};
use crate::vocabulary::{Failure, OutputVerdict};
use crate::wire::{write_edits, write_notice};

/// The version of the format. New fields do not change it; a field with a new meaning does.
const VERSION: u32 = 1;

/// An event as one line of JSON; by default secrets are masked and the result is left out.
#[derive(Debug, Clone, Copy)]
#[must_use]
pub struct EventLine<'e> {
    event: &'e Event,
    values: Values,
    with_output: bool,
}

impl<'e> EventLine<'e> {
    pub(super) fn new(event: &'e Event) -> Self {
        EventLine {
            event,
            values: Values::default(),
            with_output: false,
        }
    }

    /// Sets which values are shown.
    pub fn with_values(mut self, values: Values) -> Self {
        self.values = values;
        self
    }

    /// Sets whether the result is written, if the event has one.
    pub fn with_output(mut self, with_output: bool) -> Self {
        self.with_output = with_output;
        self
    }

    /// Appends the line, without a line break.
    pub fn write(&self, out: &mut String) {
        if self.values != Values::Masked {
            return self.write_shown(out);
        }
        let mut line = String::new();
        self.write_shown(&mut line);
        common_secrets::hide(&mut line);
        out.push_str(&line);
    }

    fn write_shown(&self, out: &mut String) {
        let event = self.event;
        let mask = Mask::of(event, self.values);
        let feedback = Feedback::default();
        let is_unknown = event.failure.as_ref().is_some_and(Failure::is_of_no_tool);
        let tool = is_unknown.then(|| mask.name(&event.tool));
        let tool_sent = event.tool_sent.as_deref().map(|name| mask.name(name));
        // Providers have many words for it; ours are read back like theirs.
        let finish_reason = match event.completeness {
            Completeness::Unknown => None,
            Completeness::Complete => Some("completed"),
            Completeness::Doubtful => Some("unrecognized"),
            Completeness::CutOff => Some("incomplete"),
        };
        // Otherwise a string would be read back as the text of the arguments, and `null` as no arguments.
        let is_ambiguous = matches!(event.sent, Arguments::Value(Value::String(_) | Value::Null));
        let output_failure = match event.output_verdict {
            Some(OutputVerdict::Warned) => "output_warning",
            _ => "output_failure",
        };
        let output = event.output.as_ref().filter(|_| self.with_output);
        let detail = event.operator_detail.as_deref();
        let yes = |flag: bool| flag.then_some(true);
        let write_failure = |failure: &Failure, out: &mut String| {
            out.push_str(&mask.failure(failure, &feedback));
        };

        let mut line = ObjectWriter::new(out);
        line.member("v", VERSION, write_bare);
        line.member("time", event.time, write_rfc3339);
        line.nullable("session", event.session.as_deref(), write_json_string);
        line.nullable("turn", event.turn, write_bare);
        line.nullable("round", event.round, write_bare);
        line.optional("model", event.model.as_deref(), write_json_string);
        line.nullable("id", event.id.as_ref(), Value::write_json);
        let tool = tool.as_deref().unwrap_or(&event.tool);
        line.text("tool", tool);
        line.optional("tool_sent", tool_sent.as_deref(), write_json_string);
        line.member("fingerprint", event.fingerprint, write_quoted);
        line.text("verdict", event.verdict.name());
        let rescued = event.rescued.map(crate::vocabulary::Notation::name);
        line.optional("rescued", rescued, write_json_string);
        line.optional("finish_reason", finish_reason, write_json_string);
        line.optional(
            "sent_as",
            is_ambiguous.then_some("value"),
            write_json_string,
        );
        line.member("arguments_sent", &*mask.sent(&event.sent), write_sent);
        let arguments = event.arguments().map(|value| mask.argument(value));
        line.nullable("arguments", arguments.as_deref(), Value::write_json);
        let edits = event.edits.iter().map(|edit| mask.edit(edit));
        line.member("edits", edits, write_edits);
        line.nullable("failure", event.failure.as_ref(), write_failure);
        line.optional("warning", event.warning.as_ref(), write_failure);
        line.optional("notice", event.notice.as_ref(), |notice, out| {
            write_notice(notice, &feedback, out);
        });
        let mended = Some(&event.mended).filter(|names| !names.is_empty());
        line.optional("mended", mended, |names, out| {
            write_list(names, out, |name, out| write_json_string(name, out));
        });
        line.optional("reask", event.reask.as_ref(), |reask, out| {
            let mut object = ObjectWriter::new(out);
            object.member("tries", reask.tries, write_bare);
            object.text("outcome", reask.outcome);
            object.member("tokens", reask.tokens, write_bare);
            object.end();
        });
        line.optional("uncounted", yes(event.uncounted), write_bare);
        let output_verdict = event.output_verdict.map(OutputVerdict::name);
        line.optional("output_verdict", output_verdict, write_json_string);
        line.optional(output_failure, event.output_failure.as_ref(), write_failure);
        line.nullable("output_digest", event.output_digest, write_quoted);
        let output = output.map(|it| mask.output(it));
        line.optional("output", output.as_deref(), Value::write_json);
        line.optional("is_error", yes(event.is_error), write_bare);
        let latency = event.latency.as_ref().map(Duration::as_micros);
        line.nullable("latency_us", latency, write_bare);
        line.member("gate_us", event.gate_time.as_micros(), write_bare);
        line.member("attempts", event.attempts, write_bare);
        line.optional("operator_detail", detail, |detail, out| {
            write_json_string(&mask.text(detail), out);
        });
        line.end();
    }
}

impl Display for EventLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut line = String::new();
        self.write(&mut line);
        f.write_str(&line)
    }
}

// Writing to a `String` cannot fail.

fn write_bare(value: impl Display, out: &mut String) {
    let _ = write!(out, "{value}");
}

fn write_quoted(value: impl Display, out: &mut String) {
    let _ = write!(out, "\"{value}\"");
}

fn write_sent(sent: &Arguments<'_>, out: &mut String) {
    match sent {
        Arguments::Absent => out.push_str("null"),
        Arguments::Text(text) => write_json_string(text, out),
        Arguments::Value(value) => value.write_json(out),
    }
}
