//! A span for each call, with the names of OpenTelemetry's conventions for generative AI.
//!
//! In come the names of a call and later its event, out goes a span `execute_tool NAME` for whatever subscriber the
//! process has. Arguments and results are never in it: the conventions leave them to those who ask for them
//! (`gen_ai.tool.call.arguments`, `gen_ai.tool.call.result`), and traces go to places where secrets do not belong. What
//! is ours stands under `callwright.`. Without the feature `tracing` all of this is nothing.

use super::Event;
use crate::classify::Failure;
use crate::json::Value;

/// The span of one call. Without the feature `tracing` it does nothing.
#[derive(Debug, Clone)]
#[must_use]
pub struct ToolSpan {
    #[cfg(feature = "tracing")]
    span: tracing::Span,
}

#[cfg(feature = "tracing")]
impl ToolSpan {
    /// Opens the span of a call. The tool is asked for its name only if somebody looks.
    pub fn new<'t>(
        tool: impl FnOnce() -> &'t str,
        id: Option<&Value<'_>>,
        session: Option<&str>,
    ) -> Self {
        use tracing::field::{Empty, display};

        let span = tracing::info_span!(
            "execute_tool",
            "otel.name" = Empty,
            "otel.kind" = "internal",
            "otel.status_code" = Empty,
            "gen_ai.operation.name" = "execute_tool",
            "gen_ai.tool.name" = Empty,
            "gen_ai.tool.type" = "function",
            "gen_ai.tool.call.id" = Empty,
            "gen_ai.conversation.id" = session,
            "error.type" = Empty,
            "callwright.verdict" = Empty,
            "callwright.output_verdict" = Empty,
            "callwright.edits" = Empty,
            "callwright.attempts" = Empty,
        );
        // Only if somebody looks.
        if !span.is_disabled() {
            let tool = tool();
            span.record("gen_ai.tool.name", tool);
            span.record("otel.name", display(format_args!("execute_tool {tool}")));
            match id {
                Some(Value::String(id)) => {
                    span.record("gen_ai.tool.call.id", id.as_ref());
                }
                Some(other) => {
                    span.record("gen_ai.tool.call.id", display(other));
                }
                None => {}
            }
        }
        ToolSpan { span }
    }

    /// Notes what became of the call.
    pub fn record_outcome(&self, outcome: &SpanOutcome<'_>) {
        if self.span.is_disabled() {
            return;
        }
        self.span.record("callwright.verdict", outcome.verdict);
        if let Some(verdict) = outcome.output_verdict {
            self.span.record("callwright.output_verdict", verdict);
        }
        self.span.record("callwright.edits", outcome.edits);
        self.span.record("callwright.attempts", outcome.attempts);
        if let Some(code) = outcome.error {
            self.span.record("error.type", code);
            self.span.record("otel.status_code", "ERROR");
        }
    }

    /// Runs a future inside of the span.
    pub fn instrument<F: Future>(&self, future: F) -> impl Future<Output = F::Output> + use<F> {
        tracing::Instrument::instrument(future, self.span.clone())
    }

    /// Runs a function inside of the span.
    pub fn in_scope<T>(&self, function: impl FnOnce() -> T) -> T {
        self.span.in_scope(function)
    }
}

#[cfg(not(feature = "tracing"))]
impl ToolSpan {
    /// Opens the span of a call.
    pub fn new<'t>(
        _tool: impl FnOnce() -> &'t str,
        _id: Option<&Value<'_>>,
        _session: Option<&str>,
    ) -> Self {
        ToolSpan {}
    }

    /// Notes what became of the call.
    pub fn record_outcome(&self, _outcome: &SpanOutcome<'_>) {}

    /// Runs a future inside of the span.
    pub fn instrument<F: Future>(&self, future: F) -> impl Future<Output = F::Output> + use<F> {
        future
    }

    /// Runs a function inside of the span.
    pub fn in_scope<T>(&self, function: impl FnOnce() -> T) -> T {
        function()
    }
}

/// What a span tells about the end of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SpanOutcome<'e> {
    /// What the gate said about the call.
    pub verdict: &'static str,
    /// What was said about its result.
    pub output_verdict: Option<&'static str>,
    /// How many edits were made.
    pub edits: usize,
    /// How often the tool was run.
    pub attempts: u32,
    /// The code of what went wrong.
    pub error: Option<&'e str>,
}

impl SpanOutcome<'_> {
    /// A call with this verdict, of which no more is known.
    pub fn new(verdict: &'static str) -> Self {
        SpanOutcome {
            verdict,
            output_verdict: None,
            edits: 0,
            attempts: 0,
            error: None,
        }
    }
}

impl<'e> From<&'e Event> for SpanOutcome<'e> {
    fn from(event: &'e Event) -> Self {
        SpanOutcome {
            verdict: event.verdict.name(),
            output_verdict: event.output_verdict.map(crate::check::OutputVerdict::name),
            edits: event.edits.len(),
            attempts: event.attempts,
            error: event.error().map(Failure::code_name),
        }
    }
}
