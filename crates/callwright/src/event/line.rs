//! An event as one line of JSON: what is written here, [`crate::wire::read_recorded`] reads.

use std::fmt::{self, Write as _};
use std::time::Duration;

use super::mask::ShownValues;
use super::time::write_rfc3339;
use super::{Event, Values};
use crate::call::{Arguments, Completeness};
use crate::feedback::Feedback;
use crate::json::{Value, write_json_string};
use crate::wire::write_edit;
use crate::words::OutputVerdict;

/// The version of the line. Added fields do not change it; a field with a new meaning does.
const VERSION: u32 = 1;

/// An event as one line of JSON, secrets masked and without the result unless asked otherwise.
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
        let event = self.event;
        let shown = ShownValues::new(event, self.values);
        let feedback = Feedback::default();
        let mut line = LineWriter { out };
        line.write_place(event, &shown);
        line.key("arguments_sent").write_sent(&shown.sent);
        match &shown.arguments {
            Some(arguments) => arguments.write_json(line.key("arguments").out),
            None => line.key("arguments").null(),
        }
        line.write_edits(&shown);
        match &event.failure {
            Some(refused) => {
                let json = shown.failure(refused, &feedback);
                line.key("failure").out.push_str(&json);
            }
            None => line.key("failure").null(),
        }
        if let Some(warning) = &event.warning {
            let json = shown.failure(warning, &feedback);
            line.key("warning").out.push_str(&json);
        }
        if let Some(notice) = &event.notice {
            line.key("notice").out.push_str("{\"code\":");
            write_json_string(notice.code.name(), line.out);
            line.key("detail").text(&feedback.notice(notice));
            line.out.push('}');
        }
        if let Some(reask) = &event.reask {
            line.key("reask")
                .format(format_args!("{{\"tries\":{}", reask.tries));
            line.key("outcome").text(reask.outcome);
            line.key("tokens")
                .format(format_args!("{}}}", reask.tokens));
        }
        if event.uncounted {
            line.key("uncounted").out.push_str("true");
        }
        if let Some(verdict) = event.output_verdict {
            line.key("output_verdict").text(verdict.name());
        }
        if let Some(refused) = &event.output_failure {
            let json = shown.failure(refused, &feedback);
            let key = match event.output_verdict {
                Some(OutputVerdict::Warned) => "output_warning",
                _ => "output_failure",
            };
            line.key(key).out.push_str(&json);
        }
        match &event.output_digest {
            Some(digest) => line
                .key("output_digest")
                .format(format_args!("\"{digest}\"")),
            None => line.key("output_digest").null(),
        }
        if let Some(output) = shown.output.as_ref().filter(|_| self.with_output) {
            output.write_json(line.key("output").out);
        }
        if event.is_error {
            line.key("is_error").out.push_str("true");
        }
        line.write_cost(event, shown.operator_detail.as_deref());
        line.out.push('}');
    }
}

impl fmt::Display for EventLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut line = String::new();
        self.write(&mut line);
        f.write_str(&line)
    }
}

/// Writes the members of the line, one after the other.
struct LineWriter<'o> {
    out: &'o mut String,
}

impl LineWriter<'_> {
    fn key(&mut self, key: &'static str) -> LineWriter<'_> {
        self.out.push_str(",\"");
        self.out.push_str(key);
        self.out.push_str("\":");
        LineWriter { out: self.out }
    }

    fn null(self) {
        self.out.push_str("null");
    }

    fn text(self, text: &str) {
        write_json_string(text, self.out);
    }

    fn format(self, value: fmt::Arguments<'_>) {
        // Writing to a `String` cannot fail.
        let _ = self.out.write_fmt(value);
    }

    fn number(self, number: Option<impl fmt::Display>) {
        match number {
            Some(number) => self.format(format_args!("{number}")),
            None => self.null(),
        }
    }

    /// Which call, when and where.
    fn write_place(&mut self, event: &Event, shown: &ShownValues<'_>) {
        let _ = write!(self.out, "{{\"v\":{VERSION},\"time\":\"");
        write_rfc3339(event.time, self.out);
        self.out.push('"');
        match &event.session {
            Some(session) => self.key("session").text(session),
            None => self.key("session").null(),
        }
        self.key("turn").number(event.turn);
        self.key("round").number(event.round);
        match &event.id {
            Some(id) => id.write_json(self.key("id").out),
            None => self.key("id").null(),
        }
        self.key("tool").text(&shown.tool);
        if let Some(sent) = &shown.tool_sent {
            self.key("tool_sent").text(sent);
        }
        match &event.fingerprint {
            Some(fingerprint) => self
                .key("fingerprint")
                .format(format_args!("\"{fingerprint}\"")),
            None => self.key("fingerprint").null(),
        }
        self.key("verdict").text(event.verdict.name());
        if let Some(notation) = event.rescued {
            self.key("rescued").text(notation.name());
        }
        // Providers have many words for it; ours are read back like any of theirs.
        match event.completeness {
            Completeness::Unknown => {}
            Completeness::Complete => self.key("finish_reason").text("completed"),
            Completeness::Doubtful => self.key("finish_reason").text("unrecognized"),
            Completeness::CutOff => self.key("finish_reason").text("incomplete"),
        }
        // Otherwise a string would be read back as the text of arguments, and `null` as no arguments.
        if let Arguments::Value(Value::String(_) | Value::Null) = event.sent {
            self.key("sent_as").text("value");
        }
    }

    fn write_sent(self, sent: &Arguments<'_>) {
        match sent {
            Arguments::Absent => self.null(),
            Arguments::Text(text) => self.text(text),
            Arguments::Value(value) => value.write_json(self.out),
        }
    }

    fn write_edits(&mut self, shown: &ShownValues<'_>) {
        let out = self.key("edits").out;
        out.push('[');
        for (at, edit) in shown.edits.iter().enumerate() {
            if at > 0 {
                out.push(',');
            }
            write_edit(edit, out);
        }
        out.push(']');
    }

    /// Times, attempts, and the detail for the operator.
    fn write_cost(&mut self, event: &Event, operator_detail: Option<&str>) {
        let latency = event.latency.as_ref().map(Duration::as_micros);
        self.key("latency_us").number(latency);
        self.key("gate_us")
            .number(Some(event.gate_time.as_micros()));
        self.key("attempts").number(Some(event.attempts));
        if let Some(detail) = operator_detail {
            self.key("operator_detail").text(detail);
        }
    }
}
